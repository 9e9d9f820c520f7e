// Counts the records of an import by result, in total and by kind. The summary also has warnings about accepted records.

import type { UpsertCounts } from '../platform/database/upsert.ts';
import type { ImportWarnings } from './import-warnings.ts';
import { addWarnings } from './import-warnings.ts';
import type { RecordKind } from './records/kinds.ts';

/**
 * The most ids in `createdCollections`. They must fit into one line of the response, together with the ids of the imported collection
 * records.
 */
const CREATED_COLLECTIONS_MAX = 5_000;

/** `conflict`: sales that are stored already with another price, time, seller or buyer, and listings with another token. Such a record changes nothing. */
export type KindCounts = UpsertCounts & { conflict: number; refused: number };

/** `read` is the sum of the other five counts. A rejected record of an unknown kind counts in the total and not in `byKind`. */
export type ImportSummary = KindCounts & {
  read: number;
  byKind: Partial<Record<RecordKind, KindCounts>>;
  /**
   * The number of lines of rejected CSV rows and of malformed parts of JSON files. The first line of each row or part does not count. A CSV
   * row has several lines if its quoted cells contain line breaks.
   */
  skippedLines: number;
  warnings: ImportWarnings;
  /**
   * For each collection without a collection record: the number of its records in this import that are stored or unchanged. These records
   * are not served. Null if the import ended before the collections were looked up.
   */
  unknownCollections: Record<string, number> | null;
  /**
   * The ids of the collections for which a record was created because they had none, at most CREATED_COLLECTIONS_MAX. Empty without the
   * option `createCollections`.
   */
  createdCollections: string[];
  /** The number of created collections that `createdCollections` leaves out. Absent if it has all of them. */
  moreCreatedCollections?: number;
  /** The ids of the imported collection records. `import-warnings.ts` limits their number. */
  collections: string[];
  seconds: number;
  /** The id of the import, for `mercat imports undo`. If several files were imported, one id for each. Empty for a dry run. */
  imports: string[];
};

export type ImportProgress = KindCounts & Pick<ImportSummary, 'read' | 'skippedLines'>;

/** Counts the records of one import. The duration of the import is measured from the construction of the counter. */
export class ImportCounter {
  readonly #startedAt = performance.now();
  readonly #total = zeroCounts();
  readonly #byKind: Partial<Record<RecordKind, KindCounts>> = {};
  #skippedLines = 0;
  readonly #createdCollections = new Set<string>();

  addSkippedLines(lines: number): void {
    this.#skippedLines += lines;
  }

  /** In a dry run, several batches may report the same collection, because each batch is rolled back. */
  addCreatedCollections(ids: readonly string[]): void {
    for (const id of ids) this.#createdCollections.add(id);
  }

  get createdCollections(): ReadonlySet<string> {
    return this.#createdCollections;
  }

  addStored(counts: ReadonlyMap<RecordKind, UpsertCounts>): void {
    for (const [kind, counted] of counts) {
      if (counted.inserted + counted.updated + counted.unchanged === 0) continue;
      addCounts(this.#total, counted);
      addCounts((this.#byKind[kind] ??= zeroCounts()), counted);
    }
  }

  addConflict(kind: RecordKind): void {
    this.#total.conflict += 1;
    (this.#byKind[kind] ??= zeroCounts()).conflict += 1;
  }

  addRejected(kind: RecordKind | null): void {
    this.#total.refused += 1;
    if (kind !== null) (this.#byKind[kind] ??= zeroCounts()).refused += 1;
  }

  /** Whether a row of one of these kinds was inserted or changed. */
  hasChanged(kinds: readonly RecordKind[]): boolean {
    return kinds.some((kind) => {
      const { inserted, updated } = this.#byKind[kind] ?? zeroCounts();
      return inserted + updated > 0;
    });
  }

  progress(): ImportProgress {
    const { inserted, updated, unchanged, conflict, refused } = this.#total;
    const read = inserted + updated + unchanged + conflict + refused;
    return { read, ...this.#total, skippedLines: this.#skippedLines };
  }

  summary(noted: Partial<Pick<ImportSummary, 'warnings' | 'unknownCollections' | 'collections'>> = {}): ImportSummary {
    return {
      ...this.progress(),
      byKind: structuredClone(this.#byKind),
      warnings: {},
      unknownCollections: null,
      ...toCreated(this.#createdCollections),
      collections: [],
      ...noted,
      seconds: Math.round(performance.now() - this.#startedAt) / 1_000,
      imports: [],
    };
  }
}

/** Adds up the summaries of several files. A collection is unknown if none of the files has its collection record. */
export function addSummaries(summaries: readonly ImportSummary[]): ImportSummary {
  const sum: ImportSummary = {
    read: 0,
    ...zeroCounts(),
    byKind: {},
    skippedLines: 0,
    warnings: {},
    unknownCollections: null,
    ...toCreated(
      new Set(summaries.flatMap(({ createdCollections }) => createdCollections)),
      summaries.reduce((total, { moreCreatedCollections = 0 }) => total + moreCreatedCollections, 0),
    ),
    collections: [...new Set(summaries.flatMap(({ collections }) => collections))].sort(),
    seconds: 0,
    imports: summaries.flatMap(({ imports }) => imports),
  };
  for (const summary of summaries) {
    sum.read += summary.read;
    sum.skippedLines += summary.skippedLines;
    sum.seconds = Math.round((sum.seconds + summary.seconds) * 1_000) / 1_000;
    addCounts(sum, summary);
    for (const [kind, counts] of Object.entries(summary.byKind)) {
      addCounts((sum.byKind[kind as RecordKind] ??= zeroCounts()), counts);
    }
    sum.warnings = addWarnings(sum.warnings, summary.warnings);
  }
  if (summaries.every(({ unknownCollections }) => unknownCollections !== null)) {
    sum.unknownCollections = addUnknownCollections(summaries, new Set(sum.collections));
  }
  return sum;
}

/** `leftOut`: the number of created collections that are not in `ids`. */
function toCreated(
  ids: ReadonlySet<string>,
  leftOut = 0,
): Pick<ImportSummary, 'createdCollections' | 'moreCreatedCollections'> {
  const more = Math.max(0, ids.size - CREATED_COLLECTIONS_MAX) + leftOut;
  const createdCollections = [...ids].sort().slice(0, CREATED_COLLECTIONS_MAX);
  return { createdCollections, ...(more > 0 && { moreCreatedCollections: more }) };
}

function addUnknownCollections(
  summaries: readonly ImportSummary[],
  recorded: ReadonlySet<string>,
): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [id, records] of summaries.flatMap(({ unknownCollections }) => Object.entries(unknownCollections ?? {}))) {
    if (!recorded.has(id)) sum[id] = (sum[id] ?? 0) + records;
  }
  return sum;
}

function zeroCounts(): KindCounts {
  return { inserted: 0, updated: 0, unchanged: 0, conflict: 0, refused: 0 };
}

function addCounts(sum: KindCounts, counts: UpsertCounts & Partial<KindCounts>): void {
  sum.inserted += counts.inserted;
  sum.updated += counts.updated;
  sum.unchanged += counts.unchanged;
  sum.conflict += counts.conflict ?? 0;
  sum.refused += counts.refused ?? 0;
}
