// How many blocks are requested in one range, after rejections and successes of an endpoint.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RangeSize } from '../../../../src/sources/chains/rpc/range-size.ts';

test('after a rejection the size is halved, then grows up to one block below the rejected size', () => {
  const range = new RangeSize(1_000);
  range.rejected(1_000);
  assert.equal(range.current(), 500);
  const requested: number[] = [];
  for (let successes = 0; successes < 40; successes += 1) {
    requested.push(range.current());
    range.succeeded(range.current(), 0);
  }
  assert.ok(requested.every((size) => size < 1_000));
  assert.equal(range.current(), 999);
});

test('after many successes in a row, sizes above the rejected size are tried again', () => {
  const range = new RangeSize(1_000);
  range.rejected(1_000);
  for (let successes = 0; successes < 70; successes += 1) range.succeeded(range.current(), 0);
  assert.ok(range.current() > 1_000);
});

test('the success of a short last range does not increase the size', () => {
  const range = new RangeSize(1_000);
  range.succeeded(3, 0);
  assert.equal(range.current(), 1_000);
  for (let rejections = 0; rejections < 20; rejections += 1) range.rejected(range.current());
  assert.equal(range.current(), 1);
  range.failed(1);
  assert.equal(range.current(), 1);
  range.succeeded(1, 0);
  assert.equal(range.current(), 1, 'the size has grown to a rejected size');
});

test('after a response with very many logs, the size is reduced so that a response has at most about 15,000 logs', () => {
  const range = new RangeSize(1_000);
  range.succeeded(1_000, 60_000);
  assert.equal(range.current(), 250);
  range.succeeded(100, 60_000);
  assert.equal(range.current(), 25, 'very many logs in a range shorter than the size did not reduce the size');
  range.succeeded(25, 14_000);
  assert.equal(range.current(), 31);
});
