// Reads the facts from which market/index/ranks.ts computes the ranking keys of collections, stores these keys, and lists the collections in the
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
import type { VolumeFacts, VolumeRecord } from '../../provenance/trade.ts';
import { coverageList, coverageSql } from './coverage.ts';
import { addPointsSql, pointFactSql } from './market-points.ts';

/** Floors in base units, volumes in native units, times in milliseconds. */
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
       analytics.at as analytics_at,
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

/**
 * Null for a key that is unknown. `listed`: the listed count. `validUntil`: when the keys must be computed again even if nothing was
 * written; null for never.
 */
export type Ranks = { volume: number | null; floor: bigint | null; listed: number | null; validUntil: number | null };

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
  await tx.query(
    `with current as (
       select id, volume, floor, nullif(floor, '${UNKNOWN}') as floor_raw, valid_until, listed
       from unnest($1::text[], $2::float8[], $3::numeric[], $4::timestamptz[], $5::bigint[])
         as current (id, volume, floor, valid_until, listed)
     ), changed as materialized (
       select collection_id, chain, greatest($6, point_at) as at, floor_raw, listed,
         floor_rank <> floor or point_floor_raw is distinct from floor_raw as is_floor
       from current join indexer.collection_figures as figures on figures.collection_id = current.id
       where chain <> '' and (floor_rank <> floor or (point_floor_raw, point_listed) is distinct from (floor_raw, listed))
     ), ${addPointsSql('changed')}, recorded_changes as (
       insert into indexer.market_change (kind, at, chain, collection_id, price_raw, fact)
       select 'floor', at, chain, collection_id, floor_raw, ${pointFactSql('key')} from changed join points using (collection_id) where is_floor
     )
     update indexer.collection_figures as figures set volume_rank = current.volume, floor_rank = current.floor,
       ranks_valid_until = current.valid_until, point_at = coalesce(changed.at, figures.point_at),
       point_floor_raw = case when changed.at is null then figures.point_floor_raw else current.floor_raw end,
       point_listed = case when changed.at is null then figures.point_listed else current.listed end
     from current left join changed on changed.collection_id = current.id
     where figures.collection_id = current.id and (changed.at is not null
       or (figures.volume_rank, figures.floor_rank, figures.ranks_valid_until)
         is distinct from (current.volume, current.floor, current.valid_until))`,
    [
      ranks.map(({ collectionId }) => collectionId),
      ranks.map(({ volume }) => String(volume ?? UNKNOWN)),
      ranks.map(({ floor }) => String(floor ?? UNKNOWN)),
      ranks.map(({ validUntil }) => (validUntil === null ? null : new Date(validUntil))),
      ranks.map(({ listed }) => listed),
      new Date(now),
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

const PLACE = { id: column('collection_id', text), chain: text, launched: boolean };
/** The column that each sort orders by, its type, and the decoder of its values. */
const KEYS = {
  volume: {
    name: 'volume_rank',
    type: 'float8',
    decode: rowDecoder('collection_figures', { ...PLACE, value: column('key', doubleKey) }),
  },
  floor: {
    name: 'floor_rank',
    type: 'numeric',
    decode: rowDecoder('collection_figures', { ...PLACE, value: column('key', numericKey) }),
  },
  recent: {
    name: 'created_at',
    type: 'timestamptz',
    decode: rowDecoder('collection_figures', { ...PLACE, value: column('key', timestamp) }),
  },
} as const;

export type Sort = keyof typeof KEYS;

/**
 * The position of a collection in a ranking. `value` is its ranking key: base units of its chain for `floor`, native units for `volume`,
 * milliseconds for `recent`. Null when unknown.
 */
export type RankKey = { launched: boolean; chain: string; value: number | bigint | null; id: string };

/**
 * Selects the collections of one chain that come after a position and have the same `launched` as the position. A collection comes after
 * the position if its ranking key is less than `below`, or if the key is `equal.key` and its id sorts after the id of the position. A null
 * key or a null `below` is the unknown key, which is less than all others. The position may be on
 * another chain, whose keys have another unit. `equal` is null when the key of the position cannot be expressed exactly in the unit of this
 * chain.
 */
export type ChainBounds = {
  chain: string;
  equal: { key: number | bigint | null } | null;
  below: number | bigint | null;
};

/**
 * The collections within the bounds, chain by chain, each chain in the order of the sort. Of each chain at least the first `limit`
 * collections are returned, or all if there are fewer. `after` is the position that the bounds were made for.
 */
export async function listRanked(
  db: Queryable,
  sort: Sort,
  { from, after, limit }: { from: readonly ChainBounds[]; after: { launched: boolean; id: string }; limit: number },
): Promise<RankKey[]> {
  const { name, type, decode } = KEYS[sort];
  const rows = await db.query(
    `select found.* from unnest($1::text[], $2::${type}[], $3::${type}[]) with ordinality as start (chain, equal, below, number)
     cross join lateral indexer.ranked_by_${name}(start.chain, start.equal, start.below, $4, $5, $6) as found
     order by number, found.launched desc, found.key desc, found.collection_id collate "C"`,
    [
      from.map(({ chain }) => chain),
      from.map(({ equal }) => (equal === null ? null : toKeyText(sort, equal.key))),
      from.map(({ below }) => toKeyText(sort, below)),
      after.launched,
      after.id,
      limit,
    ],
  );
  return rows.map((row) => decode(row));
}

function toKeyText(sort: Sort, key: number | bigint | null): string {
  if (key === null) return UNKNOWN;
  return sort === 'recent' && Number.isFinite(key) ? new Date(Number(key)).toISOString() : String(key);
}
