// Maintains figures of collections in the indexer database: the listed assets and the floor of the mirror, the tokens and the holders. Every
// transaction that writes listings or tokens locks the figures of their collections first and refreshes these figures last.

import type { Queryable } from '../../../platform/database/port.ts';
import { toTextArray } from '../../../platform/database/row-source.ts';
import { column, rowDecoder, text } from '../../../platform/database/rows.ts';

export type CollectionAsset = { collectionId: string; asset: string };

/** The SQL condition that a row of the mirror counts as listed, apart from its expiry. */
export const LISTED = `status = 'active' and price_raw > 0 and dormant is null`;

/**
 * Locks the figures of the collections until the transaction ends, so that writers of one collection wait for one another. Must be called
 * before the first write, with all collections that the transaction writes to. All transactions lock in the order of ids, so two of them
 * cannot deadlock.
 */
export async function lockFigures(tx: Queryable, collectionIds: Iterable<string>): Promise<void> {
  const ids = [...new Set(collectionIds)].sort();
  if (ids.length > 0) await tx.query(`select indexer.lock_figures($1::text[])`, [ids]);
}

/**
 * Returns SQL that joins the stored figures of a collection under the alias `home`. `collectionId` is an SQL expression for the id of the
 * collection. A Citus cluster can run subqueries that compare with `home.collection_id`, because the figures are on the same node as the other
 * rows of the collection. If the collection has no stored figures, the join has no row. `group by` makes PostgreSQL use the primary key.
 */
export const homeSql = (collectionId: string, home = 'home') => `cross join lateral (
    select collection_id from indexer.collection_figures where collection_id = ${collectionId} group by collection_id) as ${home}`;

/**
 * Changes a statement about one collection so that it runs on one node of a Citus cluster. A cluster runs a statement on all its nodes, unless the
 * statement compares the collection id of every table with the same parameter or constant. If all `collectionIds` are equal, this function
 * replaces `home.collection_id` and `wanted.id` by the first element of `$1`. In `sql`, `$1` must be `collectionIds`, and `wanted` the list of
 * these ids.
 */
export function narrowToOne(sql: string, collectionIds: readonly string[]): string {
  if (new Set(collectionIds).size !== 1) return sql;
  const id = '($1::text[])[1]';
  return sql
    .replaceAll(/\bhome\.collection_id\b/g, id)
    .replaceAll(/\bcollection_id = wanted\.id\b/g, `collection_id = ${id}`);
}

/**
 * Finds the cheapest listed row of each given asset again, and updates the number of listed assets and the floor of the mirror. Must be
 * called after the last write to the listings of these assets. `now` in milliseconds.
 * `offset 0` hides the condition LISTED from the planner when it chooses an index. Without table statistics the planner would otherwise
 * choose a partial index by collection, and read all listings of the collection for each asset. Without table statistics, `order by price_raw`
 * also makes the planner choose the index by asset instead of the primary key.
 */
export async function refreshListedAssets(
  tx: Queryable,
  assets: readonly CollectionAsset[],
  now: number,
): Promise<void> {
  if (assets.length === 0) return;
  await tx.query(
    `with touched as (
       select distinct collection_id, asset from unnest($1::text[], $2::text[]) as touched (collection_id, asset)
     ), best as materialized (
       select touched.collection_id, touched.asset, cheapest.key, cheapest.price_raw, cheapest.expires_at,
         exists (select from indexer.own_asset as own
                 where own.collection_id = home.collection_id and own.asset = touched.asset) as own
       from touched ${homeSql('touched.collection_id')} left join lateral (
         select key, price_raw, expires_at from (
           select * from indexer.listing
           where listing.collection_id = home.collection_id and listing.asset = touched.asset order by price_raw offset 0
         ) as listing
         where ${LISTED} and (expires_at is null or expires_at > $3)
         order by price_raw, id, key limit 1
       ) as cheapest on true
     ), before as materialized (
       select stored.collection_id, stored.own from indexer.listed_asset as stored
       join touched on touched.collection_id = stored.collection_id and touched.asset = stored.asset
     ), removed as (
       delete from indexer.listed_asset as stored using best
       where best.key is null and stored.collection_id = best.collection_id and stored.asset = best.asset
     ), written as (
       insert into indexer.listed_asset as stored (collection_id, asset, listing_key, price_raw, expires_at, own)
       select collection_id, asset, key, price_raw, expires_at, own from best where key is not null
       on conflict (collection_id, asset) do update set listing_key = excluded.listing_key, price_raw = excluded.price_raw,
         expires_at = excluded.expires_at, own = excluded.own
       where (stored.listing_key, stored.price_raw, stored.expires_at, stored.own)
         is distinct from (excluded.listing_key, excluded.price_raw, excluded.expires_at, excluded.own)
     ), changed as (
       select collection_id, sum(listed) as listed from (
         select collection_id, -1 as listed from before where not own
         union all select collection_id, 1 from best where key is not null and not own
       ) as counts group by collection_id
     )
     update indexer.collection_figures as figures set listed_assets = figures.listed_assets + changed.listed
     from changed where changed.collection_id = figures.collection_id and changed.listed <> 0`,
    [toTextArray(assets.map((one) => one.collectionId)), toTextArray(assets.map((one) => one.asset)), new Date(now)],
  );
  await refreshMirrorFloors(
    tx,
    assets.map((one) => one.collectionId),
    now,
  );
}

async function refreshMirrorFloors(tx: Queryable, collectionIds: readonly string[], now: number): Promise<void> {
  await tx.query(
    `update indexer.collection_figures as figures set mirror_floor_raw = current.floor_raw
     from (
       select touched.collection_id, (
         select price_raw from indexer.listed_asset as listed
         where listed.collection_id = touched.collection_id and not own and (expires_at is null or expires_at > $2)
         order by price_raw limit 1
       ) as floor_raw
       from indexer.collection_figures as touched where collection_id = any($1)
     ) as current
     where current.collection_id = figures.collection_id and figures.collection_id = any($1)
       and figures.mirror_floor_raw is distinct from current.floor_raw`,
    [[...new Set(collectionIds)], new Date(now)],
  );
}

/**
 * Common table expressions that update the numbers of tokens and holders. `removed` and `added` name two expressions of the same statement
 * with the columns collection_id, owner, burned and owner_block. `removed` has the token rows before the change, and
 * `added` has the token rows after it.
 */
export function tokenFiguresSql({ removed, added }: { removed: string; added: string }): string {
  return `token_changes as (
      select collection_id, owner, burned, owner_block, -1 as change from ${removed}
      union all select collection_id, owner, burned, owner_block, 1 as change from ${added}
    ), on_chain as materialized (
      select collection_id from indexer.collection_figures
      where has_chain_holders and collection_id in (select collection_id from token_changes)
    ), holder_changes as (
      select collection_id, owner, sum(change) as change from token_changes
      where owner is not null and not burned and collection_id not in (select collection_id from on_chain)
      group by collection_id, owner having sum(change) <> 0
    ), known_holders as materialized (
      select stored.collection_id, stored.owner from holder_changes cross join lateral (
        select collection_id, owner from indexer.holder as stored
        where stored.collection_id = holder_changes.collection_id and stored.owner = holder_changes.owner group by collection_id, owner) as stored
    ), holders_removed as (
      delete from indexer.holder as stored using holder_changes as changed
      where stored.collection_id = changed.collection_id and stored.owner = changed.owner and stored.tokens + changed.change = 0
      returning stored.collection_id
    ), holders_updated as (
      update indexer.holder as stored set tokens = stored.tokens + changed.change from holder_changes as changed
      where stored.collection_id = changed.collection_id and stored.owner = changed.owner and stored.tokens + changed.change > 0
    ), holders_added as (
      insert into indexer.holder (collection_id, owner, tokens)
      select collection_id, owner, change from holder_changes as changed
      where change > 0 and (collection_id, owner) not in (select collection_id, owner from known_holders)
      returning collection_id
    ), figure_changes as (
      select collection_id, sum(tokens) as tokens, sum(chain_tokens) as chain_tokens, sum(holders) as holders from (
        select collection_id, change as tokens, case when owner_block is null then 0 else change end as chain_tokens, 0 as holders
        from token_changes where not burned
        union all select collection_id, 0, 0, 1 from holders_added
        union all select collection_id, 0, 0, -1 from holders_removed
      ) as counts group by collection_id
    ), figures_updated as (
      update indexer.collection_figures as figures set tokens = figures.tokens + changed.tokens,
        chain_tokens = figures.chain_tokens + changed.chain_tokens, holders = figures.holders + changed.holders
      from figure_changes as changed where changed.collection_id = figures.collection_id
        and (changed.tokens <> 0 or changed.chain_tokens <> 0 or changed.holders <> 0)
    )`;
}

const decodeMark = rowDecoder('collection_figures', { collectionId: column('collection_id', text), mark: text });

/**
 * Returns a mark of each given collection, by collection id. The mark is a text that changes when the number of listed assets or the floor
 * changes, in the mirror or in the own order book. A collection without figures has no mark.
 */
export async function listListingMarks(db: Queryable, collectionIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.query(
    `select collection_id, concat_ws('/', listed_assets, own_listed_assets, coalesce(mirror_floor_raw, -1),
       coalesce(own_floor_raw, -1)) as mark
     from indexer.collection_figures where collection_id = any($1)`,
    [collectionIds],
  );
  return new Map(rows.map(decodeMark).map(({ collectionId, mark }) => [collectionId, mark]));
}
