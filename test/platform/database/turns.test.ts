// Tests turns: how many pieces of work with the same key may run or wait at once, in which order they run, and when
// waiting work is rejected.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline } from '../../../src/platform/core/deadline.ts';
import { DeadlineExceeded } from '../../../src/platform/resilience/deadline.ts';
import type { TurnLimits } from '../../../src/platform/database/turns.ts';
import { Turns } from '../../../src/platform/database/turns.ts';

const HOUR_MS = 3_600_000;
const LIMITS: TurnLimits = {
  runningMax: 2,
  waitingMax: 3,
  stallMs: HOUR_MS,
  waitMaxMs: HOUR_MS,
  failsTogether: true,
};

/** Pieces of work that end when the test calls `end`. `started` has their names in the order in which they started. */
function createWorks(limits: Partial<TurnLimits> = {}) {
  const turns = new Turns({ ...LIMITS, ...limits });
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const take = (key: string, name: string): Promise<string> => {
    const end = Promise.withResolvers<string>();
    ends.set(name, end);
    return turns.take(key, () => {
      started.push(name);
      return end.promise;
    });
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string, error?: Error) => {
    if (error) ends.get(name)?.reject(error);
    else ends.get(name)?.resolve(name);
    await settle();
  };
  return { started, take, end, settle };
}

const isUnavailable = { name: 'ServiceError', code: 'unavailable' };
const lockTimeout = () => Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });

test('pieces of work with one key run in the order of the calls, at most two at a time', async () => {
  const { started, take, end, settle } = createWorks();
  const works = ['a', 'b', 'c', 'd'].map((name) => take('one', name));
  works.push(take('other', 'x'));
  await settle();
  assert.deepEqual(started, ['a', 'b', 'x']);
  await end('b');
  await end('a');
  assert.deepEqual(started, ['a', 'b', 'x', 'c', 'd']);
  for (const name of ['c', 'd', 'x']) await end(name);
  assert.deepEqual(await Promise.all(works), ['a', 'b', 'c', 'd', 'x']);
});

test('work is rejected immediately when the queue of its key is full', async () => {
  const { take, end } = createWorks();
  const works = ['a', 'b', 'c', 'd', 'e'].map((name) => take('one', name));
  await assert.rejects(take('one', 'f'), isUnavailable);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await end(name);
  await Promise.all(works);
});

for (const [name, error] of [
  ['could not lock its row', lockTimeout()],
  ['missed its deadline', new DeadlineExceeded()],
] as const) {
  test(`after a piece of work ${name}, all waiting work with its key is rejected`, async () => {
    const { take, end, started } = createWorks();
    const works = ['a', 'b', 'c', 'd'].map((one) => take('one', one));
    const results = Promise.allSettled(works);
    await end('a', error);
    await end('b');
    const reasons = (await results).map((result) => (result.status === 'rejected' ? result.reason : null));
    assert.equal(reasons[0], error);
    assert.equal(reasons[1], null);
    assert.deepEqual([reasons[2].code, reasons[3].code], ['unavailable', 'unavailable']);
    const later = take('one', 'later');
    await end('later');
    assert.equal(await later, 'later');
    assert.deepEqual(started, ['a', 'b', 'later']);
  });
}

test('after any other failure only the work that failed is rejected', async () => {
  const { take, end } = createWorks();
  const works = Promise.allSettled(['a', 'b', 'c'].map((one) => take('one', one)));
  await end('a', new Error('a mistake'));
  await end('b');
  await end('c');
  assert.deepEqual(
    (await works).map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  );
});

test('work is rejected when its queue stalls, not while the queue moves', async () => {
  const { take, end } = createWorks({ runningMax: 1, stallMs: 50 });
  const works = ['a', 'b', 'c'].map((one) => take('one', one));
  const last = works[2]?.catch((error: unknown) => error);
  await end('a');
  // Now b runs and does not end, so the queue stalls.
  assert.equal(((await last) as { code: string }).code, 'unavailable');
  await end('b');
  assert.deepEqual(await Promise.all(works.slice(0, 2)), ['a', 'b']);
});

test('work that has not begun by the deadline of the caller is rejected', async () => {
  const outer = new Turns({ ...LIMITS, runningMax: 1 });
  const inner = new Turns({ ...LIMITS, runningMax: 1 });
  const running = Promise.withResolvers<void>();
  const holder = inner.take('one', () => running.promise);
  const startBy = Deadline.after(30);
  const work = () => inner.take('one', () => Promise.resolve(), startBy);
  await assert.rejects(outer.take('one', work, startBy), isUnavailable);
  running.resolve();
  await holder;
});
