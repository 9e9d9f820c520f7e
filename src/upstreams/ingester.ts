// Lands the records of any source through the intake, as an import would, counts what became of them, and retires what has
// vanished upstream. It never lets a source write a row by itself.

import { applyListingSnapshot } from '../market/listing-snapshot.ts';
import type { ImportContext } from '../intake/import.ts';
import type { NumberedRecord } from '../intake/records/parse.ts';
import { ingestBatch } from '../intake/ingest/batch.ts';
import { parseRecord } from '../intake/records/parse.ts';
import type { RejectionCount, TaskResult } from '../tasks/task.ts';

/** A record in the public format (docs/records.md): a plain object with a `kind`. Nothing in it is trusted. */
export type RawRecord = Readonly<Record<string, unknown>>;

export type Ingester = {
  /** Lands records; may be called for each page. Rejects when a database fails, or when the signal aborts between batches. */
  land(records: Iterable<RawRecord>, signal?: AbortSignal): Promise<void>;
  /** Counts a row that a source refused itself, before it was a record. The reason names no value. */
  refuse(reason: string, example?: unknown): void;
  /**
   * Retires the active listings of a collection at a source that this lander has not been told. Only for whole snapshots: call
   * it when the last page has come in, never after a part, unless the part is all that is cheaper than `below`. Returns false when
   * the snapshot was so short that it is not believed yet.
   */
  retireUnseen(snapshot: { source: string; collectionId: string; below?: bigint | null }): Promise<boolean>;
  /** What it all came to. */
  result(more?: Pick<TaskResult, 'problems' | 'soon'>): TaskResult;
};

const BATCH_ROWS_MAX = 500;
/** Distinct reasons that are told apart; the rest are counted together. */
const REASONS_MAX = 20;
const EXAMPLE_LENGTH_MAX = 200;
/** Bounds the keys that are kept of one run: more than any collection lists. */
const SEEN_MAX = 1_000_000;
/** A marketplace may show a listing this long after it was made: until then its absence says nothing. */
export const LISTING_DELAY_MAX_MS = 2 * 60_000;

/** A book that loses more than half of itself at once is believed when it has come back so three times in five minutes. */
export const SNAPSHOT_LIMITS = { smallBookMax: 20, shareLeftMin: 0.5, doubtsMin: 3, doubtMs: 5 * 60_000 };

/** A lander for one run of a task. A snapshot that is taken through it began when it was made. */
export function createIngester(context: ImportContext): Ingester {
  const { chains, serviceName, seaport, clock } = context;
  const records = { chains, serviceName, seaport, now: clock };
  const startedAt = context.clock();
  const counts = { read: 0, changed: 0, refused: 0, retired: 0 };
  const refusals = new Map<string, { count: number; example: string }>();
  const seen = new Map<string, Set<string>>();
  let seenCount = 0;

  const refuse = (reason: string, example: unknown) => {
    counts.refused += 1;
    const clipped = reason.slice(0, EXAMPLE_LENGTH_MAX);
    const known = refusals.has(clipped) || refusals.size < REASONS_MAX ? clipped : 'other reasons';
    const before = refusals.get(known);
    if (before) before.count += 1;
    else refusals.set(known, { count: 1, example: show(example) });
  };

  const see = (entries: readonly NumberedRecord[], left: ReadonlySet<number>) => {
    for (const { line, record } of entries) {
      if (record.kind !== 'listing' || record.row.status !== 'active' || left.has(line)) continue;
      if (seenCount === SEEN_MAX) throw new Error(`a snapshot of more than ${SEEN_MAX} listings`);
      const place = `${record.row.source} ${record.row.collectionId}`;
      const keys = seen.get(place) ?? new Set();
      seen.set(place, keys);
      if (!keys.has(record.row.key)) seenCount += 1;
      keys.add(record.row.key);
    }
  };

  const ingestEntries = async (raw: readonly RawRecord[]) => {
    const entries: NumberedRecord[] = [];
    for (const [line, values] of raw.entries()) {
      const parsed = parseRecord(records, values);
      if (parsed.record) entries.push({ line, record: parsed.record });
      else refuse(toReason(parsed.kind, parsed.reason), parsed.reason);
    }
    const left = new Set<number>();
    await ingestBatch(context, entries, {
      now: context.clock(),
      dryRun: false,
      onIngested: (part) => {
        for (const { inserted, updated } of part.counts.values()) counts.changed += inserted + updated;
        for (const { line, kind, reason } of part.rejections) {
          left.add(line);
          refuse(toReason(kind, reason), reason);
        }
        // The stored order is served in place of its mirrored row, which may be retired.
        for (const line of part.ownOrderLines) left.add(line);
      },
    });
    see(entries, left);
  };

  const land = async (told: Iterable<RawRecord>, signal?: AbortSignal) => {
    let batch: RawRecord[] = [];
    const landRest = async () => {
      signal?.throwIfAborted();
      counts.read += batch.length;
      await ingestEntries(batch);
      batch = [];
    };
    for (const record of told) {
      batch.push(record);
      if (batch.length === BATCH_ROWS_MAX) await landRest();
    }
    if (batch.length > 0) await landRest();
  };

  const rejectRow = (reason: string, example: unknown = '') => {
    counts.read += 1;
    refuse(reason, example);
  };

  return {
    land,
    refuse: rejectRow,
    retireUnseen: async ({ source, collectionId, below = null }) => {
      const keys = [...(seen.get(`${source} ${collectionId}`) ?? [])];
      const outcome = await applyListingSnapshot(
        context.indexer,
        { source, collectionId, keys, listedBefore: startedAt - LISTING_DELAY_MAX_MS, takenAt: context.clock(), below },
        SNAPSHOT_LIMITS,
      );
      counts.retired += outcome.retired;
      if (outcome.retired > 0) {
        context.onChanged({ collectionIds: new Set([collectionId]), kinds: new Set(['listing']) });
      }
      return !outcome.doubted;
    },
    result: ({ problems = [], soon = false } = {}) => ({
      ...counts,
      refusals: toCounts(refusals),
      problems,
      ...(soon && { soon }),
    }),
  };
}

function toCounts(refusals: ReadonlyMap<string, { count: number; example: string }>): RejectionCount[] {
  return [...refusals].map(([reason, { count, example }]) => ({ reason, count, example }));
}

/** A refusal without the value that it shows, so that a thousand bad rows are one reason. */
function toReason(kind: string | null, reason: string): string {
  const [field = ''] = reason.split(/, not (?=["[{\d-]|null|true|false)/, 1);
  const bare = field.replace(/"[^"]*"|\d{4,}/g, '…');
  return kind === null ? bare : `${kind}: ${bare}`;
}

function show(example: unknown): string {
  const text = typeof example === 'string' ? example : (JSON.stringify(example) ?? String(example));
  return text.length > EXAMPLE_LENGTH_MAX ? `${text.slice(0, EXAMPLE_LENGTH_MAX)}…` : text;
}
