// Begins a move, continues a move that was stopped, and abandons a move.

import { randomUUID } from 'node:crypto';
import { OperatorError } from '../../core/errors.ts';
import { deleteSchemaContent, listAppliedMigrations } from '../backup/catalogue.ts';
import { listPendingMigrations, listUnknownMigrations } from '../migrate.ts';
import type { Database, Queryable } from '../port.ts';
import { boolean, rowDecoder } from '../rows.ts';
import { createTriggers, dropTriggers } from './capture.ts';
import type { MoveState } from './state.ts';
import { findMoveState, insertMoveState, updateRunner } from './state.ts';
import type { MovedTable } from './tables.ts';
import { listMovedTables } from './tables.ts';
import { checkTarget, findOccupiedTable, prepareTarget } from './target.ts';

/** `names`: the names of the two databases, without credentials. They are used in messages, and each database stores the name of the other. */
export type MoveSides = { source: Database; target: Database; names: { source: string; target: string } };

/** `isMoved`: the source is closed already, and only the last steps on the target may be left. */
export type BegunMove = { state: MoveState; tables: readonly MovedTable[]; isMoved: boolean; isContinued: boolean };

const decodeLocked = rowDecoder('lock', { locked: boolean });

/**
 * Compares the databases, not their URLs: takes a lock in one database, and tries to take the same lock in the other. The second lock fails
 * only if they are one database.
 */
async function isSameDatabase(source: Database, target: Database): Promise<boolean> {
  if (source.engine !== target.engine) return false;
  const key = randomUUID();
  return source.transaction(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [key]);
    const [row] = await target.query(`select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked`, [key]);
    return row !== undefined && !decodeLocked(row).locked;
  });
}

/** Throws an OperatorError if the schema `indexer` of the source cannot be moved to the target. Changes nothing. */
export async function checkMove({ source, target }: MoveSides): Promise<'begin' | 'continue' | 'finish'> {
  const { problems } = await checkTarget(target);
  if (problems.length > 0)
    throw new OperatorError(`the index cannot be moved to this database: ${problems.join('; ')}`);
  if (await isSameDatabase(source, target))
    throw new OperatorError('the target is the database that has the index now');
  const [here, there] = [await findMoveState(source), await findMoveState(target)];
  if (here?.role === 'target' && here.phase !== 'complete') {
    throw new OperatorError(`the index is not here completely: it is being moved from ${here.other}`);
  }
  if (there?.role === 'source') throw new OperatorError('the target is a source of a move: it cannot be a target too');
  const isSame = here?.role === 'source' && here.id === there?.id;
  if (here?.phase === 'moved') {
    if (isSame) return 'finish';
    throw new OperatorError(`the index has moved to another database already (${here.other})`);
  }
  if (isSame) return 'continue';
  if (there?.phase === 'copying') {
    throw new OperatorError(
      'the target has a part of another move: to remove this part, run mercat move-index --abandon --to with the URL of the target',
    );
  }
  const occupied = await findOccupiedTable(target);
  if (occupied !== null) throw new OperatorError(`the target is not empty: there are rows in ${occupied}`);
  await checkSource(source);
  return 'begin';
}

const decodeFound = rowDecoder('existence', { found: boolean });

async function checkSource(source: Queryable): Promise<void> {
  const applied = await listAppliedMigrations(source, 'indexer');
  const { pending, waiting } = await listPendingMigrations(source, 'indexer');
  if (applied === null || pending.length + waiting.length > 0) {
    // The target gets all migrations, also those of `mercat migrate --contract`, and the source must have the same schema.
    const contract = waiting.length > 0 ? ' --contract' : '';
    throw new OperatorError(`the schema of the index is not up to date: run mercat migrate${contract} first`);
  }
  const [unknown] = listUnknownMigrations(applied, 'indexer');
  if (unknown !== undefined) {
    throw new OperatorError(`only a newer version can move this index: the schema has migration ${unknown}`);
  }
  const [row] = await source.query(`select exists (select from pg_extension where extname = 'citus') as found`);
  if (row && decodeFound(row).found) throw new OperatorError('the index cannot be moved from a database with Citus');
}

/** Tries to take the lock that a process holds in both databases while it begins or continues a move. */
const BEGINNING = `select pg_try_advisory_xact_lock(hashtextextended('mercat index move begin', 0)) as locked`;

/**
 * Begins or continues the move. An earlier process of this move fails at its next statement. Throws an OperatorError if another
 * process begins or continues a move at the same time.
 */
export async function beginMove(sides: MoveSides): Promise<BegunMove> {
  // Rejects a target that is also the source. Otherwise the second lock below would fail, as if another process held it.
  await checkMove(sides);
  return withBeginLock(sides.target, async () => {
    // An embedded source needs no lock, because only this process has it open. The lock would occupy its only connection.
    if (sides.source.engine === 'embedded') return begin(sides);
    return withBeginLock(sides.source, () => begin(sides));
  });
}

function withBeginLock<T>(db: Database, work: () => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    const [row] = await tx.query(BEGINNING);
    if (row && decodeLocked(row).locked) return work();
    throw new OperatorError(
      'another mercat move-index is beginning or continuing a move of one of these databases: wait for its end',
    );
  });
}

async function begin(sides: MoveSides): Promise<BegunMove> {
  const { source, target, names } = sides;
  const step = await checkMove(sides);
  const tables = await listMovedTables(source);
  const found = await findMoveState(source);
  if (step !== 'begin' && found) {
    const state = { ...found, runner: randomUUID() };
    await updateRunner(source, state);
    await updateRunner(target, state);
    return { state, tables, isMoved: step === 'finish', isContinued: true };
  }
  // A new id also ends an earlier move to a target that has been emptied since.
  const state: MoveState = {
    id: randomUUID(),
    role: 'source',
    phase: 'copying',
    runner: randomUUID(),
    other: names.target,
  };
  await source.transaction(async (tx) => {
    await insertMoveState(tx, state);
    // These changes were recorded for an earlier move. The copy of all rows begins later, so it includes them.
    await tx.query(`delete from index_move.change`);
  });
  await createTriggers(source, tables);
  await prepareTarget(target, { ...state, role: 'target', other: names.source });
  return { state, tables, isMoved: false, isContinued: false };
}

/** What `abandonMove` has removed. */
export type Abandoned = { source: boolean; target: boolean };

/** Removes the triggers from the source, and the copied rows from `target`. Throws an OperatorError if the move is complete. */
export async function abandonMove(source: Database, target: Database | null): Promise<Abandoned> {
  const here = await findMoveState(source);
  const there = target && (await findMoveState(target));
  if (here?.phase === 'moved') {
    throw new OperatorError(`the index has moved (to ${here.other}): the move cannot be abandoned`);
  }
  if (here?.role === 'target' && here.phase !== 'complete') {
    throw new OperatorError(
      `the index is not here completely: set INDEXER_DATABASE_URL to the database it comes from (${here.other}), and run the command again`,
    );
  }
  const isSource = here?.role === 'source';
  if (isSource) {
    await stopRunner(source, here);
    await dropTriggers(source, await listMovedTables(source));
  }
  const isTarget = there?.role === 'target' && there.phase === 'copying';
  if (target && isTarget) {
    await target.transaction(async (tx) => {
      await tx.query(`set local statement_timeout = 0`);
      const copying = `select id from index_move.state where id = $1 and role = 'target' and phase = 'copying' for update`;
      if ((await tx.query(copying, [there.id])).length === 0) {
        throw new OperatorError('another command has changed the target meanwhile: run the command again');
      }
      await deleteSchemaContent(tx, ['indexer']);
      await tx.query(`drop schema index_move cascade`);
    });
  }
  return { source: isSource, target: isTarget };
}

/**
 * Gives the move a new id and a new runner, so that a process that still works on the move cannot close the source. The new id also prevents a
 * later command from continuing the move: if this command is stopped, it may have dropped some of the triggers.
 */
async function stopRunner(source: Database, { id }: MoveState): Promise<void> {
  const sql = `update index_move.state set id = gen_random_uuid(), runner = $2, sealed_until = null where id = $1 and phase = 'copying' returning id`;
  if ((await source.query(sql, [id, randomUUID()])).length === 0) {
    throw new OperatorError('the index has moved meanwhile: the move cannot be abandoned');
  }
}
