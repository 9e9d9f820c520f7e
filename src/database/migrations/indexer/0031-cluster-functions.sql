-- What one statement cannot do on all nodes of a Citus cluster. The functions run on the node that received the statement.

-- Locks the figures of collections until the transaction ends, in the order of ids. On a cluster a statement can lock the rows of one node.
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

-- The chains of the collections that have a record. Each chain costs one probe of an index. A cluster has no recursion over all nodes.
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

-- A part of the ranking of one chain by a key: of the collections that are launched as given, those with the key `equal` and an id after
-- `after_id`, and those with a key below `below`; then, after the launched ones, all others. At most `row_limit` of each.
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
