// The history of a collection by intervals: floors and listed counts from the hours of the points, volumes from the hours of the sales.
// Indexer database.

import type { Queryable } from '../../database/port.ts';
import { amount, column, list, nullable, rowDecoder, safeInteger, text, timestamp } from '../../database/rows.ts';

export const INTERVALS = ['hour', 'day'] as const;
export type Interval = (typeof INTERVALS)[number];

/** The floor and the number of listed assets at the end of an interval. Null for what is not known. */
export type IntervalEnd = { closeRaw: bigint | null; listed: number | null };

/** `market` is null if neither the floor nor the number of listed assets changed. `at` is the beginning, in milliseconds. */
export type IntervalFigures = {
  at: number;
  market: (IntervalEnd & { highRaw: bigint | null; lowRaw: bigint | null }) | null;
  volumeRaw: bigint;
  sales: number;
};

const decodeState = rowDecoder('market_hour', {
  closeRaw: column('floor_close_raw', nullable(amount)),
  listed: nullable(safeInteger),
});

/** Before the first point, nothing is known. */
export async function findStateBefore(db: Queryable, collectionId: string, time: number): Promise<IntervalEnd> {
  const [row] = await db.query(
    `select floor_close_raw, listed from indexer.market_hour where collection_id = $1 and hour < $2 order by hour desc limit 1`,
    [collectionId, new Date(time)],
  );
  return row ? decodeState(row) : { closeRaw: null, listed: null };
}

const decodeFloors = rowDecoder('market_hour', { id: text, floors: list(nullable(amount)) });

/**
 * By collection id: for each time, the floor at the end of the hour that contains the time, in the order of the times. Each floor is one
 * probe of the index. Times in milliseconds.
 */
export async function listFloorsAt(
  db: Queryable,
  collectionIds: readonly string[],
  times: readonly number[],
): Promise<Map<string, (bigint | null)[]>> {
  const rows = await db.query(
    `select wanted.id, (
       select json_agg((
         select floor_close_raw::text from indexer.market_hour where collection_id = wanted.id and hour <= moment.at
         order by hour desc limit 1) order by number)
       from unnest($2::timestamptz[]) with ordinality as moment (at, number)) as floors
     from unnest($1::text[]) as wanted (id)`,
    [collectionIds, times.map((time) => new Date(time))],
  );
  return new Map(rows.map(decodeFloors).map(({ id, floors }) => [id, floors]));
}

const decodeInterval = rowDecoder('market_hour', {
  at: timestamp,
  changedAt: column('changed_at', nullable(timestamp)),
  highRaw: column('high_raw', nullable(amount)),
  lowRaw: column('low_raw', nullable(amount)),
  closeRaw: column('close_raw', nullable(amount)),
  listed: nullable(safeInteger),
  volumeRaw: column('volume_raw', amount),
  sales: safeInteger,
});

/** The figures of an interval from its hours. An hour is its own interval, so its rows are not grouped. */
const INTERVAL_SQL = {
  hour: {
    changed: {
      columns: `hour as at, floor_high_raw as high_raw, floor_low_raw as low_raw, floor_close_raw as close_raw, listed`,
      groups: '',
    },
    sold: { columns: 'hour as at, volume_raw, sales', groups: '' },
  },
  day: {
    changed: {
      columns: `date_trunc('day', hour, 'UTC') as at, max(floor_high_raw) as high_raw, min(floor_low_raw) as low_raw,
        (array_agg(floor_close_raw order by hour desc))[1] as close_raw, (array_agg(listed order by hour desc))[1] as listed`,
      groups: 'group by 1',
    },
    sold: {
      columns: `date_trunc('day', hour, 'UTC') as at, sum(volume_raw) as volume_raw, sum(sales)::bigint as sales`,
      groups: 'group by 1',
    },
  },
} as const satisfies Record<Interval, unknown>;

/** The intervals from `from` to before `to` in which something changed, the earliest first. Both are beginnings of intervals. */
export async function listIntervals(
  db: Queryable,
  collectionId: string,
  { interval, from, to }: { interval: Interval; from: number; to: number },
): Promise<IntervalFigures[]> {
  const { changed, sold } = INTERVAL_SQL[interval];
  const ofRange = 'where collection_id = $1 and hour >= $2 and hour < $3';
  const rows = await db.query(
    `select coalesce(changed.at, sold.at) as at, changed.at as changed_at, high_raw, low_raw, close_raw, listed,
       coalesce(volume_raw, 0) as volume_raw, coalesce(sales, 0) as sales
     from (select ${changed.columns} from indexer.market_hour ${ofRange} ${changed.groups}) as changed
     full join (select ${sold.columns} from indexer.sale_hour ${ofRange} ${sold.groups}) as sold on sold.at = changed.at
     order by 1`,
    [collectionId, new Date(from), new Date(to)],
  );
  return rows.map((row) => {
    const { at, changedAt, highRaw, lowRaw, closeRaw, listed, volumeRaw, sales } = decodeInterval(row);
    return { at, market: changedAt === null ? null : { highRaw, lowRaw, closeRaw, listed }, volumeRaw, sales };
  });
}
