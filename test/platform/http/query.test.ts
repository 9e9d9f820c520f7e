// The messages for query parameters that do not fit the schema.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyRouteSchemaDef } from 'fastify/types/schema.js';
import { createChains } from '../../../src/platform/core/chains.ts';
import { createQueryValidator, splitQuery } from '../../../src/platform/http/query.ts';

const PROPERTIES = {
  cursor: { type: 'string', maxLength: 5 },
  name: { type: 'string' },
  sort: { type: 'string', enum: ['volume', 'floor'] },
  limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  listed: { type: 'boolean' },
  traits: { type: 'object', maxProperties: 2 },
};

function validate(query: string) {
  const validator = createQueryValidator(createChains());
  const check = validator({ schema: { properties: PROPERTIES } } as unknown as FastifyRouteSchemaDef<never>);
  return check(splitQuery(query)) as { value?: unknown; error?: Error };
}

const REJECTED = [
  ['cursor=abcdef', 'cursor must be well-formed text of at most 5 characters'],
  ['name=%ff', 'name must be well-formed text'],
  ['name=', 'name is empty'],
  ['name=a&name=b', 'name is given more than once'],
  ['sort=price', 'sort must be one of volume, floor'],
  ['limit=101', 'limit must be an integer from 1 to 100'],
  ['limit=1.0', 'limit must be an integer from 1 to 100'],
  ['listed=yes', 'listed must be true or false'],
  ['traits=a', 'traits must be written as traits[Name]=Value'],
  ['traits[a]=1&traits[b]=2&traits[c]=3', 'traits has more than 2 names'],
] as const;

for (const [query, message] of REJECTED) {
  test(`the message for ?${query} says how to correct it`, () => {
    assert.equal(validate(query).error?.message, `Query parameter ${message}`);
  });
}

test('the values of a valid query are parsed, missing parameters get their defaults, and unknown parameters are left out', () => {
  assert.deepEqual(validate('cursor=%C3%A9bcde&listed=true&other=1').value, {
    cursor: 'ébcde',
    limit: 20,
    listed: true,
  });
});
