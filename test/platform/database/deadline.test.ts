// Tests the deadlines of database work on both engines. A statement or a transaction ends at its deadline at the latest. The transaction is
// then rolled back and does not affect the next caller.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import type { Database, Queryable } from '../../../src/platform/database/port.ts';
import { isOutOfReach } from '../../../src/platform/database/port.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { until } from '../../support/until.ts';

const TIMEOUT_MS = 150;
const RATE = `insert into main.rate (symbol, usd, at) values ($1, 1, now())`;

forEachEngine('a deadline', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  const readSymbols = async () =>
    (await db.query<{ symbol: string }>('select symbol from main.rate order by 1')).map(({ symbol }) => symbol);
  const assertOutOfReach = (work: Promise<unknown>) => assert.rejects(work, isOutOfReach);
  /** Resolves after `deadline`, a time of `performance.now()`. */
  const waitUntilAfter = async (deadline: number) =>
    until(() => performance.now() > deadline, 10_000, 'the clock did not reach the deadline');

  test('a closed database counts as out of reach', async () => {
    const databases = await openDatabases(readConfig(await engine.settings()), createLog('silent'));
    await databases.main.query('select 1');
    await databases.close();
    await assertOutOfReach(databases.main.query('select 1'));
    await assertOutOfReach(databases.main.within(10_000).query('select 1'));
  });

  describe('a deadline that has not passed', () => {
    test('a deadline that has not passed changes nothing about statements and transactions', async () => {
      const within = db.within(10_000);
      await within.query(RATE, ['A']);
      await within.queryPrepared(RATE, ['B']);
      const result = await within.transaction(async (tx) => {
        await tx.query(RATE, ['C']);
        return 'done';
      });
      assert.equal(result, 'done');
      const refused = new Error('no');
      const failing = within.transaction(async (tx) => {
        await tx.query(RATE, ['D']);
        throw refused;
      });
      await assert.rejects(failing, refused);
      await assert.rejects(
        within.transaction((tx) => tx.query(RATE, ['A'])),
        { code: '23505' },
      );
      assert.deepEqual(await readSymbols(), ['A', 'B', 'C']);
    });
  });

  describe('a deadline that passes', () => {
    test('a deadline that passes in the middle of a transaction rolls the transaction back', async () => {
      const before = await readSymbols();
      const deadline = performance.now() + TIMEOUT_MS;
      const slow = db.within(TIMEOUT_MS).transaction(async (tx) => {
        await tx.query(RATE, ['slow']);
        await waitUntilAfter(deadline);
        await tx.query(RATE, ['later']);
      });
      await assertOutOfReach(slow);
      await db.transaction((tx) => tx.query(RATE, [`after ${before.length}`]));
      assert.deepEqual(await readSymbols(), [...before, `after ${before.length}`]);
    });

    test('a deadline that passes before the commit prevents the commit, even if the work catches the error', async () => {
      const before = await readSymbols();
      const deadline = performance.now() + TIMEOUT_MS;
      const hiding = db.within(TIMEOUT_MS).transaction(async (tx) => {
        await tx.query(RATE, ['hidden']);
        await waitUntilAfter(deadline);
        await tx.query(RATE, ['later']).catch(() => undefined);
      });
      await assertOutOfReach(hiding);
      assert.deepEqual(await readSymbols(), before);
    });

    test('when a deadline passes before a connection is free, the work never runs', async () => {
      const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
      const holders: Promise<unknown>[] = [];
      const hold = async (tx: Queryable) => {
        await tx.query('select 1');
        await finished;
      };
      for (let held = 0; held < 10; held += 1) holders.push(db.transaction(hold));
      const work = db.within(TIMEOUT_MS).transaction((tx) => tx.query(RATE, ['never']));
      // The connections are held until the work has been rejected. So the work was rejected while it waited for a connection.
      await assertOutOfReach(work);
      finish();
      await Promise.all(holders);
      assert.ok(!(await readSymbols()).includes('never'));
    });
  });

  if (engine.name === 'embedded') return;

  test('a deadline that passes during a statement ends the transaction on the server too', async () => {
    await db.transaction(async (holder) => {
      await holder.query('select pg_advisory_xact_lock(1)');
      // The statement waits for the lock until `holder` ends. So a call that waits for the statement would not return.
      await assertOutOfReach(
        db.within(TIMEOUT_MS).transaction(async (tx) => {
          await tx.query(RATE, ['locked out']);
          await tx.query('select pg_advisory_xact_lock(1)');
        }),
      );
    });
    // The abandoned transaction holds a lock on the key. This insert waits until that transaction has been rolled back.
    await db.query(RATE, ['locked out']);
    assert.ok((await readSymbols()).includes('locked out'));
  });
});
