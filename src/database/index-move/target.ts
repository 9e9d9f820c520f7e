// Checks whether a database can be the target of a move of the indexer database, and creates the schema `indexer` there. SQL indexes are created
// after the rows, because this is several times faster. Foreign keys are created last, because a row may be copied before the row to which it refers.

import { OperatorError, describeError } from '../../core/errors.ts';
import { findTableWithRecords, quoted, setExactText } from '../backup/catalogue.ts';
import { useOneConnection } from '../citus.ts';
import { migrate } from '../migrate.ts';
import type { Database, Queryable } from '../port.ts';
import { boolean, nullable, rowDecoder, safeInteger, text } from '../rows.ts';
import { INDEX_SEALED_CODE } from '../port.ts';
import type { MoveState, Runner } from './state.ts';
import { RUNNER_SETTING, insertMoveState, lockRunner, updateComplete } from './state.ts';
import type { MovedTable } from './tables.ts';
import { listMovedTables } from './tables.ts';

const SERVER_VERSION_MIN = 150_000;
const CITUS_VERSION_MIN = 13;

/** `citus`: the version of the extension. `problems`: why the indexer database cannot be moved here, as sentences for the operator. */
export type TargetCheck = {
  server: string;
  citus: string | null;
  collation: string;
  problems: readonly string[];
};

const decodeServer = rowDecoder('target', {
  server: text,
  version: safeInteger,
  encoding: text,
  collation: text,
  recovering: boolean,
  creates: boolean,
  citus: nullable(text),
});

/** Changes nothing. Throws an OperatorError if the database cannot be reached. */
export async function checkTarget(target: Queryable): Promise<TargetCheck> {
  const [row] = await target
    .query(
      `select current_setting('server_version') as server, current_setting('server_version_num') as version,
         current_setting('server_encoding') as encoding, datcollate as collation, pg_is_in_recovery() as recovering,
         has_database_privilege(current_database(), 'create') as creates,
         (select extversion from pg_extension where extname = 'citus') as citus
       from pg_database where datname = current_database()`,
    )
    .catch((error: unknown) => {
      throw new OperatorError(`the target cannot be used: ${describeError(error)}`);
    });
  if (!row) throw new Error('the current database is not in pg_database');
  const { server, version, encoding, collation, recovering, creates, citus } = decodeServer(row);
  const problems: string[] = [];
  if (version < SERVER_VERSION_MIN) problems.push(`it runs PostgreSQL ${server}, and 15 or newer is required`);
  if (citus !== null && Number.parseInt(citus, 10) < CITUS_VERSION_MIN)
    problems.push(`it has Citus ${citus}, and ${CITUS_VERSION_MIN} or newer is required`);
  if (encoding !== 'UTF8') problems.push(`its encoding is ${encoding}, and UTF8 is required`);
  if (recovering) problems.push('it is a replica');
  if (!creates) problems.push('the role may not create a schema in it');
  return { server, citus, collation, problems };
}

/** The first table of the schema `indexer` that has rows, or null. */
export function findOccupiedTable(target: Queryable): Promise<string | null> {
  return findTableWithRecords(target, 'indexer');
}

/** Creates the schema `indexer`, and removes its SQL indexes and foreign keys. `createDefinitions` creates them again. */
export async function prepareTarget(target: Database, state: MoveState): Promise<void> {
  const { citus } = await checkTarget(target);
  await migrate(target, 'indexer', { contracts: true });
  await target.transaction(async (tx) => {
    await setExactText(tx);
    if (citus !== null) await useOneConnection(tx);
    await insertMoveState(tx, state);
    await tx.query(`delete from index_move.progress`);
    await tx.query(`delete from index_move.definition`);
    await removeForeignKeys(tx);
    await removeIndexes(tx);
    // Citus has no triggers on distributed tables. A row that a node writes to a Citus target is found when the rows of the target are
    // compared with the source.
    if (citus === null) await createGuards(tx, await listMovedTables(tx));
  });
}

const GUARDED = 'index_move_target_guard';

/**
 * Until the target has all rows of the schema `indexer`, rejects the writes of a node whose INDEXER_DATABASE_URL names the target, even if the
 * node was started before the move.
 */
const GUARD = `
  create or replace function index_move.guard_target() returns trigger language plpgsql as $guard$
  declare
    move record;
  begin
    select phase, runner, other into move from index_move.state;
    if move.phase = 'copying' and current_setting('${RUNNER_SETTING}', true) is distinct from move.runner::text then
      raise exception using errcode = '${INDEX_SEALED_CODE}',
        message = format('this database does not have the complete index yet: mercat move-index copies it from another database (%s)', move.other);
    end if;
    return null;
  end
  $guard$`;

async function createGuards(tx: Queryable, tables: readonly MovedTable[]): Promise<void> {
  await tx.query(GUARD);
  for (const { sql } of tables) {
    await tx.query(
      `create or replace trigger ${GUARDED} before insert or update or delete or truncate on ${sql}
       for each statement execute function index_move.guard_target()`,
    );
  }
}

const decodeGuarded = rowDecoder('pg_trigger', { name: text });

/** Marks the schema `indexer` of the target as complete, and lets every node write there. */
export async function completeTarget(tx: Queryable, state: MoveState): Promise<void> {
  const rows = await tx.query(
    `select relname as name from pg_trigger join pg_class on pg_class.oid = tgrelid where tgname = $1 order by 1`,
    [GUARDED],
  );
  for (const { name } of rows.map(decodeGuarded)) await tx.query(`drop trigger ${GUARDED} on indexer.${quoted(name)}`);
  await tx.query(`drop function if exists index_move.guard_target()`);
  await updateComplete(tx, state);
}

type Definition = { name: string; kind: 'index' | 'foreign-key' | 'unvalidated'; sql: string };

const decodeForeignKey = rowDecoder('pg_constraint', { name: text, table: text, definition: text });
const decodeIndex = rowDecoder('pg_index', { name: text, definition: text });
const decodeDefinition = rowDecoder('index_move.definition', { name: text, sql: text });

async function removeForeignKeys(tx: Queryable): Promise<void> {
  const rows = await tx.query(
    `select conname as name, relname as table, pg_get_constraintdef(pg_constraint.oid) as definition
     from pg_constraint join pg_class on pg_class.oid = conrelid
     where contype = 'f' and relnamespace = to_regnamespace('indexer') and conparentid = 0 order by conname`,
  );
  for (const { name, table, definition } of rows.map(decodeForeignKey)) {
    const sql = `alter table indexer.${quoted(table)}`;
    await insertDefinition(tx, {
      name,
      kind: 'foreign-key',
      sql: `${sql} add constraint ${quoted(name)} ${definition} not valid`,
    });
    await insertDefinition(tx, {
      name: `${name} validation`,
      kind: 'unvalidated',
      sql: `${sql} validate constraint ${quoted(name)}`,
    });
    await tx.query(`${sql} drop constraint ${quoted(name)}`);
  }
}

async function removeIndexes(tx: Queryable): Promise<void> {
  const rows = await tx.query(
    `select relname as name, pg_get_indexdef(indexrelid) as definition from pg_index join pg_class on pg_class.oid = indexrelid
     where relnamespace = to_regnamespace('indexer')
       and not exists (select from pg_constraint where conindid = indexrelid) order by relname`,
  );
  for (const { name, definition } of rows.map(decodeIndex)) {
    await insertDefinition(tx, { name, kind: 'index', sql: definition });
    await tx.query(`drop index indexer.${quoted(name)}`);
  }
}

async function insertDefinition(tx: Queryable, { name, kind, sql }: Definition): Promise<void> {
  await tx.query(`insert into index_move.definition (name, kind, sql) values ($1, $2, $3)`, [name, kind, sql]);
}

/**
 * Makes PostgreSQL end a statement whose client is gone. Otherwise PostgreSQL would go on building the SQL index of a killed command, and
 * the next command would wait for this SQL index. Some operating systems do not support the setting.
 */
const NOTICE_LOST_CONNECTION = `do $$ begin
    perform set_config('client_connection_check_interval', '2s', true);
  exception when invalid_parameter_value then null;
  end $$`;

/** `onName` receives the name of each definition before it is created. */
export async function createDefinitions(
  target: Database,
  runner: Runner,
  { kind, onName }: { kind: Definition['kind']; onName: (name: string) => void },
): Promise<void> {
  const rows = await target.query(`select name, sql from index_move.definition where kind = $1 order by name`, [kind]);
  for (const { name, sql } of rows.map(decodeDefinition)) {
    onName(name);
    await target.transaction(async (tx) => {
      await tx.query(`set local statement_timeout = 0`);
      await tx.query(NOTICE_LOST_CONNECTION);
      await lockRunner(tx, runner);
      await tx.query(sql);
      await tx.query(`delete from index_move.definition where name = $1`, [name]);
    });
  }
}
