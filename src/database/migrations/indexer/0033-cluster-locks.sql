-- On a Citus cluster, a statement that updates or deletes rows of several collections locks shards against all other such statements until its
-- transaction ends. Two transactions that write the same tables in different orders then deadlock. After the figures are locked, these locks
-- are not needed: no other transaction writes rows of the same collections.
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
      insert into indexer.collection_figures (collection_id) values (touched) on conflict do nothing;
      perform 1 from indexer.collection_figures where collection_id = touched for update;
    end loop;
  end if;
end $$;
