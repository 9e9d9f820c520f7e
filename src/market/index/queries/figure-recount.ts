// Counts every maintained figure of the indexer again from the stored rows, for `mercat audit` and for tests. Indexer database. A count
// reads all rows, so no request to an interface uses it.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, nullable, rowDecoder, text } from '../../../platform/database/rows.ts';
import { LISTED } from './figures.ts';
import { IS_COUNTED, saleSumsSql } from './sale-rule.ts';

/**
 * A figure whose stored value differs from the count. `row` names the asset, the holder or the hour; null for a figure of the collection
 * itself. `stored` is null if no row is stored, and `counted` is null if nothing was counted.
 */
export type FigureDifference = {
  collectionId: string;
  figure: string;
  row: string | null;
  stored: string | null;
  counted: string | null;
};

export const decodeFigureDifference = rowDecoder('figure difference', {
  collectionId: column('collection_id', text),
  figure: text,
  row: nullable(text),
  stored: nullable(text),
  counted: nullable(text),
});

/** `prefix`: how the ids of the collections begin; empty for all collections. `now` in milliseconds. At most `limit` differences. */
export type RecountScope = { prefix: string; now: number; limit: number };

const sumsTextSql = (row: string) =>
  `coalesce(${row}.volume_raw, 0) || ' in ' || coalesce(${row}.sales, 0) || ', unread: ' || coalesce(${row}.unread, 0)`;

/** Returns the figures that differ from a count of the indexer's rows. The ranking keys are not compared. */
export async function listFigureDifferences(
  db: Queryable,
  { prefix, now, limit }: RecountScope,
): Promise<FigureDifference[]> {
  const rows = await db.query(
    `with listing as (
       select distinct on (collection_id, asset) * from indexer.listing
       where starts_with(collection_id, $1) and ${LISTED} and (expires_at is null or expires_at > $2)
       order by collection_id, asset, price_raw, id, key
     ), live_asset as (
       select * from indexer.listed_asset
       where starts_with(collection_id, $1) and (expires_at is null or expires_at > $2)
     ), own as (
       select collection_id, asset, true as is_own from indexer.own_asset where starts_with(collection_id, $1)
     ), counted_listing as (
       select collection_id, count(*) as assets, min(price_raw) as floor_raw
       from listing left join own using (collection_id, asset)
       where own.is_own is null group by collection_id
     ), counted_token as (
       select collection_id, count(*) as tokens, count(owner_block) as chain_tokens from indexer.token
       where starts_with(collection_id, $1) and not burned group by collection_id
     ), counted_holder as (
       select token.collection_id, token.owner, count(*) as tokens from indexer.token
       left join indexer.collection_figures as figures on figures.collection_id = token.collection_id
       where starts_with(token.collection_id, $1) and token.owner is not null and not burned
         and not coalesce(figures.has_chain_holders, false)
       group by token.collection_id, token.owner
     ), stored_holder as (
       select * from indexer.holder where starts_with(collection_id, $1)
     ), figures as (
       select * from indexer.collection_figures where starts_with(collection_id, $1)
     ), hours as (
       select collection_id, date_trunc('hour', sold_at, 'UTC') as hour, ${saleSumsSql()}
       from indexer.sale where starts_with(collection_id, $1) and ${IS_COUNTED} group by 1, 2
     ), differences as (
       select coalesce(stored.collection_id, counted.collection_id) as collection_id, 'listed asset' as figure,
         coalesce(stored.asset, counted.asset) as row, stored.listing_key::text as stored, counted.key::text as counted
       from live_asset as stored
       full join listing as counted on counted.collection_id = stored.collection_id and counted.asset = stored.asset
       union all
       select collection_id, 'listed assets', null, listed_assets::text, coalesce(assets, 0)::text
       from figures left join counted_listing using (collection_id)
       union all
       select collection_id, 'own listed assets', null, own_listed_assets::text, coalesce(assets, 0)::text
       from figures left join (select collection_id, count(*) as assets from own group by 1) as counted using (collection_id)
       union all
       select collection_id, 'own asset', asset, listed.own::text, coalesce(own.is_own, false)::text
       from live_asset as listed left join own using (collection_id, asset)
       union all
       select collection_id, 'mirror floor', null, mirror_floor_raw::text, floor_raw::text
       from figures left join counted_listing using (collection_id)
       union all
       select coalesce(figures.collection_id, counted.collection_id), 'tokens', null, figures.tokens::text,
         coalesce(counted.tokens, 0)::text
       from figures full join counted_token as counted on counted.collection_id = figures.collection_id
       union all
       select collection_id, 'chain tokens', null, figures.chain_tokens::text, coalesce(counted.chain_tokens, 0)::text
       from figures left join counted_token as counted using (collection_id)
       union all
       select coalesce(stored.collection_id, counted.collection_id), 'tokens of holder', coalesce(stored.owner, counted.owner),
         stored.tokens::text, counted.tokens::text
       from (select stored_holder.* from stored_holder join figures using (collection_id) where not has_chain_holders) as stored
       full join counted_holder as counted on counted.collection_id = stored.collection_id and counted.owner = stored.owner
       union all
       select collection_id, 'holders', null, holders::text, coalesce(owners, 0)::text
       from figures left join (select collection_id, count(*) as owners from stored_holder group by 1) as counted using (collection_id)
       union all
       select coalesce(stored.collection_id, counted.collection_id), 'volume of hour', coalesce(stored.hour, counted.hour)::text,
         ${sumsTextSql('stored')}, ${sumsTextSql('counted')}
       from (select * from indexer.sale_hour where starts_with(collection_id, $1)) as stored
       full join hours as counted on counted.collection_id = stored.collection_id and counted.hour = stored.hour
       union all
       select coalesce(stored.collection_id, counted.collection_id), 'volume of all time', null,
         ${sumsTextSql('stored')}, ${sumsTextSql('counted')}
       from (select * from indexer.sale_total where starts_with(collection_id, $1)) as stored
       full join (select collection_id, sum(volume_raw) as volume_raw, sum(sales) as sales, sum(unread) as unread from hours group by 1) as counted
         on counted.collection_id = stored.collection_id
     )
     select * from differences where stored is distinct from counted
     order by collection_id, figure, row nulls first limit $3`,
    [prefix, new Date(now), limit],
  );
  return rows.map(decodeFigureDifference);
}
