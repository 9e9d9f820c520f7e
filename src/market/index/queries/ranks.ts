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
import type { Coverage } from '../../provenance/coverage.ts';
import { coverageList, coverageSql } from './coverage.ts';
import type { ShortWindow, WindowName, Windows } from '../../provenance/trade.ts';
import { SHORT_WINDOWS } from '../../provenance/trade.ts';
import { addPointsSql, pointFactSql } from './market-points.ts';

/** Floors in base units, volumes in native units, times in milliseconds. `point`: the last point of the history. */
export type RankFacts = {
  collectionId: string;
  /** Empty when the collection is on no chain. */
  chain: string;
  own: NonNullable<ListingFacts['own']>;
  mirror: NonNullable<ListingFacts['mirror']>;
  snapshotFloorRaw: bigint | null;
  snapshotVolume: number | null;
  salesComplete: boolean;
  analytics: ReportedFloor | null;
  stats: ReportedListings | null;
  /** Coverage of the subject `listings`. */
  coverage: readonly Coverage[];
  point: { at: number; floorRaw: bigint | null } | null;
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
  coverage: coverageList,
  pointAt: column('point_at', nullable(timestamp)),
  pointFloorRaw: column('point_floor_raw', nullable(amount)),
});
const decodeRecords = rowDecoder('collection_figures', {
  analyticsAt: column('analytics_at', nullable(timestamp)),
  analyticsFloorRaw: column('analytics_floor_raw', nullable(amount)),
  statsAt: column('stats_at', nullable(timestamp)),
  statsFloorRaw: column('stats_floor_raw', nullable(amount)),
  listedCount: column('listed_count', nullable(safeInteger)),
});

function decodeFacts(row: Row): RankFacts {
  const { analyticsAt, analyticsFloorRaw, statsAt, statsFloorRaw, listedCount } = decodeRecords(row);
  const { ownFloorRaw, ownListedAssets, ownKnown, mirrorFloorRaw, mirroredAssets, pointAt, pointFloorRaw, ...figures } =
    decodeFigures(row);
  return {
    ...figures,
    own: { ask: ownFloorRaw, assets: ownListedAssets, known: ownKnown },
    mirror: { ask: mirrorFloorRaw, assets: mirroredAssets, coverage: figures.coverage },
    point: pointAt === null ? null : { at: pointAt, floorRaw: pointFloorRaw },
    analytics: analyticsAt === null ? null : { at: analyticsAt, floorRaw: analyticsFloorRaw },
    stats: statsAt === null ? null : { at: statsAt, floorRaw: statsFloorRaw, listedCount },
  };
}

/** Collections without a collection record are left out. */
export async function listRankFacts(tx: Queryable, collectionIds: readonly string[]): Promise<RankFacts[]> {
  const rows = await tx.query(
    `select figures.collection_id, figures.chain, figures.own_floor_raw, figures.mirror_floor_raw,
       figures.snapshot_floor_raw, figures.snapshot_volume, figures.sales_complete, figures.own_listed_assets, figures.own_known, figures.listed_assets,
       figures.point_at, figures.point_floor_raw, analytics.at as analytics_at, analytics.floor_raw as analytics_floor_raw, stats.at as stats_at,
       stats.floor_raw as stats_floor_raw, stats.listed_count, ${coverageSql('figures.collection_id', ['listings'])} as coverage
     from unnest($1::text[]) as wanted (id)
     cross join lateral (
       select * from indexer.collection_figures where collection_id = wanted.id and recorded group by collection_id) as figures
     left join lateral (
       select * from indexer.collection_analytics as stored where stored.collection_id = figures.collection_id limit 1) as analytics on true
     left join lateral (
       select * from indexer.collection_stats as stored where stored.collection_id = figures.collection_id limit 1) as stats on true`,
    [collectionIds],
  );
  return rows.map(decodeFacts);
}

/**
 * Null for a figure that is unknown. `change`: the change of the floor. `listed`: the listed count. `validUntil`: when the keys must be computed
 * again even if nothing was written; null for never.
 */
export type Ranks = {
  floor: bigint | null;
  volume: Windows<number | null>;
  sales: Windows<number | null>;
  change: Record<ShortWindow, number | null>;
  listed: number | null;
  validUntil: number | null;
};

/**
 * Stores the keys. If the floor or the listed count of a collection on a chain has changed, a point is added to the history. A changed
 * floor is also recorded as a change of the market. A floor is recorded again if a reorganisation has deleted its point. `now` in
 * milliseconds. All expressions of the statement read the rows as they were before the statement.
 */
export async function updateRanks(
  tx: Queryable,
  ranks: readonly (Ranks & { collectionId: string })[],
  now: number,
): Promise<void> {
  if (ranks.length === 0) return;
  const names = DOUBLE_KEYS.map(({ name }) => name);
  await tx.query(
    `with current as (
       select *, nullif(floor, '${UNKNOWN}') as floor_raw
       from unnest($1::text[], $2::numeric[], $3::timestamptz[], $4::bigint[], ${names.map((_, index) => `$${index + 6}::float8[]`).join(', ')})
         as current (id, floor, valid_until, listed, ${names.join(', ')})
     ), changed as materialized (
       select collection_id, chain, greatest($5, point_at) as at, floor_raw, listed,
         floor_rank <> floor or point_floor_raw is distinct from floor_raw as is_floor
       from current join indexer.collection_figures as figures on figures.collection_id = current.id
       where chain <> '' and (floor_rank <> floor or (point_floor_raw, point_listed) is distinct from (floor_raw, listed))
     ), ${addPointsSql('changed')}, recorded_changes as (
       insert into indexer.market_change (kind, at, chain, collection_id, price_raw, fact)
       select 'floor', at, chain, collection_id, floor_raw, ${pointFactSql('key')} from changed join points using (collection_id) where is_floor
     )
     update indexer.collection_figures as figures set floor_rank = current.floor,
       ranks_valid_until = current.valid_until, point_at = coalesce(changed.at, figures.point_at),
       point_floor_raw = case when changed.at is null then figures.point_floor_raw else current.floor_raw end,
       point_listed = case when changed.at is null then figures.point_listed else current.listed end,
       ${names.map((name) => `${name} = current.${name}`).join(', ')}
     from current left join changed on changed.collection_id = current.id
     where figures.collection_id = current.id and (changed.at is not null
       or (figures.floor_rank, figures.ranks_valid_until, ${names.map((name) => `figures.${name}`).join(', ')})
         is distinct from (current.floor, current.valid_until, ${names.map((name) => `current.${name}`).join(', ')}))`,
    [
      ranks.map(({ collectionId }) => collectionId),
      ranks.map(({ floor }) => String(floor ?? UNKNOWN)),
      ranks.map(({ validUntil }) => (validUntil === null ? null : new Date(validUntil))),
      ranks.map(({ listed }) => listed),
      new Date(now),
      ...DOUBLE_KEYS.map(({ valueOf }) => ranks.map((one) => String(valueOf(one) ?? UNKNOWN))),
    ],
  );
}

const decodeCollectionId = rowDecoder('collection_figures', { collectionId: column('collection_id', text) });

/** At most `limit` collections whose ranking keys are not valid any more. */
export async function listDueRanks(db: Queryable, now: number, limit: number): Promise<string[]> {
  const rows = await db.query(
    `select collection_id from indexer.collection_figures where ranks_valid_until <= $1
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

/** The columns of double precision with ranking keys. */
const DOUBLE_KEYS: readonly { name: string; valueOf: (ranks: Ranks) => number | null }[] = [
  { name: 'volume_rank', valueOf: ({ volume }) => volume.allTime },
  { name: 'sales_rank', valueOf: ({ sales }) => sales.allTime },
  { name: 'listed_rank', valueOf: ({ listed }) => listed },
  ...SHORT_WINDOWS.flatMap((window) => [
    { name: `volume_${COLUMN_OF_WINDOW[window]}_rank`, valueOf: ({ volume }: Ranks) => volume[window] },
    { name: `sales_${COLUMN_OF_WINDOW[window]}_rank`, valueOf: ({ sales }: Ranks) => sales[window] },
    { name: `change_${COLUMN_OF_WINDOW[window]}_rank`, valueOf: ({ change }: Ranks) => change[window] },
  ]),
];

const PLACE = { id: column('collection_id', text), chain: text, launched: boolean };
const decodeDouble = rowDecoder('collection_figures', { ...PLACE, value: column('key', doubleKey) });
const decodeNumeric = rowDecoder('collection_figures', { ...PLACE, value: column('key', numericKey) });
const decodeTime = rowDecoder('collection_figures', { ...PLACE, value: column('key', timestamp) });

export const RANK_SORTS = ['volume', 'sales', 'floor', 'change', 'listed', 'recent'] as const;
export type Sort = (typeof RANK_SORTS)[number];
/** `window`: of `volume`, `sales` and `change`. */
export type Ranking = { sort: Sort; window: WindowName };

/** The column that a ranking orders by, its type, and the decoder of its values. */
function keyOf({ sort, window }: Ranking): { name: string; type: string; decode: (row: Row) => RankKey } {
  if (sort === 'floor') return { name: 'floor_rank', type: 'numeric', decode: decodeNumeric };
  if (sort === 'recent') return { name: 'created_at', type: 'timestamptz', decode: decodeTime };
  const isWhole = sort === 'listed' || window === 'allTime';
  const name = isWhole ? `${sort}_rank` : `${sort}_${COLUMN_OF_WINDOW[window]}_rank`;
  return { name, type: 'float8', decode: decodeDouble };
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

/**
 * The collections within the bounds, chain by chain, each chain in the order of the ranking. Of each chain at least the first `limit`
 * collections are returned, or all if there are fewer. `after` is the position that the bounds were made for.
 */
export async function listRanked(
  db: Queryable,
  ranking: Ranking & { isAscending: boolean },
  { from, after, limit }: { from: readonly ChainBounds[]; after: { launched: boolean; id: string }; limit: number },
): Promise<RankKey[]> {
  const { sort, window, isAscending } = ranking;
  const { name, type, decode } = keyOf(ranking);
  const order = isAscending
    ? `found.key = '-infinity', found.key, case when found.key = '-infinity' then found.collection_id end collate "C",
       found.collection_id collate "C" desc`
    : `found.key desc, found.collection_id collate "C"`;
  const rows = await db.query(
    `select found.* from unnest($1::text[], $2::${type}[], $3::${type}[], $4::numeric[], $5::numeric[], $6::float8[], $7::float8[])
       with ordinality as start (chain, equal, bound, floor_min, floor_max, volume_min, volume_max, number)
     cross join lateral indexer.ranked_by_${name}(start.chain, start.equal, start.bound, $8, $9, $10, $11,
       array[floor_min, floor_max], array[volume_min, volume_max], $12) as found
     order by number, found.launched desc, ${order}`,
    [
      from.map(({ chain }) => chain),
      from.map(({ equal }) => (equal === null ? null : toKeyText(sort, equal.key))),
      from.map(({ bound }) => toKeyText(sort, bound)),
      ...toRangeTexts(from.map(({ floor = null }) => floor)),
      ...toRangeTexts(from.map(({ volume = null }) => volume)),
      after.launched,
      after.id,
      limit,
      isAscending,
      WINDOW_TEXT[window],
    ],
  );
  return rows.map((row) => decode(row));
}

/** The names of the windows in the functions of the schema. */
const WINDOW_TEXT: Record<WindowName, string> = {
  allTime: 'all',
  thirtyDay: '30d',
  sevenDay: '7d',
  twentyFourHour: '24h',
  oneHour: '1h',
};

/** The lower ends and the upper ends. */
function toRangeTexts(ranges: readonly (Range<number | bigint> | null)[]): [string[], string[]] {
  return [
    ranges.map((range) => (range ? String(range.min ?? 0) : '-Infinity')),
    ranges.map((range) => String(range?.max ?? 'Infinity')),
  ];
}

function toKeyText(sort: Sort, key: number | bigint | null): string {
  if (key === null) return UNKNOWN;
  return sort === 'recent' && Number.isFinite(key) ? new Date(Number(key)).toISOString() : String(key);
}
