// Tests what the client does when requests fail.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientOptions } from '../../client/src/market.ts';
import { MercatError, createMarketClient } from '../../client/src/market.ts';
import { createIntakeClient } from '../../client/src/intake.ts';
import { createStoreClient } from '../../client/src/store.ts';
import { disconnects, fails, hangs, sends, startScriptedServer } from './scripted-server.ts';

const FLOOR = { data: { collectionId: 'a', askFloor: { raw: '1', decimal: 1, currency: 'ETH', usd: null } } };
/** Creates a client whose waits between attempts are as short as possible: `random` returns 0, which halves each wait. */
const open = (baseUrl: string, options: Partial<ClientOptions> = {}) =>
  createMarketClient({ baseUrl, random: () => 0, ...options });

const isError = (code: string, status: number | null) => (error: unknown) => {
  assert.ok(error instanceof MercatError);
  assert.deepEqual([error.code, error.status], [code, status]);
  return true;
};

for (const status of [429, 502, 503, 504]) {
  test(`a read is repeated after the status ${status}`, async (context) => {
    const { url, requests } = await startScriptedServer(context, fails(status, 'later'), sends(200, FLOOR));
    assert.equal((await open(url).getFloor({ id: 'a' })).data.askFloor?.raw, 1n);
    assert.equal(requests.length, 2);
  });
}

test('a read is repeated after a lost connection', async (context) => {
  const { url, requests } = await startScriptedServer(context, disconnects, sends(200, FLOOR));
  await open(url).getFloor({ id: 'a' });
  assert.equal(requests.length, 2);
});

test('a read is repeated at most as often as the option retriesMax says', async (context) => {
  const { url, requests } = await startScriptedServer(context, fails(503, 'unavailable'));
  await assert.rejects(open(url, { retriesMax: 2 }).getFloor({ id: 'a' }), isError('unavailable', 503));
  assert.equal(requests.length, 3);
});

for (const [status, code] of [
  [400, 'bad_request'],
  [404, 'not_found'],
  [500, 'internal_error'],
] as const) {
  test(`a read is not repeated after the status ${status}`, async (context) => {
    const { url, requests } = await startScriptedServer(context, fails(status, code));
    await assert.rejects(open(url).getFloor({ id: 'a' }), isError(code, status));
    assert.equal(requests.length, 1);
  });
}

test('the next attempt waits for the time in Retry-After', async (context) => {
  const limited = fails(429, 'rate_limited', { 'retry-after': '1' });
  const { url, requests } = await startScriptedServer(context, limited, sends(200, FLOOR));
  await open(url).getFloor({ id: 'a' });
  const [first, second] = requests;
  assert.equal((second?.atMs ?? 0) - (first?.atMs ?? 0) >= 990, true);
});

test('a call without a time limit of its own waits for a Retry-After of 60 seconds in all, and says so', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const limited = (seconds: number) => () =>
    new Response('{"error":{"code":"rate_limited","message":"Too many"}}', {
      status: 429,
      headers: { 'retry-after': String(seconds) },
    });
  const answers = [limited(40), limited(20), () => Response.json(FLOOR), limited(61)];
  const said: [string, number][] = [];
  const market = createMarketClient({
    baseUrl: 'http://market.example',
    random: () => 0,
    fetch: () => Promise.resolve((answers.shift() ?? assert.fail())()),
    onWait: ({ code }, waitMs) => void said.push([code, waitMs]),
  });
  const untilWaits = async (count: number) => {
    while (said.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  const call = market.getFloor({ id: 'a' });
  await untilWaits(1);
  context.mock.timers.tick(40_000);
  await untilWaits(2);
  context.mock.timers.tick(20_000);
  assert.equal((await call).data.askFloor?.raw, 1n);
  assert.deepEqual(said, [
    ['rate_limited', 40_000],
    ['rate_limited', 20_000],
  ]);
  await assert.rejects(market.getFloor({ id: 'a' }), isError('rate_limited', 429));
});

test('a read key is sent with every request, and no key without one', async (context) => {
  const { url, requests } = await startScriptedServer(context, sends(200, FLOOR));
  await open(url, { headers: { 'x-a': 'b' } }).getFloor({ id: 'a' });
  await createMarketClient({ baseUrl: url, apiKey: 'k', headers: { 'x-a': 'b' } }).getFloor({ id: 'a' });
  assert.deepEqual(
    requests.map(({ headers }) => [headers.authorization, headers['x-a']]),
    [
      [undefined, 'b'],
      ['Bearer k', 'b'],
    ],
  );
});

test('a call fails at once if Retry-After is longer than the time limit of the call', async (context) => {
  const limited = fails(429, 'rate_limited', { 'retry-after': '60', 'x-request-id': 'r1' });
  const { url, requests } = await startScriptedServer(context, limited);
  await assert.rejects(open(url, { timeoutMs: 30_000 }).getFloor({ id: 'a' }), (error) => {
    assert.ok(error instanceof MercatError);
    assert.deepEqual([error.code, error.retryAfterMs, error.requestId], ['rate_limited', 60_000, 'r1']);
    return true;
  });
  assert.equal(requests.length, 1);
});

test('a call without a response ends at its time limit', async (context) => {
  const { url } = await startScriptedServer(context, hangs);
  await assert.rejects(open(url).getFloor({ id: 'a' }, { timeoutMs: 50 }), isError('timeout', null));
});

test('an aborted call fails with the reason of its signal, during a request and during a wait', async (context) => {
  const reason = new Error('the user has left');
  for (const step of [hangs, fails(503, 'unavailable', { 'retry-after': '20' })]) {
    const { url, requests } = await startScriptedServer(context, step);
    const controller = new AbortController();
    const call = open(url).getFloor({ id: 'a' }, { signal: controller.signal });
    const rejected = assert.rejects(call, (error) => error === reason);
    while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort(reason);
    await rejected;
  }
  const { url, requests } = await startScriptedServer(context, sends(200, FLOOR));
  const signal = AbortSignal.abort(reason);
  await assert.rejects(open(url).getFloor({ id: 'a' }, { signal }), (error) => error === reason);
  assert.equal(requests.length, 0);
});

test('a response that does not come from the service is an error with the status of the response', async (context) => {
  const { url } = await startScriptedServer(context, sends(404, '<h1>Not here</h1>'), sends(200, '{"data":'));
  await assert.rejects(open(url).getFloor({ id: 'a' }), isError('invalid_response', 404));
  await assert.rejects(open(url).getFloor({ id: 'a' }), isError('invalid_response', 200));
});

test('a list whose cursor does not change is an error, and not an endless loop', async (context) => {
  const page = { data: [1], pagination: { nextCursor: 'c', hasMore: true } };
  const { url, requests } = await startScriptedServer(context, sends(200, page));
  await assert.rejects(open(url).listSales({ id: 'a' }).take(10), isError('invalid_response', null));
  assert.equal(requests.length, 2);
});

test('the `meta` of a stale page of a list has the names of the sources that failed', async (context) => {
  const meta = { stale: true, staleSources: ['indexer-mirror'] };
  const page = { data: [], pagination: { nextCursor: null, hasMore: false }, meta };
  const { url } = await startScriptedServer(context, sends(200, page));
  const listings = open(url).listListings({ id: 'a' });
  assert.deepEqual(await listings.take(10), []);
  assert.deepEqual(listings.newestPage?.meta, meta);
});

test('an unchanged response is not transferred again, and a full cache drops its oldest response', async (context) => {
  const first = sends(200, FLOOR, { etag: 'W/"1"' });
  const unchanged = (response: Parameters<typeof hangs>[0]) => void response.writeHead(304).end();
  const { url, requests } = await startScriptedServer(context, first, unchanged, first, first);
  const market = open(url, { cacheCharactersMax: JSON.stringify(FLOOR).length });
  const floors = [await market.getFloor({ id: 'a' }), await market.getFloor({ id: 'a' })];
  assert.deepEqual(floors[1], floors[0]);
  assert.notEqual(
    floors[1],
    floors[0],
    'two callers got the same object, so that one can change the result of the other',
  );
  await market.getFloor({ id: 'b' });
  await market.getFloor({ id: 'a' });
  const sent = requests.map(({ headers }) => headers['if-none-match'] ?? null);
  assert.deepEqual(sent, [null, 'W/"1"', null, null]);
});

test('a change with an idempotency key is repeated with the same key after a lost response', async (context) => {
  const running = fails(409, 'conflict');
  const { url, requests } = await startScriptedServer(context, disconnects, running, sends(201, { data: {} }));
  const store = createStoreClient({ baseUrl: url, apiKey: 'k', random: () => 0 });
  await store.createProduct({ name: 'Mug', price: '1' });
  const keys = new Set(requests.map(({ headers }) => headers['idempotency-key']));
  assert.deepEqual([requests.length, keys.size, requests[0]?.headers.authorization], [3, 1, 'Bearer k']);
  assert.match(String([...keys][0]), /^[\da-f]{32}$/);
});

test('a conflict is reported at once if no response was lost', async (context) => {
  const { url, requests } = await startScriptedServer(context, fails(409, 'conflict'));
  const store = createStoreClient({ baseUrl: url, apiKey: 'k' });
  await assert.rejects(store.changeInventory({ product_id: 'p', set: 1, expected: 2 }), isError('conflict', 409));
  assert.equal(requests.length, 1);
});

test('a change without an idempotency key is not repeated after a lost response', async (context) => {
  const order = { parameters: { startAmount: 10n ** 18n }, signature: '0x00' };
  const lost = [
    [disconnects, 'network_error', null],
    [sends(504, '<h1>Gateway timeout</h1>'), 'invalid_response', 504],
  ] as const;
  for (const [step, code, status] of lost) {
    const { url, requests } = await startScriptedServer(context, step);
    const intake = createIntakeClient({ baseUrl: url, apiKey: 'k' });
    await assert.rejects(intake.submitOrder({ chain: 'base', order }), isError(code, status));
    assert.equal(requests.length, 1);
    assert.match(requests[0]?.body ?? '', /"startAmount":"1000000000000000000"/);
  }
});

test('a change without an idempotency key is repeated after a 503, because the service has not executed the change', async (context) => {
  const { url, requests } = await startScriptedServer(context, fails(503, 'chain_unavailable'), sends(200, {}));
  await createIntakeClient({ baseUrl: url, apiKey: 'k', random: () => 0 }).cancelOrder({ orderId: 'o' });
  assert.equal(requests.length, 2);
});

test('parameters are encoded into the path and the query', async (context) => {
  const { url, requests } = await startScriptedServer(
    context,
    sends(200, { data: [], pagination: { nextCursor: null } }),
  );
  await open(`${url}/base/`).listTokens({ id: 'a/b?c', listed: false, limit: 3 }).page();
  assert.equal(requests[0]?.url, '/base/explore/v1/collections/a%2Fb%3Fc/tokens?limit=3&listed=false');
});

test('in a filter by traits, the parameter of a trait is repeated for each value', async (context) => {
  const { url, requests } = await startScriptedServer(
    context,
    sends(200, { data: [], pagination: { nextCursor: null } }),
  );
  await open(url)
    .listTokens({ id: 'a', traits: { Hat: ['Cap', 'Crown'], Eyes: 'Blue' } })
    .page();
  const search = decodeURIComponent(requests[0]?.url.split('?')[1] ?? '');
  assert.equal(search, 'traits[Hat]=Cap&traits[Hat]=Crown&traits[Eyes]=Blue');
});

test('a base URL that is not a URL throws a TypeError', () => {
  assert.throws(() => open('market.example'), TypeError);
});
