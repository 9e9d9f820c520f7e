-- On a Citus cluster, a statement that changes rows of several shards may use several connections to a node. Later statements of the transaction are
-- then refused ("placements that were modified over multiple connections"). So a transaction that writes figures uses one connection to each node.
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
    perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
    foreach touched in array ids loop
      perform 1 from indexer.collection_figures where collection_id = touched for update;
      if not found then
        insert into indexer.collection_figures (collection_id) values (touched) on conflict do nothing;
        perform 1 from indexer.collection_figures where collection_id = touched for update;
      end if;
    end loop;
  end if;
end $$;
