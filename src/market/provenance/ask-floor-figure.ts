// The ask floor of a collection, from the stored facts. Pure.

import type { Coverage } from './coverage.ts';
import { isScanned, toCounted } from './coverage.ts';
import type { Candidate, Figure } from './figure.ts';
import { MAX_AGE_MS, chooseFigure, toFigure, toReported, toSnapshot } from './figure.ts';

/** The floor of a record, in base units. */
export type ReportedFloor = { at: number; floorRaw: bigint | null };

/** Each part is undefined when it could not be read. */
export type FloorFacts = {
  /** The lowest price in the own order book; null when the book has no listing. */
  own: bigint | null | undefined;
  /** The lowest price of the listings in the mirror, without assets that the own book lists; and the coverage of listings. */
  mirror: { cheapest: bigint | null; coverage: readonly Coverage[] } | undefined;
  /** The floor of the analytics record, and of the stats record. */
  analytics: ReportedFloor | null | undefined;
  stats: ReportedFloor | null | undefined;
  snapshotFloorRaw: bigint | null;
};

/**
 * The figure in base units. The cheapest listing of the two books, whichever can be read, wins. When both are known to be empty, the
 * figure has the value null. When that is not known, records and the stored snapshot follow. Null: the floor is not known.
 */
export function toAskFloorFigure(facts: FloorFacts, now: number): Figure<bigint | null> | null {
  const { own, mirror, analytics = null, stats = null, snapshotFloorRaw } = facts;
  const listed = [own, mirror?.cheapest].filter((price) => price !== null && price !== undefined);
  const [first] = listed;
  if (first !== undefined) {
    const value = listed.reduce((lowest, price) => (price < lowest ? price : lowest), first);
    // The floor of the listings that are served is right at any time, because it is about these listings.
    return toFigure({ ...BOOKS, at: now, complete: own !== undefined && mirror !== undefined, value }, now);
  }
  const empty = own === null && mirror ? chooseFigure(toEmpty(mirror.coverage), now) : null;
  if (empty) return empty;
  return chooseFigure<bigint | null>(
    [
      ...toReported(analytics, analytics?.floorRaw, { source: 'analytics', maxAgeMs: MAX_AGE_MS.floor }),
      ...toReported(stats, stats?.floorRaw, { source: 'stats', maxAgeMs: MAX_AGE_MS.floor }),
      ...toSnapshot(snapshotFloorRaw),
    ],
    now,
  );
}

const BOOKS = { kind: 'scan', source: 'listings', maxAgeMs: null } as const;

/** The value null as a candidate, when the sources of the mirror were read to their ends and had no listing. */
function toEmpty(coverage: readonly Coverage[]): Candidate<null>[] {
  const rows = isScanned(coverage, 'listings') ? coverage.filter((row) => row.kind === 'scan') : coverage;
  const need = { subject: 'listings' as const, since: null, maxAgeMs: MAX_AGE_MS.floor, importedMaxAgeMs: null };
  // A listing that does not exist has no value to count, so any value stands for it here.
  return toCounted(rows, 0, { ...need, eachSource: true }).map((one) => ({ ...one, value: null }));
}
