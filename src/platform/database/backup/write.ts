// Writes a backup: all rows of both schemas as they are when the backup begins, as text that every server reads back exactly. Nothing is
// written to a database here. During the backup PostgreSQL serves other statements, and the embedded engine makes other statements wait.

import { OperatorError } from '../../core/errors.ts';
import type { TableShape } from './catalogue.ts';
import { listAppliedMigrations, listSequences, listTables, quoted, quotedTable, setExactText } from './catalogue.ts';
import type { BackupTarget } from './file.ts';
import { writeBackupFile } from './file.ts';
import type { RowCounts } from './format.ts';
import { toEnd, toHeader, toSequenceLine, toTableLine } from './format.ts';
import type { Database, Queryable } from '../port.ts';
import type { Schema } from '../migrate.ts';
import { listUnknownMigrations, SCHEMAS } from '../migrate.ts';
import { rowDecoder, text, timestamp } from '../rows.ts';
import type { Sides } from '../snapshot.ts';
import { readTogether } from '../snapshot.ts';

/**
 * The approximate size of the rows that one statement fetches. It limits memory and the time for which the embedded engine blocks the
 * process.
 */
const SLICE_BYTES = 256 * 1024;
const SLICE_ROWS_FIRST = 50;
const SLICE_ROWS_MAX = 1_000;

export type BackupProgress = { table: string; rows: number; bytes: number };
export type BackupResult = {
  file: string;
  bytes: number;
  rows: number;
  tables: RowCounts;
  createdAt: string;
  seconds: number;
  /** The migrations of the database that this version does not have. Only a version that has them can restore the backup. */
  newerMigrations: readonly string[];
};

type Options = {
  /** The version of the program. */
  service: string;
  signal: AbortSignal;
  onProgress: (progress: BackupProgress) => void;
};

/**
 * Writes both databases into one file. Throws an OperatorError for a failure that the operator can correct. After a failure there is no new
 * file, and an earlier file of that name is unchanged.
 */
export async function writeBackup(
  databases: { main: Database; indexer: Database },
  target: BackupTarget,
  { service, signal, onProgress }: Options,
): Promise<BackupResult> {
  const startedAt = performance.now();
  const progress: BackupProgress = { table: '', rows: 0, bytes: 0 };
  const tables: RowCounts = {};
  const newerMigrations: string[] = [];
  let createdAt = '';
  const onBytes = (bytes: number) => {
    progress.bytes = bytes;
    onProgress(progress);
  };
  const bytes = await writeBackupFile(target, { signal, onBytes }, (write) =>
    readTogether(databases, async (sides) => {
      createdAt = await prepare(sides);
      const onRows = (table: string, rows: number) => {
        tables[table] = (tables[table] ?? 0) + rows;
        progress.table = table;
        progress.rows += rows;
        onProgress(progress);
      };
      await write(render(sides, { service, createdAt, tables, newerMigrations, onRows }));
    }),
  );
  const seconds = Math.round(performance.now() - startedAt) / 1_000;
  return { file: target.file, bytes, rows: progress.rows, tables, createdAt, seconds, newerMigrations };
}

const decodeNow = rowDecoder('now()', { now: timestamp });
const decodeLine = rowDecoder('backup_rows', { line: text });

/** Sets the text formats of both transactions. Returns the start of the transaction on the primary, in ISO 8601. */
async function prepare(sides: Sides): Promise<string> {
  for (const schema of SCHEMAS) await setExactText(sides[schema]);
  const [row] = await sides.main.query(`select now() as now`);
  if (!row) throw new Error('`select now()` returned no row');
  return new Date(decodeNow(row).now).toISOString();
}

type Rendering = {
  service: string;
  createdAt: string;
  tables: RowCounts;
  newerMigrations: string[];
  onRows: (table: string, rows: number) => void;
};

async function* render(sides: Sides, rendering: Rendering): AsyncGenerator<string> {
  const { service, createdAt, tables, newerMigrations, onRows } = rendering;
  const migrations = { main: await readMigrations(sides, 'main'), indexer: await readMigrations(sides, 'indexer') };
  for (const schema of SCHEMAS) newerMigrations.push(...listUnknownMigrations(migrations[schema], schema));
  yield toHeader({ service, createdAt, migrations });
  for (const schema of SCHEMAS) {
    const tx = sides[schema];
    const shapes = await listTables(tx, schema);
    // The lock makes a migration wait until the backup has read all rows.
    await tx.query(`lock table ${shapes.map(quotedTable).join(', ')} in access share mode`);
    for (const shape of shapes) {
      const name = `${schema}.${shape.name}`;
      onRows(name, 0);
      yield toTableLine(shape);
      for await (const lines of readRows(tx, shape)) {
        yield `${lines.join('\n')}\n`;
        onRows(name, lines.length);
      }
    }
    for (const sequence of await listSequences(tx, schema)) yield toSequenceLine(sequence);
  }
  yield toEnd(tables);
}

async function readMigrations(sides: Sides, schema: Schema) {
  const applied = await listAppliedMigrations(sides[schema], schema);
  if (applied) return applied;
  throw new OperatorError(`the ${schema} database holds no schema yet: there is nothing to back up`);
}

/**
 * Reads the rows of a table in physical order, several at a time. The server formats each row as a JSON array. So the text of a row
 * begins with a bracket, and never with U+FEFF, which the embedded engine would drop.
 */
async function* readRows(tx: Queryable, table: TableShape): AsyncGenerator<string[]> {
  const values = table.columns.map(({ name }) => `${quoted(name)}::text`).join(', ');
  await tx.query(
    `declare backup_rows no scroll cursor for
     select array_to_json(array[${values}]::text[])::text as line from ${quotedTable(table)}`,
  );
  let size = SLICE_ROWS_FIRST;
  for (;;) {
    const rows = await tx.query(`fetch ${size} from backup_rows`);
    if (rows.length === 0) break;
    const lines = rows.map((row) => decodeLine(row).line);
    yield lines;
    const length = lines.reduce((sum, line) => sum + line.length, 0);
    size = Math.max(1, Math.min(SLICE_ROWS_MAX, Math.floor((SLICE_BYTES * lines.length) / Math.max(1, length))));
  }
  await tx.query(`close backup_rows`);
}
