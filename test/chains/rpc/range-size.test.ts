import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RangeSize } from '../../../src/chains/rpc/range-size.ts';

test('a rejected size is halved, approached slowly, and not requested again soon', () => {
  const range = new RangeSize(1_000);
  range.rejected(1_000);
  assert.equal(range.current(), 500);
  const requested: number[] = [];
  for (let answers = 0; answers < 40; answers += 1) {
    requested.push(range.current());
    range.succeeded(range.current());
  }
  assert.ok(requested.every((size) => size < 1_000));
  assert.equal(range.current(), 999);
});

test('after many successes the upper limit is removed, because the size that an endpoint accepts depends on the number of events', () => {
  const range = new RangeSize(1_000);
  range.rejected(1_000);
  for (let answers = 0; answers < 70; answers += 1) range.succeeded(range.current());
  assert.ok(range.current() > 1_000);
});

test('the success of a short last range does not allow longer ranges, and at least one block is requested', () => {
  const range = new RangeSize(1_000);
  range.succeeded(3);
  assert.equal(range.current(), 1_000);
  for (let refusals = 0; refusals < 20; refusals += 1) range.rejected(range.current());
  assert.equal(range.current(), 1);
  range.failed(1);
  assert.equal(range.current(), 1);
  range.succeeded(1);
  assert.equal(range.current(), 1, 'the range is never below one block');
});
