// Compares the tables of traits with the rows of tokens and listings from which they are derived, for `mercat audit` and for tests. Indexer
// database.

import type { Queryable } from '../../../platform/database/port.ts';
import type { FigureDifference, RecountScope } from './figure-recount.ts';
import { decodeFigureDifference } from './figure-recount.ts';

/** The figures and lists of traits that differ from the rows from which they are derived. The comparison trusts `listed_asset` and `own_asset`. */
export async function listTraitDifferences(
  db: Queryable,
  { prefix, limit }: Omit<RecountScope, 'now'>,
): Promise<FigureDifference[]> {
  const rows = await db.query(
    `with described as (
       select token.collection_id, token.asset, coalesce(own.price_raw, listed.price_raw) as price_raw,
         case when own.asset is null then listed.expires_at else own.price_until end as expires_at
       from indexer.token join indexer.token_metadata using (collection_id, asset)
       left join indexer.own_asset as own using (collection_id, asset)
       left join indexer.listed_asset as listed using (collection_id, asset)
       where starts_with(token.collection_id, $1) and not token.burned and fetched_at is not null
     ), owned as (
       select collection_id, asset, trait.name, trait.value, trait.position, price_raw
       from described join indexer.token_trait as trait using (collection_id, asset)
     ), known as (
       select * from indexer.trait where starts_with(collection_id, $1)
     ), differences as (
       select coalesce(stored.collection_id, counted.collection_id) as collection_id, 'traits of token' as figure,
         coalesce(stored.asset, counted.asset) as row, stored.traits as stored, counted.traits as counted
       from (
         select sets.collection_id, sets.asset, coalesce(string_agg(name || '=' || value, ' ' order by place), '') as traits
         from indexer.trait_set as sets left join lateral unnest(trait_ids) with ordinality as item (id, place) on true
         left join indexer.trait on trait.collection_id = sets.collection_id and trait.id = item.id where starts_with(sets.collection_id, $1) group by sets.collection_id, sets.asset
       ) as stored
       full join (
         select collection_id, asset, coalesce(string_agg(name || '=' || value, ' ' order by position, name, value), '') as traits
         from described left join owned using (collection_id, asset) group by collection_id, asset
       ) as counted using (collection_id, asset)
       union all
       select coalesce(known.collection_id, counted.collection_id), 'tokens of trait',
         coalesce(known.name || '=' || known.value, counted.name || '=' || counted.value),
         known.tokens || ' ' || known.listed, counted.tokens || ' ' || counted.listed
       from known full join (
         select collection_id, name, value, count(*) as tokens, count(price_raw) as listed from owned group by 1, 2, 3
       ) as counted using (collection_id, name, value)
       union all
       select coalesce(stored.collection_id, counted.collection_id), 'listing of token with traits',
         coalesce(stored.asset, counted.asset), concat_ws(' ', stored.price_raw, stored.expires_at),
         concat_ws(' ', counted.price_raw, counted.expires_at)
       from (select * from indexer.trait_listing where starts_with(collection_id, $1)) as stored
       full join (select * from described where price_raw is not null) as counted using (collection_id, asset)
       union all
       select coalesce(stored.collection_id, counted.collection_id), 'listing of trait',
         coalesce(stored.name || '=' || stored.value || ' ' || stored.asset, counted.name || '=' || counted.value || ' ' || counted.asset),
         stored.price_raw::text, counted.price_raw::text
       from (
         select known.collection_id, name, value, asset, price_raw
         from known join indexer.listed_trait on listed_trait.collection_id = known.collection_id and listed_trait.trait_id = known.id
       ) as stored
       full join (select * from owned where price_raw is not null) as counted using (collection_id, name, value, asset)
       union all
       select collection_id, 'tokens with known traits', null, trait_sets || ' ' || trait_listings, (
         select count(*) || ' ' || count(price_raw) from described where described.collection_id = figures.collection_id)
       from indexer.collection_figures as figures where starts_with(collection_id, $1)
     )
     select * from differences where stored is distinct from counted order by collection_id, figure, row limit $2`,
    [prefix, limit],
  );
  return rows.map(decodeFigureDifference);
}
