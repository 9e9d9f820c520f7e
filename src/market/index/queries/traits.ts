// Maintains the set of traits of each token, the listed tokens of each trait by price, and the figures of each trait. Indexer database. The
// transaction must have locked the figures of the collections.

import type { Queryable } from '../../../platform/database/port.ts';
import { boolean, column, rowDecoder, text } from '../../../platform/database/rows.ts';
import type { CollectionAsset } from './figures.ts';
import { homeSql } from './figures.ts';

/** The SQL condition that a token is not burned, and that its metadata was read. */
const isDescribed = (collectionId: string, asset: string) => `exists (
    select from indexer.token as stored
    where stored.collection_id = ${collectionId} and stored.asset = ${asset} and not burned)
  and exists (
    select from indexer.token_metadata as stored
    where stored.collection_id = ${collectionId} and stored.asset = ${asset} and fetched_at is not null)`;

const TOUCHED = `touched as (
  select distinct collection_id, asset from unnest($1::text[], $2::text[]) as touched (collection_id, asset))`;

const toParameters = (assets: readonly CollectionAsset[]) => [
  assets.map(({ collectionId }) => collectionId),
  assets.map(({ asset }) => asset),
];

/**
 * Brings the derived tables of traits up to date. `tokens`: tokens whose metadata was written. `moved`: tokens that may have been burned,
 * deleted or restored. `listed`: assets whose listings may have changed, and for which `refreshListedAssets` was called.
 */
export async function refreshTraits(
  tx: Queryable,
  {
    tokens = [],
    moved = [],
    listed = [],
  }: { tokens?: readonly CollectionAsset[]; moved?: readonly CollectionAsset[]; listed?: readonly CollectionAsset[] },
): Promise<void> {
  const described = [...tokens, ...(await listAppearedAndGone(tx, moved))];
  if (described.length > 0) {
    await insertTraits(tx, described);
    await updateTraitSets(tx, described);
  }
  await updateTraitListings(tx, [...described, ...(await listWithTraits(tx, listed))]);
  if (described.length > 0) await deleteUnusedTraits(tx, described);
}

const decodeAsset = rowDecoder('token', { collectionId: column('collection_id', text), asset: text });

/** Returns the tokens that have a row in `trait_set` and must have none, and the tokens that have no row and must have one. */
async function listAppearedAndGone(tx: Queryable, tokens: readonly CollectionAsset[]): Promise<CollectionAsset[]> {
  if (tokens.length === 0) return [];
  const rows = await tx.query(
    `with ${TOUCHED}
     select home.collection_id, asset from touched ${homeSql('touched.collection_id')}
     where exists (select from indexer.trait_set as stored
         where stored.collection_id = home.collection_id and stored.asset = touched.asset)
       <> (${isDescribed('home.collection_id', 'touched.asset')})`,
    toParameters(tokens),
  );
  return rows.map(decodeAsset);
}

const decodeUse = rowDecoder('collection_figures', {
  collectionId: column('collection_id', text),
  hasTraits: column('has_traits', boolean),
});

/** Returns those of the assets whose collections have tokens with known traits. */
async function listWithTraits(tx: Queryable, assets: readonly CollectionAsset[]): Promise<CollectionAsset[]> {
  if (assets.length === 0) return [];
  const rows = await tx.query(
    `select collection_id, trait_sets > 0 as has_traits from indexer.collection_figures where collection_id = any($1)`,
    [[...new Set(assets.map(({ collectionId }) => collectionId))]],
  );
  const used = new Set(rows.map(decodeUse).flatMap(({ collectionId, hasTraits }) => (hasTraits ? [collectionId] : [])));
  return assets.filter(({ collectionId }) => used.has(collectionId));
}

async function insertTraits(tx: Queryable, tokens: readonly CollectionAsset[]): Promise<void> {
  // The query leaves out known traits. With `on conflict do nothing` instead, each known trait would use up a number of the sequence.
  await tx.query(
    `with ${TOUCHED}, unknown as materialized (
       select distinct owned.collection_id, owned.name, owned.value from touched
       join indexer.token_trait as owned on owned.collection_id = touched.collection_id and owned.asset = touched.asset
       where not exists (select from indexer.trait as known where known.collection_id = owned.collection_id
         and known.name = owned.name and known.value = owned.value)
     )
     insert into indexer.trait (id, collection_id, name, value)
     select nextval('indexer.trait_id_seq'), collection_id, name, value from unknown order by collection_id, name, value`,
    toParameters(tokens),
  );
}

async function updateTraitSets(tx: Queryable, tokens: readonly CollectionAsset[]): Promise<void> {
  await tx.query(
    `with ${TOUCHED}, wanted as materialized (
       select home.collection_id, asset, array(
         select trait.id from indexer.token_trait as owned
         join indexer.trait on trait.collection_id = owned.collection_id and trait.name = owned.name and trait.value = owned.value
         where owned.collection_id = home.collection_id and owned.asset = touched.asset
         order by owned.position, owned.name, owned.value) as trait_ids
       from touched ${homeSql('touched.collection_id')} where ${isDescribed('home.collection_id', 'touched.asset')}
     ), before as materialized (
       select stored.* from touched cross join lateral (
         select * from indexer.trait_set as stored
         where stored.collection_id = touched.collection_id and stored.asset = touched.asset group by collection_id, asset) as stored
     ), removed as (
       delete from indexer.trait_set as stored using before
       where stored.collection_id = before.collection_id and stored.asset = before.asset
         and (before.collection_id, before.asset) not in (select collection_id, asset from wanted)
       returning stored.collection_id
     ), written as (
       insert into indexer.trait_set as stored (collection_id, asset, trait_ids) select collection_id, asset, trait_ids from wanted
       on conflict (collection_id, asset) do update set trait_ids = excluded.trait_ids where stored.trait_ids <> excluded.trait_ids
       returning collection_id, xmax = 0 as inserted
     ), changed as (
       select collection_id, id, sum(change) as tokens from (
         select collection_id, unnest(trait_ids) as id, -1 as change from before
         union all select collection_id, unnest(trait_ids), 1 from wanted
       ) as changes group by collection_id, id having sum(change) <> 0
     ), counted as (
       update indexer.trait set tokens = trait.tokens + changed.tokens from changed
       where trait.collection_id = changed.collection_id and trait.id = changed.id
     )
     update indexer.collection_figures as figures set trait_sets = figures.trait_sets + changed.sets
     from (
       select collection_id, sum(change) as sets from (
         select collection_id, -1 as change from removed union all select collection_id, 1 from written where inserted
       ) as changes group by collection_id
     ) as changed
     where figures.collection_id = changed.collection_id and changed.sets <> 0`,
    toParameters(tokens),
  );
}

async function updateTraitListings(tx: Queryable, assets: readonly CollectionAsset[]): Promise<void> {
  if (assets.length === 0) return;
  await tx.query(
    `with ${TOUCHED}, wanted as materialized (
       select described.collection_id, touched.asset, offered.price_raw, offered.expires_at, described.trait_ids from touched
       cross join lateral (
         select collection_id, trait_ids from indexer.trait_set as stored
         where stored.collection_id = touched.collection_id and stored.asset = touched.asset group by collection_id, asset
       ) as described
       left join lateral (
         select * from indexer.own_asset as stored
         where stored.collection_id = described.collection_id and stored.asset = touched.asset limit 1
       ) as own on true
       left join lateral (
         select * from indexer.listed_asset as stored
         where stored.collection_id = described.collection_id and stored.asset = touched.asset limit 1
       ) as mirrored on true
       cross join lateral (
         select case when own.asset is null then mirrored.price_raw else own.price_raw end as price_raw,
           case when own.asset is null then mirrored.expires_at else own.price_until end as expires_at
       ) as offered
       where offered.price_raw is not null
     ), before as materialized (
       select stored.* from touched cross join lateral (
         select * from indexer.trait_listing as stored
         where stored.collection_id = touched.collection_id and stored.asset = touched.asset group by collection_id, asset) as stored
     ), removed as (
       delete from indexer.trait_listing as stored using before
       where stored.collection_id = before.collection_id and stored.asset = before.asset
         and (before.collection_id, before.asset) not in (select collection_id, asset from wanted)
       returning stored.collection_id
     ), written as (
       insert into indexer.trait_listing as stored (collection_id, asset, price_raw, expires_at, trait_ids)
       select collection_id, asset, price_raw, expires_at, trait_ids from wanted
       on conflict (collection_id, asset) do update
       set price_raw = excluded.price_raw, expires_at = excluded.expires_at, trait_ids = excluded.trait_ids
       where (stored.price_raw, stored.expires_at, stored.trait_ids)
         is distinct from (excluded.price_raw, excluded.expires_at, excluded.trait_ids)
       returning collection_id, xmax = 0 as inserted
     ), old_rows as (
       select collection_id, unnest(trait_ids) as trait_id, price_raw, asset from before
     ), new_rows as (
       select collection_id, unnest(trait_ids) as trait_id, price_raw, asset from wanted
     ), unlisted as (
       delete from indexer.listed_trait as stored using (select * from old_rows except select * from new_rows) as gone
       where stored.collection_id = gone.collection_id and stored.trait_id = gone.trait_id and stored.price_raw = gone.price_raw and stored.asset = gone.asset
     ), listed as (
       insert into indexer.listed_trait (collection_id, trait_id, price_raw, asset)
       select * from new_rows except select * from old_rows order by 1, 2, 3, 4
     ), changed as (
       select collection_id, trait_id, sum(change) as listed from (
         select collection_id, trait_id, -1 as change from old_rows union all select collection_id, trait_id, 1 from new_rows
       ) as changes group by collection_id, trait_id having sum(change) <> 0
     ), counted as (
       update indexer.trait set listed = trait.listed + changed.listed from changed
       where trait.collection_id = changed.collection_id and trait.id = changed.trait_id
     )
     update indexer.collection_figures as figures set trait_listings = figures.trait_listings + changed.listings
     from (
       select collection_id, sum(change) as listings from (
         select collection_id, -1 as change from removed union all select collection_id, 1 from written where inserted
       ) as changes group by collection_id
     ) as changed
     where figures.collection_id = changed.collection_id and changed.listings <> 0`,
    toParameters(assets),
  );
}

async function deleteUnusedTraits(tx: Queryable, tokens: readonly CollectionAsset[]): Promise<void> {
  await tx.query(`delete from indexer.trait where collection_id = any($1) and tokens = 0`, [
    [...new Set(tokens.map(({ collectionId }) => collectionId))],
  ]);
}
