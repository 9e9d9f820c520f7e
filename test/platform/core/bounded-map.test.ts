// Tests the map that limits the number of its entries.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedMap } from '../../../src/platform/core/bounded-map.ts';

test('a new key beyond the limit removes the entry that was set least recently', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  map.set('c', 4);
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => map.get(key)),
    [3, undefined, 4],
  );
});
