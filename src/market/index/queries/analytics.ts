// Reads what is known about the trade of a collection: the newest analytics record, the sums of the stored sales, and the coverage of the sales
// history. Indexer database.

import { toKnownPrice } from '../../../platform/core/amount.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import {
  amount,
  column,
  double,
  list,
  nullable,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import type { UpsertCounts } from '../../../platform/database/upsert.ts';
import type { ReportedFloor } from '../listing-figures.ts';
import type { ShortWindow, StatedWindows, TradeFacts, VolumeFacts } from '../../provenance/trade.ts';
import { SHORT_WINDOWS, WINDOWS, TRADE_WINDOW_MS, toShortWindows, toWindows } from '../../provenance/trade.ts';
import { coverageList, coverageSql } from './coverage.ts';
import type { ObservedRecord } from './newest-record.ts';
import type { RecordWrites } from '../../../platform/database/write-recording.ts';
import { listRecordFloors, upsertNewest } from './newest-record.ts';
import { IS_COUNTED, saleSumsSql, SUM_COLUMNS } from './sale-rule.ts';
import { homeSql, narrowToOne } from './figures.ts';

const HOUR_MS = 60 * 60_000;

const decodeAnalytics = rowDecoder('collection_analytics', {
  id: text,
  at: nullable(timestamp),
  volumeAllTime: column('volume_all_time', nullable(double)),
  volumeSevenDay: column('volume_seven_day', nullable(double)),
  volumeDay: column('volume_day', nullable(double)),
  salesAllTime: column('sales_all_time', nullable(safeInteger)),
  salesSevenDay: column('sales_seven_day', nullable(safeInteger)),
  salesDay: column('sales_day', nullable(safeInteger)),
  volumes: list(amount),
  counts: list(safeInteger),
  unread: list(safeInteger),
  coverage: coverageList,
});

/**
 * Lists what is known about the trade of the collections, by collection id. The windows of the sums end at `now`, in milliseconds. `limit 1`
 * makes the planner look each collection up by index, even without table statistics.
 */
export async function listTradeFacts(
  db: Queryable,
  collectionIds: readonly string[],
  now: number,
): Promise<Map<string, TradeFacts>> {
  const listOf = (name: string) =>
    `array[coalesce(total.${name}, 0), ${SHORT_WINDOWS.map((window) => `"${window}".${name}`).join(', ')}]::text[]`;
  const rows = await db.query(
    narrowToOne(
      `with found as materialized (
       select home.collection_id as id, record.*, ${listOf('volume_raw')} as volumes, ${listOf('sales')} as counts,
         ${listOf('unread')} as unread, ${coverageSql('home.collection_id', ['sales'])} as coverage
       from unnest($1::text[]) as wanted (id) ${homeSql('wanted.id')}
       left join lateral (${RECORD}) as record on true
       left join lateral (select * from indexer.sale_total where collection_id = home.collection_id limit 1) as total on true
       ${windowsSql()}
     )
     select wanted.id, found.at, ${RECORD_COLUMNS}, coalesce(volumes, ${NO_SUMS}) as volumes, coalesce(counts, ${NO_SUMS}) as counts,
       coalesce(unread, ${NO_SUMS}) as unread, coalesce(coverage, '[]') as coverage
     from unnest($1::text[]) as wanted (id) left join found on found.id = wanted.id`,
      collectionIds,
    ),
    [collectionIds, ...SHORT_WINDOWS.flatMap((window) => windowBounds(now - TRADE_WINDOW_MS[window]))],
  );
  return new Map(rows.map(decodeAnalytics).map((row) => [row.id, toTradeFacts(row)]));
}

const NO_SUMS = `array[${['total', ...SHORT_WINDOWS].map(() => `'0'`).join(', ')}]`;

const decodeSums = rowDecoder('sale_hour', { id: text, volumes: list(nullable(amount)) });

/**
 * The volumes of windows of double length, in base units, by collection id: `sevenDay` is the volume of the last 14 days. The windows end at
 * `now`. Null if a sale of the window cannot be read.
 */
export async function listDoubleWindows(
  db: Queryable,
  collectionIds: readonly string[],
  now: number,
): Promise<Map<string, Record<ShortWindow, bigint | null>>> {
  const known = SHORT_WINDOWS.map((window) => `case when "${window}".unread = 0 then "${window}".volume_raw end`);
  const rows = await db.query(
    narrowToOne(
      `select home.collection_id as id, array[${known.join(', ')}]::text[] as volumes
     from unnest($1::text[]) as wanted (id) ${homeSql('wanted.id')} ${windowsSql()}`,
      collectionIds,
    ),
    [collectionIds, ...SHORT_WINDOWS.flatMap((window) => windowBounds(now - 2 * TRADE_WINDOW_MS[window]))],
  );
  return new Map(
    rows
      .map(decodeSums)
      .map(({ id, volumes }) => [id, toShortWindows((name) => volumes[SHORT_WINDOWS.indexOf(name)] ?? null)]),
  );
}

/** The start of a window, and the first full hour in it. */
function windowBounds(start: number): [Date, Date] {
  return [new Date(start), new Date(Math.ceil(start / HOUR_MS) * HOUR_MS)];
}

/** SQL that joins the sums of each window, under the name of the window. The bounds of the windows are the parameters from `$2` on. */
function windowsSql(): string {
  return SHORT_WINDOWS.map(
    (window, index) => `cross join lateral (${windowSql(`$${2 * index + 2}`, `$${2 * index + 3}`)}) as "${window}"`,
  ).join(' ');
}

const RECORD_COLUMNS = `volume_all_time, volume_seven_day, volume_day, sales_all_time, sales_seven_day, sales_day`;
const RECORD = `select at, ${RECORD_COLUMNS} from indexer.collection_analytics where collection_id = home.collection_id limit 1`;

/**
 * SQL that sums the trade in a window, of the collection that `homeSql` joins. It adds the stored sums of the full hours, and the single
 * sales between the start of the window and its first full hour. The unread sales have an index of their own, so that the other sums are read from
 * the index alone.
 */
function windowSql(start: string, firstHour: string): string {
  return `select coalesce(sum(volume_raw), 0) as volume_raw, coalesce(sum(sales), 0)::bigint as sales,
    coalesce(sum(unread), 0)::bigint as unread from (
    select volume_raw, sales, 0 as unread from indexer.sale_hour where collection_id = home.collection_id and hour >= ${firstHour}
    union all
    select 0, 0, unread from indexer.sale_hour where collection_id = home.collection_id and hour >= ${firstHour} and unread > 0
    union all
    select ${SUM_COLUMNS} from (
      select ${saleSumsSql()} from indexer.sale
      where collection_id = home.collection_id and sold_at >= ${start} and sold_at < ${firstHour} and ${IS_COUNTED}) as first_hour
  ) as parts`;
}

function toTradeFacts(row: ReturnType<typeof decodeAnalytics>): TradeFacts {
  const volume = { allTime: row.volumeAllTime, sevenDay: row.volumeSevenDay, twentyFourHour: row.volumeDay };
  const sales = { allTime: row.salesAllTime, sevenDay: row.salesSevenDay, twentyFourHour: row.salesDay };
  const { volumes, counts, unread } = row;
  return {
    record: row.at === null ? null : { at: row.at, volume, sales },
    sums: {
      volumeRaw: toWindows((name) => volumes[WINDOWS.indexOf(name)] ?? 0n),
      sales: toWindows((name) => counts[WINDOWS.indexOf(name)] ?? 0),
      unread: toWindows((name) => unread[WINDOWS.indexOf(name)] ?? 0),
    },
    coverage: row.coverage,
  };
}

const decodeVolume = rowDecoder('collection_analytics', {
  id: text,
  at: nullable(timestamp),
  allTime: column('volume_all_time', nullable(double)),
  sevenDay: column('volume_seven_day', nullable(double)),
  twentyFourHour: column('volume_day', nullable(double)),
  salesAllTime: column('sales_all_time', nullable(safeInteger)),
  volumeRaw: column('volume_raw', amount),
  sales: safeInteger,
  unread: safeInteger,
  coverage: coverageList,
});

/**
 * The facts about the all-time volume, by collection id. `limit 1` makes the planner look each collection up by index, even without table
 * statistics.
 */
export async function listVolumeFacts(
  db: Queryable,
  collectionIds: readonly string[],
): Promise<Map<string, VolumeFacts>> {
  const rows = await db.query(
    narrowToOne(
      `with found as materialized (
       select home.collection_id as id, record.*, total.volume_raw, total.sales, total.unread, ${coverageSql('home.collection_id', ['sales'])} as coverage
       from unnest($1::text[]) as wanted (id) ${homeSql('wanted.id')}
       left join lateral (${RECORD}) as record on true
       left join lateral (select * from indexer.sale_total where collection_id = home.collection_id limit 1) as total on true
     )
     select wanted.id, at, ${RECORD_COLUMNS}, coalesce(volume_raw, 0) as volume_raw, coalesce(sales, 0) as sales, coalesce(unread, 0) as unread,
       coalesce(coverage, '[]') as coverage
     from unnest($1::text[]) as wanted (id) left join found on found.id = wanted.id`,
      collectionIds,
    ),
    [collectionIds],
  );
  return new Map(
    rows.map(decodeVolume).map(({ id, at, salesAllTime, volumeRaw, sales, unread, coverage, ...volume }) => {
      const record = at === null ? null : { at, volume, salesAllTime };
      return [id, { record, volumeRaw, sales, unread, coverage }];
    }),
  );
}

/** Lists the floors of analytics records, by collection id. Records without a floor are left out. */
export function listAnalyticsFloors(
  db: Queryable,
  collectionIds: readonly string[],
): Promise<Map<string, ReportedFloor>> {
  return listRecordFloors(db, 'collection_analytics', collectionIds);
}

/** Volumes are in native units. A floor of 0 is stored as unknown. */
export type NewAnalytics = ObservedRecord & {
  floorRaw: bigint | null;
  volume: StatedWindows<number | null>;
  sales: StatedWindows<number | null>;
};

export function upsertAnalytics(
  tx: Queryable,
  analytics: readonly NewAnalytics[],
  record?: RecordWrites,
): Promise<UpsertCounts> {
  return upsertNewest(tx, analytics, {
    record,
    table: 'collection_analytics',
    columns: {
      floor_raw: { numeric: (row) => toKnownPrice(row.floorRaw) },
      volume_all_time: { 'double precision': (row) => row.volume.allTime },
      volume_seven_day: { 'double precision': (row) => row.volume.sevenDay },
      volume_day: { 'double precision': (row) => row.volume.twentyFourHour },
      sales_all_time: { bigint: (row) => row.sales.allTime },
      sales_seven_day: { bigint: (row) => row.sales.sevenDay },
      sales_day: { bigint: (row) => row.sales.twentyFourHour },
    },
  });
}
