// Reads what is known about the trade of a collection: the newest analytics record, the sums of the stored sales, and the coverage of the sales
// history. Indexer database.

import { toKnownPrice } from '../../../platform/core/amount.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import {
  amount,
  column,
  double,
  nullable,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import type { UpsertCounts } from '../../../platform/database/upsert.ts';
import type { ReportedFloor } from '../listing-figures.ts';
import type { TradeFacts, VolumeFacts, Windows } from '../../provenance/trade.ts';
import { coverageList, coverageSql } from './coverage.ts';
import type { ObservedRecord } from './newest-record.ts';
import type { RecordWrites } from '../../../platform/database/write-recording.ts';
import { listRecordFloors, upsertNewest } from './newest-record.ts';
import { IS_COUNTED, saleSumsSql, SUM_COLUMNS } from './sale-rule.ts';
import { homeSql, narrowToOne } from './figures.ts';

const DAY_MS = 24 * 60 * 60_000;
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
  sumAll: column('sum_all', amount),
  sumWeek: column('sum_week', amount),
  sumDay: column('sum_day', amount),
  countAll: column('count_all', safeInteger),
  countWeek: column('count_week', safeInteger),
  countDay: column('count_day', safeInteger),
  unreadAll: column('unread_all', safeInteger),
  unreadWeek: column('unread_week', safeInteger),
  unreadDay: column('unread_day', safeInteger),
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
  const rows = await db.query(
    narrowToOne(
      `with found as materialized (
       select home.collection_id as id, record.*, total.volume_raw as sum_all, total.sales as count_all, total.unread as unread_all,
         week.volume_raw as sum_week, week.sales as count_week, week.unread as unread_week,
         day.volume_raw as sum_day, day.sales as count_day, day.unread as unread_day,
         ${coverageSql('home.collection_id', ['sales'])} as coverage
       from unnest($1::text[]) as wanted (id) ${homeSql('wanted.id')}
       left join lateral (${RECORD}) as record on true
       left join lateral (select * from indexer.sale_total where collection_id = home.collection_id limit 1) as total on true
       cross join lateral (${windowSql('$2', '$3')}) as week
       cross join lateral (${windowSql('$4', '$5')}) as day
     )
     select wanted.id, found.at, ${RECORD_COLUMNS}, coalesce(sum_all, 0) as sum_all, coalesce(count_all, 0) as count_all,
       coalesce(sum_week, 0) as sum_week, coalesce(count_week, 0) as count_week, coalesce(sum_day, 0) as sum_day,
       coalesce(count_day, 0) as count_day, coalesce(unread_all, 0) as unread_all, coalesce(unread_week, 0) as unread_week,
       coalesce(unread_day, 0) as unread_day, coalesce(coverage, '[]') as coverage
     from unnest($1::text[]) as wanted (id) left join found on found.id = wanted.id`,
      collectionIds,
    ),
    [collectionIds, ...windowBounds(now - 7 * DAY_MS), ...windowBounds(now - DAY_MS)],
  );
  return new Map(rows.map(decodeAnalytics).map((row) => [row.id, toTradeFacts(row)]));
}

const decodeSums = rowDecoder('sale_hour', {
  id: text,
  sumTwoWeeks: column('sum_two_weeks', nullable(amount)),
  sumTwoDays: column('sum_two_days', nullable(amount)),
});

/**
 * The volumes of windows of double length, in base units, by collection id: `sevenDay` is the volume of the last 14 days, and
 * `twentyFourHour` is the volume of the last two days. The windows end at `now`. Null if a sale of the window cannot be read.
 */
export async function listDoubleWindows(
  db: Queryable,
  collectionIds: readonly string[],
  now: number,
): Promise<Map<string, { sevenDay: bigint | null; twentyFourHour: bigint | null }>> {
  const rows = await db.query(
    narrowToOne(
      `select home.collection_id as id, case when two_weeks.unread = 0 then two_weeks.volume_raw end as sum_two_weeks,
       case when two_days.unread = 0 then two_days.volume_raw end as sum_two_days
     from unnest($1::text[]) as wanted (id) ${homeSql('wanted.id')}
     cross join lateral (${windowSql('$2', '$3')}) as two_weeks
     cross join lateral (${windowSql('$4', '$5')}) as two_days`,
      collectionIds,
    ),
    [collectionIds, ...windowBounds(now - 14 * DAY_MS), ...windowBounds(now - 2 * DAY_MS)],
  );
  return new Map(
    rows
      .map(decodeSums)
      .map(({ id, sumTwoWeeks, sumTwoDays }) => [id, { sevenDay: sumTwoWeeks, twentyFourHour: sumTwoDays }]),
  );
}

/** The start of a window, and the first full hour in it. */
function windowBounds(start: number): [Date, Date] {
  return [new Date(start), new Date(Math.ceil(start / HOUR_MS) * HOUR_MS)];
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
  return {
    record: row.at === null ? null : { at: row.at, volume, sales },
    sums: {
      volumeRaw: { allTime: row.sumAll, sevenDay: row.sumWeek, twentyFourHour: row.sumDay },
      sales: { allTime: row.countAll, sevenDay: row.countWeek, twentyFourHour: row.countDay },
      unread: { allTime: row.unreadAll, sevenDay: row.unreadWeek, twentyFourHour: row.unreadDay },
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
  volume: Windows<number | null>;
  sales: Windows<number | null>;
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
