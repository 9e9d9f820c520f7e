// Creates the triggers on the source of a move, and seals the source. The triggers record the keys of the rows that change, and reject changes
// while the source is sealed. They stay until the move is abandoned. A source whose index has moved keeps them, so that it rejects all changes.

import { setTimeout } from 'node:timers/promises';
import { OperatorError } from '../../core/errors.ts';
import { quoted } from '../backup/catalogue.ts';
import { INDEX_MOVED_CODE, INDEX_SEALED_CODE, isLockTimeout } from '../port.ts';
import type { Database, Queryable } from '../port.ts';
import { boolean, rowDecoder, text } from '../rows.ts';
import type { MovedTable } from './tables.ts';
import type { Runner } from './state.ts';
import { MoveReplaced, findMoveState } from './state.ts';

/**
 * How long a statement that locks a table waits for the transactions that use the table. Meanwhile, later writes to the table wait too. Later
 * reads wait only if the statement removes a trigger.
 */
const CREATE_LOCK_WAIT_MS = 1_000;
const DROP_LOCK_WAIT_MS = 200;
const SEAL_LOCK_WAIT_MS = 2_000;
const LOCK_ATTEMPTS_MAX = 120;
const LOCK_PAUSE_MS = 250;

/** Every transaction that writes to the schema `indexer` holds this lock in shared mode, from its first write on. */
const WRITERS = `hashtextextended('mercat index move', 0)`;

/**
 * The lock is taken before the state is read. A transaction that seals the source holds the lock in exclusive mode. So it waits for
 * earlier writers, and later writers read the state that the transaction has committed.
 */
const GUARD = `
  create or replace function index_move.guard() returns trigger language plpgsql as $guard$
  declare
    move record;
  begin
    perform pg_advisory_xact_lock_shared(${WRITERS});
    select phase, other, sealed_until into move from index_move.state;
    if move.phase = 'moved' then
      raise exception using errcode = '${INDEX_MOVED_CODE}',
        message = format('the index has moved to another database (%s): set INDEXER_DATABASE_URL to it', move.other);
    end if;
    if clock_timestamp() < move.sealed_until then
      raise exception using errcode = '${INDEX_SEALED_CODE}',
        message = 'the index is being moved to another database and accepts no changes for some seconds: try again soon';
    end if;
    return null;
  end
  $guard$`;

const GUARDED = 'index_move_guard';
const EVENTS = [
  ['index_move_insert', 'insert', 'new table as added'],
  ['index_move_update', 'update', 'old table as removed new table as added'],
  ['index_move_delete', 'delete', 'old table as removed'],
] as const;

/** Creates the triggers, for one table in each transaction. Tables that have them already are left alone. */
export async function createTriggers(source: Database, tables: readonly MovedTable[]): Promise<void> {
  await source.query(GUARD);
  for (const table of [{ name: 'migration', sql: 'indexer.migration', key: [] }, ...tables]) {
    await withTableLock(source, { name: table.name, waitMs: CREATE_LOCK_WAIT_MS }, async (tx) => {
      if (await hasTrigger(tx, table.sql)) return;
      if (table.key.length > 0) await createRecorder(tx, table);
      await tx.query(
        `create trigger ${GUARDED} before insert or update or delete or truncate on ${table.sql}
         for each statement execute function index_move.guard()`,
      );
    });
  }
}

/** The columns of a key are recorded as text, in a form that does not depend on the settings of the writer. */
async function createRecorder(
  tx: Queryable,
  { name, sql, key }: Pick<MovedTable, 'name' | 'sql' | 'key'>,
): Promise<void> {
  const recorder = `index_move.${quoted(`record_${name}`)}`;
  const values = `array[${key.map((column) => `${quoted(column.name)}::text`).join(', ')}]`;
  const insert = (rows: string) =>
    `insert into index_move.change (table_name, key) select '${name}', ${values} from ${rows}`;
  await tx.query(
    `create or replace function ${recorder}() returns trigger language plpgsql
       set datestyle = 'ISO, YMD' set timezone = 'UTC' as $record$
     begin
       if tg_op <> 'INSERT' then ${insert('removed')}; end if;
       if tg_op <> 'DELETE' then ${insert('added')}; end if;
       return null;
     end
     $record$`,
  );
  for (const [trigger, event, rows] of EVENTS) {
    await tx.query(
      `create or replace trigger ${trigger} after ${event} on ${sql} referencing ${rows}
       for each statement execute function ${recorder}()`,
    );
  }
}

/** Removes the triggers and the record of the move. The source is then as before the move. */
export async function dropTriggers(
  source: Database,
  tables: readonly Pick<MovedTable, 'name' | 'sql'>[],
): Promise<void> {
  for (const { name, sql } of [{ name: 'migration', sql: 'indexer.migration' }, ...tables]) {
    if (!(await hasTrigger(source, sql))) continue;
    await withTableLock(source, { name, waitMs: DROP_LOCK_WAIT_MS }, async (tx) => {
      for (const trigger of [GUARDED, ...EVENTS.map(([event]) => event)]) {
        await tx.query(`drop trigger if exists ${trigger} on ${sql}`);
      }
    });
  }
  await source.query(`drop schema if exists index_move cascade`);
}

const decodeFound = rowDecoder('existence', { found: boolean });

async function hasTrigger(db: Queryable, table: string): Promise<boolean> {
  const [row] = await db.query(
    `select exists (select from pg_trigger where tgrelid = $1::regclass and tgname = '${GUARDED}') as found`,
    [table],
  );
  return row !== undefined && decodeFound(row).found;
}

async function withTableLock(
  source: Database,
  { name, waitMs }: { name: string; waitMs: number },
  work: (tx: Queryable) => Promise<void>,
): Promise<void> {
  await repeatLocked(`the table indexer.${name} is in use all the time`, () =>
    source.transaction(async (tx) => {
      await tx.query(`set local lock_timeout = ${waitMs}`);
      await work(tx);
    }),
  );
}

async function repeatLocked<T>(problem: string, run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await run();
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (attempt === LOCK_ATTEMPTS_MAX) throw new OperatorError(problem, { cause: error });
      await setTimeout(LOCK_PAUSE_MS);
    }
  }
}

const decodeId = rowDecoder('index_move.state', { id: text });

/**
 * Waits for the transactions that write to the schema `indexer`, then rejects changes for `leaseMs`. The seal ends by itself when it is not
 * renewed, so that a killed move does not stop the writers for good.
 */
export async function sealSource(
  source: Database,
  runner: Runner,
  { leaseMs, signal }: { leaseMs: number; signal?: AbortSignal },
): Promise<void> {
  const set = `sealed_until = ${inFuture(leaseMs)}`;
  await changeSeal(source, runner, { alone: true, set, if: 'true', signal });
}

/** Throws an OperatorError if the seal has ended: rows may have changed since. */
export async function renewSeal(source: Database, runner: Runner, leaseMs: number): Promise<void> {
  await changeSeal(source, runner, { alone: false, set: `sealed_until = ${inFuture(leaseMs)}`, if: SEALED });
}

/** Accepts changes again. */
export async function unsealSource(source: Database, runner: Runner): Promise<void> {
  await changeSeal(source, runner, { alone: false, set: `sealed_until = null`, if: 'true' });
}

/** Rejects changes for good. Throws an OperatorError if the seal has ended meanwhile, or if a change was not copied. */
export async function closeSource(source: Database, runner: Runner): Promise<void> {
  const isCopied = `not exists (select from index_move.change)`;
  await changeSeal(source, runner, { alone: true, set: `phase = 'moved'`, if: `${SEALED} and ${isCopied}` });
}

const SEALED = 'clock_timestamp() < sealed_until';
const inFuture = (ms: number) => `clock_timestamp() + ${ms} * interval '1 millisecond'`;

/** `alone`: no transaction that writes to the schema `indexer` runs while the state is changed. */
async function changeSeal(
  source: Database,
  { id, runner }: Runner,
  change: { alone: boolean; set: string; if: string; signal?: AbortSignal | undefined },
): Promise<void> {
  const update = () =>
    source.transaction(async (tx) => {
      await tx.query(`set local lock_timeout = ${SEAL_LOCK_WAIT_MS}`);
      if (change.alone) await tx.query(`select pg_advisory_xact_lock(${WRITERS})`);
      const [row] = await tx.query(
        `update index_move.state set ${change.set}
         where id = $1 and runner = $2 and phase = 'copying' and ${change.if} returning id::text`,
        [id, runner],
      );
      if (row && decodeId(row).id === id) return;
      if ((await findMoveState(tx))?.runner !== runner) throw new MoveReplaced();
      throw new OperatorError('the source has accepted changes again, because the last part of the move took too long');
    });
  await repeatLocked('a transaction that writes to the index does not end', update, change.signal);
}
