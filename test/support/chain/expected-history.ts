// The history of a collection, computed from the activity log alone: the floors and sales that no reorganisation has taken back, in the
// order of the log. Tests compare it with the history of the service, which is computed in another way.

import type { ActivityRow } from '../../../src/market/activity/queries/activity-rows.ts';
import type { HistoryPoint } from '../../../src/market/explore/history.ts';

const HOUR_MS = 60 * 60_000;

export type ExpectedPoint = Pick<HistoryPoint, 'from' | 'floor' | 'volumeRaw' | 'sales'>;

/** One point for each hour from the hour of `from` to the hour of `to`, both in milliseconds. `rows`: all rows of the collection. */
export function toExpectedHistory(rows: readonly ActivityRow[], from: number, to: number): ExpectedPoint[] {
  const standing = rows.filter(({ voidedBy }) => voidedBy === null).toSorted((a, b) => a.position - b.position);
  const floors = standing.filter(({ kind }) => kind === 'floor');
  const sales = standing.filter(({ kind, priceRaw }) => kind === 'sale' && priceRaw !== null);
  const hourOf = (time: number) => Math.floor(time / HOUR_MS);
  const points: ExpectedPoint[] = [];
  for (let hour = hourOf(from); hour <= hourOf(to); hour += 1) {
    const openRaw = floors.findLast(({ at }) => hourOf(at) < hour)?.priceRaw ?? null;
    const within = floors.filter(({ at }) => hourOf(at) === hour).map(({ priceRaw }) => priceRaw);
    const known = [openRaw, ...within].filter((raw) => raw !== null).toSorted((a, b) => (a < b ? -1 : 1));
    const sold = sales.filter(({ at }) => hourOf(at) === hour);
    points.push({
      from: hour * HOUR_MS,
      floor: {
        openRaw,
        highRaw: known.at(-1) ?? null,
        lowRaw: known[0] ?? null,
        closeRaw: within.length === 0 ? openRaw : (within.at(-1) ?? null),
      },
      volumeRaw: sold.reduce((sum, { priceRaw }) => sum + (priceRaw ?? 0n), 0n),
      sales: sold.length,
    });
  }
  return points;
}

/**
 * The expected number of listed assets at the end of each hour. A test adds a count after each change. For a reorganisation, the test takes
 * back the counts since the first orphaned block was applied.
 */
export class ExpectedListed {
  #counts: { at: number; listed: number | null }[] = [];

  /** `at` in milliseconds, not before the last count. `listed`: null if the count is not known. */
  add(at: number, listed: number | null): void {
    this.#counts.push({ at, listed });
  }

  takeBackSince(since: number): void {
    this.#counts = this.#counts.filter(({ at }) => at < since);
  }

  /** Null for an hour without a known count in it or before it. */
  toHours(from: number, to: number): (number | null)[] {
    const hours: (number | null)[] = [];
    for (let hour = Math.floor(from / HOUR_MS); hour <= Math.floor(to / HOUR_MS); hour += 1)
      hours.push(this.#counts.findLast(({ at }) => at < (hour + 1) * HOUR_MS)?.listed ?? null);
    return hours;
  }
}

/** After a change of these kinds, an order can be bought. */
const BUYABLE: ReadonlySet<string> = new Set(['list', 'reprice', 'revalidate']);

/**
 * Counts the assets that have an order that can be bought. The last change of an order decides whether it can be bought. `rows`: all rows of
 * the collection, in the order of the log. Null before the first order: nothing covers the listings of the collection.
 */
export function countListedNow(rows: readonly ActivityRow[]): number | null {
  if (!rows.some(({ orderId }) => orderId !== null)) return null;
  const last = new Map(rows.flatMap((row) => (row.orderId === null ? [] : [[row.orderId, row] as const])));
  return new Set([...last.values()].filter(({ kind }) => BUYABLE.has(kind)).map(({ asset }) => asset)).size;
}
