// Large bodies that arrive together do not block the event loop: other requests of the process are served between two bodies.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { bodyOf, readJsonBodies } from '../../../src/platform/http/json-body.ts';

const BODIES = 40;

test('forty bodies of ten thousand values that arrive together are parsed in many turns of the event loop', async (t) => {
  let turn = 0;
  let immediate = setImmediate(function next() {
    turn += 1;
    immediate = setImmediate(next);
  });
  t.after(() => clearImmediate(immediate));
  /** The turn of the event loop in which each body was parsed. */
  const turns: number[] = [];
  const app = Fastify();
  t.after(() => app.close());
  readJsonBodies(app);
  app.post('/', (request) => {
    turns.push(turn);
    return (bodyOf(request).value as { values: unknown[] }).values.length;
  });
  const values = Array.from({ length: 9_998 }, (_, index) => String(index));
  const send = () => app.inject({ method: 'POST', url: '/', payload: { values } });
  const responses = await Promise.all(Array.from({ length: BODIES }, send));
  assert.ok(responses.every(({ statusCode, body }) => statusCode === 200 && body === String(values.length)));
  const distinct = new Set(turns).size;
  assert.ok(distinct >= BODIES / 4, `${BODIES} bodies were parsed in ${distinct} turns`);
});
