-- Functions for what no single statement can do on all nodes of a Citus cluster. The node that received a statement runs the functions that
-- the statement calls.

-- Locks the figures of collections until the transaction ends, in the order of ids. On a cluster, one statement can lock rows of one node only.
-- Therefore the function locks one row after the other, in the order of the array `ids`, which must be sorted.
create function indexer.lock_figures(ids text[]) returns void language plpgsql as $$
declare
  touched text;
begin
  if to_regclass('pg_catalog.pg_dist_partition') is null then
    insert into indexer.collection_figures (collection_id)
    select id from unnest(ids) as touched (id) order by id collate "C" on conflict do nothing;
    perform 1 from indexer.collection_figures where collection_id = any(ids) order by collection_id for update;
  else
    foreach touched in array ids loop
      insert into indexer.collection_figures (collection_id) values (touched) on conflict do nothing;
      perform 1 from indexer.collection_figures where collection_id = touched for update;
    end loop;
  end if;
end $$;

-- Returns the chains of the collections that have a collection record. The recursive statement searches an index once for each chain. A cluster
-- cannot run a recursive statement over all nodes, so on a cluster the function reads the chain of every such collection.
create function indexer.ranked_chains() returns setof text language plpgsql stable as $$
begin
  if to_regclass('pg_catalog.pg_dist_partition') is null then
    return query with recursive ranked (chain) as (
      (select chain from indexer.collection_figures where recorded order by chain limit 1)
      union all
      select (select figures.chain from indexer.collection_figures as figures
              where recorded and figures.chain > ranked.chain order by figures.chain limit 1)
      from ranked where ranked.chain is not null
    ) select chain from ranked where chain is not null;
  else
    return query select distinct figures.chain from indexer.collection_figures as figures where recorded;
  end if;
end $$;

-- Creates the functions ranked_by_volume_rank, ranked_by_floor_rank and ranked_by_created_at. Each returns collections of the chain `of_chain` in the
-- descending order of the key in its name. Launched collections come before the others. A result has up to three parts, each of at most
-- `row_limit` rows:
-- 1. the collections whose `launched` is `is_launched`, whose key is `equal` and whose id sorts after `after_id`;
-- 2. the collections whose `launched` is `is_launched` and whose key is less than `below`;
-- 3. if `is_launched` is true, the collections that are not launched.
do $do$
declare
  sort record;
begin
  for sort in select * from (values ('volume_rank', 'float8'), ('floor_rank', 'numeric'), ('created_at', 'timestamptz')) as sorts (name, type) loop
    execute format($create$
      create function indexer.ranked_by_%1$s(of_chain text, equal %2$s, below %2$s, is_launched boolean, after_id text, row_limit integer)
      returns table (collection_id text, chain text, launched boolean, key %2$s) language plpgsql stable as $$
      begin
        return query select figures.collection_id, figures.chain, figures.launched, figures.%1$s from indexer.collection_figures as figures
          where recorded and figures.chain = of_chain collate "C" and figures.launched = is_launched and figures.%1$s = equal
            and figures.collection_id > after_id collate "C"
          order by figures.%1$s desc, figures.collection_id limit row_limit;
        return query select figures.collection_id, figures.chain, figures.launched, figures.%1$s from indexer.collection_figures as figures
          where recorded and figures.chain = of_chain collate "C" and figures.launched = is_launched and figures.%1$s < below
          order by figures.%1$s desc, figures.collection_id limit row_limit;
        if is_launched then
          return query select figures.collection_id, figures.chain, figures.launched, figures.%1$s from indexer.collection_figures as figures
            where recorded and figures.chain = of_chain collate "C" and figures.launched = false
            order by figures.%1$s desc, figures.collection_id limit row_limit;
        end if;
      end $$
    $create$, sort.name, sort.type);
  end loop;
end $do$;
