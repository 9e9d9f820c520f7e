// Runs nginx, and then Varnish, as a cache in front of the service, with the configuration in deploy/. The tests check which responses the
// cache keeps, and for how long. The cache sends its requests to a test server, the origin, which records them and forwards them to the
// service. A test can let the origin respond in place of the service.

import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { cleanUp } from '../support/engines/cleanup.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import { newCollection } from '../support/service/market.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';
import { until } from '../support/until.ts';
import type { RunningCache } from './shared-cache.ts';
import { SHARED_CACHES } from './shared-cache.ts';

const WAIT_LIMIT_MS = 30_000;
const LIST = '/v1/collections?limit=3';

type Response = { status: number; headers: IncomingHttpHeaders; body: Buffer };

const DECODERS: Record<string, (body: Buffer) => Buffer> = {
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
  gzip: gunzipSync,
  identity: (body) => body,
};

const COLLECTIONS = ['harbour', 'lighthouse', 'pier', 'ferry'].map((slug) => newCollection({ slug }));

let service: TestService;
before(async () => {
  service = await startTestService({ settings: { DATA_DIR: await directoryWithDatabase() } });
  await service.load(COLLECTIONS.map((one) => one.collection()));
});
after(async () => {
  await service.close();
  await cleanUp();
});

for (const cache of SHARED_CACHES) {
  const skip = cache.isInstalled ? false : `${cache.name} is not on this machine`;
  describe(`the service behind ${cache.name}`, { skip }, () => {
    let origin: Origin;
    let running: RunningCache;
    before(async () => {
      origin = new Origin(service.url);
      running = await cache.start(await origin.listen());
    });
    after(async () => {
      await running.stop();
      await origin.close();
    });
    beforeEach(() => origin.reset());

    const send = (target: string, { method = 'GET', headers = {}, body = '' }: SendOptions = {}) =>
      exchange(`${running.url}${target}`, { method, headers, body });

    test('a response is fetched from the service once, for all clients and for HEAD requests', async () => {
      const first = await send('/v1/collections/harbour');
      for (const headers of [{}, { cookie: 'a=b' }, { authorization: 'Bearer x' }, { host: 'other.example' }]) {
        const { status, body } = await send('/v1/collections/harbour', { headers });
        assert.deepEqual([status, body], [200, first.body]);
      }
      const head = await send('/v1/collections/harbour', { method: 'HEAD' });
      const [etag] = [first.headers.etag];
      const unchanged = await send('/v1/collections/harbour', { headers: { 'if-none-match': etag ?? '' } });
      assert.deepEqual([head.status, unchanged.status, origin.received.length], [200, 304, 1]);
    });

    test('while a stale response may be served, no request waits for the new response', async () => {
      const target = '/v1/collections/stale';
      const release = Promise.withResolvers<void>();
      origin.respond(target, (count) => async (_request, response) => {
        if (count > 1) await release.promise;
        sendCacheable(response, `version ${count}`, 's-maxage=1, stale-while-revalidate=600');
      });
      const read = async () => (await send(target)).body.toString();
      assert.equal(await read(), 'version 1');
      await until(
        async () => (await read()) === 'version 1' && origin.received.length > 1,
        WAIT_LIMIT_MS,
        'the response was not fetched again',
      );
      assert.equal(await read(), 'version 1');
      release.resolve();
      await until(async () => (await read()) === 'version 2', WAIT_LIMIT_MS, 'the new response was not served');
    });

    test('a response is not served after the time for which it may be stale', async () => {
      const target = '/v1/collections/old';
      origin.respond(target, (count) => (_request, response) => {
        sendCacheable(response, `version ${count}`, 's-maxage=1, stale-while-revalidate=1');
      });
      assert.equal((await send(target)).body.toString(), 'version 1');
      await delay(3_100);
      assert.equal((await send(target)).body.toString(), 'version 2');
    });

    for (const status of [400, 404, 429, 500, 502, 503]) {
      test(`a ${status} is not kept: the next request gets the response of the service`, async () => {
        const target = `/v1/collections/error-${status}`;
        origin.respond(target, (count) => (_request, response) => {
          if (count > 1) return sendCacheable(response, 'well', 's-maxage=60');
          response.writeHead(status, { 'cache-control': 'no-store', 'retry-after': '7' }).end('failed');
        });
        const first = await send(target);
        // If a node rejects a request with 503, nginx sends the request again.
        if (status !== 503 || cache.name !== 'nginx')
          assert.deepEqual([first.status, first.headers['retry-after']], [status, '7']);
        const second = await send(target);
        assert.deepEqual([second.status, second.body.toString()], [200, 'well']);
        assert.equal((await send(target)).body.toString(), 'well');
        assert.equal(origin.received.length, 2);
      });
    }

    test('the errors of the service are not kept', async () => {
      for (const target of ['/v1/collections/absent', '/v1/collections?limit=0', '/v1/absent']) {
        const statuses = [(await send(target)).status, (await send(target)).status];
        assert.ok(
          statuses.every((status) => status === 400 || status === 404),
          target,
        );
      }
      assert.equal(origin.received.length, 6);
    });

    test('only responses of /v1 are kept, whatever the headers of other responses say', async () => {
      for (const target of ['/api/v1/products', '/intake/v1/records', '/status', '/readyz', '/v10', '/']) {
        origin.respond(target, (count) => (_request, response) => {
          sendCacheable(response, `response ${count}`, 's-maxage=60');
        });
        const headers = { authorization: `Bearer ${target}` };
        await send(target, { headers });
        assert.equal((await send(target, { headers })).body.toString(), 'response 2', target);
        assert.equal(origin.last()?.headers.authorization, headers.authorization);
      }
    });

    test('unknown parameters, and parameters in another order, make no new cache entry', async () => {
      const first = await send('/v1/collections?sort=floor&limit=2');
      const spellings = [
        'limit=2&sort=floor',
        'utm=1&limit=2&sort=floor&utm=2',
        'sort=floor&&limit=2&x',
        'sort=floor&LIMIT=9&limit=2',
      ];
      for (const query of spellings) assert.deepEqual((await send(`/v1/collections?${query}`)).body, first.body, query);
      assert.deepEqual(
        origin.received.map(({ url }) => url),
        ['/v1/collections?limit=2&sort=floor'],
      );
      await send('/v1/collections?xlimit=2');
      await send('/v1/collections?a=?limit=2');
      assert.deepEqual(
        origin.received.slice(1).map(({ url }) => url),
        ['/v1/collections'],
      );
    });

    test('each value of a query parameter has its own cache entry', async () => {
      const page = async (query: string) => JSON.parse((await send(`/v1/collections${query}`)).body.toString());
      const first = await page('?limit=1');
      const second = await page(`?limit=1&cursor=${first.pagination.nextCursor}`);
      assert.deepEqual([first.data.length, second.data.length], [1, 1]);
      assert.notEqual(first.data[0].id, second.data[0].id);
      assert.equal((await page('?limit=4&chain=solana')).data.length, 0);
    });

    test('a parameter that is empty or repeated is rejected by the service', async () => {
      for (const query of ['limit=', 'limit', 'limit=2&limit=3', 'sort=floor&limit=2&sort=floor']) {
        assert.equal((await send(`/v1/collections?${query}`)).status, 400, query);
      }
    });

    test('each content coding of a response has its own cache entry', async () => {
      const expected = await send(LIST);
      const clients: [header: string, coding: string][] = [
        ['gzip, deflate, br, zstd', 'br'],
        ['br', 'br'],
        ['br;q=0, gzip', 'gzip'],
        ['gzip;q=0.5', 'gzip'],
        ['gzip, zstd', 'zstd'],
        ['identity', 'identity'],
        ['deflate', 'identity'],
      ];
      for (const [header, coding] of [...clients, ...clients.toReversed()]) {
        const { headers, body } = await send(LIST, { headers: { 'accept-encoding': header } });
        assert.equal(headers['content-encoding'] ?? 'identity', coding, header);
        assert.equal(headers.vary, 'Accept-Encoding');
        assert.deepEqual(DECODERS[coding]?.(body), expected.body);
      }
      assert.equal(origin.received.length, 4);
    });

    test('the service learns the address of the client, even if the client sends a forged address', async () => {
      await send('/status', { headers: { 'x-forwarded-for': '203.0.113.9' } });
      const addresses = String(origin.last()?.headers['x-forwarded-for']).split(/,\s*/);
      assert.deepEqual([addresses.at(0), addresses.at(-1)], ['203.0.113.9', '127.0.0.1']);
    });

    test('the bodies of requests and responses pass through the cache unchanged', async () => {
      for (const target of ['/api/v1/products', '/intake/v1/records']) {
        origin.respond(target, () => async (received, response) => {
          response.writeHead(201).end(await buffer(received));
        });
        const { status, body } = await send(target, { method: 'POST', body: '{"name":"Mug"}' });
        assert.deepEqual([status, body.toString()], [201, '{"name":"Mug"}']);
      }
    });
  });
}

type SendOptions = { method?: string; headers?: Record<string, string>; body?: string };

/** Sends one request on a connection of its own. Does not decode the body. */
function exchange(url: string, { method, headers, body }: Required<SendOptions>): Promise<Response> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method, headers, agent: false }, (response) => {
      buffer(response).then(
        (received) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received }),
        reject,
      );
    });
    call.on('error', reject).end(body);
  });
}

function sendCacheable(response: ServerResponse, body: string, policy: string): void {
  response.writeHead(200, { 'cache-control': `public, max-age=0, ${policy}`, vary: 'Accept-Encoding' }).end(body);
}

/** Forwards requests to the service and records them. If a target has its own listener, that listener responds. */
class Origin {
  received: IncomingMessage[] = [];
  readonly #listeners = new Map<string, (count: number) => RequestListener>();
  readonly #counts = new Map<string, number>();
  readonly #serviceUrl: () => string;
  readonly #server: Server;

  constructor(serviceUrl: string) {
    this.#serviceUrl = () => serviceUrl;
    this.#server = createServer((received, response) => {
      this.received.push(received);
      const target = received.url ?? '';
      const count = (this.#counts.get(target) ?? 0) + 1;
      this.#counts.set(target, count);
      const listener = this.#listeners.get(target);
      if (listener) listener(count)(received, response);
      else this.#forward(received, response);
    });
  }

  /** Resolves with the port. */
  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * Lets the origin respond to requests for `target`. For each request, `listener` gets the number of requests for the target, including
   * this one, and returns the function that responds.
   */
  respond(target: string, listener: (count: number) => RequestListener): void {
    this.#listeners.set(target, listener);
  }

  last(): IncomingMessage | undefined {
    return this.received.at(-1);
  }

  reset(): void {
    this.received = [];
    this.#listeners.clear();
    this.#counts.clear();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #forward({ method, url, headers }: IncomingMessage, response: ServerResponse): void {
    const call = request(`${this.#serviceUrl()}${url}`, { method, headers }, (received) => {
      response.writeHead(received.statusCode ?? 0, received.rawHeaders);
      received.pipe(response);
    });
    call.on('error', () => response.destroy());
    call.end();
  }
}
