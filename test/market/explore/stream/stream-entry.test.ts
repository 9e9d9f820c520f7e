// Which events of the stream pass a filter.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passesFilter, toStreamFilter } from '../../../../src/market/explore/stream/stream-entry.ts';

const entryOf = (kind: string, collectionId: string | null) => ({
  position: 1,
  kind,
  collectionId,
  loggedAt: 0,
  json: '{}',
});

test('an event passes a filter that names its collection and its kind', () => {
  const filter = toStreamFilter(['a', 'b'], ['sale']);
  assert.equal(passesFilter(entryOf('sale', 'b'), filter), true);
  assert.equal(passesFilter(entryOf('sale', 'c'), filter), false);
  assert.equal(passesFilter(entryOf('list', 'b'), filter), false);
  assert.equal(passesFilter(entryOf('list', 'c'), toStreamFilter(null, null)), true);
});

test('an event without a collection passes every filter of collections, because it may void events of any collection', () => {
  const reorg = entryOf('reorg', null);
  assert.equal(passesFilter(reorg, toStreamFilter(['a'], null)), true);
  assert.equal(passesFilter(reorg, toStreamFilter(['a'], ['reorg'])), true);
  assert.equal(passesFilter(reorg, toStreamFilter(['a'], ['sale'])), false);
});

test('filters with the same names in another order have the same key', () => {
  assert.equal(toStreamFilter(['a', 'b'], ['list', 'sale']).key, toStreamFilter(['b', 'a'], ['sale', 'list']).key);
});
