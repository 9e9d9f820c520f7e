// The counts of an import: how many records were read, inserted, updated, unchanged and rejected, in total and by kind.

import type { UpsertCounts } from '../database/upsert.ts';
import type { RecordKind } from './records/kinds.ts';

export type KindCounts = UpsertCounts & { refused: number };

/** `read` is the sum of the other four counts. A rejected record whose kind is unknown is in the total only, not in `byKind`. */
export type ImportSummary = KindCounts & {
  read: number;
  byKind: Partial<Record<RecordKind, KindCounts>>;
  seconds: number;
};

/** Counts the records of one import, and measures its time from the creation of the counter. */
export class ImportCounter {
  readonly #startedAt = performance.now();
  readonly #total = zeroCounts();
  readonly #byKind: Partial<Record<RecordKind, KindCounts>> = {};
  #read = 0;

  addRead(records: number): void {
    this.#read += records;
  }

  addStored(counts: ReadonlyMap<RecordKind, UpsertCounts>): void {
    for (const [kind, counted] of counts) {
      if (counted.inserted + counted.updated + counted.unchanged === 0) continue;
      addCounts(this.#total, counted);
      addCounts((this.#byKind[kind] ??= zeroCounts()), counted);
    }
  }

  addRejected(kind: RecordKind | null): void {
    this.#total.refused += 1;
    if (kind !== null) (this.#byKind[kind] ??= zeroCounts()).refused += 1;
  }

  summary(): ImportSummary {
    return {
      read: this.#read,
      ...this.#total,
      byKind: structuredClone(this.#byKind),
      seconds: Math.round(performance.now() - this.#startedAt) / 1_000,
    };
  }
}

/** Adds up the summaries of several files. */
export function addSummaries(summaries: readonly ImportSummary[]): ImportSummary {
  const sum: ImportSummary = { read: 0, ...zeroCounts(), byKind: {}, seconds: 0 };
  for (const summary of summaries) {
    sum.read += summary.read;
    sum.seconds = Math.round((sum.seconds + summary.seconds) * 1_000) / 1_000;
    addCounts(sum, summary);
    for (const [kind, counts] of Object.entries(summary.byKind)) {
      addCounts((sum.byKind[kind as RecordKind] ??= zeroCounts()), counts);
    }
  }
  return sum;
}

function zeroCounts(): KindCounts {
  return { inserted: 0, updated: 0, unchanged: 0, refused: 0 };
}

function addCounts(sum: KindCounts, counts: UpsertCounts & { refused?: number }): void {
  sum.inserted += counts.inserted;
  sum.updated += counts.updated;
  sum.unchanged += counts.unchanged;
  sum.refused += counts.refused ?? 0;
}
