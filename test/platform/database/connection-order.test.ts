// Tests the order in which work uses the single connection of the embedded database.

import assert from 'node:assert/strict';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { after, before, describe, test } from 'node:test';
import { Deadline } from '../../../src/platform/core/deadline.ts';
import { ConnectionOrder } from '../../../src/platform/database/connection-order.ts';
import { openEmbedded } from '../../../src/platform/database/embedded/embedded.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { createDatabase } from '../../../src/platform/database/port.ts';
import { DeadlineExceeded } from '../../../src/platform/resilience/deadline.ts';
import { directoryWithDatabase } from '../../support/engines/embedded-template.ts';

/** Longer than any test takes. */
const LONG_MS = 60_000;

/** An order. The test sets the monotonic clock. `started` has the names of the work, in the order in which it got the connection. */
function createOrder(t: TestContext) {
  const clock = { ms: 0 };
  t.mock.method(performance, 'now', () => clock.ms);
  const order = new ConnectionOrder();
  const started: string[] = [];
  const enter = (name: string, deadline: Deadline) => order.enter(deadline).then(() => void started.push(name));
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    clock,
    order,
    started,
    settle,
    read: (name: string) => enter(name, Deadline.after(LONG_MS)),
    write: (name: string) => enter(name, Deadline.none),
    leave: async () => {
      order.leave();
      await settle();
    },
  };
}

describe('the order of work', () => {
  test('work with a deadline goes before earlier work without one', async (t) => {
    const { started, read, write, leave, settle } = createOrder(t);
    void write('import 1');
    void write('import 2');
    void read('read 1');
    void read('read 2');
    await settle();
    for (let left = 0; left < 3; left += 1) await leave();
    assert.deepEqual(started, ['import 1', 'read 1', 'read 2', 'import 2']);
  });

  test('the next statement of a request goes before waiting work without a deadline', async (t) => {
    const { order, started, read, write, leave, settle } = createOrder(t);
    void read('statement 1');
    void write('import');
    await settle();
    order.leave();
    await Promise.resolve();
    void read('statement 2');
    await settle();
    assert.deepEqual(started, ['statement 1', 'statement 2']);
    await leave();
    assert.deepEqual(started, ['statement 1', 'statement 2', 'import']);
  });

  test('under constant requests, a batch without a deadline lets requests go first for at most twice the time for which the preceding batch used the connection', async (t) => {
    const { clock, order, started, read, write, leave, settle } = createOrder(t);
    void write('batch 1');
    await settle();
    clock.ms += 100;
    void read('read 1');
    await leave();
    void write('batch 2');
    for (let number = 2; number < 7; number += 1) {
      clock.ms += 60;
      void read(`read ${number}`);
      await leave();
    }
    assert.deepEqual(started, ['batch 1', 'read 1', 'read 2', 'read 3', 'read 4', 'batch 2', 'read 5']);
    // The waiting reads have timers, which would keep the process alive.
    while (order.waiting > 0) await leave();
  });

  test('work with a deadline that asks again at once lets work without one go first after the same time', async (t) => {
    const { clock, order, started, read, write, leave, settle } = createOrder(t);
    void read('read 1');
    void write('import');
    await settle();
    for (let number = 2; number < 4; number += 1) {
      clock.ms += 15;
      order.leave();
      await Promise.resolve();
      void read(`read ${number}`);
      await settle();
    }
    assert.deepEqual(started, ['read 1', 'read 2', 'import']);
    while (order.waiting > 0) await leave();
  });

  test('when several imports wait, requests go first again after each import', async (t) => {
    const { clock, started, read, write, leave, settle } = createOrder(t);
    for (const name of ['import 1', 'import 2', 'import 3']) void write(name);
    await settle();
    for (const name of ['read 1', 'read 2', 'read 3', 'read 4']) void read(name);
    for (let left = 0; left < 6; left += 1) {
      clock.ms += 40;
      await leave();
    }
    assert.deepEqual(started, ['import 1', 'read 1', 'read 2', 'import 2', 'read 3', 'read 4', 'import 3']);
  });

  test('work whose deadline passes while it waits is rejected, and the next waiting work gets the connection', async (t) => {
    const { order, started, write, leave, settle } = createOrder(t);
    void write('import 1');
    await assert.rejects(order.enter(Deadline.after(5)), DeadlineExceeded);
    assert.equal(order.waiting, 0);
    void write('import 2');
    await settle();
    await leave();
    assert.deepEqual(started, ['import 1', 'import 2']);
  });
});

describe('the embedded database', () => {
  let db: Database;
  before(async () => {
    const { pool, close } = await openEmbedded({ dir: path.join(await directoryWithDatabase(), 'db') });
    db = createDatabase(pool, { engine: 'embedded', name: 'main', onClose: close });
  });
  after(() => db.close());

  test('a read of several statements waits for one transaction of an import at most', async () => {
    let transactions = 0;
    const ended = new AbortController();
    const begun = Promise.withResolvers<void>();
    const importing = (async () => {
      while (!ended.signal.aborted) {
        await db.transaction(async (tx) => {
          begun.resolve();
          // This statement takes longer than all statements of the read together.
          await tx.query('select pg_sleep(0.1)');
        });
        transactions += 1;
      }
    })();
    await begun.promise;
    const before = transactions;
    const statements = db.within(LONG_MS);
    for (let statement = 0; statement < 5; statement += 1) await statements.query('select 1');
    const waitedFor = transactions - before;
    ended.abort();
    await importing;
    assert.ok(waitedFor <= 1, `the read waited for ${waitedFor} transactions`);
  });
});
