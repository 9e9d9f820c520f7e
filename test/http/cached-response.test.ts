// The memory of cached responses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RESPONSE_TIME, createCachedResponse } from '../../src/http/cached-response.ts';

test('a cached response keeps no more memory than its body needs', () => {
  const policy = { sharedMaxAgeS: 1, staleWhileRevalidateS: 1 };
  const create = (body: object, timestamped: boolean) =>
    createCachedResponse({ body, cacheTag: 'none', policy, timestamped });
  const small = create({ data: [] }, false);
  const timed = create({ data: { at: RESPONSE_TIME } }, true);
  assert.equal(timed.parts.length, 2);
  for (const part of [...small.parts, ...timed.parts]) assert.equal(part.buffer.byteLength, part.length);
});
