// Tests reads of one source that share one deadline.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { createLog } from '../../../src/platform/core/log.ts';
import type { Statements } from '../../../src/platform/database/port.ts';
import { MarketSource } from '../../../src/market/reads/market-source.ts';

/**
 * Creates a source without a database, on a monotonic clock that the test moves. `limits` collects the time limit of each read, in
 * milliseconds.
 */
function createSource(t: TestContext, timeoutMs: number) {
  const clock = { now: 1_000 };
  t.mock.method(performance, 'now', () => clock.now);
  const limits: number[] = [];
  const reject = () => Promise.reject(new Error('there is no database'));
  const statements: Statements = { query: reject, queryPrepared: reject, transaction: reject };
  const db = {
    within: (limitMs: number) => {
      limits.push(limitMs);
      return statements;
    },
    pool: () => ({ max: 10, open: 0, idle: 0, waiting: 0, respondedAt: 0 }),
  };
  const settings = { clock: () => clock.now, random: () => 0, log: createLog('silent') };
  const source = new MarketSource({ name: 'timed', db, timeoutMs, ...settings });
  t.after(() => source.close());
  return { source, clock, limits };
}

test('each read gets the part of the shared time that earlier reads did not use', async (t) => {
  const { source, clock, limits } = createSource(t, 60_000);
  const read = source.withinOneDeadline();
  const readFor = (ms: number) => () => {
    clock.now += ms;
    return Promise.resolve();
  };
  assert.equal((await read(readFor(50))).ok, true);
  clock.now += 100;
  assert.equal((await read(readFor(7))).ok, true);
  assert.equal((await read(readFor(0))).ok, true);
  assert.deepEqual(limits, [60_000, 59_950, 59_943]);
});

test('a read after the shared deadline fails', async (t) => {
  const { source, clock, limits } = createSource(t, 5);
  const read = source.withinOneDeadline();
  const hangFor = (ms: number) => () => {
    clock.now += ms;
    return new Promise(() => undefined);
  };
  assert.deepEqual(await read(hangFor(5)), { ok: false, reason: 'timeout' });
  assert.deepEqual(await read(hangFor(0)), { ok: false, reason: 'timeout' });
  assert.deepEqual(limits, [5, 0]);
});

test('time in which several reads run at once is counted only once', async (t) => {
  const { source, clock, limits } = createSource(t, 60_000);
  const read = source.withinOneDeadline();
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const reads = [read(() => first.promise)];
  clock.now += 10;
  reads.push(read(() => second.promise));
  clock.now += 30;
  first.resolve();
  await reads[0];
  clock.now += 5;
  second.resolve();
  await reads[1];
  clock.now += 100;
  await read(() => Promise.resolve());
  assert.deepEqual(limits, [60_000, 59_990, 59_955]);
});
