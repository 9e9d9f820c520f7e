// Reads facts from which market/index/ranks.ts computes the ranking keys of collections, stores these keys, and lists the collections in the
// order of a key. Indexer database.

import type { Queryable, Row } from '../../../platform/database/port.ts';
import type { Decoder } from '../../../platform/database/rows.ts';
import {
  amount,
  boolean,
  column,
  double,
  nullable,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import type { ListingFacts, ReportedFloor, ReportedListings } from '../listing-figures.ts';
import { coverageList, coverageSql } from './coverage.ts';
import type { ShortWindow, VolumeFacts, VolumeRecord, WindowName, Windows } from '../../provenance/trade.ts';
import { SHORT_WINDOWS } from '../../provenance/trade.ts';
import { addPointsSql, pointFactSql } from './market-points.ts';

/** Floors in base units, volumes in native units, times in milliseconds. `pointAt`: the time of the last point of the history. */
export type RankFacts = VolumeFacts & {
  collectionId: string;
  /** Empty when the collection is on no chain. */
  chain: string;
  own: NonNullable<ListingFacts['own']>;
  mirror: NonNullable<ListingFacts['mirror']>;
  snapshotFloorRaw: bigint | null;
  snapshotVolume: number | null;
  salesComplete: boolean;
  analytics: (ReportedFloor & VolumeRecord) | null;
  stats: ReportedListings | null;
  pointAt: number | null;
};

const decodeFigures = rowDecoder('collection_figures', {
  collectionId: column('collection_id', text),
  chain: text,
  ownFloorRaw: column('own_floor_raw', nullable(amount)),
  mirrorFloorRaw: column('mirror_floor_raw', nullable(amount)),
  snapshotFloorRaw: column('snapshot_floor_raw', nullable(amount)),
  snapshotVolume: column('snapshot_volume', nullable(double)),
  salesComplete: column('sales_complete', boolean),
  ownListedAssets: column('own_listed_assets', safeInteger),
  ownKnown: column('own_known', boolean),
  mirroredAssets: column('listed_assets', safeInteger),
  volumeRaw: column('volume_raw', amount),
  sales: safeInteger,
  unread: safeInteger,
  coverage: coverageList,
  pointAt: column('point_at', nullable(timestamp)),
});
const decodeRecords = rowDecoder('collection_figures', {
  analyticsAt: column('analytics_at', nullable(timestamp)),
  analyticsFloorRaw: column('analytics_floor_raw', nullable(amount)),
  allTime: column('volume_all_time', nullable(double)),
  sevenDay: column('volume_seven_day', nullable(double)),
  twentyFourHour: column('volume_day', nullable(double)),
  salesAllTime: column('sales_all_time', nullable(safeInteger)),
  statsAt: column('stats_at', nullable(timestamp)),
  statsFloorRaw: column('stats_floor_raw', nullable(amount)),
  listedCount: column('listed_count', nullable(safeInteger)),
});

function decodeFacts(row: Row): RankFacts {
  const { analyticsAt, analyticsFloorRaw, salesAllTime, statsAt, statsFloorRaw, listedCount, ...volume } =
    decodeRecords(row);
  const analytics =
    analyticsAt === null ? null : { at: analyticsAt, floorRaw: analyticsFloorRaw, volume, salesAllTime };
  const { ownFloorRaw, ownListedAssets, ownKnown, mirrorFloorRaw, mirroredAssets, ...figures } = decodeFigures(row);
  return {
    ...figures,
    own: { ask: ownFloorRaw, assets: ownListedAssets, known: ownKnown },
    mirror: { ask: mirrorFloorRaw, assets: mirroredAssets, coverage: figures.coverage },
    record: analytics,
    analytics,
    stats: statsAt === null ? null : { at: statsAt, floorRaw: statsFloorRaw, listedCount },
  };
}

/** Collections without a collection record are left out. */
export async function listRankFacts(tx: Queryable, collectionIds: readonly string[]): Promise<RankFacts[]> {
  const rows = await tx.query(
    `select figures.collection_id, figures.chain, figures.own_floor_raw, figures.mirror_floor_raw,
       figures.snapshot_floor_raw, figures.snapshot_volume, figures.sales_complete, figures.own_listed_assets, figures.own_known, figures.listed_assets,
       figures.point_at, analytics.at as analytics_at,
       analytics.floor_raw as analytics_floor_raw, analytics.volume_all_time, analytics.volume_seven_day,
       analytics.volume_day, analytics.sales_all_time, stats.at as stats_at, stats.floor_raw as stats_floor_raw, stats.listed_count,
       coalesce(total.volume_raw, 0) as volume_raw, coalesce(total.sales, 0) as sales, coalesce(total.unread, 0) as unread,
       ${coverageSql('figures.collection_id', ['listings', 'sales'])} as coverage
     from unnest($1::text[]) as wanted (id)
     cross join lateral (
       select * from indexer.collection_figures where collection_id = wanted.id and recorded group by collection_id) as figures
     left join lateral (
       select * from indexer.collection_analytics as stored where stored.collection_id = figures.collection_id limit 1) as analytics on true
     left join lateral (
       select * from indexer.collection_stats as stored where stored.collection_id = figures.collection_id limit 1) as stats on true
     left join lateral (
       select * from indexer.sale_total as stored where stored.collection_id = figures.collection_id limit 1) as total on true`,
    [collectionIds],
  );
  return rows.map(decodeFacts);
}

/** Null for a figure that is unknown. `listed`: the listed count. */
export type Ranks = { volume: number | null; floor: bigint | null; listed: number | null };

/**
 * Stores the keys, and makes the keys of windows due. If the floor, the listed count or the top bid of a collection on a chain has changed, a point is added to
 * the history. A changed floor is also recorded as a change of the market. A floor is recorded again if a reorganisation has deleted its point. `now`
 * in milliseconds. All expressions of the statement read the rows as they were before the statement.
 */
export async function updateRanks(
  tx: Queryable,
  ranks: readonly (Ranks & { collectionId: string })[],
  now: number,
): Promise<void> {
  if (ranks.length === 0) return;
  await tx.query(
    `with current as (
       select id, volume, floor, nullif(floor, '${UNKNOWN}') as floor_raw, listed
       from unnest($1::text[], $2::float8[], $3::numeric[], $4::bigint[]) as current (id, volume, floor, listed)
     ), changed as materialized (
       select collection_id, chain, greatest($5, point_at) as at, floor_raw, listed, top_bid_raw,
         floor_rank <> floor or point_floor_raw is distinct from floor_raw as is_floor
       from current join indexer.collection_figures as figures on figures.collection_id = current.id
       where chain <> '' and (floor_rank <> floor or (point_floor_raw, point_listed, point_top_bid_raw) is distinct from (floor_raw, listed, top_bid_raw))
     ), ${addPointsSql('changed')}, recorded_changes as (
       insert into indexer.market_change (kind, at, chain, collection_id, price_raw, fact)
       select 'floor', at, chain, collection_id, floor_raw, ${pointFactSql('key')} from changed join points using (collection_id) where is_floor
     )
     update indexer.collection_figures as figures set volume_rank = current.volume, floor_rank = current.floor,
       ranks_valid_until = least(figures.ranks_valid_until, $5), point_at = coalesce(changed.at, figures.point_at),
       point_floor_raw = case when changed.at is null then figures.point_floor_raw else current.floor_raw end,
       point_listed = case when changed.at is null then figures.point_listed else current.listed end,
       point_top_bid_raw = case when changed.at is null then figures.point_top_bid_raw else figures.top_bid_raw end
     from current left join changed on changed.collection_id = current.id
     where figures.collection_id = current.id and (changed.at is not null or (figures.ranks_valid_until <= $5) is not true
       or (figures.volume_rank, figures.floor_rank) is distinct from (current.volume, current.floor))`,
    [
      ranks.map(({ collectionId }) => collectionId),
      ranks.map(({ volume }) => String(volume ?? UNKNOWN)),
      ranks.map(({ floor }) => String(floor ?? UNKNOWN)),
      ranks.map(({ listed }) => listed),
      new Date(now),
    ],
  );
}

/**
 * The keys that depend on the time. Null for a figure that is unknown. `change`: the change of the floor. `validUntil`: when all keys of the collection
 * must be computed again even if nothing was written; null for never.
 */
export type WindowRanks = {
  volume: Windows<number | null>;
  sales: Windows<number | null>;
  change: Record<ShortWindow, number | null>;
  validUntil: number | null;
};

export async function updateWindowRanks(
  tx: Queryable,
  ranks: readonly (WindowRanks & { collectionId: string })[],
): Promise<void> {
  if (ranks.length === 0) return;
  const names = WINDOW_KEYS.map(({ name }) => name);
  await tx.query(
    `update indexer.collection_figures as figures set ranks_valid_until = current.valid_until, ${names.map((name) => `${name} = current.${name}`).join(', ')}
     from unnest($1::text[], $2::timestamptz[], ${names.map((_, index) => `$${index + 3}::float8[]`).join(', ')})
       as current (id, valid_until, ${names.join(', ')})
     where figures.collection_id = current.id`,
    [
      ranks.map(({ collectionId }) => collectionId),
      ranks.map(({ validUntil }) => (validUntil === null ? null : new Date(validUntil))),
      ...WINDOW_KEYS.map(({ valueOf }) => ranks.map((one) => String(valueOf(one) ?? UNKNOWN))),
    ],
  );
}

const decodeCollectionId = rowDecoder('collection_figures', { collectionId: column('collection_id', text) });

/** At most `limit` collections with a record whose ranking keys are not valid any more. */
export async function listDueRanks(db: Queryable, now: number, limit: number): Promise<string[]> {
  const rows = await db.query(
    `select collection_id from indexer.collection_figures where recorded and ranks_valid_until <= $1
     order by ranks_valid_until limit $2`,
    [new Date(now), limit],
  );
  return rows.map((row) => decodeCollectionId(row).collectionId);
}

const decodeChain = rowDecoder('collection_figures', { chain: text });

/** The chains of the collections that have a record, sorted. The empty text stands for no chain. */
export async function listRankedChains(db: Queryable): Promise<string[]> {
  const rows = await db.query(`select chain from indexer.ranked_chains() as chain order by chain collate "C"`);
  return rows.map((row) => decodeChain(row).chain);
}

/** The stored form of an unknown key. Rankings are in descending order, so it comes after all others. */
const UNKNOWN = '-Infinity';

const numericKey: Decoder<bigint | null> = {
  expected: 'integer or -Infinity',
  decode: (value) => (value === UNKNOWN ? null : amount.decode(value)),
};
const doubleKey: Decoder<number | null> = {
  expected: 'number',
  decode: (value) => (value === Number.NEGATIVE_INFINITY ? null : double.decode(value)),
};

/** How the names of the columns name a window. */
const COLUMN_OF_WINDOW: Record<ShortWindow, string> = {
  oneHour: 'hour',
  twentyFourHour: 'day',
  sevenDay: 'week',
  thirtyDay: 'month',
};

/** The columns with the keys of windows, and with the number of all sales. */
const WINDOW_KEYS: readonly { name: string; valueOf: (ranks: WindowRanks) => number | null }[] = [
  { name: 'sales_rank', valueOf: ({ sales }) => sales.allTime },
  ...SHORT_WINDOWS.flatMap((window) => [
    { name: `volume_${COLUMN_OF_WINDOW[window]}_rank`, valueOf: ({ volume }: WindowRanks) => volume[window] },
    { name: `sales_${COLUMN_OF_WINDOW[window]}_rank`, valueOf: ({ sales }: WindowRanks) => sales[window] },
    { name: `change_${COLUMN_OF_WINDOW[window]}_rank`, valueOf: ({ change }: WindowRanks) => change[window] },
  ]),
];

const PLACE = { id: column('collection_id', text), chain: text, launched: boolean };
const decodeDouble = rowDecoder('collection_figures', { ...PLACE, value: column('key', doubleKey) });
const decodeNumeric = rowDecoder('collection_figures', { ...PLACE, value: column('key', numericKey) });
const decodeTime = rowDecoder('collection_figures', { ...PLACE, value: column('key', timestamp) });

export const RANK_SORTS = ['volume', 'sales', 'floor', 'change', 'listed', 'recent'] as const;
export type Sort = (typeof RANK_SORTS)[number];
/** `window`: of `volume`, `sales` and `change`, and of the range of volumes. */
export type Ranking = { sort: Sort; window: WindowName; isAscending: boolean };

type Key = { sql: string; type: string; decode: (row: Row) => RankKey };

/** The SQL of the key that a ranking orders by, its type, and the decoder of its values. */
function keyOf({ sort, window }: Pick<Ranking, 'sort' | 'window'>): Key {
  if (sort === 'floor') return { sql: 'floor_rank', type: 'numeric', decode: decodeNumeric };
  if (sort === 'recent') return { sql: 'created_at', type: 'timestamptz', decode: decodeTime };
  if (sort === 'listed')
    return { sql: `coalesce(point_listed, '${UNKNOWN}'::float8)`, type: 'float8', decode: decodeDouble };
  const sql = window === 'allTime' ? `${sort}_rank` : `${sort}_${COLUMN_OF_WINDOW[window]}_rank`;
  return { sql, type: 'float8', decode: decodeDouble };
}

/**
 * The position of a collection in a ranking. `value` is its ranking key: base units of its chain for `floor`, native units for `volume`, a number
 * of sales or listed assets, a ratio for `change`, milliseconds for `recent`. Null when unknown.
 */
export type RankKey = { launched: boolean; chain: string; value: number | bigint | null; id: string };

/** The least and the greatest value, both included. Without a range, unknown values are included too. */
export type Range<T> = { min: T | null; max: T | null };

/**
 * Selects the collections of one chain that come after a position and have the same `launched` as the position. In a descending ranking, a
 * collection comes after the position if its ranking key is less than `bound`, or if the key is `equal.key` and its id sorts after the id of the
 * position. In an ascending ranking, its known key is greater than `bound`, or equal with an id that sorts before that of the position. A null key
 * or a null `bound` is the unknown key, which is less than all others, and comes last in both directions. The position may be on another chain,
 * whose keys have another unit. `equal` is null when the key of the position cannot be expressed exactly in the unit of this chain. `floor` is in
 * base units, and `volume` in native units.
 */
export type ChainBounds = {
  chain: string;
  equal: { key: number | bigint | null } | null;
  bound: number | bigint | null;
  floor?: Range<bigint> | null;
  volume?: Range<number> | null;
};

type RankStart = { from: readonly ChainBounds[]; after: { launched: boolean; id: string }; limit: number };

/**
 * The collections within the bounds, chain by chain, each chain in the order of the ranking. Of each chain at least the first `limit`
 * collections are returned, or all if there are fewer. `after` is the position that the bounds were made for.
 *
 * For the rankings of `/v1`, an index has the collections of each chain in their order. For all other rankings, the rows of all collections of the
 * chains are read and sorted.
 */
export async function listRanked(db: Queryable, ranking: Ranking, start: RankStart): Promise<RankKey[]> {
  const { sort, window, isAscending } = ranking;
  if (start.from.length === 0) return [];
  const isIndexed =
    !isAscending &&
    (sort === 'floor' || sort === 'recent' || (sort === 'volume' && window === 'allTime')) &&
    start.from.every(({ floor = null, volume = null }) => floor === null && volume === null);
  const key = keyOf(ranking);
  const { sql, params } = isIndexed ? toIndexedRead(key, ranking, start) : toSortedRead(key, ranking, start);
  return (await db.query(sql, params)).map((row) => key.decode(row));
}

type Read = { sql: string; params: unknown[] };

function toIndexedRead({ sql: name, type }: Key, ranking: Ranking, { from, after, limit }: RankStart): Read {
  return {
    sql: `select found.* from unnest($1::text[], $2::${type}[], $3::${type}[]) with ordinality as start (chain, equal, bound, number)
     cross join lateral indexer.ranked_by_${name}(start.chain, start.equal, start.bound, $4, $5, $6) as found
     order by number, ${orderSql(ranking, 'key')}`,
    params: [
      from.map(({ chain }) => chain),
      from.map(({ equal }) => (equal === null ? null : toKeyText(ranking.sort, equal.key))),
      from.map(({ bound }) => toKeyText(ranking.sort, bound)),
      after.launched,
      after.id,
      limit,
    ],
  };
}

/** Each chain is read by a query of its own, so that a Citus cluster can run it on all nodes. */
function toSortedRead({ sql: key, type }: Key, ranking: Ranking, { from, after, limit }: RankStart): Read {
  const { sort, window, isAscending } = ranking;
  const params: unknown[] = [];
  const param = (value: unknown, ofType: string) => `$${params.push(value)}::${ofType}`;
  const [launched, id, most] = [param(after.launched, 'boolean'), param(after.id, 'text'), param(limit, 'integer')];
  const withinSql = (column: string, ofType: string, range: Range<number | bigint> | null) =>
    range === null
      ? ''
      : `and ${column} between ${param(String(range.min ?? 0), ofType)} and ${param(String(range.max ?? 'Infinity'), ofType)}`;
  const parts = from.map(({ chain, equal, bound, floor = null, volume = null }, number) => {
    const compared = (sign: string, to: number | bigint | null) => `${key} ${sign} ${param(toKeyText(sort, to), type)}`;
    const isEqual = equal === null ? 'false' : compared('=', equal.key);
    const isAfter = !isAscending
      ? `${compared('<', bound)} or ${isEqual} and collection_id > ${id}`
      : equal?.key === null
        ? `${isEqual} and collection_id > ${id}`
        : `${key} = '${UNKNOWN}' or ${compared('>', bound)} or ${isEqual} and collection_id < ${id}`;
    return `(select ${number} as number, collection_id, chain, launched, ${key} as key from indexer.collection_figures
       where recorded and chain = ${param(chain, 'text')} and (launched < ${launched} or launched = ${launched} and (${isAfter}))
         ${withinSql('floor_rank', 'numeric', floor)} ${withinSql(keyOf({ sort: 'volume', window }).sql, 'float8', volume)}
       order by ${orderSql(ranking, key)} limit ${most})`;
  });
  return {
    sql: `select collection_id, chain, launched, key from (${parts.join(' union all ')}) as found order by number, ${orderSql(ranking, 'key')}`,
    params,
  };
}

function orderSql({ isAscending }: Ranking, key: string): string {
  if (!isAscending) return `launched desc, ${key} desc, collection_id collate "C"`;
  const isUnknown = `${key} = '${UNKNOWN}'`;
  return `launched desc, ${isUnknown}, ${key}, case when ${isUnknown} then collection_id end collate "C", collection_id collate "C" desc`;
}

function toKeyText(sort: Sort, key: number | bigint | null): string {
  if (key === null) return UNKNOWN;
  return sort === 'recent' && Number.isFinite(key) ? new Date(Number(key)).toISOString() : String(key);
}
