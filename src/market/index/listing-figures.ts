// Computes the figures that follow from the listings of a collection, the ask floor and the listed count, from facts that `floor-reads.ts` has
// read. Both are computed together, so that a collection that is known to have no listing has no floor.

import type { Coverage } from '../provenance/coverage.ts';
import { isScanned, toCounted } from '../provenance/coverage.ts';
import type { Candidate, Figure } from '../provenance/figure.ts';
import { MAX_AGE_MS, chooseFigure, isCurrent, toFigure, toReported, toSnapshot } from '../provenance/figure.ts';

/** In base units. A floor of zero is not known, because zero is no price. */
export type ReportedFloor = { at: number; floorRaw: bigint | null };
export type ReportedListings = ReportedFloor & { listedCount: number | null };

/** Each part is undefined when it could not be read. Amounts in base units, times in milliseconds. */
export type ListingFacts = {
  /** The cheapest own order, null without one; how many assets have an own order; whether the book has an order, of any status. */
  own: { ask: bigint | null; assets: number; known: boolean } | undefined;
  /**
   * The mirror, without the assets that the own order book lists. `coverage`: which listings were read, from which marketplaces, and when
   * (coverage.ts).
   */
  mirror: { ask: bigint | null; assets: number; coverage: readonly Coverage[] } | undefined;
  analytics: ReportedFloor | null | undefined;
  stats: ReportedListings | null | undefined;
  snapshotFloorRaw: bigint | null;
  /** While a book cannot be read: the ask that was read together with the last buyer floor. */
  lastAsk?: { raw: bigint; at: number } | null;
};

export type ListingFigures = { floor: Figure<bigint | null> | null; listedCount: Figure<number> | null };

const BOOKS = { kind: 'scan', source: 'listings' } as const;
const FLOOR = { maxAgeMs: MAX_AGE_MS.floor };

/**
 * `floor` is in base units: the price of the cheapest listing in the own order book and the mirror. If the mirror cannot be read, it is the lower
 * of two prices: that of the cheapest own listing, and the newest floor that a vendor reported. If only the mirror can be read, its cheapest
 * listing decides. If both are known to be empty, the figure has the value null. If no listing is found, but one of the two may have listings,
 * it is the floor that a vendor reported, or the floor of the stored snapshot. A figure that is not known is null.
 *
 * A listed count of zero and a floor exclude each other: the newer of them is served.
 */
export function toListingFigures(facts: ListingFacts, now: number): ListingFigures {
  const { own, mirror, analytics = null, stats = null } = facts;
  const reported = [
    ...toReported(analytics, toKnownFloor(analytics?.floorRaw), { source: 'analytics', ...FLOOR }),
    ...toReported(stats, toKnownFloor(stats?.floorRaw), { source: 'stats', ...FLOOR }),
  ].filter((one) => isCurrent(one, now));
  const listedCount = toListedCount(facts, now);
  const [first, ...others] = [own?.ask, mirror?.ask].filter((price) => price !== null && price !== undefined);
  if (first !== undefined) {
    const value = others.reduce((lowest, price) => (price < lowest ? price : lowest), first);
    const [newest] = reported.toSorted((a, b) => (b.at ?? 0) - (a.at ?? 0));
    // The figure has the present time and no maximum age, because it is the floor of exactly the listings that are served.
    const listed = { ...BOOKS, at: now, maxAgeMs: null, complete: own !== undefined && mirror !== undefined, value };
    const lower = !mirror && newest && newest.value < value ? newest : listed;
    return { floor: orLastAsk(toFigure(lower, now), facts, now), listedCount };
  }
  const isRead = own !== undefined && mirror !== undefined;
  const empty = isRead ? chooseFigure(toEmpty(mirror.coverage), now) : null;
  if (empty) return { floor: empty, listedCount };
  const chosen = chooseFigure<bigint | null>([...reported, ...toSnapshot(toKnownFloor(facts.snapshotFloorRaw))], now);
  const floor = isRead ? chosen : orLastAsk(chosen, facts, now);
  if (floor === null || listedCount?.value !== 0) return { floor, listedCount };
  // A snapshot has no time.
  const isNewer = floor.at !== null && listedCount.at !== null && floor.at > listedCount.at;
  return isNewer ? { floor, listedCount: null } : { floor: { ...listedCount, value: null }, listedCount };
}

/** Null for a floor that a source states as zero. */
export function toKnownFloor(raw: bigint | null | undefined): bigint | null {
  return raw !== null && raw !== undefined && raw > 0n ? raw : null;
}

/** The last ask, if it is lower than the floor or no floor is known. So the last buyer floor, which is served beside it, is not below the floor. */
function orLastAsk(
  floor: Figure<bigint | null> | null,
  { lastAsk = null }: ListingFacts,
  now: number,
): Figure<bigint | null> | null {
  const value = floor?.value ?? null;
  if (!lastAsk || (value !== null && value <= lastAsk.raw)) return floor;
  return (
    chooseFigure<bigint | null>([{ ...BOOKS, ...FLOOR, at: lastAsk.at, complete: true, value: lastAsk.raw }], now) ??
    floor
  );
}

/** Candidates with the value null, for an empty mirror. No candidates if the listings of a marketplace were not read to their end. */
function toEmpty(coverage: readonly Coverage[]): Candidate<null>[] {
  const rows = isScanned(coverage, 'listings') ? coverage.filter((row) => row.kind === 'scan') : coverage;
  // `toCounted` makes no candidates for the value null. So the value is 0 at first, and is then replaced by null.
  return toCounted(rows, 0, { ...LISTINGS, ...FLOOR }).map((one) => ({ ...one, value: null }));
}

const LISTINGS = { subject: 'listings', since: null, importedMaxAgeMs: null, eachSource: true } as const;
const STATS = { source: 'stats', maxAgeMs: MAX_AGE_MS.total };

/** Null when nothing covers the listings of the collection. */
function toListedCount(facts: ListingFacts, now: number): Figure<number> | null {
  const { own, mirror, stats } = facts;
  if (stats === undefined) return null;
  const listed = (own?.assets ?? 0) + (mirror?.assets ?? 0);
  // A count below the number of the listings that are served is wrong.
  const reported = toReported(stats, stats?.listedCount, STATS).filter(({ value }) => value >= listed);
  return chooseFigure([...toListedCounts(facts, now), ...reported], now);
}

function toListedCounts({ own, mirror, analytics, stats }: ListingFacts, now: number): Candidate<number>[] {
  if (!own || !mirror) return [];
  const counted = toCounted(mirror.coverage, own.assets + mirror.assets, { ...LISTINGS, maxAgeMs: MAX_AGE_MS.total });
  // A listing that was read in scans of a marketplace (coverage of the kind `scan`) ends only in a later scan of the same marketplace. If
  // these scans have stopped, the stored listings may be out of date, and an import does not correct them.
  if (isScanned(mirror.coverage, 'listings')) return counted.filter((one) => one.kind === 'scan');
  if (counted.length > 0) return counted;
  // If the own order book has an order of any status, the mirror has no listing, and no record of any age tells of listings elsewhere, then the own
  // order book has all listings.
  const isElsewhere = [analytics?.floorRaw, stats?.floorRaw].some((floor) => toKnownFloor(floor) !== null);
  if (!own.known || mirror.assets > 0 || isElsewhere || (stats?.listedCount ?? null) !== null) return [];
  return [{ kind: 'imported', source: 'order-book', at: now, complete: true, value: own.assets, maxAgeMs: null }];
}
