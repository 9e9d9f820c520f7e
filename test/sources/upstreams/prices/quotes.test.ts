// Tests how the quotes of several price sources become one price, or no price.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decidePrice, LEAP_MS } from '../../../../src/sources/upstreams/prices/quotes.ts';

const NOW = 1_000_000_000;
const quote = (usd: number, source = 'a') => ({ source, usd });
const known = (usd: number, ageMs = 0) => ({ symbol: 'ETH', usd, at: NOW - ageMs });
const decide = (...args: [Parameters<typeof decidePrice>[0], Parameters<typeof decidePrice>[1]?]) =>
  decidePrice(args[0], args[1] ?? null, NOW);

test('when the quotes differ by at most 5 %, the quote of the first source is the price', () => {
  assert.deepEqual(decide([quote(100), quote(105, 'b')]), { usd: 100 });
  assert.deepEqual(decide([quote(105), quote(100, 'b')]), { usd: 105 });
});

test('two quotes that differ by more than 5 % give no price, whichever is higher', () => {
  assert.deepEqual(decide([quote(100), quote(105.01, 'b')]), { usd: null, why: 'disagreement' });
  assert.deepEqual(decide([quote(105.01), quote(100, 'b')]), { usd: null, why: 'disagreement' });
  assert.deepEqual(decide([quote(1), quote(1, 'b'), quote(2, 'c')]), { usd: null, why: 'disagreement' });
});

test('a quote that is zero, negative, not finite, extremely small or extremely large is ignored', () => {
  assert.deepEqual(decide([]), { usd: null, why: 'unknown' });
  for (const usd of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e-12, 1e9]) {
    assert.deepEqual(decide([quote(usd)]), { usd: null, why: 'absurd' }, String(usd));
    assert.deepEqual(decide([quote(usd), quote(2, 'b')]), { usd: 2 }, String(usd));
  }
});

test('a price above twice or below half of the stored rate needs two sources that agree, unless the stored rate is old', () => {
  assert.deepEqual(decide([quote(201)], known(100)), { usd: null, why: 'absurd' });
  assert.deepEqual(decide([quote(49)], known(100)), { usd: null, why: 'absurd' });
  assert.deepEqual(decide([quote(200)], known(100)), { usd: 200 });
  assert.deepEqual(decide([quote(201)], known(100, LEAP_MS)), { usd: 201 });
  assert.deepEqual(decide([quote(201), quote(202, 'b')], known(100)), { usd: 201 });
});
