// Deadlines: work that is not done by its deadline is rejected or aborted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline } from '../../../src/platform/core/deadline.ts';
import {
  DeadlineExceeded,
  DeadlineSignal,
  isDoneWithin,
  raceDeadline,
} from '../../../src/platform/resilience/deadline.ts';

const never = new Promise<never>(() => undefined);
const soon = () => Deadline.after(5);
const later = () => Deadline.after(60_000);
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('work that ends before its deadline has the same result or error as without a deadline', async () => {
  assert.equal(await raceDeadline(Promise.resolve(1), later()), 1);
  await assert.rejects(raceDeadline(Promise.reject(new Error('its own')), later()), /its own/);
  assert.equal(await raceDeadline(Promise.resolve(1), Deadline.none), 1);
});

test('work that is not done by its deadline is rejected', async () => {
  await assert.rejects(raceDeadline(never, soon()), DeadlineExceeded);
  await assert.rejects(raceDeadline(never, Deadline.after(-1_000)), DeadlineExceeded);
});

test('work that fails after its deadline causes no unhandled rejection', async () => {
  const work = Promise.withResolvers<never>();
  await assert.rejects(raceDeadline(work.promise, soon()), DeadlineExceeded);
  work.reject(new Error('too late'));
  await settled();
});

test('isDoneWithin returns whether work ended in time, and rejects when the work rejects in that time', async () => {
  assert.equal(await isDoneWithin(Promise.resolve(), 60_000), true);
  assert.equal(await isDoneWithin(never, 5), false);
  await assert.rejects(isDoneWithin(Promise.reject(new Error('its own')), 60_000), /its own/);
});

test('a deadline signal aborts when its time is over', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  using deadline = new DeadlineSignal(100);
  t.mock.timers.tick(99);
  assert.equal(deadline.signal.aborted, false);
  t.mock.timers.tick(1);
  assert.ok(deadline.signal.reason instanceof DeadlineExceeded);
  assert.equal(deadline.hasPassed, true);
});

test('a deadline signal aborts together with its parent signal', () => {
  const stop = new AbortController();
  using deadline = new DeadlineSignal(60_000, stop.signal);
  stop.abort(new Error('stopped'));
  assert.match(String(deadline.signal.reason), /stopped/);
  assert.equal(deadline.hasPassed, false);
});

test('a deadline signal that is disposed of does not abort at its deadline', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const deadline = new DeadlineSignal(100);
  deadline[Symbol.dispose]();
  t.mock.timers.tick(1_000);
  assert.equal(deadline.signal.aborted, false);
});
