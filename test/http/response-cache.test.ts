// The memory that the response cache may take.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CollectionVersions, NO_COLLECTION } from '../../src/core/collection-versions.ts';
import { SHORT_POLICY, createCachedResponse } from '../../src/http/cached-response.ts';
import { ResponseCache, cacheBytesFor } from '../../src/http/response-cache.ts';

const MIB = 2 ** 20;

test('the caches of all processes together take at most a sixteenth of the memory, and each cache takes at most 64 MiB', () => {
  assert.equal(cacheBytesFor(512 * MIB, 1), 32 * MIB);
  assert.equal(cacheBytesFor(512 * MIB, 2), 16 * MIB);
  assert.equal(cacheBytesFor(1_024 * MIB, 1), 64 * MIB);
  assert.equal(cacheBytesFor(64 * 1_024 * MIB, 4), 64 * MIB);
});

test('when the cache is full, it drops the response that was not used for the longest time', async () => {
  const computed: string[] = [];
  const cache = new ResponseCache(new CollectionVersions(), () => 0, { bytesMax: MIB });
  const read = (key: string) =>
    cache.get(key, async () => {
      computed.push(key);
      // The body counts twice, because its encodings also take memory.
      const body = { text: 'x'.repeat(0.2 * MIB) };
      return createCachedResponse({ body, cacheTag: NO_COLLECTION, policy: SHORT_POLICY });
    });
  for (const key of ['/a', '/b', '/a', '/c', '/a', '/b']) await read(key);
  assert.deepEqual(computed, ['/a', '/b', '/c', '/b']);
});
