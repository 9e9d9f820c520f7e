// Tests how much memory a cached response keeps, and how its body is serialised.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RESPONSE_TIME, createCachedResponse } from '../../../src/platform/http/cached-response.ts';
import { SerialisedJson } from '../../../src/platform/http/serialised-json.ts';

test('a cached response keeps no more memory than its body needs', () => {
  const policy = { sharedMaxAgeS: 1, staleWhileRevalidateS: 1 };
  const create = (body: object, timestamped: boolean) =>
    createCachedResponse({ body, cacheTag: 'none', policy, timestamped });
  const small = create({ data: [] }, false);
  const timed = create({ data: { at: RESPONSE_TIME } }, true);
  assert.equal(timed.parts.length, 2);
  for (const part of [...small.parts, ...timed.parts]) assert.equal(part.buffer.byteLength, part.length);
});

test('a response has the same text whether a member of its body is a value or JSON that is serialised already', () => {
  const policy = { sharedMaxAgeS: 1, staleWhileRevalidateS: 1 };
  const textOf = (body: object) => createCachedResponse({ body, cacheTag: 'none', policy }).parts.join('');
  const data = [{ 'a"b': 'é' }, null];
  const rest = { left: undefined, meta: { offset: null } };
  assert.equal(textOf({ data: new SerialisedJson(JSON.stringify(data)), ...rest }), textOf({ data, ...rest }));
  assert.throws(() => textOf({ data: { points: new SerialisedJson('[]') } }), TypeError);
});
