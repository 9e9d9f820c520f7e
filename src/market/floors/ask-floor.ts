// Computes the ask floor of a collection, the lowest price that a seller asks, from facts that `ask-floor-reads.ts` has read.

import type { Coverage } from '../provenance/coverage.ts';
import { isScanned, toCounted } from '../provenance/coverage.ts';
import type { Candidate, Figure } from '../provenance/figure.ts';
import { MAX_AGE_MS, chooseFigure, isCurrent, toFigure, toReported, toSnapshot } from '../provenance/figure.ts';

/** In base units. A floor of zero is not known, because zero is no price. */
export type ReportedFloor = { at: number; floorRaw: bigint | null };

/** Each part is undefined when it could not be read. */
export type FloorFacts = {
  /** Null when the own order book has no listing. */
  own: bigint | null | undefined;
  /**
   * `cheapest`: the lowest price in the mirror, without the assets that the own order book lists; null when there is none. `coverage`:
   * which listings were read, from which marketplaces, and when (coverage.ts).
   */
  mirror: { cheapest: bigint | null; coverage: readonly Coverage[] } | undefined;
  analytics: ReportedFloor | null | undefined;
  stats: ReportedFloor | null | undefined;
  snapshotFloorRaw: bigint | null;
};

/**
 * In base units: the price of the cheapest listing in the own order book and the mirror. If the mirror cannot be read, the figure is the lower
 * of two prices: that of the cheapest own listing, and the newest floor that a vendor reported. If only the mirror can be read, its cheapest
 * listing decides. If both are known to be empty, the figure has the value null. If no listing is found, but one of the two may have listings,
 * the figure is the floor that a vendor reported, or the floor of the stored snapshot. Returns null when the floor is not known.
 */
export function toAskFloorFigure(facts: FloorFacts, now: number): Figure<bigint | null> | null {
  const { own, mirror, analytics = null, stats = null } = facts;
  const reported = [
    ...toReported(analytics, toKnownFloor(analytics?.floorRaw), { source: 'analytics', maxAgeMs: MAX_AGE_MS.floor }),
    ...toReported(stats, toKnownFloor(stats?.floorRaw), { source: 'stats', maxAgeMs: MAX_AGE_MS.floor }),
  ].filter((one) => isCurrent(one, now));
  const listed = [own, mirror?.cheapest].filter((price) => price !== null && price !== undefined);
  const [first] = listed;
  if (first !== undefined) {
    const value = listed.reduce((lowest, price) => (price < lowest ? price : lowest), first);
    const [newest] = reported.toSorted((a, b) => (b.at ?? 0) - (a.at ?? 0));
    if (!mirror && newest && newest.value < value) return toFigure(newest, now);
    // The figure has the present time and no maximum age, because it is the floor of exactly the listings that are served.
    return toFigure({ ...BOOKS, at: now, complete: own !== undefined && mirror !== undefined, value }, now);
  }
  const empty = own === null && mirror ? chooseFigure(toEmpty(mirror.coverage), now) : null;
  return empty ?? chooseFigure<bigint | null>([...reported, ...toSnapshot(toKnownFloor(facts.snapshotFloorRaw))], now);
}

/** Null for an amount that is no price. */
export function toKnownFloor(raw: bigint | null | undefined): bigint | null {
  return raw !== null && raw !== undefined && raw > 0n ? raw : null;
}

const BOOKS = { kind: 'scan', source: 'listings', maxAgeMs: null } as const;

/** Candidates with the value null, for an empty mirror. No candidates if the listings of a marketplace were not read to their end. */
function toEmpty(coverage: readonly Coverage[]): Candidate<null>[] {
  const rows = isScanned(coverage, 'listings') ? coverage.filter((row) => row.kind === 'scan') : coverage;
  const need = { subject: 'listings' as const, since: null, maxAgeMs: MAX_AGE_MS.floor, importedMaxAgeMs: null };
  // `toCounted` makes no candidates for the value null. So the value is 0 at first, and is then replaced by null.
  return toCounted(rows, 0, { ...need, eachSource: true }).map((one) => ({ ...one, value: null }));
}
