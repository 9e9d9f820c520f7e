// Times are written as `toISOString` writes them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toIsoText } from '../../../src/platform/core/time.ts';

test('a time is written as toISOString writes it, whatever times were written before', () => {
  const ms = fc.date({ noInvalidDate: true }).map((date) => date.getTime());
  fc.assert(
    fc.property(fc.array(ms), (times) => times.every((time) => toIsoText(time) === new Date(time).toISOString())),
  );
  for (const time of [0, -1, 951_782_399_999, 253_402_300_800_000, -62_167_219_200_001, 8.64e15, -8.64e15])
    assert.equal(toIsoText(time), new Date(time).toISOString());
});

test('times are written correctly even if they are on more days than the cache of day texts can hold', () => {
  for (let day = 0; day < 10_000; day += 1) {
    const time = day * 86_400_000 + day;
    assert.equal(toIsoText(time), new Date(time).toISOString());
  }
});
