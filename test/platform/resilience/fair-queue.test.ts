// Tests the queue in which work waits for its turn: how many callers hold a place, in which order the others get one, and when they are refused.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { Deadline } from '../../../src/platform/core/deadline.ts';
import { DeadlineExceeded } from '../../../src/platform/resilience/deadline.ts';
import type { FairQueueOptions } from '../../../src/platform/resilience/fair-queue.ts';
import { FairQueue } from '../../../src/platform/resilience/fair-queue.ts';

const TWO = () => 2;
const settle = () => new Promise((resolve) => setImmediate(resolve));
const full = { message: 'the queue is full' };

/** A queue with two places for each key. `started` has the callers that have a place, in the order in which they got it. */
function createQueue(options: Partial<FairQueueOptions> = {}) {
  const queue = new FairQueue({ places: TWO, refusal: () => new Error(full.message), ...options });
  const started: string[] = [];
  const enter = async (key: string, name: string, deadline = Deadline.none) => {
    await queue.enter(deadline, key);
    started.push(name);
  };
  return { queue, started, enter };
}

/** A monotonic clock and timers that the test advances. */
function createClock(t: TestContext) {
  let now = 1_000;
  t.mock.method(performance, 'now', () => now);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return async (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
    await settle();
  };
}

test('callers with one key get places in the order of their arrival, and other keys have places of their own', async () => {
  const { queue, started, enter } = createQueue();
  for (const name of ['a', 'b', 'c', 'd']) void enter('one', name);
  void enter('other', 'x');
  await settle();
  assert.deepEqual([started, queue.waiting], [['a', 'b', 'x'], 2]);
  queue.leave('other');
  await settle();
  assert.equal(started.length, 3);
  for (const name of ['c', 'd']) {
    queue.leave('one');
    await settle();
    assert.equal(started.at(-1), name);
  }
  assert.deepEqual([queue.takenBy('one'), queue.takenBy('other'), queue.waiting], [2, 0, 0]);
});

test('`take` gives its place to the next caller when the work has ended or failed', async () => {
  const { queue } = createQueue({ places: () => 1 });
  const first = Promise.withResolvers<void>();
  const results = Promise.allSettled([
    queue.take(() => first.promise),
    queue.take(() => Promise.reject(new Error('its own'))),
    queue.take(() => Promise.resolve('third')),
  ]);
  first.resolve();
  assert.deepEqual(
    (await results).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
});

describe('a caller is refused', () => {
  test('immediately if as many callers as allowed wait with its key', async () => {
    const { queue, enter } = createQueue({ waitingMax: 1 });
    const entered = [enter('one', 'a'), enter('one', 'b'), enter('one', 'c')];
    await assert.rejects(enter('one', 'd'), full);
    await enter('other', 'x');
    queue.leave('one');
    await Promise.all(entered);
  });

  test('at its deadline, and its place in the order goes to the next caller', async (t) => {
    const pass = createClock(t);
    const { queue, started, enter } = createQueue({ places: () => 1 });
    const held = enter('one', 'holder');
    const late = assert.rejects(enter('one', 'late', Deadline.after(20)), full);
    const next = enter('one', 'next', Deadline.after(100));
    await pass(19);
    assert.equal(queue.waiting, 2);
    await pass(1);
    await late;
    queue.leave('one');
    await Promise.all([held, next]);
    assert.deepEqual(started, ['holder', 'next']);
  });

  test('with DeadlineExceeded if the queue names no other error', async () => {
    const queue = new FairQueue({ places: () => 1 });
    await queue.enter();
    await assert.rejects(queue.enter(Deadline.after(1)), DeadlineExceeded);
  });

  test('when no place of its key is taken or left for `stallMs`, but not while callers leave', async (t) => {
    const pass = createClock(t);
    const { queue, started, enter } = createQueue({ places: () => 1, stallMs: 50 });
    const entered = ['a', 'b', 'c'].map((name) => enter('one', name));
    const last = assert.rejects(enter('one', 'last'), full);
    for (const name of ['b', 'c']) {
      await pass(49);
      queue.leave('one');
      await settle();
      assert.equal(started.at(-1), name);
    }
    await Promise.all(entered);
    await pass(49);
    assert.equal(queue.waiting, 1);
    await pass(1);
    await last;
  });

  test('together with all waiting callers of its key, if the holder of a place says so', async () => {
    const { queue, started, enter } = createQueue();
    const refused = ['a', 'b', 'c', 'd'].map((name) => enter('one', name)).slice(2);
    const other = ['x', 'y', 'z'].map((name) => enter('other', name));
    const results = Promise.all(refused.map((one) => assert.rejects(one, full)));
    queue.refuseWaiting('one');
    await results;
    assert.deepEqual([started, queue.takenBy('one')], [['a', 'b', 'x', 'y'], 2]);
    queue.leave('other');
    await Promise.all(other);
    queue.leave('one');
    await enter('one', 'later');
    assert.equal(started.at(-1), 'later');
  });
});

test('refused callers free no place that another caller has taken meanwhile', async () => {
  const { queue, enter } = createQueue({ places: () => 1 });
  const held = enter('one', 'holder');
  const refused = assert.rejects(enter('one', 'refused'), full);
  queue.refuseWaiting('one');
  queue.leave('one');
  assert.equal(queue.tryEnter('one'), true);
  await Promise.all([held, refused]);
  assert.deepEqual([queue.takenBy('one'), queue.tryEnter('one')], [1, false]);
});

test('a caller that gets its place at its deadline keeps it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { queue, started, enter } = createQueue({ places: () => 1 });
  await enter('one', 'holder');
  const entered = enter('one', 'next', Deadline.after(20));
  t.mock.timers.tick(20);
  queue.leave('one');
  await entered;
  assert.deepEqual([started, queue.takenBy('one')], [['holder', 'next'], 1]);
  queue.leave('one');
  assert.equal(queue.tryEnter('one'), true);
});

test('the places of a key can depend on how many places all keys hold, and a place that was left is free for any key', () => {
  const queue = new FairQueue({ places: (taken) => 2 * (9 - taken) });
  const enterAll = (key: string) => {
    let entered = 0;
    while (queue.tryEnter(key)) entered += 1;
    return entered;
  };
  assert.equal(enterAll('one'), 6);
  assert.equal(enterAll('other'), 2);
  queue.leave('one');
  assert.equal(queue.tryEnter('third'), true);
  for (let left = 0; left < 5; left += 1) queue.leave('one');
  assert.deepEqual(
    ['one', 'other', 'third'].map((key) => queue.takenBy(key)),
    [0, 2, 1],
  );
});

test('a place can be left to the callers with another key', async () => {
  const { queue, started, enter } = createQueue({ places: (taken) => 1 - taken });
  for (const [key, name] of [
    ['one', 'a'],
    ['one', 'b'],
    ['other', 'x'],
  ] as const)
    void enter(key, name);
  queue.leave('one', 'other');
  await settle();
  assert.deepEqual([started, queue.takenBy('one'), queue.takenBy('other')], [['a', 'x'], 0, 1]);
  assert.equal(queue.waitingSince('other'), null);
  assert.equal(typeof queue.waitingSince('one'), 'number');
  queue.leave('other', 'one');
  await settle();
  assert.deepEqual([started, queue.waiting], [['a', 'x', 'b'], 0]);
});
