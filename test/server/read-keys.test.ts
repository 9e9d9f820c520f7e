// Rate limits of the public interfaces for keys with the scope `market:read`, and networks whose requests are not counted.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { before, beforeEach, describe, test } from 'node:test';
import { Networks } from '../../src/platform/http/networks.ts';
import { LocalRateLimiter } from '../../src/platform/http/local-rate-limiter.ts';
import { createClientAddress } from '../../src/server/client-address.ts';
import { RequestCounter } from '../../src/server/request-counter.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { SecretKeys } from '../../src/platform/core/secret-keys.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { createApiKey } from '../../src/shop/keys/api-key.ts';
import { KeyVerifier } from '../../src/shop/keys/key-verifier.ts';
import { issueKey, revokeKey } from '../../src/shop/keys/keys.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { MINUTE_MS, SECOND_MS, forOneMarket, newCollection } from '../support/service/market.ts';
import { newAddress } from '../support/service/shared-nodes.ts';
import { until } from '../support/until.ts';

const NOW = Date.UTC(2026, 5, 1);
const CONTEXT = {
  clock: () => NOW,
  log: createLog('silent'),
  serviceName: 'mercat',
  secretKeys: new SecretKeys([]),
};
const EXEMPT = '203.0.113.0/24, 192.0.2.77, 2001:db8:5::/48';
const LISTS = '/v1/collections?limit=1';
const ITEM = '/v1';
const STREAM = '/explore/v1/stream';

forOneMarket(
  'read keys',
  {
    settings: { TRUST_PROXY: 'true', RATE_LIMITS_EXEMPT: EXEMPT },
    limits: { list: 2, single: 2, message: 2 },
  },
  (market) => {
    const subject = newCollection();
    before(() => market.load([subject.collection()]));
    // Each test begins in new windows.
    beforeEach(() => market.advance(MINUTE_MS));

    const create = async (input: Record<string, unknown> = {}) =>
      (await market.operate('keys.create', { scopes: ['market:read'], ...input })).body.result;
    const headersOf = (from: string, key?: string) => ({
      'x-forwarded-for': from,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    });
    const send = (path: string, { from = newAddress(), key, ...init }: RequestInit & { from?: string; key?: string }) =>
      market.get(path, { ...init, headers: { ...headersOf(from, key), ...(init.headers as Record<string, string>) } });
    /** The statuses of requests that are sent one after the other. */
    const statusesOf = async (count: number, path: string, options: Parameters<typeof send>[1]) => {
      const statuses: number[] = [];
      for (let sent = 0; sent < count; sent += 1) statuses.push((await send(path, options)).status);
      return statuses;
    };

    test('a key with the scope market:read has limits of its own, from whatever addresses its requests come', async () => {
      const { secret: key, shop, limits } = await create({ lists: 4, items: 3 });
      assert.deepEqual([shop, limits], [null, { lists: 4, items: 3 }]);
      const from = newAddress();
      assert.deepEqual(await statusesOf(4, LISTS, { key, from }), [200, 200, 200, 200]);
      const rejected = await send(LISTS, { key });
      assert.deepEqual([rejected.status, rejected.headers.get('x-ratelimit-limit')], [429, '4']);
      assert.equal(rejected.body.error.message, 'Too many requests, try again in 60 s');
      assert.deepEqual(await statusesOf(4, ITEM, { key }), [200, 200, 200, 429]);
      assert.deepEqual(
        await statusesOf(3, LISTS, { from }),
        [200, 200, 429],
        'the key used up the limit of its address',
      );
      market.advance(MINUTE_MS);
      assert.equal((await send(LISTS, { key })).status, 200);
    });

    test('a key without limits of its own may send 6,000 requests for lists and 15,000 others a minute', async () => {
      const { secret, limits } = await create();
      assert.deepEqual(limits, { lists: 6_000, items: 15_000 });
      const requests = new RequestCounter({
        limiter: new LocalRateLimiter({ list: 2, single: 2, message: 2 }, { clock: () => NOW, monotonic: () => NOW }),
        keys: new KeyVerifier({ ...CONTEXT, main: market.main() }),
        address: createClientAddress(0),
        exemptNetworks: new Networks([]),
      });
      const authorization = `Bearer ${secret}`;
      const message = { headers: { authorization }, rawHeaders: ['Authorization', authorization], socket: {} };
      const count = (bucket: 'list' | 'single') => requests.count(bucket, message as unknown as IncomingMessage);
      assert.equal(await count('list'), null);
      for (const [bucket, max, sent] of [
        ['list', 6_000, 1],
        ['single', 15_000, 0],
      ] as const) {
        for (let more = sent; more < max; more += 1) assert.equal(count(bucket), null);
        assert.deepEqual(await count(bucket), { limit: max, resetAt: NOW + MINUTE_MS, leftMs: MINUTE_MS });
      }
    });

    test('a rotated key keeps its limits, and a list of keys has them', async () => {
      const { id } = await create({ lists: 5 });
      const rotated = (await market.operate('keys.rotate', { id })).body.result;
      const limits = { lists: 5, items: 15_000 };
      assert.deepEqual(rotated.limits, limits);
      const listed = (await market.operate('keys.list', {})).body.result as { id: string; limits: unknown }[];
      assert.deepEqual(listed.find((key) => key.id === rotated.id)?.limits, limits);
      const other = (await market.operate('keys.create', { scopes: ['orders:write'] })).body.result;
      assert.equal(other.limits, null);
    });

    test('limits that are not valid, or of a key without the scope, are refused', async () => {
      for (const input of [
        { lists: 0 },
        { lists: 1.5 },
        { items: '7' },
        { items: 1e9 },
        { scopes: ['orders:write'], lists: 9 },
      ]) {
        const { status, body } = await market.operate('keys.create', { scopes: ['market:read'], ...input });
        assert.equal(status, 400, JSON.stringify(body));
      }
    });

    test('a request whose key cannot be used is counted by its address, and the 429 says why', async () => {
      const revoked = await create();
      await market.operate('keys.revoke', { id: revoked.id });
      const { secret: other } = (await market.operate('keys.create', { scopes: ['orders:write'] })).body.result;
      const unknown = createApiKey('mercat', (size) => new Uint8Array(size).fill(9));
      for (const key of [revoked.secret, other, unknown, 'nonsense', '']) {
        const from = newAddress();
        assert.deepEqual(await statusesOf(2, LISTS, { key, from }), [200, 200]);
        const rejected = await send(LISTS, { key, from });
        assert.equal(rejected.status, 429);
        assert.match(
          rejected.body.error.message,
          /^Too many requests, try again in 60 s\. .*lacks the scope market:read$/,
        );
        const { error } = (await send('/explore/v1/collections', { from })).body;
        assert.equal(error.message, 'Too many requests, try again in 60 s');
        assert.match(error.docs, /\/docs\/errors\.md#rate_limited$/);
      }
    });

    test('a key with the scope market:read alone may use neither the store nor the intake', async () => {
      const { secret: key } = await create();
      for (const path of ['/api/v1/products', '/intake/v1/orders/x']) {
        const response = await fetch(`${market.url}${path}`, { headers: headersOf(newAddress(), key) });
        assert.equal(response.status, 403, path);
      }
    });

    test('a 304, a HEAD request and an opened stream count once each, whether or not the client waits for the end', async () => {
      const { secret: key } = await create({ lists: 4, items: 4 });
      const { headers } = await send(LISTS, { key });
      const held = { 'if-none-match': headers.get('etag') ?? '' };
      assert.deepEqual(await statusesOf(2, LISTS, { key, headers: held }), [304, 304]);
      assert.deepEqual(await statusesOf(2, LISTS, { key, method: 'HEAD' }), [200, 429]);

      const open = () =>
        new Promise<number>((resolve, reject) => {
          const call = httpRequest(`${market.url}${STREAM}`, { headers: headersOf(newAddress(), key) }, (response) => {
            resolve(response.statusCode ?? 0);
            response.on('error', () => undefined);
            call.destroy();
          });
          call.on('error', reject).end();
        });
      assert.deepEqual([await open(), await open(), await open()], [200, 200, 200]);
      assert.deepEqual(await statusesOf(2, ITEM, { key }), [200, 429]);
    });

    test('the reads of a tool call count for the key of the message', async () => {
      const { secret: key } = await create({ lists: 3, items: 100 });
      const call = (from: string, secret?: string) =>
        fetch(`${market.url}/mcp`, {
          method: 'POST',
          headers: {
            ...headersOf(from, secret),
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
          },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name: 'list_collections', arguments: {} },
          }),
        }).then(async (response) => `${response.status} ${await response.text()}`);
      const from = newAddress();
      for (let sent = 0; sent < 3; sent += 1) assert.match(await call(from, key), /^200 (?!.*Too many requests)/s);
      assert.match(await call(from, key), /^200 .*Too many requests/s);
      assert.match(
        await call(from),
        /^200 (?!.*Too many requests)/s,
        'the messages of the key counted for the address',
      );
    });

    test('requests from the networks of RATE_LIMITS_EXEMPT are not counted, with and without a key', async () => {
      const { secret: key } = await create({ lists: 1 });
      for (const from of ['203.0.113.9', '192.0.2.77', '2001:db8:5:ffff::1', '::ffff:203.0.113.1']) {
        assert.deepEqual(await statusesOf(4, LISTS, { from }), [200, 200, 200, 200], from);
        assert.deepEqual(await statusesOf(2, LISTS, { from, key }), [200, 200], from);
      }
      for (const from of ['203.0.112.9', '192.0.2.78', '2001:db8:6::1'])
        assert.deepEqual(await statusesOf(3, LISTS, { from }), [200, 200, 429], from);
    });
  },
);

forEachEngine('the verification of the key of a reader', (engine) => {
  let db: Database;
  let now = NOW;
  before(async () => {
    db = await engine.open();
  });

  const open = () => {
    let isBroken = false;
    let reads = 0;
    const within: Database['within'] = (timeoutMs, lane) => {
      reads += 1;
      if (isBroken) throw new Error('the database is out of reach');
      return db.within(timeoutMs, lane);
    };
    const context = { ...CONTEXT, main: { ...db, within }, clock: () => now };
    return {
      context,
      verifier: new KeyVerifier(context),
      reads: () => reads,
      break: (is: boolean) => void (isBroken = is),
    };
  };

  describe('while the database cannot be read', () => {
    test('a key that was found before is used without waiting, and an unknown key is no key', async () => {
      const { context, verifier, ...database } = open();
      const { key, secret } = await issueKey(context, {
        shop: null,
        name: null,
        scopes: ['market:read'],
        expiresAt: now + MINUTE_MS,
      });
      assert.equal((await verifier.verifyReader(secret))?.key.id, key.id);
      database.break(true);
      now += 30 * SECOND_MS;
      const known = verifier.verifyReader(secret);
      assert.ok(known !== null && !(known instanceof Promise) && known.key.id === key.id);
      const unknown = createApiKey('mercat', (size) => new Uint8Array(size).fill(3));
      assert.equal(await verifier.verifyReader(unknown), null);
      now += 31 * SECOND_MS;
      assert.equal(await verifier.verifyReader(secret), null, 'an expired key is used');
    });
  });

  test('a revoked key is no key a few seconds after its revocation', async () => {
    const { context, verifier, ...database } = open();
    const { key, secret } = await issueKey(context, {
      shop: null,
      name: null,
      scopes: ['market:read'],
      expiresAt: null,
    });
    assert.notEqual(await verifier.verifyReader(secret), null);
    const before = database.reads();
    for (let sent = 0; sent < 5; sent += 1) assert.notEqual(verifier.verifyReader(secret), null);
    assert.equal(database.reads(), before, 'a fresh key was read again');
    await revokeKey(context, key.id);
    now += 4 * SECOND_MS;
    void verifier.verifyReader(secret);
    await until(() => Promise.resolve(verifier.verifyReader(secret) === null), 10_000, 'the revoked key is still used');
  });
});
