// Tests how much of the service one shop may use at a time: for changes of one product, for waiting requests and for streamed responses. Also
// tests requests with two Authorization headers.

import assert from 'node:assert/strict';
import { createServer, get, request } from 'node:http';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import type { FastifyReply } from 'fastify';
import { Deadline } from '../../src/platform/core/deadline.ts';
import { createLog } from '../../src/platform/core/log.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { DeadlineExceeded } from '../../src/platform/resilience/deadline.ts';
import type { StreamPace } from '../../src/shop/http/shares.ts';
import { StoreShares } from '../../src/shop/http/shares.ts';
import { forEachStore } from '../support/service/shop.ts';

const SIMULTANEOUS = 500;

forEachStore('simultaneous requests', (store) => {
  test('500 simultaneous adjustments of one product are all applied', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 10_000 });
    const change = { product_id: id, adjustment: -3 };
    const sent = Array.from({ length: SIMULTANEOUS }, () => shop.send('POST', '/inventory', { body: change }));
    const statuses = new Map<number, number>();
    for (const { status } of await Promise.all(sent)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    assert.deepEqual([...statuses], [[200, SIMULTANEOUS]]);
    const { data } = await shop.ok('GET', `/products/${id}`);
    assert.equal(data.inventory, 10_000 - 3 * SIMULTANEOUS);
  });

  test('a request with two Authorization headers gets a 401, whichever key is valid', async () => {
    const shop = await store.shop();
    const { secret } = await shop.newKey(['products:read']);
    const valid = `Bearer ${secret}`;
    const send = (authorization: string[]) =>
      new Promise<number>((resolve, reject) => {
        const url = `${store.service.url}/api/v1/products`;
        request(url, { headers: { authorization } as never }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .on('error', reject)
          .end();
      });
    assert.equal(await send([valid]), 200);
    for (const pair of [
      [valid, 'Bearer other'],
      ['Bearer other', valid],
      [valid, valid],
    ])
      assert.equal(await send(pair), 401, pair.join(' and '));
  });
});

const REQUESTS_MAX = 90;
const LONG_MS = 60_000;
const pool = () => ({ max: 10 });
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Creates StoreShares over a database whose statements end only when the test calls `end`. `started` names the shop and the product of each statement. */
function createShares(requestsMax = () => REQUESTS_MAX) {
  const ended = Promise.withResolvers<never[]>();
  const started: string[] = [];
  const query = (sql: string) => {
    started.push(sql);
    return ended.promise;
  };
  const within = () => ({ query });
  const shares = new StoreShares({ within, pool } as unknown as Database, {
    log: createLog('silent'),
    requestsMax,
  });
  const send = (shop: string, productId?: string) => {
    const statements = shares.statementsOf(shop, { timeoutMs: LONG_MS, ...(productId !== undefined && { productId }) });
    return statements.query(productId === undefined ? shop : `${shop} ${productId}`).then(
      () => 'done',
      (error: { code: string }) => error.code,
    );
  };
  return { send, started, end: () => ended.resolve([]) };
}

const countDone = (results: readonly string[]) => results.filter((result) => result === 'done').length;

test('while one shop floods the store, all requests of another shop are served', async () => {
  const { send, end } = createShares();
  const flood = Array.from({ length: 10 * REQUESTS_MAX }, () => send('one'));
  const others = Array.from({ length: 15 }, () => send('other'));
  end();
  assert.equal(countDone(await Promise.all(flood)), (REQUESTS_MAX * 2) / 3);
  assert.equal(countDone(await Promise.all(others)), 15);
  assert.deepEqual(await send('one'), 'done');
});

test('a shop runs at most eight statements at a time, of which at most two change the same product', async () => {
  const { send, started, end } = createShares();
  const sent = Array.from({ length: 5 }, () => send('one', 'changed'));
  await settle();
  assert.deepEqual(started, Array(2).fill('one changed'));
  sent.push(...Array.from({ length: 10 }, () => send('one')));
  await settle();
  assert.deepEqual(started.slice(2), Array(6).fill('one'));
  sent.push(send('other'), send('other'));
  await settle();
  assert.deepEqual(started.slice(8), Array(2).fill('other'));
  end();
  assert.equal(countDone(await Promise.all(sent)), sent.length);
});

for (const [what, error, others] of [
  ['could not lock the row', Object.assign(new Error('lock timeout'), { code: '55P03' }), 'unavailable'],
  ['missed its deadline', new DeadlineExceeded(), 'unavailable'],
  ['failed for any other reason', new Error('a mistake'), 'done'],
] as const) {
  const fate = others === 'done' ? 'made' : 'rejected';
  test(`after a change of a product ${what}, the changes that wait for this product are ${fate}`, async () => {
    const queries: PromiseWithResolvers<never[]>[] = [];
    const query = () => {
      queries.push(Promise.withResolvers());
      return queries.at(-1)?.promise;
    };
    const shares = new StoreShares({ within: () => ({ query }), pool } as unknown as Database, {
      log: createLog('silent'),
      requestsMax: () => REQUESTS_MAX,
    });
    const change = (productId: string) =>
      shares
        .statementsOf('one', { timeoutMs: LONG_MS, productId })
        .query('')
        .then(
          () => 'done',
          (reason: { code?: string }) => (reason === error ? 'failed' : reason.code),
        );
    const changes = Promise.all(['stuck', 'stuck', 'stuck', 'stuck', 'other', 'other', 'other'].map(change));
    await settle();
    queries[0]?.reject(error);
    await settle();
    for (let ended = 1; ended < queries.length; ended += 1) {
      queries[ended]?.resolve([]);
      await settle();
    }
    assert.deepEqual(await changes, ['failed', 'done', others, others, 'done', 'done', 'done']);
  });
}

test('the share of a shop is smaller while the service allows fewer requests in progress', async () => {
  let requestsMax = REQUESTS_MAX;
  const { send, end } = createShares(() => requestsMax);
  const before = Array.from({ length: 20 }, () => send('one'));
  requestsMax = REQUESTS_MAX / 3;
  const later = [send('one'), send('other')];
  end();
  assert.equal(countDone(await Promise.all(before)), 20);
  assert.deepEqual(await Promise.all(later), ['unavailable', 'done']);
});

test('a request waits at most 15 seconds in total for the statements that it shares with other requests', async (t) => {
  let now = 1_000;
  t.mock.method(performance, 'now', () => now);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const pass = async (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
    await settle();
  };
  const started: { name: string; end: () => void }[] = [];
  const query = (name: string) => {
    const { promise, resolve } = Promise.withResolvers<never[]>();
    started.push({ name, end: () => resolve([]) });
    return promise;
  };
  const shares = new StoreShares({ within: () => ({ query }), pool } as unknown as Database, {
    log: createLog('silent'),
    requestsMax: () => REQUESTS_MAX,
  });
  const end = async (name: string) => {
    started.find((one) => one.name === name)?.end();
    await settle();
  };
  const others = (names: readonly string[]) =>
    names.map((name) => shares.statementsOf('one', { timeoutMs: LONG_MS }).query(name));
  const held = others(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
  let result = 'pending';
  const request = shares
    .admit('one', async (startBy) => {
      await shares.sharedStatementsOf('one', { startBy }).query('first');
      await shares.sharedStatementsOf('one', { startBy }).query('second');
    })
    .then(
      () => void (result = 'done'),
      (error: { code: string }) => void (result = error.code),
    );
  held.push(...others(['11']));
  for (const name of ['1', '2', '3']) {
    await pass(4_000);
    await end(name);
  }
  await end('first');
  assert.deepEqual(
    started.slice(8).map(({ name }) => name),
    ['9', '10', 'first', '11'],
  );
  await pass(2_999);
  assert.equal(result, 'pending');
  await pass(1);
  assert.equal(result, 'unavailable');
  for (const one of started) one.end();
  await Promise.all([request, ...held]);
  assert.equal(started.length, 12);
});

describe('a streamed response', () => {
  /** Sends the parts to a client that reads nothing. Waits until the connection has ended, and returns the lines of the log. */
  async function stream(t: TestContext, parts: AsyncGenerator<string>, pace: StreamPace): Promise<string[]> {
    const lines: string[] = [];
    const log = createLog('warn', (line) => void lines.push(line));
    const shares = new StoreShares({ pool } as unknown as Database, { log, requestsMax: () => REQUESTS_MAX, pace });
    const streamed = Promise.withResolvers<unknown>();
    const server = createServer((_request, response) => {
      const send = (body: NodeJS.ReadableStream) => {
        body.on('error', () => response.destroy());
        body.pipe(response);
      };
      streamed.resolve(shares.streamTo('one', { send } as unknown as FastifyReply, parts));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    get({ port: (server.address() as AddressInfo).port, agent: false }).on('error', () => undefined);
    await streamed.promise;
    return lines;
  }

  async function* endless(): AsyncGenerator<string> {
    for (;;) yield 'x'.repeat(100_000);
  }

  test('a request is rejected at the end of its wait if the shop still has the maximum number of streams', async () => {
    const shares = new StoreShares({ pool } as unknown as Database, {
      log: createLog('silent'),
      requestsMax: () => REQUESTS_MAX,
    });
    const streams: NodeJS.ReadableStream[] = [];
    const reply = { send: (stream: NodeJS.ReadableStream) => streams.push(stream) } as unknown as FastifyReply;
    const running = [shares.streamTo('one', reply, endless()), shares.streamTo('one', reply, endless())];
    await assert.rejects(shares.streamTo('one', reply, endless(), Deadline.after(10)), { code: 'unavailable' });
    assert.equal(streams.length, 2);
    for (const stream of streams) (stream as Readable).destroy();
    await Promise.all(running);
  });

  test('the response ends when the client does not read', async (t) => {
    const lines = await stream(t, endless(), { partMaxMs: 20, totalMaxMs: 60 * LONG_MS });
    assert.match(lines.join(''), /the client reads too slowly.*"a streamed response ended early"/);
  });

  test('the response ends when the time limit for the complete response has passed', async (t) => {
    const lines = await stream(t, endless(), { partMaxMs: LONG_MS, totalMaxMs: 20 });
    assert.match(lines.join(''), /the client reads too slowly/);
  });

  test('a failure to read a later part of the response is logged', async (t) => {
    async function* failing(): AsyncGenerator<string> {
      yield 'first';
      throw new Error('the database is gone');
    }
    const lines = await stream(t, failing(), { partMaxMs: LONG_MS, totalMaxMs: LONG_MS });
    assert.match(lines.join(''), /the database is gone/);
  });
});
