// Tests the rate limiter under a flood of clients: its memory is limited, each client costs the same, and every request is counted.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createClientAddress } from '../../src/server/client-address.ts';
import { createEdge } from '../../src/server/edge.ts';
import { Networks } from '../../src/platform/http/networks.ts';
import { RequestCounter } from '../../src/server/request-counter.ts';
import { createNodeServer } from '../../src/server/node-server.ts';
import { UnreadBytes } from '../../src/server/unread-bytes.ts';
import { LocalRateLimiter } from '../../src/platform/http/local-rate-limiter.ts';
import { heapUsed, measureCpuMs } from '../support/measure/cost.ts';
import { request } from '../support/http/raw-http.ts';
import { routeTableOf } from '../support/http/route-table.ts';
import { assertErrorEnvelope } from '../support/http/error-envelope.ts';

/** Half of the largest number of clients that a limiter remembers. */
const GENERATION = 100_000;
const LIMITS = { list: 1, single: 1 };
const atTime = (clock: () => number) => ({ clock, monotonic: clock });
const clientOf = (index: number) => `${index >> 16}.${(index >> 8) & 255}.${index & 255}.1`;

test('a limiter remembers between a hundred thousand and two hundred thousand clients', () => {
  const limiter = new LocalRateLimiter(
    LIMITS,
    atTime(() => 0),
  );
  assert.equal(limiter.count('list', 'first'), null);
  for (let index = 0; index < GENERATION; index += 1) limiter.count('list', clientOf(index));
  assert.notEqual(limiter.count('list', 'first'), null, 'the first client was forgotten too early');
  for (let index = 0; index < 2 * GENERATION; index += 1) limiter.count('list', clientOf(GENERATION + index));
  assert.equal(limiter.count('list', 'first'), null, 'the first client was not forgotten');
  assert.notEqual(limiter.count('list', clientOf(3 * GENERATION - 1)), null);
});

test('a longer flood of clients costs no more memory and no more time per client', async () => {
  let now = 0;
  const before = heapUsed();
  const limiter = new LocalRateLimiter(
    LIMITS,
    atTime(() => now),
  );
  const flood = async (first: number) => {
    const cpuMs = await measureCpuMs(() => {
      for (let index = first; index < first + 2 * GENERATION; index += 1) limiter.count('list', clientOf(index));
    });
    return { cpuMs, heap: heapUsed() - before };
  };
  const first = await flood(0);
  await flood(1_000_000);
  const third = await flood(2_000_000);
  assert.ok(
    third.heap < first.heap * 1.5,
    `the heap grew to ${third.heap} bytes, after ${first.heap} in the first flood`,
  );
  assert.ok(third.cpuMs < first.cpuMs * 8, `the third flood took ${third.cpuMs} ms, the first ${first.cpuMs} ms`);
  for (let generations = 0; generations < 2; generations += 1) {
    now += 60_001;
    limiter.count('list', 'one more');
  }
  assert.ok(heapUsed() - before < first.heap / 4, 'windows that have ended were not forgotten');
});

test('no rate-limit window is forgotten before its end', () => {
  let now = 0;
  const limiter = new LocalRateLimiter(
    LIMITS,
    atTime(() => now),
  );
  for (let start = 0; start < 300_000; start += 7_000) {
    now = start;
    assert.equal(limiter.count('list', `from ${start}`), null);
    for (let other = 0; other < start; other += 7_000) {
      const isOpen = start < other + 60_000;
      if (isOpen) assert.equal(limiter.count('list', `from ${other}`)?.resetAt, other + 60_000);
    }
  }
});

test('rate-limit windows are measured by the monotonic clock, even if the wall clock is changed', () => {
  const time = { clock: Date.UTC(2026, 0, 1), monotonic: 5_000 };
  const limiter = new LocalRateLimiter(LIMITS, { clock: () => time.clock, monotonic: () => time.monotonic });
  limiter.count('list', 'one');
  for (const stepMs of [-10 * 60_000, 31 * 60_000]) {
    time.clock += stepMs;
    time.clock += 20_000;
    time.monotonic += 20_000;
    const leftMs = 60_000 - (time.monotonic - 5_000);
    assert.deepEqual(limiter.count('list', 'one'), { limit: 1, resetAt: time.clock + leftMs, leftMs });
  }
  time.monotonic += 20_000;
  assert.equal(limiter.count('list', 'one'), null);
});

test('a request is counted in the bucket of its path, however the path is written', async (t) => {
  const limits = { list: 6, single: 12 };
  const edge = createEdge(
    {
      routes: routeTableOf({ 'GET /v1/collections': 'list', 'GET /v1/collections/:id/listings': 'list' }),
      requests: new RequestCounter({
        limiter: new LocalRateLimiter(
          limits,
          atTime(() => 0),
        ),
        keys: { verifyReader: () => null },
        address: createClientAddress(0),
        exemptNetworks: new Networks([]),
      }),
      responses: { peek: () => undefined },
      unread: new UnreadBytes({ clientAddress: () => '', onRejected: () => undefined }),
      clock: () => 0,
      baseUrl: () => 'http://127.0.0.1',
      observation: null,
    },
    (_request, response) => response.end(),
  );
  const server = createNodeServer(edge).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9' };

  const lists = '/v1/collections?limit=1 /v1/collections/?x=1 /%76%31/collections /v1/collection%73?limit=0';
  const more = 'http://any.example/v1/collections /v1/collections/a/listing%73';
  const singles = '/v1/%ff /%ff /v1#x /docs/reference.js http://a/v1 /v1/collections/listings /v1/sales /%76%31';
  const all = { list: `${lists} ${more}`.split(' '), single: singles.split(' ') };
  for (const bucket of ['list', 'single'] as const) {
    for (let count = 0; count < limits[bucket]; count += 1) {
      const target = all[bucket][count % all[bucket].length] ?? '';
      assert.notEqual((await request(url, target, { headers, method: 'HEAD' })).status, 429, target);
    }
    for (const target of all[bucket]) assertErrorEnvelope(await request(url, target, { headers }), 429, target);
  }
});
