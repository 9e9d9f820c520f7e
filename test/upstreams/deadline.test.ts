// Several reads that have one deadline together, and the share of a pool that one source may take.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { DeadlineExceeded } from '../../src/resilience/deadline.ts';
import { createLane } from '../../src/database/lane.ts';
import { systemClock } from '../../src/core/clock.ts';
import { systemRandom } from '../../src/core/random.ts';
import { createLog } from '../../src/core/log.ts';
import { withinOneDeadline } from '../../src/market/market.ts';
import { Source } from '../../src/resilience/source.ts';

const TIMEOUT_MS = 200;
/** Timers may be early by less than this. */
const TIMER_MS = 2;
const query = () => Promise.reject(new Error('no database here'));

/** A market's source whose reads take as long as they are told, and say how much time they were given. */
function createTimedSource(t: TestContext) {
  const source = new Source({
    name: 'timed',
    timeoutMs: TIMEOUT_MS,
    log: createLog('silent'),
    clock: systemClock,
    random: systemRandom,
  });
  t.after(() => source.close());
  const given: number[] = [];
  return {
    given,
    source: {
      name: source.name,
      timeoutMs: source.timeoutMs,
      state: () => source.state(),
      read: <T>(work: (db: { query: typeof query }) => Promise<T>, leftMs?: number) =>
        source.read((timeoutMs) => {
          given.push(timeoutMs);
          return work({ query });
        }, leftMs),
    },
  };
}

const busyFor = (ms: number) => () => new Promise<number>((resolve) => setTimeout(() => resolve(ms), ms));

test('reads within one deadline have what is left of it, and time between them does not count', async (t) => {
  const { source, given } = createTimedSource(t);
  const read = withinOneDeadline(source);
  assert.equal((await read(busyFor(TIMEOUT_MS / 4))).ok, true);
  await busyFor(TIMEOUT_MS)();
  assert.equal((await read(busyFor(0))).ok, true);
  const [first = 0, second = 0] = given;
  assert.equal(first, TIMEOUT_MS);
  assert.ok(second > 0 && second < (TIMEOUT_MS * 3) / 4 + TIMER_MS, `${second} ms were left`);
  assert.deepEqual(await read(busyFor(TIMEOUT_MS)), { ok: false, reason: 'timeout' });
  assert.deepEqual(await read(busyFor(TIMEOUT_MS)), { ok: false, reason: 'timeout' });
  assert.ok((given.at(-1) ?? TIMEOUT_MS) < TIMER_MS);
});

const soon = () => performance.now() + 20;
const later = () => performance.now() + 10_000;

test('a lane lets in as many as it has places for, the others in their order', async () => {
  const lane = createLane(2);
  await lane.enter(later());
  await lane.enter(later());
  const order: string[] = [];
  const third = lane.enter(later()).then(() => order.push('third'));
  const fourth = lane.enter(later()).then(() => order.push('fourth'));
  assert.deepEqual(order, []);
  lane.leave();
  await third;
  lane.leave();
  await fourth;
  assert.deepEqual(order, ['third', 'fourth']);
});

test('whoever gave up waiting for a place takes none, and none is lost', async () => {
  const lane = createLane(1);
  await lane.enter(later());
  await assert.rejects(lane.enter(soon()), DeadlineExceeded);
  const next = lane.enter(later());
  lane.leave();
  await next;
  lane.leave();
  await lane.enter(soon());
});
