import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRangeSize } from '../../../src/chains/rpc/range-size.ts';

test('a size that was refused is halved, approached slowly, and not asked for again soon', () => {
  const range = createRangeSize(1_000);
  range.refuse(1_000);
  assert.equal(range.now(), 500);
  const asked: number[] = [];
  for (let answers = 0; answers < 40; answers += 1) {
    asked.push(range.now());
    range.grow(range.now());
  }
  assert.ok(asked.every((size) => size < 1_000));
  assert.equal(range.now(), 999);
});

test('after many answers the refusal is forgotten: limits depend on how much happened', () => {
  const range = createRangeSize(1_000);
  range.refuse(1_000);
  for (let answers = 0; answers < 70; answers += 1) range.grow(range.now());
  assert.ok(range.now() > 1_000);
});

test('a short range at the end says nothing about longer ones, and one block is always asked for', () => {
  const range = createRangeSize(1_000);
  range.grow(3);
  assert.equal(range.now(), 1_000);
  for (let refusals = 0; refusals < 20; refusals += 1) range.refuse(range.now());
  assert.equal(range.now(), 1);
  range.shrink(1);
  assert.equal(range.now(), 1);
  range.grow(1);
  assert.equal(range.now(), 1, 'one is all it takes, for now');
});
