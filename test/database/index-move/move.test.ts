// Tests moves of the index, which is the schema `indexer`, to another database. A move loses no row and doubles none, whatever is written
// meanwhile and wherever the move is stopped. The source stays usable until the target has every row, and accepts no change from then on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { abandonMove } from '../../../src/database/index-move/begin.ts';
import { sealSource, unsealSource } from '../../../src/database/index-move/capture.ts';
import type { MoveProgress } from '../../../src/database/index-move/move.ts';
import { MOVE_STAGES } from '../../../src/database/index-move/move.ts';
import { CHANGES_SEALED_MAX } from '../../../src/database/index-move/rounds.ts';
import { findMoveState } from '../../../src/database/index-move/state.ts';
import { applyMigration, migrate } from '../../../src/database/migrate.ts';
import type { Database, Engine } from '../../../src/database/port.ts';
import { isIndexSealed } from '../../../src/database/port.ts';
import { until } from '../../support/until.ts';
import { assertSame, insertHardRows, insertSales, readEverything } from '../backup/backups.ts';
import { assertSameIndex, forEachMove, runMove, writeRows } from './moves.ts';

/** So many that a change of all sales is copied in several parts, and that a second command can begin while a move runs. */
const SALES = 3_000;
/** Enough where the number of rows does not matter. */
const SALES_FEW = 300;
const WAIT_MS = 60_000;
/** The last stage, `completing`, begins when the move can no longer be stopped. */
const STAGES = MOVE_STAGES.filter((stage) => stage !== 'completing');
const INSERT_TOTAL = `insert into indexer.sale_total values ('late', 1, 1)`;

async function fill(source: Database, sales = SALES_FEW): Promise<void> {
  await insertHardRows({ main: source, indexer: source });
  await insertSales(source, sales);
}

forEachMove('moves of the index', ({ openSource, createTarget, open, engine, hasCitus }) => {
  const openTarget = async () => open(await createTarget());

  test('every row and sequence is moved while rows are written all the time, and then the source accepts no change', async () => {
    const [source, target] = [await openSource(), await openTarget()];
    await fill(source, SALES);
    const writer = writeRows(source);
    const stages = new Map<MoveProgress['stage'], number>();
    const result = await runMove({
      source,
      target,
      onProgress: ({ stage }) => void (stages.has(stage) || stages.set(stage, writer.writes())),
    });
    await writer.stop();
    await assertSameIndex(target, source, 'after the move');
    assert.ok((stages.get('sealed') ?? 0) > (stages.get('copying') ?? 0), 'nothing was written during the move');
    assert.ok((result.tables['sale'] ?? 0) > SALES / 2);
    await assert.rejects(source.query(INSERT_TOTAL), {
      code: 'MV002',
      message: 'the index has moved to another database (new): set INDEXER_DATABASE_URL to it',
    });
    await assert.rejects(migrate(source, 'indexer'), /set INDEXER_DATABASE_URL to that database/);
    // The operator frees the disk. A node with the old setting must not begin an empty index.
    await source.query(`drop schema indexer cascade`);
    await assert.rejects(migrate(source, 'indexer'), /set INDEXER_DATABASE_URL to that database/);
    await migrate(target, 'indexer');
    await target.query(INSERT_TOTAL);
    await target.query(`insert into indexer.trait (collection_id, name, value) values ('next', 'n', 'v')`);
  });

  test('the target has the indexes and the foreign keys of a new database', async () => {
    const [source, target, fresh] = [await openSource(), await openTarget(), await openTarget()];
    await fill(source);
    await runMove({ source, target });
    await migrate(fresh, 'indexer');
    assert.deepEqual(await readDefinitions(target), await readDefinitions(fresh));
  });

  const stages = engine === 'embedded' ? (['copying', 'sealed'] as const) : STAGES;
  for (const stage of stages) {
    test(`a move that is stopped while ${stage} leaves the source usable, and can be continued or abandoned`, async () => {
      const [source, target] = [await openSource(), await openTarget()];
      await fill(source);
      const stopping = new AbortController();
      const stopAt = (progress: MoveProgress) => {
        if (progress.stage === stage) stopping.abort();
      };
      await assert.rejects(runMove({ source, target, signal: stopping.signal, onProgress: stopAt }));
      await source.query(INSERT_TOTAL);
      await assert.rejects(migrate(target, 'indexer'), /does not have the complete index yet/);
      if (stage !== 'copying') {
        await runMove({ source, target });
        await assertSameIndex(target, source, 'after the second command');
        return;
      }
      assert.deepEqual(await abandonMove(source, target), { source: true, target: true });
      assert.equal(await findMoveState(source), null);
      const [left] = await source.query(
        `select count(*)::int as triggers from pg_trigger where tgname like 'index_move%'`,
      );
      assert.equal(left?.['triggers'], 0);
      await source.query(`update indexer.sale_total set sales = 2 where collection_id = 'late'`);
      await runMove({ source, target });
      await assertSameIndex(target, source, 'after a new move to the same database');
    });
  }

  test('a move whose abandoning was stopped is not continued, because triggers may be missing', async () => {
    const [source, target] = [await openSource(), await openTarget()];
    await fill(source);
    const stopping = new AbortController();
    const stopAt = ({ stage }: MoveProgress) => {
      if (stage === 'copying') stopping.abort();
    };
    await assert.rejects(runMove({ source, target, signal: stopping.signal, onProgress: stopAt }));
    let drops = 0;
    const stopped: Database = {
      ...source,
      transaction: (work) =>
        source.transaction((tx) => {
          drops += 1;
          if (drops > 2) throw new Error('killed');
          return work(tx);
        }),
    };
    await assert.rejects(abandonMove(stopped, target), /killed/);
    await assert.rejects(runMove({ source, target }), /has a part of another move: .*--abandon/);
    assert.deepEqual(await abandonMove(source, target), { source: true, target: true });
    await source.query(INSERT_TOTAL);
    assert.equal(await findMoveState(source), null);
  });

  test('a command cannot complete its move after another command has continued the move', async () => {
    const [source, target] = [await openSource(), await openTarget()];
    await fill(source, SALES);
    const second: Promise<unknown>[] = [];
    const first = runMove({
      source,
      target,
      onProgress: ({ stage }) => {
        if (stage === 'copying' && second.length === 0) second.push(runMove({ source, target }));
      },
    });
    await assert.rejects(first, /another mercat move-index has continued or abandoned this move/);
    await Promise.all(second);
    await assertSameIndex(target, source, 'after the second command');
  });

  test('a sealed source rejects changes, serves reads, and accepts changes again when the seal is not renewed', async () => {
    const [source, target] = [await openSource(), await openTarget()];
    await fill(source);
    const stopping = new AbortController();
    const onProgress = ({ stage }: MoveProgress) => {
      if (stage === 'indexing') stopping.abort();
    };
    await assert.rejects(runMove({ source, target, signal: stopping.signal, onProgress }));
    const state = await findMoveState(source);
    assert.ok(state);
    await sealSource(source, state, { leaseMs: 60_000 });
    await assert.rejects(
      source.query(INSERT_TOTAL),
      (error) => isIndexSealed(error) && /try again soon/.test(String(error)),
    );
    await assert.rejects(source.query(`truncate indexer.listed_trait`), isIndexSealed);
    assert.equal((await source.query(`select from indexer.sale`)).length, SALES_FEW);
    await unsealSource(source, state);
    await sealSource(source, state, { leaseMs: 0 });
    await source.query(INSERT_TOTAL);
    await runMove({ source, target });
    await assertSameIndex(target, source, 'after the move');
  });

  test(
    'the seal waits for the transactions that have written before it',
    { skip: hasOneConnection(engine) },
    async () => {
      const [source, target] = [await openSource(), await openTarget()];
      const stopping = new AbortController();
      await assert.rejects(
        runMove({
          source,
          target,
          signal: stopping.signal,
          onProgress: ({ stage }) => void (stage === 'indexing' && stopping.abort()),
        }),
      );
      const state = await findMoveState(source);
      assert.ok(state);
      let isSealed = false;
      const sealing: Promise<unknown>[] = [];
      const isWaiting = async () =>
        (await source.query(`select from pg_locks where locktype = 'advisory' and not granted`)).length > 0;
      await source.transaction(async (tx) => {
        await tx.query(INSERT_TOTAL);
        sealing.push(sealSource(source, state, { leaseMs: 60_000 }).then(() => (isSealed = true)));
        await until(async () => isSealed || (await isWaiting()), WAIT_MS, 'the seal does not wait');
        await tx.query(`update indexer.sale_total set sales = 2`);
      });
      assert.equal(isSealed, false);
      await Promise.all(sealing);
      await assert.rejects(source.query(`update indexer.sale_total set sales = 3`), isIndexSealed);
    },
  );

  test('a move fails if something other than the move has changed a row of the target, and the source stays open', async () => {
    const [source, target] = [await openSource(), await openTarget()];
    await fill(source);
    let damaged: Promise<unknown> | null = null;
    const onProgress = ({ stage }: MoveProgress) => {
      if (stage === 'indexing')
        damaged ??= damage(target, `update indexer.sale set price = price || '0' where asset = '7'`);
    };
    await assert.rejects(runMove({ source, target, onProgress }), /the target does not have the rows of indexer\.sale/);
    assert.ok(damaged);
    await source.query(INSERT_TOTAL);
    assert.equal((await findMoveState(target))?.phase, 'copying');
  });

  test('a target with rows is rejected, an index of a newer version is not moved, and neither database is changed', async () => {
    const [source, occupied, other] = [await openSource(), await openTarget(), await openTarget()];
    await fill(source);
    await migrate(occupied, 'indexer');
    await occupied.query(INSERT_TOTAL);
    const before = await readEverything({ main: source, indexer: source });
    await assert.rejects(runMove({ source, target: occupied }), /not empty: there are rows in indexer\.sale_total/);
    await applyMigration(source, 'indexer', { name: '9999-newer.sql', sql: 'select', digest: 'x' });
    await assert.rejects(runMove({ source, target: other }), /only a newer version can move this index/);
    await source.query(`delete from indexer.migration where name = '9999-newer.sql'`);
    assertSame(await readEverything({ main: source, indexer: source }), before, 'after rejected moves');
    assert.equal(await findMoveState(source), null);
  });

  test(
    'the database that has the index is rejected as the target, even if the index has no rows and the target is named by another URL',
    { skip: hasCitus || engine === 'embedded' ? 'the target is never the database of the source' : false },
    async () => {
      const source = await openSource();
      const [row] = await source.query<{ name: string }>(`select current_database() as name`);
      const url = new URL(await createTarget());
      url.pathname = `/${row?.name}`;
      const same = open(url.href);
      await assert.rejects(runMove({ source, target: same }), /the target is the database that has the index now/);
      assert.equal(await findMoveState(source), null);
      await source.query(INSERT_TOTAL);
    },
  );

  test('if two commands begin at the same time, one is rejected, and the other moves every row and index', async () => {
    const [source, target, fresh] = [await openSource(), await openTarget(), await openTarget()];
    await fill(source, SALES);
    const results = await Promise.allSettled([runMove({ source, target }), runMove({ source, target })]);
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
    assert.equal(reasons.length, 1);
    assert.match(reasons[0] ?? '', /another mercat move-index is beginning or continuing a move/);
    await assertSameIndex(target, source, 'after the move');
    await migrate(fresh, 'indexer');
    assert.deepEqual(await readDefinitions(target), await readDefinitions(fresh));
  });

  test(
    'changes that are made during the comparison are copied and compared before the source is sealed',
    { skip: hasOneConnection(engine) },
    async () => {
      const [source, target] = [await openSource(), await openTarget()];
      await fill(source, SALES);
      let changed: Promise<unknown> | null = null;
      // The comparison does not go on before the changes are committed.
      const waiting: Database = {
        ...target,
        transaction: async (work) => {
          await changed;
          return target.transaction(work);
        },
      };
      const caughtUp: number[] = [];
      const result = await runMove({
        source,
        target: waiting,
        onProgress: ({ stage, detail, total }) => {
          if (stage === 'comparing' && detail === 'sale')
            changed ??= source.query(`update indexer.sale set price = price || '0'`);
          if (stage === 'catching-up' && detail === 'changes') caughtUp.push(total ?? 0);
        },
      });
      assert.ok((caughtUp[0] ?? 0) >= SALES, `${caughtUp.join(', ')} changes were caught up`);
      assert.equal(result.sealedChanges, 0);
      await assertSameIndex(target, source, 'after the move');
    },
  );

  test('rows that exchange their unique values are copied, also if their changes are copied in different parts', async () => {
    const [source, target] = [await openSource(), await openTarget()];
    await fill(source, SALES);
    const insert = `insert into indexer.trait (collection_id, name, value) values ('exchange', 'n', $1)`;
    for (const value of ['a', 'b']) await source.query(insert, [value]);
    const change = `update indexer.trait set value = $2 where collection_id = 'exchange' and value = $1`;
    let changed: Promise<unknown> | null = null;
    const changeAll = async () => {
      await source.query(change, ['a', 'x']);
      // Two changes of each sale do not fit into one part.
      for (let repeats = 0; repeats < 2; repeats += 1)
        await source.query(`update indexer.sale set price = price || '0'`);
      await source.query(change, ['b', 'a']);
      await source.query(change, ['x', 'b']);
    };
    const waiting: Database = {
      ...target,
      transaction: async (work) => {
        await changed;
        return target.transaction(work);
      },
    };
    const onProgress = ({ stage }: MoveProgress) => {
      if (stage === 'indexing') changed ??= changeAll();
    };
    await runMove({ source, target: waiting, onProgress });
    assert.ok(changed);
    await assertSameIndex(target, source, 'after the move');
  });

  test(
    'nothing but the move can write to a target whose index is incomplete',
    { skip: hasCitus && 'Citus has no triggers on distributed tables' },
    async () => {
      const [source, target] = [await openSource(), await openTarget()];
      await fill(source);
      // As if a node with the target as its indexer database had started before the move.
      await migrate(target, 'indexer');
      let refused: Promise<unknown> | null = null;
      // The move does not go on before the write has ended.
      const waiting: Database = {
        ...target,
        transaction: async (work) => {
          await refused;
          return target.transaction(work);
        },
      };
      const isRefused = (error: unknown) => isIndexSealed(error) && /the complete index yet/.test(String(error));
      const onProgress = ({ stage }: MoveProgress) => {
        if (stage === 'copying') refused ??= assert.rejects(target.query(INSERT_TOTAL), isRefused);
      };
      await runMove({ source, target: waiting, onProgress });
      assert.ok(refused);
      await assertSameIndex(target, source, 'after the move');
      await target.query(INSERT_TOTAL);
    },
  );

  test('if too many changes are not copied yet when the source is sealed, the source is opened again until these changes are copied', async () => {
    const [source, target] = [await openSource(), await openTarget()];
    await fill(source, SALES);
    let changed: Promise<unknown> | null = null;
    const accepted: Promise<unknown>[] = [];
    // The seal does not begin before the changes are committed.
    const waiting: Database = {
      ...source,
      transaction: async (work) => {
        await changed;
        return source.transaction(work);
      },
    };
    const reopened = engine === 'embedded' ? 'following' : 'catching-up';
    const stages: string[] = [];
    const onProgress = ({ stage }: MoveProgress) => {
      if (stages.at(-1) !== stage) stages.push(stage);
      if (stage === 'sealed') {
        // An update of a row is recorded as two changes.
        const updates = Math.ceil((CHANGES_SEALED_MAX + 1) / (2 * SALES));
        changed ??= source.query(
          `do $$ begin for i in 1..${updates} loop update indexer.sale set price = price || '0'; end loop; end $$`,
        );
      } else if (changed !== null && stage === reopened && accepted.length === 0) {
        accepted.push(source.query(INSERT_TOTAL));
      }
    };
    const { sealedChanges } = await runMove({ source: waiting, target, onProgress });
    assert.deepEqual(stages.slice(stages.indexOf('sealed')), ['sealed', reopened, 'sealed', 'completing']);
    assert.equal((await Promise.all(accepted)).length, 1, 'no change was made while the source was open again');
    assert.ok(sealedChanges <= CHANGES_SEALED_MAX, String(sealedChanges));
    await assertSameIndex(target, source, 'after the move');
  });

  test('a move completes if the response to the commit that closes the source is lost', async () => {
    const [source, target] = [await openSource(), await openTarget()];
    await fill(source);
    let lost = 0;
    const losing = afterClosing(source, () => {
      lost += 1;
      throw new Error('Connection terminated unexpectedly');
    });
    await runMove({ source: losing, target });
    assert.equal(lost, 1);
    assert.equal((await findMoveState(target))?.phase, 'complete');
    await assertSameIndex(target, source, 'after the move');
  });

  test('if a move fails after the source was closed, the message says that the source is closed, and the next command completes the move', async () => {
    const [source, target] = [await openSource(), await openTarget()];
    await fill(source);
    let isClosed = false;
    const closing = afterClosing(source, () => (isClosed = true));
    const failing: Database = {
      ...target,
      transaction: async (work) => {
        if (isClosed) throw new Error('the disk is full');
        return target.transaction(work);
      },
    };
    await assert.rejects(
      runMove({ source: closing, target: failing }),
      /^OperatorError: the old index is closed, but .+ \(the disk is full\): repeat the command to complete the move$/,
    );
    await runMove({ source, target });
    assert.equal((await findMoveState(target))?.phase, 'complete');
  });
});

/** Writes to an incomplete target in spite of its triggers. */
function damage(target: Database, sql: string): Promise<unknown> {
  return target.transaction(async (tx) => {
    await tx.query(`set local session_replication_role = 'replica'`);
    await tx.query(sql);
  });
}

/** Calls `onClosed` after the transaction that closes the source, before the caller gets the result of this transaction. */
function afterClosing(source: Database, onClosed: () => void): Database {
  let isOpen = true;
  return {
    ...source,
    transaction: async (work) => {
      const result = await source.transaction(work);
      if (isOpen && (await findMoveState(source))?.phase === 'moved') {
        isOpen = false;
        onClosed();
      }
      return result;
    },
  };
}

/** The reason to skip a test with two concurrent transactions. */
function hasOneConnection(engine: Engine): string | false {
  return engine === 'embedded' && 'the embedded engine runs one transaction at a time';
}

async function readDefinitions(db: Database): Promise<unknown[]> {
  const indexes = await db.query(`select indexname, indexdef from pg_indexes where schemaname = 'indexer' order by 1`);
  const constraints = await db.query(
    `select conname, contype, convalidated, pg_get_constraintdef(oid) as definition from pg_constraint
     where connamespace = 'indexer'::regnamespace order by conrelid::regclass::text, conname`,
  );
  return [...indexes, ...constraints];
}
