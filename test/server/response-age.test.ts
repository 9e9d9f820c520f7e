// Tests the headers of stale responses that the response cache serves from memory. A stale response carries its age, and shared caches may
// keep it for only a second.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CollectionVersions } from '../../src/platform/core/collection-versions.ts';
import { ServiceError } from '../../src/platform/core/errors.ts';
import type { CachedResponse } from '../../src/platform/http/cached-response.ts';
import { createCachedResponse } from '../../src/platform/http/cached-response.ts';
import { ResponseCache } from '../../src/platform/http/response-cache.ts';

const START = Date.parse('2026-01-01T00:00:00Z');

function createCache() {
  let now = START;
  const cache = new ResponseCache(new CollectionVersions(), () => now);
  return { cache, advance: (ms: number) => (now += ms) };
}

const compute = () =>
  Promise.resolve(
    createCachedResponse({
      body: { data: 1 },
      cacheTag: 'ethereum_0x1',
      policy: { sharedMaxAgeS: 15, staleWhileRevalidateS: 60 },
    }),
  );

const unavailable = () => Promise.reject(new ServiceError('unavailable', 'The service is unavailable'));

function headerOf(headers: readonly string[], name: string): string | undefined {
  const index = headers.indexOf(name);
  return index === -1 ? undefined : headers[index + 1];
}

function assertHeaders(response: CachedResponse, expected: { age: string | undefined; sharedMaxAgeS: number }): void {
  for (const headers of [response.headers, response.notModifiedHeaders]) {
    assert.equal(headerOf(headers, 'age'), expected.age);
    assert.match(headerOf(headers, 'cache-control') ?? '', new RegExp(`s-maxage=${expected.sharedMaxAgeS},`));
  }
}

test('while the primary cannot be reached, a response carries a short s-maxage and its age', async () => {
  const { cache, advance } = createCache();
  const first = await cache.get('key', compute);
  assertHeaders(first, { age: undefined, sharedMaxAgeS: 15 });
  for (const [waitMs, age] of [
    [1_000, '1'],
    [999, '1'],
    [18 * 60_000 + 1, '1082'],
  ] as const) {
    advance(waitMs);
    const stale = await cache.get('key', unavailable);
    assertHeaders(stale, { age, sharedMaxAgeS: 1 });
    assert.deepEqual([stale.etag, stale.parts], [first.etag, first.parts]);
  }
  assertHeaders(await cache.get('key', compute), { age: undefined, sharedMaxAgeS: 15 });
});

test('a response that is served while the next is computed carries its age and a short s-maxage', async () => {
  const { cache, advance } = createCache();
  await cache.get('key', compute);
  advance(3_400);
  const { promise, resolve } = Promise.withResolvers<CachedResponse>();
  const next = cache.get('key', () => promise);
  assertHeaders(await cache.get('key', compute), { age: '3', sharedMaxAgeS: 1 });
  resolve(await compute());
  assertHeaders(await next, { age: undefined, sharedMaxAgeS: 15 });
});
