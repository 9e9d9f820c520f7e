// What all endpoints of the marketplace interface share: rate limits, caching headers, ETags, methods and CORS.

import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { before, beforeEach, describe, test } from 'node:test';
import { MARKETPLACE_LIMITS } from '../../../../src/platform/http/rate-limit.ts';
import type { TestResponse } from '../../../support/service/service.ts';
import { MINUTE_MS, SECOND_MS, forOneMarket, newCollection, range } from '../../../support/service/market.ts';

const RATE_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'];
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];
const LIST_MAX = 120;
const SINGLE_MAX = 300;

forOneMarket('limits', { limits: MARKETPLACE_LIMITS }, (market) => {
  const subject = newCollection();
  const lists = ['/v1/collections', `${subject.path}/listings`, `${subject.path}/sales`];
  const singles = [
    '/v1',
    '/v1/openapi.json',
    subject.path,
    `${subject.path}/floor`,
    `/v1/tokens/ethereum/${subject.address}/1`,
  ];
  const all = [...lists, ...singles];

  before(() => market.load([subject.collection(), subject.order('1', 5), subject.token('1'), subject.sale('1', 5)]));
  // Each test begins in a new window of the rate limit.
  beforeEach(() => market.advance(MINUTE_MS));

  const statusesOf = async (path: string, times: number, init: RequestInit = {}) => {
    const statuses: number[] = [];
    for (let sent = 0; sent < times; sent += 1) statuses.push((await market.get(path, init)).status);
    return statuses;
  };
  const assertRateLimited = (response: TestResponse, limit: number, resetAt: number) => {
    assert.equal(response.status, 429);
    const seconds = Math.ceil((resetAt - market.now()) / SECOND_MS);
    assert.deepEqual(
      RATE_HEADERS.map((name) => response.headers.get(name)),
      [String(limit), '0', new Date(resetAt).toISOString(), String(seconds)],
    );
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
  };
  /** Sends a request target without normalising it. */
  const raw = (path: string, options: http.RequestOptions = {}) =>
    new Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }>((resolve, reject) => {
      const { hostname, port } = new URL(market.url);
      const request = http.request({ hostname, port, path, ...options }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      });
      request.on('error', reject).end();
    });
  /** Everything that the service sends for a request until it closes the connection. HTTP clients ignore a body after the head of a 304. */
  const sentFor = async (path: string, held: string) => {
    const { hostname, port } = new URL(market.url);
    const socket = net.connect(Number(port), hostname);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\nif-none-match: ${held}\r\nconnection: close\r\n\r\n`);
    return text(socket);
  };

  describe('a rate limit', () => {
    test('all lists together allow 120 requests a minute', async () => {
      const resetAt = market.now() + MINUTE_MS;
      for (const path of lists) assert.deepEqual(new Set(await statusesOf(path, LIST_MAX / 3)), new Set([200]));
      market.advance(20_500);
      const response = await market.get('/v1/collections?limit=2');
      assertRateLimited(response, LIST_MAX, resetAt);
      assert.equal(response.headers.get('retry-after'), '40');
      assert.equal(response.body.error.code, 'rate_limited');
      for (const path of lists) assertRateLimited(await market.get(path), LIST_MAX, resetAt);
    });

    test('all endpoints that are not lists together allow 300 requests a minute', async () => {
      const resetAt = market.now() + MINUTE_MS;
      for (const path of singles) assert.deepEqual(new Set(await statusesOf(path, SINGLE_MAX / 5)), new Set([200]));
      for (const path of singles) assertRateLimited(await market.get(path), SINGLE_MAX, resetAt);
    });

    test('a rate limit is counted separately for the lists and for the other endpoints', async () => {
      await statusesOf('/v1/collections', LIST_MAX + 1);
      for (const path of singles) assert.equal((await market.get(path)).status, 200, path);
      await statusesOf('/v1', SINGLE_MAX);
      assert.equal((await market.get('/v1')).status, 429);
      market.advance(MINUTE_MS);
      await statusesOf('/v1', SINGLE_MAX + 1);
      for (const path of lists) assert.equal((await market.get(path)).status, 200, path);
    });

    test('the window of a rate limit ends 60 seconds after the first request of the window', async () => {
      await statusesOf('/v1/collections', 1);
      market.advance(MINUTE_MS - 1);
      await statusesOf('/v1/collections', LIST_MAX - 1);
      const last = await market.get('/v1/collections');
      assertRateLimited(last, LIST_MAX, market.now() + 1);
      assert.equal(last.headers.get('retry-after'), '1');
      market.advance(1);
      assert.deepEqual(new Set(await statusesOf('/v1/collections', LIST_MAX)), new Set([200]));
      assert.equal((await market.get('/v1/collections')).status, 429);
    });

    test('rejected requests do not prolong the window of a rate limit, and do not count in the next window', async () => {
      const resetAt = market.now() + MINUTE_MS;
      await statusesOf('/v1/collections', LIST_MAX + 200);
      market.advance(MINUTE_MS - 1);
      assertRateLimited(await market.get('/v1/collections'), LIST_MAX, resetAt);
      market.advance(1);
      assert.deepEqual(new Set(await statusesOf('/v1/collections', LIST_MAX)), new Set([200]));
      assertRateLimited(await market.get('/v1/collections'), LIST_MAX, resetAt + MINUTE_MS);
    });

    test('a rate limit counts HEAD requests, errors, 304 responses and requests with other methods', async () => {
      const etag = (await market.get('/v1/collections')).headers.get('etag') ?? '';
      const kinds: [string, RequestInit, number][] = [
        ['/v1/collections', { method: 'HEAD' }, 200],
        ['/v1/collections?limit=0', {}, 400],
        ['/v1/collections/nobody/listings', {}, 404],
        ['/v1/collections', { method: 'POST' }, 405],
        ['/v1/collections', { headers: { 'if-none-match': etag } }, 304],
      ];
      let sent = 1;
      for (const [path, init, status] of kinds) {
        assert.deepEqual(new Set(await statusesOf(path, 23, init)), new Set([status]));
        sent += 23;
      }
      assert.deepEqual(new Set(await statusesOf('/v1/collections', LIST_MAX - sent)), new Set([200]));
      assert.equal((await market.get('/v1/collections')).status, 429);
      const head = await market.get('/v1/collections', { method: 'HEAD' });
      assert.deepEqual([head.status, head.headers.get('retry-after')], [429, '60']);
    });

    test('requests for malformed and unknown paths count in the limit of the endpoints that are not lists', async () => {
      await statusesOf('/v1/nothing', SINGLE_MAX - 1);
      assert.equal((await raw('/v1/collections/%zz')).status, 400);
      assert.equal((await raw('/v1/collections/%zz')).status, 429);
    });

    test('a rate limit neither counts nor rejects preflights', async () => {
      assert.deepEqual(
        new Set(await statusesOf('/v1/collections', LIST_MAX + 5, { method: 'OPTIONS' })),
        new Set([204]),
      );
      assert.deepEqual(new Set(await statusesOf('/v1/collections', LIST_MAX)), new Set([200]));
      assert.equal((await market.get('/v1/collections')).status, 429);
      assert.equal((await market.get('/v1/collections', { method: 'OPTIONS' })).status, 204);
    });

    test('a rate limit cannot be evaded by another spelling of the path', async () => {
      await statusesOf('/v1/collections', LIST_MAX);
      const spellings = [
        '/v1/collections/',
        '/v1/%63ollections',
        '/%76%31/collections',
        `http://elsewhere.example/v1/collections`,
        '/v1/collections?',
        `${subject.path}/listings/`,
        `${subject.path}/%6cistings`,
        `${subject.path}/sales?limit=1`,
      ];
      for (const path of spellings) assert.equal((await raw(path)).status, 429, path);
    });

    test('a rate limit is counted for the IP address of the connection, not for the addresses in X-Forwarded-For and Forwarded', async () => {
      const forwarded = (sent: number) => ({
        'x-forwarded-for': `203.0.113.${sent}`,
        forwarded: `for=192.0.2.${sent}`,
      });
      for (const sent of range(LIST_MAX)) {
        const response = await market.get('/v1/collections', { headers: forwarded(sent) });
        assert.equal(response.status, 200);
      }
      assert.equal((await market.get('/v1/collections', { headers: forwarded(250) })).status, 429);
      assert.equal(
        (await raw('/v1/collections', { localAddress: '127.0.0.9' })).status,
        200,
        'another client is limited too',
      );
    });

    test('a response that is not a 429 has no headers of a rate limit', async () => {
      const responses = [
        ...(await Promise.all(all.map((path) => market.get(path)))),
        ...(await Promise.all(all.map((path) => market.get(path, { method: 'HEAD' })))),
        await market.get('/v1/collections?limit=0'),
        await market.get('/v1/collections/nobody'),
        await market.get('/v1/collections', { method: 'DELETE' }),
        await market.get('/v1/collections', { method: 'OPTIONS' }),
      ];
      for (const { headers, status } of responses) {
        assert.notEqual(status, 429);
        for (const name of RATE_HEADERS) assert.equal(headers.get(name), null);
      }
    });
  });

  describe('caching', () => {
    const POLICY = /^public, max-age=0, s-maxage=\d+, stale-while-revalidate=\d+$/;

    test('every response with the status 200 has an ETag, may be stored by shared caches, and must be revalidated by browsers', async () => {
      for (const path of all) {
        const { headers } = await market.get(path);
        assert.match(headers.get('cache-control') ?? '', POLICY, path);
        assert.match(headers.get('etag') ?? '', /^W\/"[\w-]{16,}"$/, path);
      }
    });

    test('a request with a matching ETag gets a 304 with the caching and CORS headers of the full response, and no body', async () => {
      for (const path of all) {
        const { headers } = await market.get(path);
        const etag = headers.get('etag') ?? '';
        for (const held of [etag, etag.slice(2), '*', `"other", ${etag}`, `W/"x",${etag} `]) {
          for (const method of ['GET', 'HEAD']) {
            const again = await market.get(path, { method, headers: { 'if-none-match': held } });
            assert.equal(again.status, 304, `${method} ${path} with the ETag ${held} is not a 304`);
            for (const name of ['etag', 'cache-control', 'access-control-allow-origin']) {
              assert.equal(again.headers.get(name), headers.get(name), name);
            }
          }
        }
        const sent = await sentFor(path, etag);
        assert.match(sent, /^HTTP\/1\.1 304 /);
        assert.equal(sent.indexOf('\r\n\r\n'), sent.length - 4, `the 304 for ${path} has a body`);
        market.advance(MINUTE_MS);
      }
    });

    test('a request with an ETag that does not match gets the full response', async () => {
      for (const held of ['"other"', 'W/"other"', '', 'garbage', '"']) {
        const { status, body } = await market.get(subject.path, { headers: { 'if-none-match': held } });
        assert.deepEqual([status, body?.data.id], [200, subject.id], held);
      }
    });

    test('an ETag changes only after an import that changes the response', async () => {
      const etags = async (): Promise<Record<string, string | null>> => {
        const entries = [];
        for (const path of all) entries.push([path, (await market.get(path)).headers.get('etag')] as const);
        return Object.fromEntries(entries);
      };
      const first = await etags();
      await market.load([subject.order('1', 5)]);
      market.advance(2 * SECOND_MS);
      assert.deepEqual(await etags(), first, 'the ETag changed after an import that changes nothing');
      await market.load([subject.order('2', 4)]);
      const second = await etags();
      const changed = ['/v1/collections', `${subject.path}/listings`, subject.path, `${subject.path}/floor`];
      assert.deepEqual(
        all.filter((path) => second[path] !== first[path]),
        changed,
      );
      const withOldETag = await market.get(`${subject.path}/listings`, {
        headers: { 'if-none-match': first[`${subject.path}/listings`] ?? '' },
      });
      assert.equal(withOldETag.status, 200);
    });

    test('every error forbids caching and has no ETag', async () => {
      const errors = [
        await market.get('/v1/collections?limit=0'),
        await market.get('/v1/collections/nobody'),
        await market.get('/v1/nothing'),
        await market.get('/v1/tokens/nowhere/a/1'),
        await market.get('/v1/collections', { method: 'POST' }),
      ];
      for (const { headers, status } of errors) {
        assert.equal(headers.get('cache-control'), 'no-store', String(status));
        assert.equal(headers.get('etag'), null);
      }
    });
  });

  describe('methods', () => {
    test('HEAD has the status and headers of GET, and no body', async () => {
      for (const path of [...all, '/v1/collections?limit=0', '/v1/collections/nobody', '/v1/nothing']) {
        const [get, head] = [await market.get(path), await market.get(path, { method: 'HEAD' })];
        assert.equal(head.status, get.status, path);
        for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'access-control-allow-origin']) {
          assert.equal(head.headers.get(name), get.headers.get(name), `HEAD has another ${name} for ${path}`);
        }
      }
    });

    test('a method other than GET, HEAD and OPTIONS on a known path gets a 405 with Allow', async () => {
      for (const path of all) {
        for (const method of METHODS) {
          const response = await market.get(path, { method });
          assert.equal(response.status, 405, `${method} ${path}`);
          assert.equal(response.body.error.code, 'method_not_allowed');
          assert.deepEqual((response.headers.get('allow') ?? '').split(', ').sort(), ['GET', 'HEAD', 'OPTIONS']);
        }
      }
      for (const method of ['TRACE', 'PROPFIND', 'SEARCH']) {
        assert.equal((await raw('/v1/collections', { method })).status, 405, method);
      }
    });

    test('a method other than GET and HEAD on an unknown path gets a 404', async () => {
      for (const method of [...METHODS, 'OPTIONS']) {
        assert.equal((await market.get('/v1/nothing', { method })).status, 404, method);
      }
    });

    test('a POST gets a 405 whatever its body is', async () => {
      for (const body of ['{"a":1}', '{', 'x'.repeat(100_000)]) {
        const headers = { 'content-type': 'application/json' };
        assert.equal((await market.get('/v1/collections', { method: 'POST', body, headers })).status, 405);
      }
    });
  });

  describe('CORS', () => {
    test('every response allows every origin, even an error', async () => {
      const origin = { origin: 'https://app.example.org' };
      const responses = [
        ...(await Promise.all(all.map((path) => market.get(path, { headers: origin })))),
        await market.get('/v1/collections?limit=0', { headers: origin }),
        await market.get('/v1/collections/nobody', { headers: origin }),
        await market.get('/v1/nothing', { headers: origin }),
        await market.get('/v1/collections', { method: 'POST', headers: origin }),
      ];
      for (const { headers } of responses) {
        assert.equal(headers.get('access-control-allow-origin'), '*');
        assert.equal(headers.get('access-control-allow-credentials'), null);
        const exposed = (headers.get('access-control-expose-headers') ?? '').toLowerCase().split(/, ?/);
        for (const name of [...RATE_HEADERS, 'age', 'etag']) assert.ok(exposed.includes(name), name);
      }
    });

    test('a preflight is a 204 and allows GET with any header', async () => {
      for (const path of all) {
        const response = await market.get(path, {
          method: 'OPTIONS',
          headers: {
            origin: 'https://app.example.org',
            'access-control-request-method': 'GET',
            'access-control-request-headers': 'x-anything',
          },
        });
        assert.equal(response.status, 204, path);
        assert.equal(response.headers.get('access-control-allow-origin'), '*');
        assert.match(response.headers.get('access-control-allow-methods') ?? '', /\bGET\b/);
        assert.match(response.headers.get('access-control-allow-headers') ?? '', /\*|x-anything/);
        assert.match(response.headers.get('allow') ?? '', /\bGET\b/);
      }
    });
  });
});

forOneMarket(
  'limits behind a proxy',
  { settings: { TRUST_PROXY: 'true' }, limits: { list: 2, single: 1_000, message: 1_000 } },
  (market) => {
    test('each client that the proxy reports has its own limits', async () => {
      const get = async (forwardedFor: string) =>
        (await market.get('/v1/collections', { headers: { 'x-forwarded-for': forwardedFor } })).status;
      assert.deepEqual([await get('203.0.113.1'), await get('203.0.113.1'), await get('203.0.113.1')], [200, 200, 429]);
      assert.equal(await get('198.51.100.200, 203.0.113.1'), 429);
      assert.equal(await get('203.0.113.2'), 200);
      assert.deepEqual([await get('2001:db8::1'), await get('2001:db8::2'), await get('2001:db8::3')], [200, 200, 429]);
    });
  },
);
