// The analytics of a collection: volume and number of sales, from the newest analytics record, else summed from the sales. Indexer
// database. Unknown is null, never zero.

import type { Queryable } from '../../database/port.ts';
import { amount, boolean, column, double, nullable, rowDecoder, safeInteger, text } from '../../database/rows.ts';
import type { UpsertCounts } from '../../database/upsert.ts';
import type { Windows } from '../provenance/trade.ts';
import type { ObservedRecord } from './newest-record.ts';
import { listRecordFloors, upsertNewest } from './newest-record.ts';
import { TRADED } from './sales.ts';

const DAY_MS = 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;

/**
 * `recordedVolume` (in native units) comes from the record, `summedVolumeRaw` (in base units) from the sales. At least one of them
 * is null. Both are null when the volume is unknown.
 */
export type CollectionAnalytics = {
  recordedVolume: Windows<number | null> | null;
  summedVolumeRaw: Windows<bigint> | null;
  sales: Windows<number | null>;
};

const decodeAnalytics = rowDecoder('collection_analytics', {
  volumeAllTime: column('volume_all_time', nullable(double)),
  volumeSevenDay: column('volume_seven_day', nullable(double)),
  volumeDay: column('volume_day', nullable(double)),
  salesAllTime: column('sales_all_time', nullable(safeInteger)),
  salesSevenDay: column('sales_seven_day', nullable(safeInteger)),
  salesDay: column('sales_day', nullable(safeInteger)),
  sumAll: column('sum_all', nullable(amount)),
  sumWeek: column('sum_week', amount),
  sumDay: column('sum_day', amount),
  countAll: column('count_all', nullable(safeInteger)),
  countWeek: column('count_week', safeInteger),
  countDay: column('count_day', safeInteger),
});

/** The analytics of a collection. The windows that are summed from sales end at `now`, in milliseconds. */
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
  return toAnalytics(decodeAnalytics(row ?? {}));
}

/** The start of a window, and the first full hour in it. */
function windowBounds(start: number): [Date, Date] {
  return [new Date(start), new Date(Math.ceil(start / HOUR_MS) * HOUR_MS)];
}

/** The sums of the full hours of a window, and of the single sales between its start and the first full hour. */
function windowSql(start: string, firstHour: string): string {
  return `select coalesce(sum(volume_raw), 0) as volume_raw, coalesce(sum(sales), 0)::bigint as sales from (
    select volume_raw, sales from indexer.sale_hour where collection_id = $1 and hour >= ${firstHour}
    union all
    select sum(price_raw), count(*) from indexer.sale
    where collection_id = $1 and sold_at >= ${start} and sold_at < ${firstHour} and ${TRADED}
  ) as parts`;
}

function toAnalytics(row: ReturnType<typeof decodeAnalytics>): CollectionAnalytics {
  const { sumAll, sumWeek, sumDay, countAll, countWeek, countDay } = row;
  const volume = { allTime: row.volumeAllTime, sevenDay: row.volumeSevenDay, twentyFourHour: row.volumeDay };
  const sales = { allTime: row.salesAllTime, sevenDay: row.salesSevenDay, twentyFourHour: row.salesDay };
  // Without a row of totals, no sale was ever stored. That may be because none was imported: volume and sales are unknown, not zero.
  const hasTotal = sumAll !== null && countAll !== null;
  const summedVolumeRaw = hasTotal ? { allTime: sumAll, sevenDay: sumWeek, twentyFourHour: sumDay } : null;
  const counted = hasTotal ? { allTime: countAll, sevenDay: countWeek, twentyFourHour: countDay } : sales;
  const isRecorded = hasAny(volume);
  return {
    recordedVolume: isRecorded ? volume : null,
    summedVolumeRaw: isRecorded ? null : summedVolumeRaw,
    sales: hasAny(sales) ? sales : counted,
  };
}

function hasAny(windows: Windows<number | null>): boolean {
  return windows.allTime !== null || windows.sevenDay !== null || windows.twentyFourHour !== null;
}

/** All-time volume: `recorded` in native units, else `summedRaw` in base units; both null when it is unknown. */
export type CollectionVolume = { collectionId: string; recorded: number | null; summedRaw: bigint | null };

const decodeVolume = rowDecoder('collection_analytics', {
  collectionId: column('id', text),
  recorded: column('volume_all_time', nullable(double)),
  hasRecord: column('has_record', boolean),
  summedRaw: column('volume_raw', nullable(amount)),
});

/**
 * All-time volumes of the given collections. Collections with neither a record nor a sale are left out. Each collection is found by an
 * index, also by a planner without statistics.
 */
export async function listCollectionVolumes(
  db: Queryable,
  collectionIds: readonly string[],
): Promise<CollectionVolume[]> {
  const rows = await db.query(
    `select wanted.id, record.volume_all_time,
       record.volume_all_time is not null or record.volume_seven_day is not null or record.volume_day is not null
         as has_record, total.volume_raw
     from unnest($1::text[]) as wanted (id)
     left join lateral (select * from indexer.collection_analytics where collection_id = wanted.id limit 1) as record on true
     left join lateral (select * from indexer.sale_total where collection_id = wanted.id limit 1) as total on true
     where record.collection_id is not null or total.collection_id is not null`,
    [collectionIds],
  );
  return rows.map(decodeVolume).map(({ collectionId, recorded, hasRecord, summedRaw }) => ({
    collectionId,
    recorded,
    // When a record has a volume only for a shorter window, the sum of sales is not used either: the all-time volume is unknown.
    summedRaw: hasRecord ? null : summedRaw,
  }));
}

/** The floors of the analytics records that have a floor: base units by collection id. */
export function listAnalyticsFloors(db: Queryable, collectionIds: readonly string[]): Promise<Map<string, bigint>> {
  return listRecordFloors(db, 'collection_analytics', collectionIds);
}

/** An incoming analytics record. Volumes are in native units. */
export type NewAnalytics = ObservedRecord & {
  floorRaw: bigint | null;
  volume: Windows<number | null>;
  sales: Windows<number | null>;
};

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
