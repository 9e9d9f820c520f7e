// The lines of a backup: a header, then the tables and sequences of each schema, then the row counts. A table is a line with its columns,
// followed by a line for each row. A row is a JSON array with one element for each column: null, or the text of the value.

import { OperatorError } from '../../core/errors.ts';
import type { SequenceState, TableShape } from './catalogue.ts';
import { checkIntact, damaged, readBackupFile } from './file.ts';
import type { AppliedMigration, Schema } from '../migrate.ts';
import { SCHEMAS, checkMigrations, isBeforeFirst } from '../migrate.ts';
import { checkEarlier } from './earlier-backup.ts';

/** The version of the format. It must be increased with every change of the format that an older program would misread. */
const FORMAT_VERSION = 1;
/** A batch of rows ends at this size or at BATCH_ROWS_MAX rows. */
const BATCH_BYTES_MAX = 1024 * 1024;
const BATCH_ROWS_MAX = 2_000;
/** The longest line that is accepted: PostgreSQL accepts no larger JSON value. */
const LINE_BYTES_MAX = 256 * 1024 * 1024;
const NEWLINE = 0x0a;
const BRACKET = 0x5b;

export type BackupHeader = {
  mercat: 'backup';
  version: number;
  /** The version of the program that wrote the backup. */
  service: string;
  /** The start of the transaction on the primary, by the primary's clock. */
  createdAt: string;
  migrations: Readonly<Record<Schema, readonly AppliedMigration[]>>;
};

/** The number of rows of each table, by `schema.name`. */
export type RowCounts = Record<string, number>;

export type BackupEvent =
  | { kind: 'header'; header: BackupHeader }
  | { kind: 'table'; table: TableShape }
  /** Rows of the table in the preceding `table` event, as the text of one JSON array. */
  | { kind: 'rows'; rows: string; count: number }
  | { kind: 'sequence'; sequence: SequenceState }
  /** The last event. It is yielded only if the SHA-256 and the row counts are correct. */
  | { kind: 'end'; counts: RowCounts };

export function toHeader(fields: Pick<BackupHeader, 'service' | 'createdAt' | 'migrations'>): string {
  const header: BackupHeader = { mercat: 'backup', version: FORMAT_VERSION, ...fields };
  return toLine(header);
}
export const toTableLine = (table: TableShape): string => toLine({ table });
export const toSequenceLine = (sequence: SequenceState): string => toLine({ sequence });
export const toEnd = (counts: RowCounts): string => toLine({ end: counts });

function toLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

type ReadOptions = { signal: AbortSignal; onBytes?: (bytes: number) => void };

/**
 * Reads a backup. Throws DamagedBackup if the file is damaged, possibly after some events. Only the event `end` shows that the file is
 * intact.
 */
export async function* readBackup(file: string, options: ReadOptions): AsyncGenerator<BackupEvent> {
  const counts: RowCounts = {};
  let table: string | null = null;
  let hasHeader = false;
  let end: string | null = null;
  let batch: Buffer[] = [];
  let batchBytes = 0;
  const endBatch = (): BackupEvent => {
    const event: BackupEvent = { kind: 'rows', rows: `[${batch.join(',')}]`, count: batch.length };
    batch = [];
    batchBytes = 0;
    return event;
  };
  for await (const line of splitLines(file, readBackupFile(file, options))) {
    if (end !== null) throw damaged(file);
    if (line[0] === BRACKET) {
      if (table === null) throw damaged(file);
      counts[table] = (counts[table] ?? 0) + 1;
      batch.push(line);
      batchBytes += line.length;
      if (batchBytes >= BATCH_BYTES_MAX || batch.length === BATCH_ROWS_MAX) yield endBatch();
      continue;
    }
    if (batch.length > 0) yield endBatch();
    const content = parseLine(file, line);
    if (!hasHeader) {
      yield { kind: 'header', header: checkHeader(file, content) };
      hasHeader = true;
    } else if (content['table']) {
      const shape = content['table'] as TableShape;
      table = `${shape.schema}.${shape.name}`;
      counts[table] = 0;
      yield { kind: 'table', table: shape };
    } else if (content['sequence']) {
      yield { kind: 'sequence', sequence: content['sequence'] as SequenceState };
    } else {
      end = line.toString('utf8');
    }
  }
  // The SHA-256 is correct at this point. The row counts detect an error of the program that wrote the file.
  if (end === null || `${end}\n` !== toEnd(counts)) throw damaged(file);
  yield { kind: 'end', counts };
}

/**
 * Reads the complete file twice, first to check its SHA-256, then to parse it. Returns the header and the row counts. Throws DamagedBackup
 * if the file is damaged. Throws another OperatorError if its format or migrations do not fit this program.
 */
export async function verifyBackup(
  file: string,
  options: ReadOptions,
): Promise<{ header: BackupHeader; counts: RowCounts }> {
  await checkIntact(file, options);
  let header: BackupHeader | null = null;
  for await (const event of readBackup(file, options)) {
    if (event.kind === 'header') header = event.header;
    if (event.kind === 'end' && header) return { header, counts: event.counts };
  }
  throw damaged(file);
}

function checkHeader(file: string, content: Readonly<Record<string, unknown>>): BackupHeader {
  const header = content as BackupHeader;
  if (header.mercat !== 'backup' || !Number.isSafeInteger(header.version)) throw damaged(file);
  if (header.version > FORMAT_VERSION) {
    throw new OperatorError(
      `${file} was written by a newer version (${header.service}): its format is ${header.version}, and this program reads up to ${FORMAT_VERSION}`,
    );
  }
  if (!SCHEMAS.every((schema) => Array.isArray(header.migrations?.[schema]))) throw damaged(file);
  for (const schema of SCHEMAS) {
    if (isBeforeFirst(header.migrations[schema])) checkEarlier(header.migrations[schema], schema);
    else checkMigrations(header.migrations[schema], schema, header.service);
  }
  return header;
}

function parseLine(file: string, line: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(line.toString('utf8')) as unknown;
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    throw damaged(file, error);
  }
  throw damaged(file);
}

/** Yields the lines without their newlines. Throws DamagedBackup if the last line has no newline. */
async function* splitLines(file: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let newline = chunk.indexOf(NEWLINE); newline >= 0; newline = chunk.indexOf(NEWLINE, from)) {
      const part = chunk.subarray(from, newline);
      yield begun.length === 0 ? part : Buffer.concat([...begun, part]);
      begun = [];
      begunBytes = 0;
      from = newline + 1;
    }
    if (from === chunk.length) continue;
    begun.push(chunk.subarray(from));
    begunBytes += chunk.length - from;
    if (begunBytes > LINE_BYTES_MAX) throw damaged(file);
  }
  if (begun.length > 0) throw damaged(file);
}
