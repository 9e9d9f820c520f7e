import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RangeSize } from '../../../src/chains/rpc/range-size.ts';

test('a size that was refused is halved, approached slowly, and not asked for again soon', () => {
  const range = new RangeSize(1_000);
  range.rejected(1_000);
  assert.equal(range.current(), 500);
  const asked: number[] = [];
  for (let answers = 0; answers < 40; answers += 1) {
    asked.push(range.current());
    range.succeeded(range.current());
  }
  assert.ok(asked.every((size) => size < 1_000));
  assert.equal(range.current(), 999);
});

test('after many answers the refusal is forgotten: limits depend on how much happened', () => {
  const range = new RangeSize(1_000);
  range.rejected(1_000);
  for (let answers = 0; answers < 70; answers += 1) range.succeeded(range.current());
  assert.ok(range.current() > 1_000);
});

test('a short range at the end says nothing about longer ones, and one block is always asked for', () => {
  const range = new RangeSize(1_000);
  range.succeeded(3);
  assert.equal(range.current(), 1_000);
  for (let refusals = 0; refusals < 20; refusals += 1) range.rejected(range.current());
  assert.equal(range.current(), 1);
  range.failed(1);
  assert.equal(range.current(), 1);
  range.succeeded(1);
  assert.equal(range.current(), 1, 'one is all it takes, for now');
});
