// Restores a backup, or one schema of it, into empty databases. With `replace`, the content of the schemas is deleted first. Each database is
// restored in one transaction. With two databases, the primary is committed after the indexer. If this second commit fails, only the indexer holds the
// backup. The caller must have verified the file.

import { OperatorError, describeError } from '../../core/errors.ts';
import type { Column, TableShape } from './catalogue.ts';
import {
  deleteSchemaContent,
  findTableWithRecords,
  listTables,
  quoted,
  quotedTable,
  setExactText,
  updateSequence,
} from './catalogue.ts';
import { damaged } from './file.ts';
import type { BackupHeader, RowCounts } from './format.ts';
import { readBackup } from './format.ts';
import { insertRestoredMark } from '../emptiness.ts';
import { createInTransaction, hasCitus } from '../citus.ts';
import type { Database, Engine, Queryable } from '../port.ts';
import { isAborted, repeatAborted } from '../port.ts';
import type { Schema } from '../migrate.ts';
import { FIRST_MIGRATION, SCHEMAS, isBeforeFirst, migrateWithin } from '../migrate.ts';
import { deriveMissing, withPresentNames } from './earlier-backup.ts';
import { integer, rowDecoder } from '../rows.ts';
import type { Sides } from '../snapshot.ts';

/** The longest wait for the lock of a table that is replaced. */
const LOCK_WAIT_MS = 10_000;
/**
 * On the embedded engine, a checkpoint is written after this many characters of rows. During the restore the engine writes no
 * checkpoint by itself, so its write-ahead log would grow by the size of the backup.
 */
const CHECKPOINT_EVERY_CHARS = 64 * 1024 * 1024;

export type RestoreProgress = { table: string; rows: number; bytes: number };
export type RestoreResult = {
  rows: number;
  tables: RowCounts;
  /** The number of other connections of mercat. If the number is not 0, a service may still be running, although its data was replaced. */
  others: number;
};

type Options = {
  header: BackupHeader;
  /** The restored schemas. The databases may have the others. */
  schemas: readonly Schema[];
  replace: boolean;
  signal: AbortSignal;
  onProgress: (progress: RestoreProgress) => void;
};

/** Restores the backup in `file`. Throws an OperatorError that says what failed and what the databases hold now. */
export async function restoreBackup(
  { main, indexer }: { main: Database; indexer: Database },
  file: string,
  options: Options,
): Promise<RestoreResult> {
  let isIndexerDone = false;
  try {
    const run = () =>
      main.transaction(async (mainTx) => {
        if (indexer === main) return restoreInto({ main: mainTx, indexer: mainTx }, file, options, main.engine);
        // The indexer is committed before the primary, because readers look up collections in the primary first. A collection that they find
        // is then complete in the indexer.
        const result = await indexer.transaction((indexerTx) =>
          restoreInto({ main: mainTx, indexer: indexerTx }, file, options, main.engine),
        );
        isIndexerDone = true;
        return result;
      });
    // A reader of a running service can hold one table and wait for another.
    return await repeatAborted(run, { isRepeated: (error) => isAborted(error) && !isIndexerDone });
  } catch (error) {
    if (error instanceof OperatorError && !isIndexerDone) throw error;
    const holds = isIndexerDone
      ? 'the indexer database holds the backup now and the primary does not: restore again with --replace'
      : 'the database is as it was';
    if (options.signal.aborted) throw new OperatorError(`stopped: ${holds}`, { cause: error });
    throw new OperatorError(`the restore failed, ${holds}: ${describeError(error)}`, { cause: error });
  }
}

/** Restores the schemas in the given transactions, which the caller commits. */
async function restoreInto(sides: Sides, file: string, options: Options, engine: Engine): Promise<RestoreResult> {
  const { header, schemas: restored, replace } = options;
  if (restored.length < SCHEMAS.length && restored.some((schema) => isBeforeFirst(header.migrations[schema]))) {
    throw new OperatorError('a backup from before version 0.1.0 can only be restored as a whole: leave out --only');
  }
  // With one database both sides are the same transaction.
  const transactions = new Map<Queryable, Schema[]>();
  for (const schema of restored) transactions.set(sides[schema], [...(transactions.get(sides[schema]) ?? []), schema]);
  let others = 0;
  for (const [tx, schemas] of transactions) {
    others += await countOthers(tx);
    await tx.query(`set local lock_timeout = ${LOCK_WAIT_MS}`);
    await setExactText(tx);
    if (!replace) await checkHasNoRecords(tx, schemas);
  }
  for (const [tx, schemas] of transactions) {
    await deleteSchemaContent(tx, schemas);
    for (const schema of schemas) {
      if (await hasCitus(tx)) await createInTransaction(tx, schema);
      if (isBeforeFirst(header.migrations[schema])) {
        await migrateWithin(tx, schema, { only: new Set([FIRST_MIGRATION]) });
        continue;
      }
      await migrateWithin(tx, schema, { only: new Set(header.migrations[schema].map(({ name }) => name)) });
      await tx.query(`delete from ${schema}.migration`);
    }
  }
  // The row that the schema begins with. A backup of a database in which nothing has changed yet may have none.
  if (restored.includes('main')) await sides.main.query('delete from main.activity_head');
  const tables = await load(sides, file, options, engine);
  for (const schema of restored) {
    const applied = header.migrations[schema];
    if (isBeforeFirst(applied)) await deriveMissing(sides[schema], schema, applied);
    await migrateWithin(sides[schema], schema);
  }
  if (restored.includes('main')) {
    await endLeases(sides.main);
    await beginEpoch(sides.main);
  }
  for (const schema of restored) {
    // Citus does not analyze in a transaction that has written a table of the coordinator. Autovacuum of the nodes analyzes the tables.
    if (await hasCitus(sides[schema])) continue;
    for (const table of await listTables(sides[schema], schema))
      await sides[schema].query(`analyze ${quotedTable(table)}`);
  }
  if (engine === 'embedded' && restored.includes('main')) await insertRestoredMark(sides.main);
  return { rows: Object.values(tables).reduce((sum, rows) => sum + rows, 0), tables, others };
}

async function checkHasNoRecords(tx: Queryable, schemas: readonly Schema[]): Promise<void> {
  for (const schema of schemas) {
    const table = await findTableWithRecords(tx, schema);
    if (table === null) continue;
    throw new OperatorError(
      `the database is not empty (there are records in ${table}): --replace replaces all its content with the backup`,
    );
  }
}

const decodeOthers = rowDecoder('pg_stat_activity', { others: integer });

/** Other connections whose application name is `mercat`. The embedded engine has one connection only. */
async function countOthers(tx: Queryable): Promise<number> {
  const [row] = await tx.query(
    `select count(*)::int as others from pg_stat_activity
     where datname = current_database() and application_name = 'mercat' and pid <> pg_backend_pid()`,
  );
  return row ? decodeOthers(row).others : 0;
}

async function load(
  sides: Sides,
  file: string,
  { header, schemas, signal, onProgress }: Options,
  engine: Engine,
): Promise<RowCounts> {
  const progress: RestoreProgress = { table: '', rows: 0, bytes: 0 };
  const onBytes = (bytes: number) => {
    progress.bytes = bytes;
    onProgress(progress);
  };
  // The migrations of a program before 0.1.0 are not those of the restored schema.
  const isRestored = (schema: Schema, table: string) =>
    schemas.includes(schema) && !(table === 'migration' && isBeforeFirst(header.migrations[schema]));
  let insert: { tx: Queryable; sql: string } | null = null;
  let loggedChars = 0;
  for await (const event of readBackup(file, { signal, onBytes })) {
    signal.throwIfAborted();
    if (event.kind === 'header') {
      // The tables were created from the verified header, so the file must not have been replaced since.
      if (JSON.stringify(event.header) !== JSON.stringify(header)) throw damaged(file);
    } else if (event.kind === 'table') {
      const { schema, name } = event.table;
      const tx = sides[schema];
      const isEarlier = isBeforeFirst(header.migrations[schema]);
      insert = isRestored(schema, name) ? { tx, sql: await toInsert(tx, event.table, isEarlier) } : null;
      progress.table = `${schema}.${name}`;
    } else if (event.kind === 'rows') {
      if (!insert) continue;
      await insert.tx.query(insert.sql, [event.rows]);
      progress.rows += event.count;
      onProgress(progress);
      loggedChars += event.rows.length;
      if (engine === 'embedded' && loggedChars > CHECKPOINT_EVERY_CHARS) {
        await sides.main.query('checkpoint');
        loggedChars = 0;
      }
    } else if (event.kind === 'sequence') {
      if (schemas.includes(event.sequence.schema)) await updateSequence(sides[event.sequence.schema], event.sequence);
    } else if (event.kind === 'end') {
      const isCounted = ([table]: [string, number]) =>
        SCHEMAS.some((schema) => table.startsWith(`${schema}.`) && isRestored(schema, table.slice(schema.length + 1)));
      return Object.fromEntries(Object.entries(event.counts).filter(isCounted));
    }
  }
  throw new Error('a backup that was verified has no end');
}

/**
 * The statement that inserts rows of a table. Each value is cast from its text to the type of its column. A table of an `isEarlier` backup may
 * lack columns.
 */
async function toInsert(tx: Queryable, written: TableShape, isEarlier: boolean): Promise<string> {
  const expected = isEarlier ? withPresentNames(written) : written;
  const found = (await listTables(tx, expected.schema)).find(({ name }) => name === expected.name);
  const isExpected = ({ name }: Column) => expected.columns.some((one) => one.name === name);
  const table = found && isEarlier ? { ...found, columns: found.columns.filter(isExpected) } : found;
  if (!table || JSON.stringify(table.columns) !== JSON.stringify(expected.columns)) {
    throw new OperatorError(
      `the table ${expected.schema}.${expected.name} of the backup does not have the columns that the backup's migrations create`,
    );
  }
  const names = table.columns.map(({ name }) => quoted(name)).join(', ');
  const values = table.columns.map(({ type }, position) => `(line ->> ${position})::${type}`).join(', ');
  return `insert into ${quotedTable(table)} (${names}) overriding system value
    select ${values} from jsonb_array_elements($1::jsonb) as line`;
}

/**
 * Makes the offsets of the stream and the sequence numbers of the shops' feeds of before invalid: after the restore, other events get the positions that
 * the backup does not have. A client that continues from such a place would miss these events, and keep the events that are gone.
 *
 * The numbers of a feed are integers, so they carry no epoch. They continue from a number made of the time, 1,024 for each millisecond since 1970:
 * more than a shop ever reaches. Until the year 2248 it is a safe integer.
 */
async function beginEpoch(main: Queryable): Promise<void> {
  await main.query('insert into main.activity_head default values on conflict (id) do update set epoch = default');
  await main.query(
    `insert into main.shop_feed (shop_id, last_position, kept_after)
     select id, start, start from main.shop cross join (select floor(extract(epoch from clock_timestamp()) * 1000)::bigint * 1024 as start) as begun
     on conflict (shop_id) do update set last_position = excluded.last_position, kept_after = excluded.kept_after`,
  );
}

/**
 * Ends the leases in the backup. They belong to the processes that ran during the backup, and their end times may be from the clock of
 * another machine. Deliveries that were being sent become due, and are sent again.
 */
async function endLeases(main: Queryable): Promise<void> {
  await main.query(
    `update main.sync_task set holder = null, leased_until = null, progress = null
     where holder is not null`,
  );
  await main.query(`update main.delivery set leased_until = null where leased_until is not null`);
}
