// The history of a collection: floor, volume, sales and listed count of each hour or day.

import type { Collection } from '../core/collection.ts';
import { ServiceError } from '../core/errors.ts';
import type { Market } from '../market/market.ts';
import { requireValue } from '../market/market-source.ts';
import { locationOf, resolveCollection } from '../market/resolve-collection.ts';
import type { Interval, IntervalFigures, IntervalEnd } from './queries/history.ts';
import { findStateBefore, listIntervals } from './queries/history.ts';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

/** `pointsMax`: the most points of one response. `defaultMs`: the length of the history without `from`. */
export const INTERVAL_LIMITS = {
  hour: { lengthMs: HOUR_MS, defaultMs: 7 * DAY_MS, pointsMax: 2_400 },
  day: { lengthMs: DAY_MS, defaultMs: 90 * DAY_MS, pointsMax: 1_100 },
} as const satisfies Record<Interval, object>;

/** Times in milliseconds; null for the default. */
export type HistoryQuery = { interval: Interval; from: number | null; to: number | null };

/** Floors in base units. A floor is null if it is not known, or if nothing was listed. A listed count is null if it is not known. */
export type HistoryPoint = {
  from: number;
  to: number;
  floor: Record<'openRaw' | 'highRaw' | 'lowRaw' | 'closeRaw', bigint | null>;
  volumeRaw: bigint;
  sales: number;
  listed: number | null;
};

/**
 * The points from the interval of `from` to the last one that begins before `to` and before now, the earliest first. There are no points if
 * the collection is on no chain, or if `from` is after the present interval. Throws `bad_request` if there would be too many points,
 * `not_found` when `id` names no collection, and `upstream_error` when the history cannot be read.
 */
export async function readHistory(
  market: Market,
  id: string,
  query: HistoryQuery,
): Promise<{ collection: Collection; points: HistoryPoint[] }> {
  const range = toRange(query, market.clock());
  const collection = await resolveCollection(market, id);
  if (!locationOf(market, collection) || range.from >= range.to) return { collection, points: [] };
  const [before, intervals] = requireValue(
    await market.history.read((db) =>
      Promise.all([
        findStateBefore(db, collection.id, range.from),
        listIntervals(db, collection.id, { ...range, interval: query.interval }),
      ]),
    ),
    'upstream_error',
  );
  return { collection, points: toPoints(before, intervals, range) };
}

type Range = { from: number; to: number; lengthMs: number };

/** The beginnings of the first interval and of the interval after the last one. */
function toRange({ interval, from, to }: HistoryQuery, now: number): Range {
  const { lengthMs, defaultMs, pointsMax } = INTERVAL_LIMITS[interval];
  if (from !== null && to !== null && from >= to) {
    throw new ServiceError('bad_request', 'Query parameter from must be before to');
  }
  // The interval that has just begun is part of the history.
  const end = Math.min(to ?? now + 1, now + 1);
  const start = from ?? end - defaultMs;
  const range = { from: Math.floor(start / lengthMs) * lengthMs, to: Math.ceil(end / lengthMs) * lengthMs, lengthMs };
  if ((range.to - range.from) / lengthMs > pointsMax) {
    throw new ServiceError(
      'bad_request',
      `Query parameters from and to must select at most ${pointsMax} points, one for each ${interval} that it touches`,
    );
  }
  return range;
}

/** One point for each interval. Where nothing changed, the floor and the listed count are those of the interval before. Pure. */
export function toPoints(before: IntervalEnd, intervals: readonly IntervalFigures[], range: Range): HistoryPoint[] {
  const byTime = new Map(intervals.map((figures) => [figures.at, figures]));
  const points: HistoryPoint[] = [];
  let { closeRaw, listed } = before;
  for (let from = range.from; from < range.to; from += range.lengthMs) {
    const { market, volumeRaw = 0n, sales = 0 } = byTime.get(from) ?? {};
    const openRaw = closeRaw;
    const floors = [openRaw, market?.highRaw, market?.lowRaw].filter((raw) => raw !== null && raw !== undefined);
    if (market) ({ closeRaw, listed } = market);
    const floor = { openRaw, highRaw: highestOf(floors), lowRaw: lowestOf(floors), closeRaw };
    points.push({ from, to: from + range.lengthMs, floor, volumeRaw, sales, listed });
  }
  return points;
}

function highestOf(amounts: readonly bigint[]): bigint | null {
  return amounts.reduce<bigint | null>((highest, raw) => (highest === null || raw > highest ? raw : highest), null);
}

function lowestOf(amounts: readonly bigint[]): bigint | null {
  return amounts.reduce<bigint | null>((lowest, raw) => (lowest === null || raw < lowest ? raw : lowest), null);
}
