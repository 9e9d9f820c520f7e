// Imports a stream of records: reads, checks and lands them batch by batch, reading the next while one is landed. Memory is
// bounded by the batch, however long the stream is. Landing a stream again changes nothing.

import type { Clock } from '../core/clock.ts';
import type { OnChanged } from '../core/changes.ts';
import type { Chains } from '../core/chains.ts';
import type { MoreDeployments } from '../orders/seaport/deployments.ts';
import { describeError, OperatorError } from '../core/errors.ts';
import type { CsvMap } from './csv/column-map.ts';
import { readCsvRows } from './csv/rows.ts';
import type { RecordKind } from './records/kinds.ts';
import type { Databases } from './ingest/batch.ts';
import { ingestBatch, subjectOf } from './ingest/batch.ts';
import type { RecordSender } from './ingest/products.ts';
import { splitLines } from './lines.ts';
import type { Entry, Parsed } from './records/parse.ts';
import { parseRecord, parseRecordLine } from './records/parse.ts';
import type { RecordContext } from './records/identifiers.ts';
import type { ImportSummary, Tally } from './import-summary.ts';
import { createTally } from './import-summary.ts';

export type { ImportSummary } from './import-summary.ts';

export type ImportContext = Databases & {
  chains: Chains;
  serviceName: string;
  clock: Clock;
  /** Deployments of Seaport besides the known ones. */
  seaport: MoreDeployments;
  onChanged: OnChanged;
};

export const IMPORT_FORMATS = ['ndjson', 'csv'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

export type ImportEvent =
  | { event: 'refused'; line: number; reason: string }
  | ({ event: 'progress' } & Omit<ImportSummary, 'byKind' | 'seconds'>);

export type ImportOptions = {
  format: ImportFormat;
  /** Which column is which field: needed for CSV. */
  map?: CsvMap;
  /** Checks and lands every batch, and rolls it back. */
  dryRun?: boolean;
  /** Who sends it; the operator unless told otherwise. */
  sender?: RecordSender;
  /** When it aborts, the import stops after the batch that is being landed. */
  signal?: AbortSignal;
  /** Awaited, so that a slow listener slows the import down instead of filling memory. */
  onEvent?: (event: ImportEvent) => void | Promise<void>;
};

/** Why an import ended early, and what had been landed by then. */
export class ImportFailure extends Error {
  override readonly name = 'ImportFailure';
  readonly summary: ImportSummary;

  constructor(summary: ImportSummary, cause: unknown) {
    const landed = summary.inserted + summary.updated + summary.unchanged;
    const rows = landed === 0 ? 'before any row was landed' : `after ${landed} rows were landed`;
    super(`stopped ${rows}: ${describeError(cause)}`, { cause });
    this.summary = summary;
  }
}

const BATCH_ROWS_MAX = 500;
const BATCH_SIZE_MAX = 4 * 1024 * 1024;

/** Imports all of `source`. Rejects with an ImportFailure when a database, the source or the signal ends it early. */
export async function importRecords(
  context: ImportContext,
  source: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportSummary> {
  const tally = createTally();
  const failed = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, failed.signal]) : failed.signal;
  let landing: Promise<void> = Promise.resolve();
  try {
    for await (const batch of toBatches(readRecords(context, untilAborted(source, signal), options))) {
      await landing;
      signal.throwIfAborted();
      landing = land(context, batch, { tally, options });
      landing.catch((error: unknown) => failed.abort(error));
    }
    await landing;
    return tally.summary();
  } catch (error) {
    const cause = await landing.then(
      () => error,
      (reason: unknown) => reason,
    );
    throw new ImportFailure(tally.summary(), cause);
  }
}

type Incoming = { line: number; size: number; parsed: Parsed };

async function* readRecords(
  context: ImportContext,
  source: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): AsyncGenerator<Incoming[]> {
  const { chains, serviceName, seaport } = context;
  const records: RecordContext = { chains, serviceName, seaport, now: context.clock };
  const refuse = (reason: string): Parsed => ({ record: null, kind: null, reason });
  if (options.format === 'csv') {
    const { map } = options;
    if (!map) throw new OperatorError('a CSV file needs a column map', { exitCode: 2 });
    for await (const rows of readCsvRows(source, { chains: context.chains, map })) {
      yield rows.map((row) => ({
        line: row.line,
        size: row.size,
        parsed: row.values === null ? refuse(row.reason) : parseRecord(records, row.values),
      }));
    }
    return;
  }
  for await (const lines of splitLines(source)) {
    yield lines.map((line) => ({
      line: line.number,
      size: line.text?.length ?? 0,
      parsed: line.text === null ? refuse(line.reason) : parseRecordLine(records, line.text),
    }));
  }
}

async function* toBatches(source: AsyncIterable<Incoming[]>): AsyncGenerator<Incoming[]> {
  let batch: Incoming[] = [];
  let size = 0;
  for await (const incoming of source) {
    for (const row of incoming) {
      batch.push(row);
      size += row.size;
      if (batch.length < BATCH_ROWS_MAX && size < BATCH_SIZE_MAX) continue;
      yield batch;
      batch = [];
      size = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

async function land(
  context: ImportContext,
  batch: readonly Incoming[],
  { tally, options }: { tally: Tally; options: ImportOptions },
): Promise<void> {
  const entries: Entry[] = [];
  const refused: { line: number; kind: RecordKind | null; reason: string }[] = [];
  for (const { line, parsed } of batch) {
    if (parsed.record) entries.push({ line, record: parsed.record });
    else refused.push({ line, kind: parsed.kind, reason: parsed.reason });
  }
  await ingestBatch(context, entries, {
    now: context.clock(),
    dryRun: options.dryRun ?? false,
    ...(options.sender && { sender: options.sender }),
    onIngested: (landing) => {
      tally.addCounts(landing.counts);
      refused.push(...landing.refused);
      if (!options.dryRun) announce(context, entries, landing.counts);
    },
  });
  tally.addRead(batch.length);
  for (const { line, kind, reason } of refused.sort((a, b) => a.line - b.line)) {
    tally.addRefused(kind);
    await options.onEvent?.({ event: 'refused', line, reason });
  }
  const { read, inserted, updated, unchanged, refused: refusals } = tally.summary();
  await options.onEvent?.({ event: 'progress', read, inserted, updated, unchanged, refused: refusals });
}

/** Tells of the kinds that changed, and of the collections that rows of those kinds were about. */
export function announce(
  context: Pick<ImportContext, 'onChanged'>,
  entries: readonly Entry[],
  counts: ReadonlyMap<RecordKind, { inserted: number; updated: number }>,
): void {
  const kinds = new Set([...counts].flatMap(([kind, { inserted, updated }]) => (inserted + updated > 0 ? [kind] : [])));
  if (kinds.size === 0) return;
  const collectionIds = new Set<string>();
  for (const { record } of entries) {
    const subject = kinds.has(record.kind) ? subjectOf(record) : null;
    if (subject !== null) collectionIds.add(subject);
  }
  context.onChanged({ collectionIds, kinds });
}

/** The chunks of a source until the signal aborts, even while the source has nothing to say. */
async function* untilAborted(source: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await orAbort(chunks.next(), signal);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Not awaited: a source that has gone silent would answer this as little as it answered the read.
    void Promise.resolve(chunks.return?.()).catch(() => undefined);
  }
}

function orAbort<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
