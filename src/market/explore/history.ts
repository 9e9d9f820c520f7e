// Reads the history of a collection: floor, volume, sales, listed count and top bid of each hour or day.

import type { Collection } from '../../platform/core/collection.ts';
import { parameterError, ServiceError } from '../../platform/core/errors.ts';
import type { Market } from '../reads/market.ts';
import { requireValue } from '../reads/market-source.ts';
import { locationOf, resolveCollection } from '../reads/resolve-collection.ts';
import type { Interval, RangeFigures } from './queries/history.ts';
import { readRangeFigures } from './queries/history.ts';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * `lengthMs`: the length of an interval. `defaultMs`: the length of the history when a request has no `from`. `pointsMax`: the most points
 * in one response.
 */
export const INTERVAL_LIMITS = {
  hour: { lengthMs: HOUR_MS, defaultMs: 7 * DAY_MS, pointsMax: 2_400 },
  day: { lengthMs: DAY_MS, defaultMs: 90 * DAY_MS, pointsMax: 1_100 },
} as const satisfies Record<Interval, object>;

/** `from` and `to` are times in milliseconds, or null for the default. */
export type HistoryQuery = { interval: Interval; from: number | null; to: number | null };

/**
 * Floors and volumes in base units. A floor is null if it is not known, or if nothing was listed. A volume is null if a sale of the interval cannot be
 * read. A listed count is null if it is not known. `topBidRaw`: the highest proceeds of the bids for any token; null if there was none, or if it is not known.
 */
export type HistoryPoint = {
  from: number;
  to: number;
  floor: Record<'openRaw' | 'highRaw' | 'lowRaw' | 'closeRaw', bigint | null>;
  volumeRaw: bigint | null;
  sales: number;
  listed: number | null;
  topBidRaw: bigint | null;
};

/**
 * Returns one point for each interval, the earliest first. The first interval contains `from`. The last interval is the last one that
 * begins before `to`. It is never later than the current interval. There are no points if the collection is on no chain, or if `from` is
 * after the current interval. Throws `bad_request` if `from` is not before `to` or if there would be too many points, `not_found` when `id`
 * names no collection, and `upstream_error` when the history cannot be read.
 */
export async function readHistory(
  market: Market,
  id: string,
  query: HistoryQuery,
): Promise<{ collection: Collection; points: HistoryPoint[] }> {
  const range = toRange(query, market.clock());
  const collection = await resolveCollection(market, id);
  if (!locationOf(market, collection) || range.from >= range.to) return { collection, points: [] };
  const figures = requireValue(
    await market.history.read((db) => readRangeFigures(db, collection.id, { ...range, interval: query.interval })),
    'upstream_error',
  );
  return { collection, points: toPoints(figures, range) };
}

type Range = { from: number; to: number; lengthMs: number };

/** `from`: when the first interval begins. `to`: when the last interval ends. */
function toRange({ interval, from, to }: HistoryQuery, now: number): Range {
  const { lengthMs, defaultMs, pointsMax } = INTERVAL_LIMITS[interval];
  if (from !== null && to !== null && from >= to) {
    throw parameterError('from', 'must be before to');
  }
  // `now + 1`: an interval that begins exactly now is part of the history.
  const end = Math.min(to ?? now + 1, now + 1);
  const start = from ?? end - defaultMs;
  const range = { from: Math.floor(start / lengthMs) * lengthMs, to: Math.ceil(end / lengthMs) * lengthMs, lengthMs };
  if ((range.to - range.from) / lengthMs > pointsMax) {
    throw new ServiceError(
      'bad_request',
      `Query parameters from and to must select at most ${pointsMax} points, one for each ${interval}`,
      { param: 'from' },
    );
  }
  return range;
}

/** One point for each interval. If nothing changed in an interval, its point has the floor, the listed count and the top bid of the previous point. */
function toPoints({ before, market, sold }: RangeFigures, range: Range): HistoryPoint[] {
  const points: HistoryPoint[] = [];
  let { closeRaw, listed, topBidRaw } = before;
  for (let from = range.from; from < range.to; from += range.lengthMs) {
    const changed = market.get(from);
    const { volumeRaw, sales } = sold.get(from) ?? NO_SALES;
    const openRaw = closeRaw;
    const highRaw = higherOf(openRaw, changed?.highRaw ?? null);
    const lowRaw = lowerOf(openRaw, changed?.lowRaw ?? null);
    if (changed) ({ closeRaw, listed, topBidRaw } = changed);
    const floor = { openRaw, highRaw, lowRaw, closeRaw };
    points.push({ from, to: from + range.lengthMs, floor, volumeRaw, sales, listed, topBidRaw });
  }
  return points;
}

const NO_SALES = { volumeRaw: 0n, sales: 0 };

/** Returns the higher floor. If one floor is null, returns the other floor. Null if both floors are null. */
function higherOf(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}

/** Returns the lower floor. If one floor is null, returns the other floor. Null if both floors are null. */
function lowerOf(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
