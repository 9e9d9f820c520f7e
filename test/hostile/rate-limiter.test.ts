// The rate limiter under a flood of clients: bounded memory, and the same small cost for each of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createRateLimiter } from '../../src/http/rate-limit.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes of the heap that are in use. */
function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Half of what is remembered at most. */
const GENERATION = 100_000;
const LIMITS = { list: 1, single: 1 };
const clientOf = (index: number) => `${index >> 16}.${(index >> 8) & 255}.${index & 255}.1`;

test('a hundred thousand clients are remembered at the least, two hundred thousand at the most', () => {
  const limit = createRateLimiter(LIMITS, () => 0);
  assert.equal(limit('list', 'first'), null);
  for (let index = 0; index < GENERATION; index += 1) limit('list', clientOf(index));
  assert.notEqual(limit('list', 'first'), null, 'still remembered');
  for (let index = 0; index < 2 * GENERATION; index += 1) limit('list', clientOf(GENERATION + index));
  assert.equal(limit('list', 'first'), null, 'forgotten before newer ones');
  assert.notEqual(limit('list', clientOf(3 * GENERATION - 1)), null);
});

test('a flood of clients takes no more memory than that, costs no more each, and is let go when it ends', () => {
  let now = 0;
  const before = heapUsed();
  const limit = createRateLimiter(LIMITS, () => now);
  const flood = (first: number) => {
    const started = performance.now();
    for (let index = first; index < first + 2 * GENERATION; index += 1) limit('list', clientOf(index));
    return { ms: performance.now() - started, heap: heapUsed() - before };
  };
  const first = flood(0);
  const third = [flood(1_000_000), flood(2_000_000)].at(-1) ?? assert.fail();
  assert.ok(third.heap < first.heap * 1.5, `${third.heap} bytes after ${first.heap}`);
  assert.ok(third.ms < first.ms * 8, `${third.ms} ms after ${first.ms} ms`);
  for (let turn = 0; turn < 2; turn += 1) {
    now += 60_001;
    limit('list', 'one more');
  }
  assert.ok(heapUsed() - before < first.heap / 4, 'nothing is kept of windows that ended');
});

test('no window is forgotten before it ends, whenever it began', () => {
  let now = 0;
  const limit = createRateLimiter(LIMITS, () => now);
  for (let start = 0; start < 300_000; start += 7_000) {
    now = start;
    assert.equal(limit('list', `from ${start}`), null);
    for (let other = 0; other < start; other += 7_000) {
      const isOpen = start < other + 60_000;
      if (isOpen) assert.equal(limit('list', `from ${other}`)?.resetAt, other + 60_000);
    }
  }
});
