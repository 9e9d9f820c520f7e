// Long computations are divided into slices, and all of them share the slices.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mapInSlices } from '../../../src/platform/core/slices.ts';

/** Takes 2 ms of the event loop. */
function work(): void {
  const end = performance.now() + 2;
  while (performance.now() < end);
}

/** Runs `run` and returns the most steps that were done without the event loop having served other work in between. */
async function countMostSteps(run: (step: () => void) => Promise<unknown>): Promise<number> {
  let [steps, most] = [0, 0];
  let immediate = setImmediate(function turn() {
    steps = 0;
    immediate = setImmediate(turn);
  });
  await run(() => {
    work();
    steps += 1;
    most = Math.max(most, steps);
  });
  clearImmediate(immediate);
  return most;
}

describe('slices', () => {
  const values = Array.from({ length: 20 }, (_, index) => index);

  test('the results are in the order of the values', async () => {
    assert.deepEqual(
      await mapInSlices(values, (value) => value * 2),
      values.map((value) => value * 2),
    );
    assert.deepEqual(await mapInSlices([], work), []);
  });

  test('one computation leaves the event loop to others after 5 ms', async () => {
    // The third step begins before the end of the slice.
    assert.ok((await countMostSteps((step) => mapInSlices(values, step))) <= 3);
  });

  test('many computations at the same time block the event loop no longer than one', async () => {
    const most = await countMostSteps((step) =>
      Promise.all(Array.from({ length: 30 }, () => mapInSlices(values.slice(0, 5), step))),
    );
    assert.ok(most <= 3, `${most} steps`);
  });

  test('an exception of a step rejects its computation only', async () => {
    const failed = mapInSlices(values, () => {
      throw new RangeError('one');
    });
    const [result, other] = await Promise.allSettled([failed, mapInSlices(values, (value) => value)]);
    assert.equal(result.status, 'rejected');
    assert.equal(other.status, 'fulfilled');
  });
});
