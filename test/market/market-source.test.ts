// Reads of one source that share a deadline.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../src/core/log.ts';
import type { Statements } from '../../src/database/port.ts';
import { MarketSource } from '../../src/market/market-source.ts';

/** Timers may fire early by less than this. */
const TIMER_MS = 2;

/** A source without a database, and the deadline of each of its reads, in milliseconds. */
function createSourceOf(t: TestContext, timeoutMs: number) {
  const deadlines: number[] = [];
  const reject = () => Promise.reject(new Error('there is no database'));
  const statements: Statements = { query: reject, queryPrepared: reject, transaction: reject };
  const db = {
    within: (limitMs: number) => {
      deadlines.push(limitMs);
      return statements;
    },
  };
  const settings = { clock: () => performance.now(), random: () => 0, log: createLog('silent') };
  const source = new MarketSource({ name: 'timed', db, timeoutMs, ...settings });
  t.after(() => source.close());
  return { source, deadlines };
}

test('reads that share a deadline get the time that earlier reads have left, and time between the reads does not count', async (t) => {
  const timeoutMs = 60_000;
  const { source, deadlines } = createSourceOf(t, timeoutMs);
  const read = source.withinOneDeadline();
  const startedAt = performance.now();
  assert.equal((await read(() => sleep(50))).ok, true);
  const readMs = performance.now() - startedAt;
  await sleep(100);
  assert.equal((await read(() => Promise.resolve())).ok, true);
  const [first = 0, second = 0] = deadlines;
  assert.equal(first, timeoutMs);
  assert.ok(second <= timeoutMs - 50 + TIMER_MS, `the time of the first read did not count: ${second} ms were left`);
  assert.ok(second >= timeoutMs - readMs, `more than the time of the first read counted: ${second} ms were left`);
});

test('when the shared deadline has passed, a further read fails at once', async (t) => {
  const { source, deadlines } = createSourceOf(t, 30);
  const read = source.withinOneDeadline();
  const never = () => new Promise(() => undefined);
  assert.deepEqual(await read(never), { ok: false, reason: 'timeout' });
  assert.deepEqual(await read(never), { ok: false, reason: 'timeout' });
  assert.ok((deadlines[1] ?? 30) < TIMER_MS, `${deadlines[1]} ms were left`);
});
