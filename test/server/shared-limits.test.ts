// Two nodes count their rate limits in one real Redis. Together the nodes allow exactly the limit. A window ends at the same time on both
// nodes. Nothing in Redis identifies a client.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import net from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { exchange } from '../support/http/raw-http.ts';
import { withRedis } from '../support/engines/redis-server.ts';
import type { Nodes, TestNode } from '../support/service/shared-nodes.ts';
import { newAddress, openNodes, sendFrom, tally, testShared } from '../support/service/shared-nodes.ts';
import { programEnvironment } from '../support/program-environment.ts';

const LIST_MAX = 120;
const SINGLE_MAX = 300;
const KEY_MAX = 8;
const FAILURES_MAX = 60;
const MINUTE_MS = 60_000;
const LIMIT_MS = 60_000;
const LISTS = '/v1/collections?limit=1';
const SINGLE = '/v1';
const RATE_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'];

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

function mercat(settings: Record<string, string>, ...args: string[]): Promise<{ code: number; stdout: string }> {
  const env = { ...programEnvironment(), ...settings };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [MAIN, ...args], { env }, (_error, stdout) =>
      resolve({ code: child.exitCode ?? -1, stdout }),
    );
  });
}

withRedis('rate limits over two nodes', (redis) => {
  describe('nodes', () => {
    let nodes: Nodes;
    let a: TestNode;
    let b: TestNode;
    before(async () => {
      nodes = await openNodes({ STORE_RATE_LIMIT: String(KEY_MAX) });
      a = await nodes.start(redis.url);
      b = await nodes.start(redis.url);
    });
    after(async () => {
      await Promise.all([a.close(), b.close()]);
      await nodes.close();
    });

    const both = () => [a, b];
    const ofBoth = <T>(count: number, send: (node: TestNode) => Promise<T>): Promise<T[]> =>
      Promise.all(Array.from({ length: count }, (_, index) => send(index % 2 === 0 ? a : b)));
    const keys = async () => (await redis.ask('KEYS', '*')) as string[];
    const newKey = async (): Promise<string> =>
      (await a.operate('keys.create', { scopes: ['orders:write'] })).body.result.secret;
    /** Returns the moment at which the windows of the 429 responses end. Fails unless it is the same in all of them. */
    const resetOf = (responses: readonly { status: number; headers: Headers }[]): string => {
      const resets = responses
        .filter(({ status }) => status === 429)
        .map(({ headers }) => headers.get('x-ratelimit-reset'));
      const [reset, ...others] = new Set(resets);
      assert.deepEqual(others, []);
      assert.match(reset ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      return reset ?? '';
    };

    for (const [bucket, path, max] of [
      ['list', LISTS, LIST_MAX],
      ['single', SINGLE, SINGLE_MAX],
    ] as const) {
      testShared(
        `two nodes together allow exactly ${max} concurrent requests in the bucket ${bucket}, and report the same end of the window`,
        both,
        async () => {
          const from = newAddress();
          const startedAt = Date.now();
          const responses = await ofBoth(max + 80, (node) => sendFrom(node, path, { from }));
          assert.deepEqual(tally(responses), { 200: max, 429: 80 });
          const reset = resetOf(responses);
          const left = Date.parse(reset) - startedAt;
          assert.ok(left > MINUTE_MS - LIMIT_MS && left <= MINUTE_MS + LIMIT_MS, `${left} ms`);
          for (const { status, headers, body } of responses) {
            if (status !== 429) {
              for (const name of RATE_HEADERS) assert.equal(headers.get(name), null, name);
              continue;
            }
            assert.equal(body.error.code, 'rate_limited');
            assert.equal(headers.get('x-ratelimit-limit'), String(max));
            assert.equal(headers.get('x-ratelimit-remaining'), '0');
            const wait = Number(headers.get('retry-after'));
            assert.ok(wait >= 1 && wait <= 60, `retry-after ${wait}`);
            assert.equal(body.error.message, `Too many requests, try again in ${wait} s`);
          }
          const other = bucket === 'list' ? SINGLE : LISTS;
          assert.equal(
            (await sendFrom(b, other, { from })).status,
            200,
            'the requests were counted in the other bucket too',
          );
          assert.equal((await sendFrom(b, path)).status, 200, 'another address was rejected');
        },
      );
    }

    testShared(
      'the limits of an API key, and of failed authentications from one address, hold for both nodes together',
      both,
      async () => {
        const key = await newKey();
        const responses = await ofBoth(20, (node) => sendFrom(node, '/intake/v1/orders/none', { key }));
        assert.deepEqual(tally(responses), { 404: KEY_MAX, 429: 20 - KEY_MAX });
        resetOf(responses);
        const from = newAddress();
        const failed = await ofBoth(80, (node) => sendFrom(node, '/api/v1/products', { from, key: 'wrong' }));
        assert.deepEqual(tally(failed), { 401: FAILURES_MAX, 429: 80 - FAILURES_MAX });
        resetOf(failed);
        assert.equal((await sendFrom(b, '/intake/v1/orders/none', { from, key: await newKey() })).status, 404);
      },
    );

    testShared('the limits of a read key hold for both nodes together, whatever its addresses are', both, async () => {
      const input = { scopes: ['market:read'], lists: 9, items: 11 };
      const key = (await a.operate('keys.create', input)).body.result.secret as string;
      for (const [path, max] of [
        [LISTS, 9],
        [SINGLE, 11],
      ] as const) {
        const responses = await ofBoth(20, (node) => sendFrom(node, path, { key }));
        assert.deepEqual(tally(responses), { 200: max, 429: 20 - max });
        resetOf(responses);
        for (const { headers } of responses.filter(({ status }) => status === 429))
          assert.equal(headers.get('x-ratelimit-limit'), String(max));
      }
    });

    testShared(
      'a restarted node continues to count in the windows that were open before its restart',
      both,
      async () => {
        const key = await newKey();
        const before = await ofBoth(KEY_MAX, (node) => sendFrom(node, '/intake/v1/orders/none', { key }));
        assert.deepEqual(tally(before), { 404: KEY_MAX });
        const reset = resetOf([await sendFrom(a, '/intake/v1/orders/none', { key })]);
        await b.close();
        b = await nodes.start(redis.url);
        assert.equal(resetOf([await sendFrom(b, '/intake/v1/orders/none', { key })]), reset);
      },
    );

    testShared('a client beyond its limit is allowed again when its window has ended', both, async () => {
      const from = newAddress();
      const earlier = new Set(await keys());
      const responses = await ofBoth(LIST_MAX + 2, (node) => sendFrom(node, LISTS, { from }));
      const reset = resetOf(responses);
      const [key = '', ...others] = (await keys()).filter((name) => !earlier.has(name) && name.includes(':list:'));
      assert.deepEqual(others, []);
      assert.equal(await redis.ask('HGET', key, 'reset'), String(Date.parse(reset)));
      // Ends the window in Redis, and sets the clock of the nodes to a time after the end of the window.
      await redis.ask('HSET', key, 'reset', String(Date.now() - 1));
      nodes.advance(MINUTE_MS + 1);
      const next = await ofBoth(LIST_MAX + 2, (node) => sendFrom(node, LISTS, { from }));
      assert.deepEqual(tally(next), { 200: LIST_MAX, 429: 2 });
      assert.ok(resetOf(next) > reset);
      const left = Number(await redis.ask('PTTL', key));
      assert.ok(left > 0 && left <= MINUTE_MS, `${left} ms`);
    });

    testShared(
      'a node that has rejected a client rejects it again without a command to Redis, until the window of the client ends',
      both,
      async () => {
        const from = newAddress();
        await ofBoth(LIST_MAX + 2, (node) => sendFrom(node, LISTS, { from }));
        const calls = async () =>
          Number(/cmdstat_hincrby:calls=(\d+)/.exec(String(await redis.ask('INFO', 'commandstats')))?.[1]);
        const rejected = [await sendFrom(a, LISTS, { from }), await sendFrom(b, LISTS, { from })];
        const counted = await calls();
        const more = await ofBoth(100, (node) => sendFrom(node, LISTS, { from }));
        assert.deepEqual(tally(more), { 429: 100 });
        assert.equal(resetOf([...more, ...rejected]), resetOf(rejected));
        assert.equal(await calls(), counted);
        // The window is over by the clock of the nodes. The next request is counted in Redis again.
        nodes.advance(MINUTE_MS + 1);
        const { status, headers } = await sendFrom(a, LISTS, { from });
        assert.equal(status, 429);
        assert.ok(Number(headers.get('retry-after')) > 1, 'the remaining time was computed with two clocks');
        assert.equal(await calls(), counted + 1);
      },
    );

    testShared(
      'responses on one connection keep the order of its requests; HEAD requests are counted, preflights are not',
      both,
      async () => {
        const from = newAddress();
        const lines = (method: string) => `${method} ${LISTS} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${from}\r\n\r\n`;
        const allowed = Array.from({ length: 40 }, () => ['HEAD', 'OPTIONS', 'GET', 'POST']).flat();
        const methods = [...allowed, 'GET', 'OPTIONS', 'HEAD', 'GET'];
        const bytes = methods.map(lines).join('');
        const { answers: responses } = await exchange(a.url, bytes, { methods, answers: methods.length });
        const status = { HEAD: 200, GET: 200, POST: 405, OPTIONS: 204 } as Record<string, number>;
        const wanted = methods.map((method, index) =>
          index < allowed.length || method === 'OPTIONS' ? status[method] : 429,
        );
        assert.deepEqual(
          responses.map((response) => response.status),
          wanted,
        );
      },
    );

    testShared('a body that is still arriving while its request is counted is read completely', both, async () => {
      const { secret } = (await a.operate('keys.create', { scopes: ['intake:write'] })).body.result;
      const line = `${JSON.stringify({ kind: 'rate', symbol: 'ETH', usd: 2_500, asOf: new Date(nodes.now()).toISOString() })}\n`;
      const body = line.repeat(5_000);
      const response = await fetch(`${b.url}/intake/v1/records`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/x-ndjson' },
        body,
      });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      assert.match(text, /"read":5000\b/);
    });

    testShared(
      'clients that disconnect while their requests are counted cause no error and no warning',
      both,
      async () => {
        const logged = a.logged.length;
        const from = newAddress();
        const { port } = new URL(a.url);
        const request = `GET ${LISTS} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${from}\r\n\r\n`;
        const hangUps = Array.from({ length: 50 }, async (_, index) => {
          const socket = net.connect(Number(port), '127.0.0.1').on('error', () => undefined);
          await new Promise((resolve) => socket.once('connect', resolve));
          // Some clients send several requests, and some end the connection with a reset.
          socket.write(request.repeat(1 + (index % 3)), () =>
            index % 2 === 0 ? socket.resetAndDestroy() : socket.destroy(),
          );
          await new Promise((resolve) => socket.once('close', resolve));
        });
        await Promise.all(hangUps);
        assert.equal((await sendFrom(a, LISTS)).status, 200);
        assert.equal(await a.counted(), 'shared');
        assert.deepEqual(
          a.logged.slice(logged).filter((line) => /"level":"(warn|error)"/.test(line)),
          [],
        );
      },
    );

    testShared('every key in Redis expires within a minute, and no key reveals a client address', both, async () => {
      const from = newAddress();
      const key = await newKey();
      await sendFrom(a, LISTS, { from });
      await sendFrom(a, SINGLE, { from });
      await sendFrom(b, '/api/v1/products', { from, key: 'wrong' });
      await sendFrom(b, '/intake/v1/orders/none', { from, key });
      const digests = (['hex', 'base64url'] as const).map((form) =>
        createHash('sha256').update(from).digest(form).slice(0, 12),
      );
      const names = await keys();
      for (const bucket of ['list', 'single', 'failure', 'key'])
        assert.ok(
          names.some((name) => name.startsWith(`mercat:rate-limit:${bucket}:`)),
          bucket,
        );
      for (const name of names) {
        assert.match(name, /^mercat:rate-limit:((list|single|key|failure):[\w-]{22}|probe)$/);
        for (const secret of [from, ...digests]) assert.ok(!name.includes(secret), name);
        const left = Number(await redis.ask('PTTL', name));
        // -2: the key has expired between the two commands.
        assert.ok((left > 0 && left <= MINUTE_MS) || left === -2, `${name}: ${left} ms`);
        const fields = (await redis.ask('HKEYS', name)) as string[];
        assert.deepEqual(fields.toSorted(), left === -2 ? [] : ['count', 'reset']);
      }
    });

    test('mercat status and mercat doctor report whether limits are shared, and print no address', async () => {
      const settings = { DATA_DIR: path.dirname(a.socketPath), REDIS_URL: redis.url, PRICE_SOURCES: 'none' };
      const dead = `redis://127.0.0.1:${await freePort()}`;
      const [status, doctor, doctorWithoutRedis] = await Promise.all([
        mercat(settings, 'status'),
        mercat(settings, 'doctor'),
        mercat({ ...settings, REDIS_URL: dead }, 'doctor'),
      ]);
      const states =
        'counted with the other nodes through Redis|counted by this process alone, because Redis is unavailable';
      assert.match(status.stdout, new RegExp(`\nrate limits: (${states})\n`));
      assert.match(doctor.stdout, /^(ok {2}|warn) {2}redis: (Redis|Valkey) \S+ counts in/m);
      assert.match(
        doctorWithoutRedis.stdout,
        /^FAIL {2}redis: .*ECONNREFUSED.*\n +-> start Redis, correct REDIS_URL, or raise maxmemory$/m,
      );
      assert.deepEqual([status.code, doctor.code, doctorWithoutRedis.code], [0, 0, 1]);
      for (const { stdout } of [status, doctor, doctorWithoutRedis])
        assert.doesNotMatch(stdout, /127\.0\.0\.1|redis:\/\//);
    });

    testShared('another service on the same Redis server has its own limits', both, async () => {
      const others = await openNodes({ SERVICE_NAME: 'another' });
      const c = await others.start(redis.url);
      try {
        const from = newAddress();
        await ofBoth(LIST_MAX + 2, (node) => sendFrom(node, LISTS, { from }));
        assert.equal((await sendFrom(c, LISTS, { from })).status, 200);
        await until(
          async () => (await keys()).some((name) => name.startsWith('another:rate-limit:list:')),
          LIMIT_MS,
          'the other service counted nothing in Redis',
        );
      } finally {
        await c.close();
        await others.close();
      }
    });
  });
});
