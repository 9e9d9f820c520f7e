// Tests lanes. A lane limits how many connections of a pool one group of statements may use at a time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLane } from '../../../src/platform/database/connection-lane.ts';

function countPlaces(connectionsMax: number): number {
  const lane = createLane(connectionsMax);
  let places = 0;
  while (lane.tryEnter()) places += 1;
  return places;
}

test('two lanes leave at least a fifth of the connections of a pool free, and every lane has a place', () => {
  for (let connectionsMax = 3; connectionsMax <= 40; connectionsMax += 1) {
    const places = countPlaces(connectionsMax);
    assert.ok(places >= 1 && 2 * places <= 0.8 * connectionsMax, `${places} of ${connectionsMax}`);
  }
  assert.deepEqual([countPlaces(10), countPlaces(2)], [4, 1]);
});

test('on the embedded engine, which has one connection, four statements of a lane wait for it at once', () => {
  assert.equal(countPlaces(1), 4);
});
