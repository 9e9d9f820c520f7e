// Which part of a collection's history the sources have covered, and which sums and counts are therefore complete. Pure.

import type { Candidate, ProvenanceKind } from './figure.ts';

/** `owners`: the owner of each token. The subject `tokens` alone says which tokens exist. */
export const COVERAGE_SUBJECTS = ['listings', 'sales', 'tokens', 'owners'] as const;
export type CoverageSubject = (typeof COVERAGE_SUBJECTS)[number];

export const COVERAGE_KINDS = ['chain', 'scan', 'imported'] as const satisfies ProvenanceKind[];
export type CoverageKind = (typeof COVERAGE_KINDS)[number];

/**
 * What one source has covered without a gap. `from` null: from the beginning. For listings, tokens and owners `to` is when the list was
 * complete. Times in milliseconds.
 */
export type Coverage = {
  subject: CoverageSubject;
  source: string;
  kind: CoverageKind;
  from: number | null;
  to: number;
};

/** What must be covered. `since` null: everything from the beginning. `importedMaxAgeMs` null: imported records count at any age. */
export type Need = {
  subject: CoverageSubject;
  since: number | null;
  maxAgeMs: number;
  importedMaxAgeMs: number | null;
  /** True when each scanned source has only its own part, so that all of them must be covered. */
  eachSource: boolean;
};

/** The candidates of a value that was summed or counted from rows: one for each kind of coverage that meets `need`; none if it is null. */
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

/** True when a source that is read again and again has covered a part of the subject. */
export function isScanned(coverage: readonly Coverage[], subject: CoverageSubject): boolean {
  return coverage.some((row) => row.subject === subject && row.kind === 'scan');
}
