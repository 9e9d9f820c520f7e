// The check that a serving process responds to the supervisor.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Watchdog } from '../../src/processes/watchdog.ts';

async function checkTimes(watchdog: Watchdog, times: number): Promise<boolean[]> {
  const results: boolean[] = [];
  for (let checked = 0; checked < times; checked += 1) {
    results.push(watchdog.check());
    await turn();
  }
  return results;
}

test('a process hangs after seven checks without a reply, whether its pings fail or wait', async () => {
  const waiting = new Watchdog(() => new Promise(() => undefined));
  const failing = new Watchdog(() => Promise.reject(new Error('ended')));
  for (const watchdog of [waiting, failing])
    assert.deepEqual(await checkTimes(watchdog, 8), [...Array.from({ length: 7 }, () => false), true]);
});

test('any reply shows that the process does not hang, also a late one', async () => {
  const replies: (() => void)[] = [];
  const watchdog = new Watchdog(() => new Promise<void>((resolve) => replies.push(resolve)));
  assert.ok((await checkTimes(watchdog, 7)).every((isHanging) => !isHanging));
  replies[0]?.();
  await turn();
  assert.ok((await checkTimes(watchdog, 7)).every((isHanging) => !isHanging));
  assert.equal(watchdog.check(), true);
});
