// Chooses a figure of a collection among several candidates: the one of the strongest kind that is complete and not too old. Pure.

/**
 * Where a figure comes from, strongest first. `chain`: counted from the history of the collection on its chain. This history was read
 * completely, and the collection is followed. `scan`: counted from a vendor's list. The list was read to its end, and all changes since then were
 * read without a gap.
 * `reported`: a vendor states the figure itself. `imported`: counted from records of the operator and orders of this service. `snapshot`:
 * stored with the collection record.
 */
export const PROVENANCE_KINDS = ['chain', 'scan', 'reported', 'imported', 'snapshot'] as const;
export type ProvenanceKind = (typeof PROVENANCE_KINDS)[number];

/** Times in milliseconds. `source` is null for a snapshot. */
export type Candidate<T> = {
  kind: ProvenanceKind;
  source: string | null;
  /** The time at which the value was right. Null if this time is not known. A time after now counts as now. */
  at: number | null;
  /** False for a sum or count that may lack some of its rows. Such a candidate is never chosen. */
  complete: boolean;
  value: T;
  /** The candidate is chosen only while it is younger than this; null: at any age. */
  maxAgeMs: number | null;
};

/** `validUntil`: when the figure becomes too old; null when it never does. An unknown figure is null, not a `Figure`. */
export type Figure<T> = Omit<Candidate<T>, 'maxAgeMs'> & { validUntil: number | null };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const MAX_AGE_MS = {
  /** Volume and sales of the last 24 hours, seven days and 30 days. */
  window: 2 * HOUR_MS,
  /** Volume and sales of the last hour. */
  hour: 15 * MINUTE_MS,
  floor: 30 * MINUTE_MS,
  /** Supply, owners, listed count, and volume and sales of all time. */
  total: 24 * HOUR_MS,
} as const;

/** Whether the figure was counted from stored rows. A figure of another kind may count rows that are not stored. */
export function isCounted<T>(figure: Figure<T> | null): figure is Figure<T> {
  return figure !== null && figure.kind !== 'reported' && figure.kind !== 'snapshot';
}

/** The first candidate of the strongest kind that is complete and not too old. Null when there is none. */
export function chooseFigure<T>(candidates: readonly Candidate<T>[], now: number): Figure<T> | null {
  for (const kind of PROVENANCE_KINDS) {
    const chosen = candidates.find((one) => one.kind === kind && one.complete && isCurrent(one, now));
    if (chosen) return toFigure(chosen, now);
  }
  return null;
}

export function isCurrent({ at, maxAgeMs }: Pick<Candidate<unknown>, 'at' | 'maxAgeMs'>, now: number): boolean {
  return maxAgeMs === null || (at !== null && now - at < maxAgeMs);
}

export function toFigure<T>({ maxAgeMs, ...candidate }: Candidate<T>, now: number): Figure<T> {
  const at = candidate.at === null ? null : Math.min(candidate.at, now);
  return { ...candidate, at, validUntil: at === null || maxAgeMs === null ? null : at + maxAgeMs };
}

/** Empty when the record has no value. */
export function toReported<T>(
  record: { at: number } | null,
  value: T | null | undefined,
  { source, maxAgeMs }: { source: string; maxAgeMs: number },
): Candidate<T>[] {
  if (!record || value === null || value === undefined) return [];
  return [{ kind: 'reported', source, at: record.at, complete: true, value, maxAgeMs }];
}

/** Empty when the snapshot has no value. */
export function toSnapshot<T>(value: T | null): Candidate<T>[] {
  return value === null ? [] : [{ kind: 'snapshot', source: null, at: null, complete: true, value, maxAgeMs: null }];
}
