// The two stats sources of a collection, each told by its newest record and otherwise computed from the rows. Indexer
// database. Unknown is null, never zero.

import { isDeepStrictEqual } from 'node:util';
import type { Queryable, Row } from '../../database/port.ts';
import { TRADED } from './sales.ts';
import type { UpsertCounts } from '../../database/upsert.ts';
import { columnsOf, toTimestamp, upsertRows } from '../../database/upsert.ts';

const DAY_MS = 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;

/** The collection-stats source. `listedCount` is null when no record tells it: it is then counted over both books. */
export type CollectionStats = {
  owners: number | null;
  supply: number | null;
  listedCount: number | null;
  floorRaw: bigint | null;
};

/** Stats of a collection: the record's members, else what the token rows say. */
export async function findCollectionStats(db: Queryable, collectionId: string): Promise<CollectionStats> {
  const [row] = await db.query(
    `select (select count(*) from indexer.token where collection_id = $1 and not burned) as tokens,
       (select count(distinct owner) from indexer.token where collection_id = $1) as holders,
       stats.* from (values (1)) as one (one)
     left join indexer.collection_stats as stats on stats.collection_id = $1`,
    [collectionId],
  );
  return row ? toCollectionStats(row) : { owners: null, supply: null, listedCount: null, floorRaw: null };
}

/** Supply and owners of each of the given collections. */
export async function listCollectionStats(
  db: Queryable,
  collectionIds: readonly string[],
): Promise<Map<string, CollectionStats>> {
  const rows = await db.query(
    `select wanted.id, counted.tokens, counted.holders, stats.owners, stats.supply, stats.listed_count, stats.floor_raw
     from unnest($1::text[]) as wanted (id)
     left join indexer.collection_stats as stats on stats.collection_id = wanted.id
     cross join lateral (
       select count(*) as tokens, count(distinct owner) as holders from indexer.token where collection_id = wanted.id and not burned
     ) as counted`,
    [collectionIds],
  );
  return new Map(rows.map((row) => [row['id'] as string, toCollectionStats(row)]));
}

/** Numbers of one window of time, or of all time. */
export type Windows<T> = { allTime: T; sevenDay: T; twentyFourHour: T };

/**
 * The analytics source. Volumes are told by a record in native units, or summed from the sales in base units: one of
 * `recordedVolume` and `summedVolumeRaw` is set, or neither is known.
 */
export type CollectionAnalytics = {
  floorRaw: bigint | null;
  recordedVolume: Windows<number | null> | null;
  summedVolumeRaw: Windows<bigint> | null;
  sales: Windows<number | null>;
};

/** Analytics of a collection at `now`: a record's volumes and counts as they were told, else sums of the stored sales. */
export async function findCollectionAnalytics(
  db: Queryable,
  collectionId: string,
  now: number,
): Promise<CollectionAnalytics> {
  const [row] = await db.query(
    `select record.*, total.volume_raw as sum_all, total.sales as count_all,
       week.volume_raw as sum_week, week.sales as count_week, day.volume_raw as sum_day, day.sales as count_day
     from (values (1)) as one (one)
     left join indexer.collection_analytics as record on record.collection_id = $1
     left join indexer.sale_total as total on total.collection_id = $1
     cross join lateral (${windowSql('$2', '$3')}) as week
     cross join lateral (${windowSql('$4', '$5')}) as day`,
    [collectionId, ...windowBounds(now - 7 * DAY_MS), ...windowBounds(now - DAY_MS)],
  );
  return toCollectionAnalytics(row ?? {});
}

/** The start of a window, and the first full hour within it: the sales between the two are its live edge. */
function windowBounds(start: number): [Date, Date] {
  return [new Date(start), new Date(Math.ceil(start / HOUR_MS) * HOUR_MS)];
}

/** Full hours from their buckets, and the sales of the part hour at the window's old end one by one. */
function windowSql(start: string, firstHour: string): string {
  return `select coalesce(sum(volume_raw), 0) as volume_raw, coalesce(sum(sales), 0)::bigint as sales from (
    select volume_raw, sales from indexer.sale_hour where collection_id = $1 and hour >= ${firstHour}
    union all
    select sum(price_raw), count(*) from indexer.sale
    where collection_id = $1 and sold_at >= ${start} and sold_at < ${firstHour} and ${TRADED}
  ) as parts`;
}

/** All-time volume of a collection: as a record tells it, or the sum of its sales. */
export type CollectionVolume = { collectionId: string; recorded: number | null; summedRaw: bigint | null };

/** All-time volumes: of all collections that have any, or of the given ones. */
export async function listCollectionVolumes(
  db: Queryable,
  collectionIds: readonly string[] | null,
): Promise<CollectionVolume[]> {
  const rows = await db.query(
    `select coalesce(record.collection_id, total.collection_id) as id, record.volume_all_time,
       record.volume_all_time is not null or record.volume_seven_day is not null or record.volume_day is not null
         as recorded, total.volume_raw
     from indexer.collection_analytics as record
     full join indexer.sale_total as total on total.collection_id = record.collection_id
     where $1::text[] is null or coalesce(record.collection_id, total.collection_id) = any($1)`,
    [collectionIds],
  );
  return rows.map((row) => ({
    collectionId: row['id'] as string,
    recorded: row['volume_all_time'] as number | null,
    summedRaw: row['recorded'] || row['volume_raw'] === null ? null : BigInt(row['volume_raw'] as string),
  }));
}

/** The floors that analytics records tell, by collection. */
export function listAnalyticsFloors(db: Queryable, collectionIds: readonly string[]): Promise<Map<string, bigint>> {
  return listFloors(db, 'collection_analytics', collectionIds);
}

/** The floors that collection-stats records tell, by collection. */
export function listStatsFloors(db: Queryable, collectionIds: readonly string[]): Promise<Map<string, bigint>> {
  return listFloors(db, 'collection_stats', collectionIds);
}

async function listFloors(
  db: Queryable,
  table: 'collection_analytics' | 'collection_stats',
  collectionIds: readonly string[],
): Promise<Map<string, bigint>> {
  const rows = await db.query<{ collection_id: string; floor_raw: string }>(
    `select collection_id, floor_raw from indexer.${table} where collection_id = any($1) and floor_raw is not null`,
    [collectionIds],
  );
  return new Map(rows.map((row) => [row.collection_id, BigInt(row.floor_raw)]));
}

/** When a record was observed. `atTold` is false where the record did not say and `at` is the time it came in. */
type Observed = { collectionId: string; at: number; atTold: boolean };

/** A record of the collection-stats source. */
export type NewStats = Observed & {
  owners: number | null;
  listedCount: number | null;
  supply: number | null;
  floorRaw: bigint | null;
};

/** A record of the analytics source. Volumes in native units. */
export type NewAnalytics = Observed & {
  floorRaw: bigint | null;
  volume: Windows<number | null>;
  sales: Windows<number | null>;
};

export function upsertStats(tx: Queryable, stats: readonly NewStats[]): Promise<UpsertCounts> {
  return upsertNewest(tx, stats, {
    table: 'collection_stats',
    columns: { owners: 'bigint', listed_count: 'bigint', supply: 'bigint', floor_raw: 'numeric' },
    toColumns: (row) => ({
      owners: row.owners,
      listed_count: row.listedCount,
      supply: row.supply,
      floor_raw: row.floorRaw?.toString(),
    }),
  });
}

export function upsertAnalytics(tx: Queryable, analytics: readonly NewAnalytics[]): Promise<UpsertCounts> {
  return upsertNewest(tx, analytics, {
    table: 'collection_analytics',
    columns: {
      floor_raw: 'numeric',
      volume_all_time: 'double precision',
      volume_seven_day: 'double precision',
      volume_day: 'double precision',
      sales_all_time: 'bigint',
      sales_seven_day: 'bigint',
      sales_day: 'bigint',
    },
    toColumns: (row) => ({
      floor_raw: row.floorRaw?.toString(),
      volume_all_time: row.volume.allTime,
      volume_seven_day: row.volume.sevenDay,
      volume_day: row.volume.twentyFourHour,
      sales_all_time: row.sales.allTime,
      sales_seven_day: row.sales.sevenDay,
      sales_day: row.sales.twentyFourHour,
    }),
  });
}

/**
 * The newest record of a collection replaces the one before, whole; of two of one time the one told last. A record that
 * does not say its time and tells nothing new changes nothing, so that landing it again does not either.
 */
function upsertNewest<R extends Observed>(
  tx: Queryable,
  rows: readonly R[],
  {
    table,
    columns,
    toColumns,
  }: {
    table: 'collection_stats' | 'collection_analytics';
    columns: Record<string, string>;
    toColumns: (row: R) => Record<string, unknown>;
  },
): Promise<UpsertCounts> {
  const names = Object.keys(columns);
  const types = names.map((name) => `${name} ${columns[name]}`).join(', ');
  return upsertRows(tx, rows, {
    keyOf: (row) => row.collectionId,
    fold: (earlier, later) => {
      if (later.at < earlier.at) return earlier;
      return !later.atTold && isDeepStrictEqual(toColumns(earlier), toColumns(later)) ? earlier : later;
    },
    toColumns: (row) => ({
      collection_id: row.collectionId,
      at: toTimestamp(row.at),
      at_told: row.atTold,
      ...toColumns(row),
    }),
    sql: `landed as (insert into indexer.${table} as stored (collection_id, ${names.join(', ')}, at)
      select collection_id, ${names.join(', ')}, at
      from json_to_recordset($1::json) as excluded (collection_id text, at timestamptz, at_told boolean, ${types})
      where at_told or not exists (
        select from indexer.${table} as stored where stored.collection_id = excluded.collection_id
          and (${columnsOf('stored', names)}) is not distinct from (${columnsOf('excluded', names)}))
      on conflict (collection_id) do update
        set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}, at = excluded.at
      where excluded.at >= stored.at
        and (${columnsOf('stored', names)}, stored.at) is distinct from (${columnsOf('excluded', names)}, excluded.at)
      returning (xmax = 0) as inserted)`,
  });
}

function toCollectionStats(row: Row): CollectionStats {
  const tokens = Number(row['tokens']);
  const holders = Number(row['holders']);
  return {
    owners: toNumber(row['owners']) ?? (holders > 0 ? holders : null),
    supply: toNumber(row['supply']) ?? (tokens > 0 ? tokens : null),
    listedCount: toNumber(row['listed_count']),
    floorRaw: toBigInt(row['floor_raw']),
  };
}

function toCollectionAnalytics(row: Row): CollectionAnalytics {
  const volume: Windows<number | null> = {
    allTime: toNumber(row['volume_all_time']),
    sevenDay: toNumber(row['volume_seven_day']),
    twentyFourHour: toNumber(row['volume_day']),
  };
  const sales: Windows<number | null> = {
    allTime: toNumber(row['sales_all_time']),
    sevenDay: toNumber(row['sales_seven_day']),
    twentyFourHour: toNumber(row['sales_day']),
  };
  // A collection without one stored sale is unknown, not idle: its sales may simply not have been loaded.
  const known = row['count_all'] !== null && row['count_all'] !== undefined;
  const recorded = hasAny(volume);
  return {
    floorRaw: toBigInt(row['floor_raw']),
    recordedVolume: recorded ? volume : null,
    summedVolumeRaw:
      recorded || !known
        ? null
        : {
            allTime: BigInt(row['sum_all'] as string),
            sevenDay: BigInt(row['sum_week'] as string),
            twentyFourHour: BigInt(row['sum_day'] as string),
          },
    sales:
      hasAny(sales) || !known
        ? sales
        : {
            allTime: Number(row['count_all']),
            sevenDay: Number(row['count_week']),
            twentyFourHour: Number(row['count_day']),
          },
  };
}

function hasAny(windows: Windows<number | null>): boolean {
  return windows.allTime !== null || windows.sevenDay !== null || windows.twentyFourHour !== null;
}

function toNumber(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

function toBigInt(value: unknown): bigint | null {
  return value === null || value === undefined ? null : BigInt(value as string);
}
