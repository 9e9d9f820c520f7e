-- On a Citus cluster each statement for one row is a message to a node. Most collections have a row of figures already. Therefore the function tries
-- to lock the row first, and inserts the row only if it does not exist.
create or replace function indexer.lock_figures(ids text[]) returns void language plpgsql as $$
declare
  touched text;
begin
  if to_regclass('pg_catalog.pg_dist_partition') is null then
    insert into indexer.collection_figures (collection_id)
    select id from unnest(ids) as touched (id) order by id collate "C" on conflict do nothing;
    perform 1 from indexer.collection_figures where collection_id = any(ids) order by collection_id for update;
  else
    perform set_config('citus.enable_deadlock_prevention', 'off', true);
    foreach touched in array ids loop
      perform 1 from indexer.collection_figures where collection_id = touched for update;
      if not found then
        insert into indexer.collection_figures (collection_id) values (touched) on conflict do nothing;
        perform 1 from indexer.collection_figures where collection_id = touched for update;
      end if;
    end loop;
  end if;
end $$;
