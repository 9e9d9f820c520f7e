// Which events of the stream pass a filter.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passesFilter, toStreamFilter } from '../../../../src/market/explore/stream/stream-entry.ts';

const entryOf = (kind: string, collectionId: string | null, reorgIds: string[] | null = null) => ({
  position: 1,
  kind,
  collectionId,
  reorgIds,
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

test('a reorg passes the filters of the collections whose events it voids, and every filter if these are not known', () => {
  const ofA = entryOf('reorg', null, ['a', 'c']);
  assert.equal(passesFilter(ofA, toStreamFilter(['a'], null)), true);
  assert.equal(passesFilter(ofA, toStreamFilter(['b'], null)), false);
  assert.equal(passesFilter(ofA, toStreamFilter(null, null)), true);
  const reorg = entryOf('reorg', null);
  assert.equal(passesFilter(reorg, toStreamFilter(['a'], null)), true);
  assert.equal(passesFilter(reorg, toStreamFilter(['a'], ['reorg'])), true);
  assert.equal(passesFilter(reorg, toStreamFilter(['a'], ['sale'])), false);
});

test('filters with the same names in another order have the same key', () => {
  assert.equal(toStreamFilter(['a', 'b'], ['list', 'sale']).key, toStreamFilter(['b', 'a'], ['sale', 'list']).key);
});
