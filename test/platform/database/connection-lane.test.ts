// Tests lanes. A lane limits how many connections of a pool one group of statements may use at a time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline } from '../../../src/platform/core/deadline.ts';
import { DeadlineExceeded } from '../../../src/platform/resilience/deadline.ts';
import { ConnectionLane } from '../../../src/platform/database/connection-lane.ts';

const soon = () => Deadline.after(20);
const later = () => Deadline.after(10_000);

test('a lane admits as many callers as it has places, and further callers in the order of their arrival when places become free', async () => {
  const lane = new ConnectionLane(2);
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

test('a caller whose deadline passes while it waits takes no place', async () => {
  const lane = new ConnectionLane(1);
  await lane.enter(later());
  await assert.rejects(lane.enter(soon()), DeadlineExceeded);
  const next = lane.enter(later());
  lane.leave();
  await next;
  lane.leave();
  await lane.enter(soon());
});
