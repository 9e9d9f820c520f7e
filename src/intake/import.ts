// Imports a stream of records. While one batch is stored, the next batch is read, parsed and prepared. So memory holds at most two batches,
// however long the stream is. Importing the same stream again changes nothing.

import type { Chains } from '../platform/core/chains.ts';
import type { Clock } from '../platform/core/clock.ts';
import { describeError, OperatorError } from '../platform/core/errors.ts';
import type { Log } from '../platform/core/log.ts';
import { isSliceOver, mapInSlices, nextSlice } from '../platform/core/slices.ts';
import { deriveHistory } from '../market/reads/derive-history.ts';
import type { MoreDeployments } from '../market/orders/seaport/deployments.ts';
import { untilAborted } from './abortable-source.ts';
import { BatchSize } from './batch-size.ts';
import type { ColumnMap } from './csv/column-map.ts';
import { findInObject, RowReader } from './csv/row-reader.ts';
import { readCsvRows } from './csv/rows.ts';
import type { ImportProgress, ImportSummary } from './import-summary.ts';
import { ImportCounter } from './import-summary.ts';
import { RecordNotes } from './import-warnings.ts';
import type { IngestContext, PreparedBatch } from './ingest/batch.ts';
import { ingestPrepared, prepareBatch } from './ingest/batch.ts';
import type { Importer } from './ingest/products.ts';
import { splitLines } from './lines.ts';
import type { RecordContext } from './records/identifiers.ts';
import type { RecordKind } from './records/kinds.ts';
import type { LineRejection, NumberedRecord, ParsedRecord } from './records/parse.ts';
import { RecordRejected } from './records/fields.ts';
import { parseObject, parseRecord, parseRecordLine } from './records/parse.ts';
import type { ChangeLog } from './undo/change-log.ts';
import { beginImport, endImport } from './undo/recorded-import.ts';

export type ImportContext = IngestContext & {
  chains: Chains;
  serviceName: string;
  clock: Clock;
  log: Log;
  /** The deployments of Seaport that the settings add to those that the program knows. */
  seaport: MoreDeployments;
};

export const IMPORT_FORMATS = ['ndjson', 'csv'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/**
 * `refused`: a rejected record. `conflict`: a sale that is already stored with other facts; the stored sale is not changed. `progress`:
 * the counts so far, after each batch.
 */
export type ImportEvent =
  | { event: 'refused' | 'conflict'; line: number; reason: string }
  | ({ event: 'progress' } & ImportProgress);

export type ImportOptions = {
  format: ImportFormat;
  /** The column of each field. Required for CSV. If the format is NDJSON, the columns are the members of the object on each line. */
  map?: ColumnMap;
  /** Stores every batch and then rolls it back. */
  dryRun?: boolean;
  /** Whether a sale replaces a stored sale with the same identity but different facts. */
  replace?: boolean;
  /** Whether each collection without a collection record gets one, with the address as the name. */
  createCollections?: boolean;
  /**
   * Until when the sales of each collection are complete, in milliseconds. A time in the future counts as the start of the import. Default: the
   * time of the newest sale of the collection.
   */
  completeUntil?: number;
  /** Who imports. Default: the operator. */
  importer?: Importer;
  /** The name of the file, for the list of imports. */
  file?: string;
  /** Whether the import is listed and can be undone. Default: true. A dry run is never listed. */
  recorded?: boolean;
  /** When this signal aborts, the import stops after its current batch. */
  signal?: AbortSignal;
  /** Called for each event. The import awaits the returned promise, so that a slow listener does not fill the memory with events. */
  onEvent?: (event: ImportEvent) => void | Promise<void>;
};

/** An import was ended by its client, by a limit or by a shutdown. The message may be shown to the client. */
export class ImportStopped extends Error {
  override readonly name = 'ImportStopped';
}

/** An import ended early. `cause` is the reason. `summary` counts the records that were processed until then. */
export class ImportFailure extends Error {
  override readonly name = 'ImportFailure';
  readonly summary: ImportSummary;

  constructor(summary: ImportSummary, cause: unknown) {
    super(describeStop(summary, describeError(cause)), { cause });
    this.summary = summary;
  }
}

/** Says after how many stored records an import stopped, and why. */
export function describeStop({ inserted, updated, unchanged }: ImportSummary, reason: string): string {
  const stored = inserted + updated + unchanged;
  return `stopped ${stored === 0 ? 'before any row was stored' : `after ${stored} rows were stored`}: ${reason}`;
}

/** Imports all records of `source`. Rejects with an ImportFailure if a database, the source or the signal ends the import early. */
export async function importRecords(
  context: ImportContext,
  source: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportSummary> {
  const counter = new ImportCounter();
  const notes = new RecordNotes(context.chains, context.clock());
  const batchSize = new BatchSize(context.indexer.engine);
  const changes = await begin(context, options).catch((error: unknown) => {
    throw new ImportFailure(counter.summary(), error);
  });
  const end = async (summary: ImportSummary, error: string | null): Promise<ImportSummary> => {
    if (!changes) return summary;
    await endImport(context, changes.importId, { summary, error });
    return { ...summary, imports: [changes.importId] };
  };
  const failed = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, failed.signal]) : failed.signal;
  let ingesting: Promise<void> = Promise.resolve();
  try {
    const parsed = parseSource(context, untilAborted(source, signal), options);
    for await (const rows of toBatches(parsed, batchSize)) {
      const batch = await prepareRows(context, rows, options);
      await ingesting;
      signal.throwIfAborted();
      ingesting = ingestAndCount(context, batch, { counter, notes, options, changes, batchSize });
      ingesting.catch((error: unknown) => failed.abort(error));
    }
    await ingesting;
    // All records are stored at this point, so an error here does not fail the import. `unknownCollections` is then null.
    if (!options.dryRun && counter.hasChanged(HISTORIC_KINDS)) await derive(context, notes.mentioned);
    const unknownCollections = await notes
      .findUnknownCollections(context.main, counter.createdCollections)
      .catch(() => null);
    return await end(counter.summary({ ...toNoted(notes), unknownCollections }), null);
  } catch (error) {
    // If a batch failed, its error has aborted the reading of the source. The cause of the failure is then the error of the batch, not the abort.
    const cause = await ingesting.then(
      () => error,
      (reason: unknown) => reason,
    );
    throw new ImportFailure(await end(counter.summary(toNoted(notes)), describeError(cause)), cause);
  }
}

/** The kinds of records from which the history is derived. */
const HISTORIC_KINDS = ['collection', 'order', 'listing', 'sale'] as const;

/** All records are stored at this point, so an error here does not fail the import: its next repetition derives the history. */
async function derive(context: ImportContext, collectionIds: readonly string[]): Promise<void> {
  try {
    const derived = await deriveHistory(context, collectionIds);
    if (derived.length > 0) context.onChanged({ collectionIds: new Set(derived), kinds: new Set(['listing']) });
  } catch (error) {
    context.log.warn('the history of the floor could not be derived from the imported listings', { error });
  }
}

/** Adds the import to the list of imports. Returns the log of its changes, or null if the import is not recorded. */
async function begin(
  context: ImportContext,
  { dryRun = false, recorded = true, importer = 'operator', file, format, replace = false }: ImportOptions,
): Promise<ChangeLog | null> {
  if (dryRun || !recorded) return null;
  return beginImport(context, { importer, file: file ?? null, format, replace });
}

function toNoted({ warnings, collections }: RecordNotes): Pick<ImportSummary, 'warnings' | 'collections'> {
  return { warnings, collections };
}

/**
 * A line or CSV row of the source. `line` is the line of the file on which the row begins. `lines` is the number of lines of the row.
 * `size` is the length of the row in characters. `parsed` is the record, or the reason why it was rejected.
 */
type ParsedRow = { line: number; lines: number; size: number; parsed: ParsedRecord };

function parseSource(
  context: ImportContext,
  source: AsyncIterable<Uint8Array>,
  { format, map }: ImportOptions,
): AsyncGenerator<ParsedRow[]> {
  const { chains, serviceName, seaport, clock } = context;
  const recordContext: RecordContext = { chains, serviceName, seaport, now: clock };
  if (format === 'ndjson') return parseLines(recordContext, source, map);
  if (!map) throw new OperatorError('a CSV file needs a column map', { exitCode: 2 });
  return parseCsv(recordContext, source, map);
}

async function* parseLines(
  context: RecordContext,
  source: AsyncIterable<Uint8Array>,
  map: ColumnMap | undefined,
): AsyncGenerator<ParsedRow[]> {
  const reader = map && new RowReader<object>(context.chains, map, findInObject);
  const parse = (text: string) => (reader ? parseObjectLine(context, text, reader) : parseRecordLine(context, text));
  for await (const lines of splitLines(source)) {
    yield await mapInSlices(lines, (line) => ({
      line: line.number,
      lines: 1,
      size: line.text?.length ?? 0,
      parsed: line.text === null ? toRejection(line.reason) : parse(line.text),
    }));
  }
}

/** Parses a JSON object that a column map converts to a record. */
function parseObjectLine(context: RecordContext, text: string, reader: RowReader<object>): ParsedRecord {
  const parsed = parseObject(text);
  if ('reason' in parsed) return toRejection(parsed.reason);
  try {
    return parseRecord(context, reader.read(parsed.object));
  } catch (error) {
    if (!(error instanceof RecordRejected)) throw error;
    return toRejection(error.message);
  }
}

async function* parseCsv(
  context: RecordContext,
  source: AsyncIterable<Uint8Array>,
  map: ColumnMap,
): AsyncGenerator<ParsedRow[]> {
  for await (const rows of readCsvRows(source, { chains: context.chains, map })) {
    yield await mapInSlices(rows, (row) => ({
      line: row.line,
      lines: row.lines,
      size: row.size,
      parsed: row.values === null ? toRejection(row.reason) : parseRecord(context, row.values),
    }));
  }
}

/** The result for a row whose kind of record is unknown. */
function toRejection(reason: string): ParsedRecord {
  return { record: null, kind: null, reason };
}

/** The kinds of which an import may have many records that are stored in the primary database. */
const PRIMARY_KINDS: ReadonlySet<RecordKind | undefined> = new Set(['product', 'order', 'bid']);

const BATCH_CHARACTERS_MAX = 4 * 1024 * 1024;

/** If the source fails, yields the rows that were read before, then throws the error of the source. */
async function* toBatches(source: AsyncIterable<ParsedRow[]>, batchSize: BatchSize): AsyncGenerator<ParsedRow[]> {
  let batch: ParsedRow[] = [];
  let size = 0;
  let startedAt = 0;
  let hasPrimary = false;
  try {
    for await (const rows of source) {
      for (const row of rows) {
        if (batch.length === 0) startedAt = performance.now();
        batch.push(row);
        size += row.size;
        hasPrimary ||= PRIMARY_KINDS.has(row.parsed.record?.kind);
        const isComplete = batchSize.isComplete(batch.length, {
          hasPrimary,
          fillMs: () => performance.now() - startedAt,
        });
        if (!isComplete && size < BATCH_CHARACTERS_MAX) continue;
        yield batch;
        batch = [];
        size = 0;
        hasPrimary = false;
      }
    }
  } catch (error) {
    if (batch.length > 0) yield batch;
    throw error;
  }
  if (batch.length > 0) yield batch;
}

type RejectedLine = { line: number; kind: RecordKind | null; reason: string };

/** A batch that is ready to be stored. `rejections`: its rows that are no valid records. */
type ReadBatch = { rows: readonly ParsedRow[]; prepared: PreparedBatch; rejections: readonly RejectedLine[] };

async function prepareRows(
  context: ImportContext,
  rows: readonly ParsedRow[],
  { replace = false }: Pick<ImportOptions, 'replace'>,
): Promise<ReadBatch> {
  const records: NumberedRecord[] = [];
  const rejections: RejectedLine[] = [];
  for (const { line, parsed } of rows) {
    if (parsed.record) records.push({ line, record: parsed.record });
    else rejections.push({ line, kind: parsed.kind, reason: parsed.reason });
  }
  const prepared = await prepareBatch(context, records, { now: context.clock(), replace });
  return { rows, prepared, rejections };
}

/** Stores the records of a batch, counts the results, and reports the rejected records in the order of their lines. */
async function ingestAndCount(
  context: ImportContext,
  { rows, prepared, rejections: unread }: ReadBatch,
  {
    counter,
    notes,
    options,
    changes,
    batchSize,
  }: {
    counter: ImportCounter;
    notes: RecordNotes;
    options: ImportOptions;
    changes: ChangeLog | null;
    batchSize: BatchSize;
  },
): Promise<void> {
  const rejections = [...unread];
  const conflicts: LineRejection[] = [];
  const ingested = ingestPrepared(context, prepared, {
    dryRun: options.dryRun ?? false,
    isImport: true,
    replace: options.replace ?? false,
    createCollections: options.createCollections ?? false,
    ...(options.completeUntil !== undefined && { salesUntil: options.completeUntil }),
    ...(options.importer && { importer: options.importer }),
    ...(changes && { changes }),
    onTransaction: (transaction) => batchSize.adapt(rows.length, transaction),
    onIngested: (part) => {
      counter.addStored(part.counts);
      counter.addCreatedCollections(part.createdCollections);
      rejections.push(...part.rejections);
      conflicts.push(...part.conflicts);
    },
  });
  // The records that were refused or stored before a failure are counted and reported too.
  const failure = await ingested.then(
    () => null,
    (error: unknown) => ({ error }),
  );
  for (const { lines, parsed } of rows) if (parsed.record === null) counter.addSkippedLines(lines - 1);
  for (const { kind } of rejections) counter.addRejected(kind);
  for (const { kind } of conflicts) counter.addConflict(kind);
  const rejectedLines = new Set(rejections.map(({ line }) => line));
  for (const record of failure ? [] : prepared.records) if (!rejectedLines.has(record.line)) notes.add(record);
  const events = [
    ...rejections.map(({ line, reason }) => ({ event: 'refused' as const, line, reason })),
    ...conflicts.map(({ line, reason }) => ({ event: 'conflict' as const, line, reason })),
  ];
  for (const event of events.sort((a, b) => a.line - b.line)) {
    if (isSliceOver()) await nextSlice();
    await options.onEvent?.(event);
  }
  await options.onEvent?.({ event: 'progress', ...counter.progress() });
  if (failure) throw failure.error;
}
