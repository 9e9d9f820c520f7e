// Tests the types of time limits.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { Deadline, TimeBudget } from '../../../src/platform/core/deadline.ts';

/** A monotonic clock that the test sets. */
function createClock(t: TestContext) {
  const clock = { ms: 1_000 };
  t.mock.method(performance, 'now', () => clock.ms);
  return clock;
}

test('a deadline has passed at its time, and no time is left then', (t) => {
  const clock = createClock(t);
  const deadline = Deadline.after(100);
  clock.ms += 99;
  assert.deepEqual([deadline.hasPassed, deadline.leftMs], [false, 1]);
  for (const ms of [1, 50]) {
    clock.ms += ms;
    assert.deepEqual([deadline.hasPassed, deadline.leftMs], [true, 0]);
  }
});

test('work without a deadline never runs out of time', (t) => {
  createClock(t).ms = Number.MAX_SAFE_INTEGER;
  const { hasPassed, isNone, leftMs } = Deadline.none;
  assert.deepEqual({ hasPassed, isNone, leftMs }, { hasPassed: false, isNone: true, leftMs: Number.POSITIVE_INFINITY });
  assert.equal(Deadline.after(1).isNone, false);
});

test('of two deadlines the earlier one counts', () => {
  const soon = Deadline.after(10);
  const later = Deadline.after(100);
  assert.equal(soon.earlierOf(later), soon);
  assert.equal(later.earlierOf(soon), soon);
  assert.equal(Deadline.none.earlierOf(later), later);
});

test('pieces of work one after another share a time budget, which does not run between them', async (t) => {
  const clock = createClock(t);
  const budget = new TimeBudget(1_000);
  const lefts: number[] = [];
  const spend = (ms: number) =>
    budget.spend((leftMs) => {
      lefts.push(leftMs);
      clock.ms += ms;
      return Promise.resolve();
    });
  for (const ms of [20, 1_500, 0]) {
    await spend(ms);
    clock.ms += 5_000;
  }
  assert.deepEqual(lefts, [1_000, 980, 0]);
});
