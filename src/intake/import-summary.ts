// What became of the records of one import, counted: in all and by kind.

import type { UpsertCounts } from '../database/upsert.ts';
import type { RecordKind } from './records/kinds.ts';

export type KindCounts = UpsertCounts & { refused: number };

/** `read` is the sum of the four counts. A refused record whose kind could not be told is in no kind's count. */
export type ImportSummary = KindCounts & {
  read: number;
  byKind: Partial<Record<RecordKind, KindCounts>>;
  seconds: number;
};

export type Tally = {
  addRead(records: number): void;
  addCounts(counts: ReadonlyMap<RecordKind, UpsertCounts>): void;
  addRefused(kind: RecordKind | null): void;
  summary(): ImportSummary;
};

export function createTally(): Tally {
  const startedAt = performance.now();
  const total = zero();
  const byKind: Partial<Record<RecordKind, KindCounts>> = {};
  let read = 0;
  return {
    addRead: (records) => {
      read += records;
    },
    addCounts: (counts) => {
      for (const [kind, counted] of counts) {
        if (counted.inserted + counted.updated + counted.unchanged === 0) continue;
        add(total, counted);
        add((byKind[kind] ??= zero()), counted);
      }
    },
    addRefused: (kind) => {
      total.refused += 1;
      if (kind !== null) (byKind[kind] ??= zero()).refused += 1;
    },
    summary: () => ({
      read,
      ...total,
      byKind: structuredClone(byKind),
      seconds: Math.round(performance.now() - startedAt) / 1_000,
    }),
  };
}

/** The sum of the summaries of several files. */
export function addSummaries(summaries: readonly ImportSummary[]): ImportSummary {
  const sum: ImportSummary = { read: 0, ...zero(), byKind: {}, seconds: 0 };
  for (const summary of summaries) {
    sum.read += summary.read;
    sum.seconds = Math.round((sum.seconds + summary.seconds) * 1_000) / 1_000;
    add(sum, summary);
    for (const [kind, counts] of Object.entries(summary.byKind)) {
      add((sum.byKind[kind as RecordKind] ??= zero()), counts);
    }
  }
  return sum;
}

function zero(): KindCounts {
  return { inserted: 0, updated: 0, unchanged: 0, refused: 0 };
}

function add(sum: KindCounts, counts: UpsertCounts & { refused?: number }): void {
  sum.inserted += counts.inserted;
  sum.updated += counts.updated;
  sum.unchanged += counts.unchanged;
  sum.refused += counts.refused ?? 0;
}
