// The memory that the response cache may take.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CollectionVersions, NO_COLLECTION } from '../../../src/platform/core/collection-versions.ts';
import { SHORT_POLICY, createCachedResponse } from '../../../src/platform/http/cached-response.ts';
import { ResponseCache, cacheBytesFor } from '../../../src/platform/http/response-cache.ts';

const MIB = 2 ** 20;

test('the caches of all processes together take at most a sixteenth of the memory, and each cache takes at most 64 MiB', () => {
  assert.equal(cacheBytesFor(512 * MIB, 1), 32 * MIB);
  assert.equal(cacheBytesFor(512 * MIB, 2), 16 * MIB);
  assert.equal(cacheBytesFor(1_024 * MIB, 1), 64 * MIB);
  assert.equal(cacheBytesFor(64 * 1_024 * MIB, 4), 64 * MIB);
});

/** `read` computes a response with a text of `length` characters for a key that has no stored response. */
function createCache() {
  const computed: string[] = [];
  const cache = new ResponseCache(new CollectionVersions(), () => 0, { bytesMax: MIB });
  const read = (key: string, length: number) =>
    cache.get(key, async () => {
      computed.push(key);
      const body = { text: 'x'.repeat(length) };
      return createCachedResponse({ body, cacheTag: NO_COLLECTION, policy: SHORT_POLICY });
    });
  return { computed, read };
}

test('when the cache is full, it drops the response that was not used for the longest time', async () => {
  const { computed, read } = createCache();
  // The body counts twice, because its encodings also take memory. So the cache has room for sixteen responses.
  const length = 0.03 * MIB;
  const keys = Array.from({ length: 16 }, (_, index) => `/${index}`);
  for (const key of keys) await read(key, length);
  for (const key of ['/0', '/16', '/0', '/1']) await read(key, length);
  assert.deepEqual(computed, [...keys, '/16', '/1']);
});

test('a response that is larger than a sixteenth of the cache is not stored, and displaces no other response', async () => {
  const { computed, read } = createCache();
  await read('/small', 1_000);
  for (const key of ['/large/1', '/large/2', '/large/3', '/large/4', '/large/1']) await read(key, 0.04 * MIB);
  await read('/small', 1_000);
  assert.deepEqual(computed, ['/small', '/large/1', '/large/2', '/large/3', '/large/4', '/large/1']);
});
