// Lists the tokens of a collection that have given traits. A query returns only the keys of the tokens, in the order of the list. The
// tokens are read afterwards. Indexer database.
//
// A list by id or by rank is read in one of two ways, because PostgreSQL alone chooses the wrong one (docs/decisions/0025-query-plans.md). A walk
// visits the tokens in the order of the list, and checks the traits of each. A search finds all tokens that have the traits through the index by
// traits, and sorts them. The way that is expected to take less time is used. A walk that does not fill the page is followed by a search.

import type { AssetId } from '../../../platform/core/address.ts';
import { isStorable } from '../../../platform/core/text.ts';
import type { Queryable, Row } from '../../../platform/database/port.ts';
import {
  amount,
  assetId,
  column,
  integer,
  list,
  rowDecoder,
  safeInteger,
  text,
} from '../../../platform/database/rows.ts';
import { findServedGeneration } from '../../index/queries/rarity.ts';
import type { RankedAsset } from './token-keys.ts';
import { isListedSql } from './token-keys.ts';

/**
 * A group of traits. A token has the group if it has one of these traits. `tokens` and `listed` are sums over the traits of the group.
 * `share`: `tokens` divided by the number of all tokens with known traits.
 */
export type TraitGroup = { ids: readonly number[]; tokens: number; listed: number; share: number };

/**
 * A token passes if it has every group. `rarest`: the group with the fewest tokens. `share`: which share of the tokens would pass if the groups
 * were independent of one another.
 */
export type TraitFilter = { rarest: TraitGroup; others: readonly TraitGroup[]; share: number };

/** A walk visits at least this many tokens before it gives up. If the rarest group has at most this many tokens, no walk is tried. */
const WALK_MIN = 1_000;
/** A walk makes about this many visits in the time in which a search finds one token and sorts it. */
const VISITS_PER_MATCH = 5;

const decodeTrait = rowDecoder('trait', {
  id: integer,
  name: text,
  value: text,
  tokens: safeInteger,
  listed: safeInteger,
});

const decodeSets = rowDecoder('collection_figures', { traitSets: column('trait_sets', safeInteger) });

/** A trait that the collection does not have. `value` is null if it has no trait of this name. */
export type UnknownTrait = { name: string; value: string | null };

/**
 * `wanted`: the values that are accepted for each trait name. Returns the filter for tokens that have an accepted value for every name, or
 * the first trait that no token has.
 */
export async function findTraitFilter(
  db: Queryable,
  collectionId: string,
  wanted: ReadonlyMap<string, readonly string[]>,
): Promise<TraitFilter | UnknownTrait> {
  const pairs = [...wanted].flatMap(([name, values]) =>
    values.flatMap((value) => (isStorable(name) && isStorable(value) ? [[name, value] as const] : [])),
  );
  const rows = await db.query(
    `select trait.id, trait.name, trait.value, trait.tokens, trait.listed,
       (select trait_sets from indexer.collection_figures where collection_id = $1) as trait_sets
     from unnest($2::text[], $3::text[]) as wanted (name, value)
     cross join lateral (
       select * from indexer.trait where collection_id = $1 and name = wanted.name and value = wanted.value limit 1) as trait`,
    [collectionId, pairs.map(([name]) => name), pairs.map(([, value]) => value)],
  );
  const byName = Map.groupBy(rows.map(decodeTrait), ({ name }) => name);
  for (const [name, values] of wanted) {
    const known = new Set(byName.get(name)?.map(({ value }) => value));
    const value = values.find((one) => !known.has(one));
    if (value !== undefined) return { name, value: (await hasTraitName(db, collectionId, name)) ? value : null };
  }
  const { traitSets } = decodeSets(rows[0] ?? {});
  const groups = [...byName.values()].map((traits) => {
    const tokens = traits.reduce((sum, one) => sum + one.tokens, 0);
    const listed = traits.reduce((sum, one) => sum + one.listed, 0);
    return { ids: traits.map(({ id }) => id), tokens, listed, share: tokens / traitSets };
  });
  const [rarest, ...others] = groups.sort((a, b) => a.tokens - b.tokens);
  if (!rarest) throw new TypeError('a filter by traits names no trait');
  return { rarest, others, share: shareOf(groups) };
}

async function hasTraitName(db: Queryable, collectionId: string, name: string): Promise<boolean> {
  if (!isStorable(name)) return false;
  const rows = await db.query(`select 1 from indexer.trait where collection_id = $1 and name = $2 limit 1`, [
    collectionId,
    name,
  ]);
  return rows.length > 0;
}

/** Which share of the tokens would have all groups if the groups were independent of one another. */
const shareOf = (groups: readonly TraitGroup[]) => groups.reduce((product, { share }) => product * share, 1);

export const toGroups = ({ rarest, others }: TraitFilter): TraitGroup[] => [rarest, ...others];

/** Numbers the parameters of a statement in the order in which they are first used. */
class Parameters {
  readonly values: unknown[] = [];
  readonly #types: string[] = [];

  /** Returns the parameter with its type, as SQL. */
  use(value: unknown, type: string): string {
    let index = this.values.findIndex((known, at) => known === value && this.#types[at] === type);
    if (index < 0) {
      index = this.values.push(value) - 1;
      this.#types.push(type);
    }
    return `$${index + 1}::${type}`;
  }
}

const hasGroups = (parameters: Parameters, row: string, groups: readonly TraitGroup[]) =>
  groups.map(({ ids }) => `${row}.trait_ids && ${parameters.use(ids, 'integer[]')}`).join(' and ') || 'true';

const decodeSetAsset = rowDecoder('trait_set', { asset: assetId });

/** The assets among `assets` that have all groups of the filter. */
export async function listAssetsWithTraits(
  db: Queryable,
  collectionId: string,
  { filter, assets }: { filter: TraitFilter; assets: readonly string[] },
): Promise<AssetId[]> {
  const parameters = new Parameters();
  const rows = await db.query(
    `select asset from indexer.trait_set where collection_id = ${parameters.use(collectionId, 'text')}
       and asset = any(${parameters.use(assets, 'text[]')}) and ${hasGroups(parameters, 'trait_set', toGroups(filter))}`,
    parameters.values,
  );
  return rows.map((row) => decodeSetAsset(row).asset);
}

type TraitListQuery = { filter: TraitFilter; limit: number };
/** `listed`: only listed tokens (true), only tokens that are not listed (false), or all tokens (null). `now` in milliseconds. */
type TokenListQuery = TraitListQuery & { listed: boolean | null; now: number };

const decodeAsset = rowDecoder('token', { asset: assetId });

/** Lower token ids first. `unranked`: only tokens without a rarity rank. */
export async function listTraitAssetsById(
  db: Queryable,
  collectionId: string,
  query: TokenListQuery & { after: string | null; unranked: boolean },
): Promise<AssetId[]> {
  const rows = await listTokens(db, collectionId, query, (parameters) => {
    const after = parameters.use(query.after ?? '', 'text');
    return {
      columns: 'length(asset), asset',
      condition: `(length(asset), asset) > (length(${after}), ${after})${query.unranked ? ' and rarity_rank is null' : ''}`,
      source: query.unranked ? 'tokens' : 'sets',
    };
  });
  return rows.map((row) => decodeAsset(row).asset);
}

/** At most `limit` tokens that have all these traits, in the order of ids. None if the collection has no such trait. */
export async function listTokensOfTraits(
  db: Queryable,
  collectionId: string,
  { traits, limit, now }: { traits: readonly { name: string; value: string }[]; limit: number; now: number },
): Promise<AssetId[]> {
  const filter = await findTraitFilter(
    db,
    collectionId,
    new Map(traits.map(({ name, value }) => [name, [value]] as const)),
  );
  if ('name' in filter) return [];
  return listTraitAssetsById(db, collectionId, { filter, listed: null, now, after: null, unranked: false, limit });
}

const decodeRanked = rowDecoder('token', { rank: column('rarity_rank', safeInteger), asset: assetId });

/** Rarest first. Tokens without a rarity rank are left out. */
export async function listTraitAssetsByRank(
  db: Queryable,
  collectionId: string,
  query: TokenListQuery & { after: { rank: number; asset: string } | null },
): Promise<RankedAsset[]> {
  const rows = await listTokens(db, collectionId, query, (parameters) => {
    const after = parameters.use(query.after?.asset ?? '', 'text');
    const rank = parameters.use(query.after?.rank ?? 0, 'bigint');
    return {
      columns: 'rarity_rank, length(asset), asset',
      condition: `rarity_rank is not null and (rarity_rank, length(asset), asset) > (${rank}, length(${after}), ${after})`,
      source: 'ranks',
    };
  });
  return rows.map(decodeRanked);
}

/**
 * `columns`: the columns by which the list is sorted. `condition`: selects the rows after the position of the cursor.
 * `source`: which rows have all these columns: the sets of traits, the ranks, or the tokens with their rank.
 */
type TokenOrder = { columns: string; condition: string; source: 'sets' | 'ranks' | 'tokens' };

async function listTokens(
  db: Queryable,
  collectionId: string,
  query: TokenListQuery,
  toOrder: (parameters: Parameters) => TokenOrder,
): Promise<Row[]> {
  const ranked = { ...query, generation: await findServedGeneration(db, collectionId) };
  const { filter, limit } = query;
  const visits = limit / (filter.share * listedShare(query));
  const matches = filter.rarest.tokens * shareOf(filter.others);
  if (filter.rarest.tokens > WALK_MIN && matches * VISITS_PER_MATCH > visits) {
    const visitsMax = Math.ceil(Math.max(2 * visits, WALK_MIN));
    const rows = await walkTokens(db, collectionId, { ...ranked, visitsMax }, toOrder);
    if (rows.length === limit) return rows;
  }
  return searchTokens(db, collectionId, ranked, toOrder);
}

/** Which share of the tokens that have the traits is expected to be listed, or not to be listed. */
function listedShare({ filter: { rarest }, listed }: TokenListQuery): number {
  if (listed === null || rarest.tokens === 0) return 1;
  return (listed ? rarest.listed : rarest.tokens - rarest.listed) / rarest.tokens;
}

/**
 * `generation`: the generation of the computed ranks. Null if the service has computed no ranks for the collection, or if the
 * collection has ranks from a marketplace or an import.
 */
type RankedQuery = TokenListQuery & { generation: number | null };

/**
 * The rows of the collection with their rank. The source `ranks` may have burned tokens. They do not get into a list, because a burned token
 * has no set of traits.
 */
function rankedRows(
  parameters: Parameters,
  collectionId: string,
  { generation }: RankedQuery,
  source: 'ranks' | 'tokens',
) {
  const ofCollection = `collection_id = ${parameters.use(collectionId, 'text')}`;
  if (generation === null)
    return `(select asset, rarity_rank from indexer.token where ${ofCollection} and not burned) as token`;
  const computed = `(select asset, rank as rarity_rank from indexer.rarity_rank
    where ${ofCollection} and generation = ${parameters.use(generation, 'integer')})`;
  if (source === 'ranks') return `${computed} as token`;
  return `(select token.asset, computed.rarity_rank from indexer.token left join ${computed} as computed on computed.asset = token.asset
    where ${ofCollection} and not burned) as token`;
}

function listedCondition(parameters: Parameters, collectionId: string, { listed, now }: TokenListQuery): string {
  if (listed === null) return 'true';
  const isListed = isListedSql({
    collectionId: parameters.use(collectionId, 'text'),
    now: parameters.use(new Date(now), 'timestamptz'),
  });
  return listed ? isListed : `not ${isListed}`;
}

/** Visits at most `visitsMax` tokens. Without `offset 0`, PostgreSQL would look listings up before traits. */
function walkTokens(
  db: Queryable,
  collectionId: string,
  { visitsMax, ...query }: RankedQuery & { visitsMax: number },
  toOrder: (parameters: Parameters) => TokenOrder,
): Promise<Row[]> {
  const parameters = new Parameters();
  const { columns, condition, source } = toOrder(parameters);
  const order = bySize(columns);
  const ofCollection = `collection_id = ${parameters.use(collectionId, 'text')}`;
  const visited =
    source === 'sets'
      ? `select asset, size from (
           select asset, trait_ids, length(asset) as size from indexer.trait_set where ${ofCollection} and ${condition}
           order by ${columns} limit ${visitsMax}
         ) as owned`
      : `select token.* from (
           select asset, rarity_rank, length(asset) as size from ${rankedRows(parameters, collectionId, query, source)}
           where ${condition} order by ${columns} limit ${visitsMax}
         ) as token cross join lateral (
           select trait_ids from indexer.trait_set where ${ofCollection} and length(asset) = token.size and asset = token.asset limit 1
         ) as owned`;
  return db.query(
    `select * from (
       ${visited} where ${hasGroups(parameters, 'owned', toGroups(query.filter))} order by ${order} offset 0
     ) as token
     where ${listedCondition(parameters, collectionId, query)} order by ${order} limit ${query.limit}`,
    parameters.values,
  );
}

/**
 * Takes the columns of a sort order, and replaces `length(asset)` by `size`, the column of a subquery that has the length of the asset.
 * PostgreSQL then sees that the rows of the subquery are already sorted, and does not sort them again.
 */
const bySize = (columns: string) => columns.replace('length(asset)', 'size');

async function searchTokens(
  db: Queryable,
  collectionId: string,
  query: RankedQuery,
  toOrder: (parameters: Parameters) => TokenOrder,
): Promise<Row[]> {
  const parameters = new Parameters();
  const { columns, condition, source } = toOrder(parameters);
  const order = bySize(columns);
  const tokens =
    source === 'sets'
      ? `select asset from matched`
      : `select token.* from matched cross join lateral (
           select asset, rarity_rank from ${rankedRows(parameters, collectionId, query, source)} where asset = matched.asset limit 1
         ) as token`;
  // Without "offset 0", listings would be looked up for all tokens, and not only for those of the page.
  return db.query(
    `with matched as materialized (
       select asset from indexer.trait_set where ${hasGroups(parameters, 'trait_set', toGroups(query.filter))}
     )
     select * from (
       select *, length(asset) as size from (${tokens}) as token where ${condition} order by ${columns} offset 0
     ) as token
     where ${listedCondition(parameters, collectionId, query)} order by ${order} limit ${query.limit}`,
    parameters.values,
  );
}

/** A key in a list that is sorted by price, and by asset among equal prices. */
export type PricedAsset = { raw: bigint; asset: AssetId };

const decodePriced = rowDecoder('listed_trait', { raw: column('price_raw', amount), asset: assetId });

/** Cheapest first, by the prices that the indexer has stored. The assets `except` are left out. */
export async function listTraitAssetsByPrice(
  db: Queryable,
  collectionId: string,
  query: PriceListQuery,
): Promise<PricedAsset[]> {
  const { others } = query.filter;
  const rows = await (others.length === 0 ? walkListed(db, collectionId, query) : searchListed(db, query));
  return rows.map(decodePriced);
}

type PriceListQuery = TraitListQuery & { after: { raw: bigint; asset: string } | null; except: readonly string[] };

const afterPrice = (parameters: Parameters, row: string, { after }: PriceListQuery) =>
  `(${row}.price_raw, ${row}.asset) >
     (${parameters.use((after?.raw ?? 0n).toString(), 'numeric')}, ${parameters.use(after?.asset ?? '', 'text')})`;

/** Reads the listed tokens of one group in the order of their prices. A token that has several traits of the group is read once for each of them. */
function walkListed(db: Queryable, collectionId: string, query: PriceListQuery): Promise<Row[]> {
  const parameters = new Parameters();
  const { ids } = query.filter.rarest;
  const rowsMax = query.limit + query.except.length;
  const ofTrait = (id: string) =>
    `(select price_raw, asset from indexer.listed_trait
      where collection_id = ${parameters.use(collectionId, 'text')} and trait_id = ${id} and ${afterPrice(parameters, 'listed_trait', query)}
      order by price_raw, asset limit ${rowsMax})`;
  return db.query(
    `select ${ids.length > 1 ? 'distinct' : ''} price_raw, asset
     from (${ids.map((id) => ofTrait(parameters.use(id, 'integer'))).join(' union all ')}) as listed
     where asset <> all(${parameters.use(query.except, 'text[]')}) order by price_raw, asset limit ${query.limit}`,
    parameters.values,
  );
}

/** Finds the listed tokens that have all groups, and sorts them. The collection needs no condition, because a trait id belongs to one collection. */
function searchListed(db: Queryable, query: PriceListQuery): Promise<Row[]> {
  const parameters = new Parameters();
  return db.query(
    `select price_raw, asset from indexer.trait_listing as listed
     where ${hasGroups(parameters, 'listed', toGroups(query.filter))} and ${afterPrice(parameters, 'listed', query)}
       and asset <> all(${parameters.use(query.except, 'text[]')})
     order by price_raw, asset limit ${query.limit}`,
    parameters.values,
  );
}

export type ExpiredAsset = { asset: AssetId; traitIds: number[] };

const decodeExpired = rowDecoder('trait_listing', { asset: assetId, traitIds: column('trait_ids', list(integer)) });

/** At most `limit` assets whose listing has expired since the last sweep. The stored prices of these assets are out of date. */
export async function listExpiredAssets(
  db: Queryable,
  collectionId: string,
  { now, limit }: { now: number; limit: number },
): Promise<ExpiredAsset[]> {
  const rows = await db.query(
    `select asset, to_json(trait_ids) as trait_ids from indexer.trait_listing where collection_id = $1 and expires_at <= $2
     order by expires_at limit $3`,
    [collectionId, new Date(now), limit],
  );
  return rows.map(decodeExpired);
}
