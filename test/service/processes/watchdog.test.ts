// Tests how the supervisor notices that a serving process hangs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Watchdog } from '../../../src/service/processes/watchdog.ts';

async function checkTimes(watchdog: Watchdog, times: number): Promise<boolean[]> {
  const results: boolean[] = [];
  for (let checked = 0; checked < times; checked += 1) {
    results.push(watchdog.check());
    await turn();
  }
  return results;
}

test('a process counts as hanging after seven checks without a reply, whether the pings fail or get no response', async () => {
  const waiting = new Watchdog(() => new Promise(() => undefined));
  const failing = new Watchdog(() => Promise.reject(new Error('ended')));
  for (const watchdog of [waiting, failing])
    assert.deepEqual(await checkTimes(watchdog, 8), [...Array.from({ length: 7 }, () => false), true]);
});

test('a process that replies does not count as hanging, even if the reply is late', async () => {
  const replies: (() => void)[] = [];
  const watchdog = new Watchdog(() => new Promise<void>((resolve) => replies.push(resolve)));
  assert.ok((await checkTimes(watchdog, 7)).every((isHanging) => !isHanging));
  replies[0]?.();
  await turn();
  assert.ok((await checkTimes(watchdog, 7)).every((isHanging) => !isHanging));
  assert.equal(watchdog.check(), true);
});
