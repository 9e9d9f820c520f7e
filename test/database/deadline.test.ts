// What a deadline promises, on both engines: a statement or a transaction ends by then, a transaction that did not end leaves
// nothing behind, and the next caller finds the database as if nothing had been.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Database, Queryable } from '../../src/database/port.ts';
import { isOutOfReach } from '../../src/database/port.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { until } from '../support/until.ts';

const TIMEOUT_MS = 150;
const RATE = `insert into main.rate (symbol, usd, at) values ($1, 1, now())`;

forEachEngine('a deadline', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  const symbols = async () =>
    (await db.query<{ symbol: string }>('select symbol from main.rate order by 1')).map(({ symbol }) => symbol);
  const outOfReach = (work: Promise<unknown>) => assert.rejects(work, isOutOfReach);
  /** Resolves when the time is over, whatever the machine is busy with. */
  const passing = async (deadline: number) => until(() => performance.now() > deadline, 10_000, 'time stands still');

  describe('within it', () => {
    test('statements and transactions are what they are without one', async () => {
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
      assert.deepEqual(await symbols(), ['A', 'B', 'C']);
    });
  });

  describe('when it passes', () => {
    test('in the middle of a transaction, nothing of it is kept, and others go on', async () => {
      const before = await symbols();
      const deadline = performance.now() + TIMEOUT_MS;
      const slow = db.within(TIMEOUT_MS).transaction(async (tx) => {
        await tx.query(RATE, ['slow']);
        await passing(deadline);
        await tx.query(RATE, ['later']);
      });
      await outOfReach(slow);
      await db.transaction((tx) => tx.query(RATE, [`after ${before.length}`]));
      assert.deepEqual(await symbols(), [...before, `after ${before.length}`]);
    });

    test('before the commit, nothing is committed, even by work that hides it', async () => {
      const before = await symbols();
      const deadline = performance.now() + TIMEOUT_MS;
      const hiding = db.within(TIMEOUT_MS).transaction(async (tx) => {
        await tx.query(RATE, ['hidden']);
        await passing(deadline);
        await tx.query(RATE, ['later']).catch(() => undefined);
      });
      await outOfReach(hiding);
      assert.deepEqual(await symbols(), before);
    });

    test('before a connection is free, nothing is begun, and the connection goes to the next one', async () => {
      const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
      const holders: Promise<unknown>[] = [];
      const hold = async (tx: Queryable) => {
        await tx.query('select 1');
        await finished;
      };
      for (let held = 0; held < 10; held += 1) holders.push(db.transaction(hold));
      const work = db.within(TIMEOUT_MS).transaction((tx) => tx.query(RATE, ['never']));
      // Were the work to wait for a connection it would not end before the holders, which end after it.
      await outOfReach(work);
      finish();
      await Promise.all(holders);
      assert.ok(!(await symbols()).includes('never'));
    });
  });

  if (engine.name === 'embedded') return;

  test('a statement that goes on on the server is given up, and its transaction ends there too', async () => {
    const startedAt = performance.now();
    await outOfReach(
      db.within(TIMEOUT_MS).transaction(async (tx) => {
        await tx.query(RATE, ['sleeping']);
        await tx.query('select pg_sleep(5)');
      }),
    );
    assert.ok(performance.now() - startedAt < 5_000, 'it was waited for');
    // While it lives it holds the key: this one waits for its end, and finds nothing.
    await db.query(RATE, ['sleeping']);
    assert.ok((await symbols()).includes('sleeping'));
  });
});
