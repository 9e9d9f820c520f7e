// Decides whether the stored part of a collection's history is enough for a complete sum or count. Reads no database and no clock.

import type { Candidate, ProvenanceKind } from './figure.ts';

/** `owners`: the owner of each token. `tokens`: which tokens exist. */
export const COVERAGE_SUBJECTS = ['listings', 'sales', 'tokens', 'owners'] as const;
export type CoverageSubject = (typeof COVERAGE_SUBJECTS)[number];

export const COVERAGE_KINDS = ['chain', 'scan', 'imported'] as const satisfies ProvenanceKind[];
export type CoverageKind = (typeof COVERAGE_KINDS)[number];

/**
 * What one chain, vendor or import has covered without a gap, from the time `from` to the time `to`. `from` null: all times before `to` are
 * covered. For listings, tokens and owners, `to` is when the list was complete. Times in milliseconds.
 */
export type Coverage = {
  subject: CoverageSubject;
  source: string;
  kind: CoverageKind;
  from: number | null;
  to: number;
};

/** The time from `since` on must be covered; if `since` is null, all time. `importedMaxAgeMs` null: imported records count at any age. */
export type Need = {
  subject: CoverageSubject;
  since: number | null;
  maxAgeMs: number;
  importedMaxAgeMs: number | null;
  /**
   * True if each scanned vendor has only its own part of the rows. The coverage of every scanned vendor must then reach back to `since`.
   */
  eachSource: boolean;
};

/**
 * The candidates of a value that was summed or counted from rows: one for each kind of coverage that meets `need`. None if the value is
 * null.
 */
export function toCounted<T>(coverage: readonly Coverage[], value: T | null, need: Need): Candidate<T>[] {
  if (value === null) return [];
  return COVERAGE_KINDS.flatMap((kind) => {
    const rows = coverage.filter((row) => row.subject === need.subject && row.kind === kind);
    const reaching = rows.filter((row) => row.from === null || (need.since !== null && row.from <= need.since));
    const mustAllReach = kind === 'scan' && need.eachSource;
    if (reaching.length === 0 || (mustAllReach && reaching.length < rows.length)) return [];
    const byEnd = reaching.toSorted((a, b) => a.to - b.to);
    const last = mustAllReach ? byEnd[0] : byEnd.at(-1);
    const maxAgeMs = kind === 'imported' ? need.importedMaxAgeMs : need.maxAgeMs;
    const source = mustAllReach ? toNames(reaching) : (last?.source ?? null);
    return [{ kind, source, at: last?.to ?? null, complete: true, value, maxAgeMs }];
  });
}

function toNames(rows: readonly Coverage[]): string {
  return rows
    .map((row) => row.source)
    .toSorted()
    .join(', ');
}

/** True when a vendor that is read again and again has covered a part of the subject. */
export function isScanned(coverage: readonly Coverage[], subject: CoverageSubject): boolean {
  return coverage.some((row) => row.subject === subject && row.kind === 'scan');
}
