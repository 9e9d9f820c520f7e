// The state of a move of the schema `indexer` to another database (docs/decisions/moving-the-index.md). It is stored in the schema `index_move`
// of both databases, so that a process that opens one of them alone knows whether it may use the schema `indexer` there.

import { OperatorError } from '../../core/errors.ts';
import type { Queryable } from '../port.ts';
import { boolean, oneOf, rowDecoder, text } from '../rows.ts';

export type MoveState = {
  id: string;
  role: 'source' | 'target';
  /**
   * A source is `copying`, then `moved` when the schema `indexer` is in the other database for good. A target is `copying`, then `complete`
   * when it has all rows of the schema.
   */
  phase: 'copying' | 'moved' | 'complete';
  /** The process that makes the move. If this field names another process, the reading process has been replaced and must stop. */
  runner: string;
  /** The name of the other database, without credentials. */
  other: string;
};

export type Runner = Pick<MoveState, 'id' | 'runner'>;

/** A statement of the move fails with this error if the state names another process, or if the move was abandoned. */
export class MoveReplaced extends OperatorError {
  constructor() {
    super('another mercat move-index has continued or abandoned this move');
  }
}

const decodeState = rowDecoder('index_move.state', {
  id: text,
  role: oneOf(['source', 'target']),
  phase: oneOf(['copying', 'moved', 'complete']),
  runner: text,
  other: text,
});
const decodeFound = rowDecoder('existence', { found: boolean });

export async function findMoveState(db: Queryable): Promise<MoveState | null> {
  const [table] = await db.query(`select to_regclass('index_move.state') is not null as found`);
  if (!table || !decodeFound(table).found) return null;
  const [row] = await db.query(`select id::text, role, phase, runner::text, other from index_move.state`);
  return row ? decodeState(row) : null;
}

const STATE_TABLE = `
  create schema if not exists index_move;
  create table if not exists index_move.state (
    id uuid not null, role text collate "C" not null, phase text collate "C" not null, runner uuid not null, other text not null,
    sealed_until timestamptz, started_at timestamptz not null default now())`;

/** The changes of the source that were not copied yet. */
const CHANGE_TABLE = `
  create table if not exists index_move.change (
    seq bigint generated always as identity primary key, table_name text collate "C" not null, key text[] not null)`;

/** How far each table was copied, and the definitions that are created after the rows. */
const PROGRESS_TABLES = `
  create table if not exists index_move.progress (
    table_name text collate "C" primary key, after_key text[], copied bigint not null default 0, complete boolean not null default false);
  create table if not exists index_move.definition (
    name text collate "C" primary key, kind text collate "C" not null, sql text not null)`;

/** Stores the state, in place of an earlier state. */
export async function insertMoveState(tx: Queryable, state: MoveState): Promise<void> {
  await tx.query(STATE_TABLE);
  await tx.query(state.role === 'source' ? CHANGE_TABLE : PROGRESS_TABLES);
  await tx.query(`delete from index_move.state`);
  await tx.query(`insert into index_move.state (id, role, phase, runner, other) values ($1, $2, $3, $4, $5)`, [
    state.id,
    state.role,
    state.phase,
    state.runner,
    state.other,
  ]);
}

/** Makes `runner` the process that makes the move. An earlier process fails at its next statement. */
export async function updateRunner(tx: Queryable, { id, runner }: Runner): Promise<void> {
  await tx.query(`update index_move.state set runner = $2 where id = $1`, [id, runner]);
}

/** A setting of a transaction. Its value is the process that makes the move. */
export const RUNNER_SETTING = 'mercat.index_move';

/**
 * Throws MoveReplaced if `runner` is not the process that makes the move. Otherwise no other process can replace `runner` until the
 * transaction ends. Also sets RUNNER_SETTING, so that the transaction may change the incomplete index of a target.
 */
export async function lockRunner(tx: Queryable, { id, runner }: Runner): Promise<void> {
  const state = await findMoveState(tx);
  if (state === null) throw new MoveReplaced();
  await tx.query(`select set_config('${RUNNER_SETTING}', $1, true)`, [runner]);
  const sql = `update index_move.state set runner = runner where id = $1 and runner = $2 returning id`;
  if ((await tx.query(sql, [id, runner])).length === 0) throw new MoveReplaced();
}

export async function updateComplete(tx: Queryable, { id }: Pick<MoveState, 'id'>): Promise<void> {
  await tx.query(`update index_move.state set phase = 'complete' where id = $1 and role = 'target'`, [id]);
}

/**
 * Throws an OperatorError if a program must not use the schema `indexer` of this database: the schema has moved, or is not here completely
 * yet. `isMigrating`: the program would change the schema. It must not do this during a move, because the move does not copy such a change.
 */
export async function checkIndexMove(db: Queryable, { isMigrating }: { isMigrating: boolean }): Promise<void> {
  const state = await findMoveState(db);
  if (state === null || state.phase === 'complete') return;
  if (state.phase === 'moved') {
    throw new OperatorError(
      `the index has moved to another database (${state.other}): set INDEXER_DATABASE_URL to that database`,
    );
  }
  if (state.role === 'target') {
    throw new OperatorError(
      `this database does not have the complete index yet: mercat move-index copies it from another database (${state.other})`,
    );
  }
  if (isMigrating) {
    throw new OperatorError(
      'the schema of the index cannot be changed while mercat move-index copies it: complete or abandon the move first',
    );
  }
}
