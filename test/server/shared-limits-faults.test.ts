// Faults of Redis: Redis is down, slow, silent, full, a replica, locked or empty. No request fails or waits because of a fault.
// During a fault each process applies the limits alone. The log has one line when the fault begins and one line when the fault
// ends. Afterwards limits are shared again.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '../support/until.ts';
import type { TcpProxy } from '../support/engines/tcp-proxy.ts';
import { startTcpProxy } from '../support/engines/tcp-proxy.ts';
import { sendToRedis, withRedis } from '../support/engines/redis-server.ts';
import type { Nodes, TestNode } from '../support/service/shared-nodes.ts';
import { newAddress, openNodes, sendFrom, tally, untilShared } from '../support/service/shared-nodes.ts';

const LIST_MAX = 120;
const LIMIT_MS = 60_000;
/** A time that only a hanging request or shutdown exceeds. */
const STALL_MS = 30_000;
const LISTS = '/v1/collections?limit=1';
const PASSWORD = 'a-password-that-must-not-be-seen';

withRedis('rate limits while Redis fails', (redis) => {
  describe('nodes', () => {
    let nodes: Nodes;
    let proxy: TcpProxy;
    let a: TestNode;
    let b: TestNode;
    before(async () => {
      nodes = await openNodes();
      proxy = await startTcpProxy(redis.url);
      // Node a reaches Redis through a proxy that can fail. Node b reaches Redis directly.
      a = await nodes.start(proxy.url);
      b = await nodes.start(redis.url);
    });
    after(async () => {
      await Promise.all([a.close(), b.close()]);
      await proxy.close();
      await nodes.close();
    });

    type Fault = {
      name: string;
      begin: () => Promise<unknown> | void;
      end: () => Promise<unknown> | void;
      /** `a`: the fault affects only node a. If `of` is missing, the fault affects both nodes. */
      of?: 'a';
      reason: RegExp;
    };
    const config = (name: string, value: string) => redis.ask('CONFIG', 'SET', name, value);
    const faults: Fault[] = [
      {
        name: 'refuses connections',
        of: 'a',
        begin: () => proxy.refuse(),
        end: () => proxy.heal(),
        reason: /ECONN|closed/,
      },
      {
        name: 'is behind a network that goes silent',
        of: 'a',
        begin: () => proxy.hang(),
        end: () => proxy.heal(),
        reason: /in time/,
      },
      { name: 'is slow', of: 'a', begin: () => proxy.delay(150), end: () => proxy.delay(0), reason: /in time/ },
      { name: 'hangs', begin: () => redis.freeze(), end: () => redis.thaw(), reason: /in time/ },
      {
        name: 'is stopped and started again without its data',
        begin: () => redis.stop(),
        end: () => redis.start(),
        reason: /ECONN|closed/,
      },
      {
        name: 'has full memory',
        begin: () => config('maxmemory', '1'),
        end: () => config('maxmemory', '0'),
        reason: /memory is full/,
      },
      {
        name: 'becomes a replica',
        begin: () => redis.ask('REPLICAOF', '127.0.0.1', '1'),
        end: () => redis.ask('REPLICAOF', 'NO', 'ONE'),
        reason: /replica|LOADING|MASTERDOWN/,
      },
      {
        name: 'withdraws the permission to count',
        begin: () => redis.ask('ACL', 'SETUSER', 'default', '-@write'),
        end: () => redis.ask('ACL', 'SETUSER', 'default', '+@all'),
        reason: /lacks the permission/,
      },
    ];
    for (const fault of faults) {
      test(`while Redis ${fault.name}, no request fails or waits, and afterwards Redis is used again`, async (t) => {
        const affected = fault.of === 'a' ? [a] : [a, b];
        await untilShared([a, b]);
        const before = affected.map((node) => node.logCounts());
        await fault.begin();
        try {
          // These requests are the first that cannot use Redis. An affected node must count even these requests.
          await Promise.all(affected.flatMap((node) => [assertServed(node), assertExact(node)]));
          for (const node of affected) assert.equal(await node.counted(), 'alone');
          for (const node of affected) await assertExact(node);
        } finally {
          await fault.end();
        }
        const endedAt = performance.now();
        await untilShared([a, b]);
        t.diagnostic(`shared again after ${Math.round(performance.now() - endedAt)} ms`);
        for (const [index, node] of affected.entries()) {
          const { away = 0, back = 0 } = before[index] ?? {};
          const { away: awayNow, back: backNow } = node.logCounts();
          assert.ok(awayNow > away, 'the outage was not logged');
          assert.ok(backNow > back, 'the end of the outage was not logged');
          // On a busy machine there may be several outages. Each has one line for its beginning and one for its end.
          assert.ok(
            awayNow - away - (backNow - back) <= 1,
            `away ${awayNow - away} times, back ${backNow - back} times`,
          );
          const warning = node.logged.filter((line) => line.includes('Redis is unavailable'))[away] ?? '';
          assert.match(warning, new RegExp(`${fault.reason.source}|in time`));
          assert.doesNotMatch(warning, /127\.0\.0\.1|:\d{4,5}\b(?!-)|"stack"/);
        }
        await assertShared();
      });
    }

    /** Sends sequential and concurrent requests. Each request must get a 200 before STALL_MS have passed. */
    async function assertServed(node: TestNode): Promise<void> {
      const timed = async () => {
        const startedAt = performance.now();
        const { status } = await sendFrom(node, LISTS);
        return { status, ms: performance.now() - startedAt };
      };
      const responses = await Promise.all(Array.from({ length: 20 }, timed));
      for (let count = 0; count < 10; count += 1) responses.push(await timed());
      assert.deepEqual(tally(responses), { 200: 30 });
      const slowest = Math.max(...responses.map(({ ms }) => ms));
      assert.ok(slowest < STALL_MS, `the slowest response took ${Math.round(slowest)} ms`);
    }

    async function assertExact(node: TestNode): Promise<void> {
      const from = newAddress();
      const responses = await Promise.all(Array.from({ length: LIST_MAX + 10 }, () => sendFrom(node, LISTS, { from })));
      assert.deepEqual(tally(responses), { 200: LIST_MAX, 429: 10 });
      for (const { status, headers } of responses) {
        if (status !== 429) continue;
        assert.equal(headers.get('x-ratelimit-limit'), String(LIST_MAX));
        assert.ok(Number(headers.get('retry-after')) <= 60);
      }
    }

    async function assertShared(): Promise<void> {
      const isCountedTogether = async () => {
        const from = newAddress();
        for (const node of [a, b, a, b, a]) await sendFrom(node, LISTS, { from });
        const names = (await redis.ask('KEYS', 'mercat:rate-limit:list:*')) as string[];
        return (await Promise.all(names.map((name) => redis.ask('HGET', name, 'count')))).includes('5');
      };
      await until(isCountedTogether, LIMIT_MS, 'the nodes do not count together');
    }

    test('a client beyond its limit is still rejected when Redis becomes unavailable', async () => {
      await untilShared([a, b]);
      const from = newAddress();
      let last = await sendFrom(b, LISTS, { from });
      for (let sent = 1; last.status !== 429 && sent < 4 * LIST_MAX; sent += 1)
        last = await sendFrom(b, LISTS, { from });
      await redis.stop();
      try {
        await until(async () => (await b.counted()) === 'alone', LIMIT_MS, 'node b does not notice the outage');
        const next = await sendFrom(b, LISTS, { from });
        assert.equal(next.status, 429);
        assert.equal(next.headers.get('x-ratelimit-reset'), last.headers.get('x-ratelimit-reset'));
      } finally {
        await redis.start();
      }
    });

    test('while Redis rejects the password of the nodes, each node counts alone', async () => {
      await untilShared([a, b]);
      const before = b.logCounts();
      await config('requirepass', PASSWORD);
      const locked = new URL(redis.url);
      locked.password = PASSWORD;
      // A connection stays authenticated until it is closed, so the test closes it.
      await sendToRedis(locked.href, ['CLIENT', 'KILL', 'TYPE', 'normal']);
      try {
        await assertServed(b);
        await until(async () => (await b.counted()) === 'alone', LIMIT_MS, 'node b does not notice the outage');
        await assertExact(b);
        // Connecting succeeds but counting fails, so Redis stays unavailable.
        const readRejectedCalls = async () => {
          const stats = String(await sendToRedis(locked.href, ['INFO', 'commandstats']));
          return Number(/cmdstat_evalsha:.*rejected_calls=(\d+)/.exec(stats)?.[1]);
        };
        const [earlier, { back }] = [await readRejectedCalls(), b.logCounts()];
        await until(async () => (await readRejectedCalls()) >= earlier + 3, LIMIT_MS, 'Redis is not tried again');
        assert.deepEqual([await b.counted(), b.logCounts().back], ['alone', back]);
      } finally {
        await sendToRedis(locked.href, ['CONFIG', 'SET', 'requirepass', '']);
      }
      await untilShared([a, b]);
      assert.ok(b.logCounts().away > before.away && b.logCounts().back > before.back);
    });

    test('a service starts even if Redis cannot be used, and logs the reason once and no secret', async (t) => {
      const dead = await startTcpProxy(redis.url);
      await dead.refuse();
      const wrong = new URL(redis.url);
      wrong.password = PASSWORD;
      wrong.username = 'somebody';
      const [c, d] = [await nodes.start(dead.url), await nodes.start(wrong.href)];
      t.after(() => Promise.all([c.close(), d.close()]).then(() => dead.close()));
      for (const [node, reason] of [
        [c, /ECONNREFUSED/],
        [d, /rejects the user or password/],
      ] as const) {
        await assertServed(node);
        assert.deepEqual([await node.counted(), node.logCounts()], ['alone', { away: 1, back: 0 }]);
        assert.match(node.logged.join('\n'), reason);
        assert.doesNotMatch(node.logged.join('\n'), new RegExp(`${PASSWORD}|somebody|redis://`));
      }
      const readRejectedCalls = async () =>
        Number(/cmdstat_auth:.*failed_calls=(\d+)/.exec(String(await redis.ask('INFO', 'commandstats')))?.[1]);
      const earlier = await readRejectedCalls();
      await until(async () => (await readRejectedCalls()) >= earlier + 2, LIMIT_MS, 'Redis is not tried again');
      assert.deepEqual([await d.counted(), d.logCounts()], ['alone', { away: 1, back: 0 }]);
      await dead.heal();
      await untilShared([c]);
      assert.ok(c.logCounts().back > 0);
    });

    test('a service closes while Redis hangs and requests are in progress', async () => {
      const connections = async () => String(await redis.ask('CLIENT', 'LIST')).split('\n').length;
      const before = await connections();
      const c = await nodes.start(redis.url);
      await untilShared([c]);
      redis.freeze();
      try {
        const requests = Promise.allSettled(Array.from({ length: 20 }, () => sendFrom(c, LISTS)));
        const startedAt = performance.now();
        await c.close();
        const ms = performance.now() - startedAt;
        await requests;
        assert.ok(ms < STALL_MS, `closing took ${Math.round(ms)} ms`);
      } finally {
        redis.thaw();
      }
      await until(
        async () => (await connections()) <= before,
        LIMIT_MS,
        'the connection of the closed service is still open',
      );
    });

    test('without REDIS_URL the status has no section about rate limits', async (t) => {
      const c = await nodes.start(null);
      t.after(() => c.close());
      assert.equal(await c.counted(), undefined);
      const status = ((await sendFrom(c, '/status')).body as { data: object }).data;
      assert.deepEqual(Object.keys(status).includes('rateLimits'), false);
      await assertExact(c);
      assert.deepEqual((await sendFrom(a, '/status')).body.data.rateLimits, { counted: await a.counted() });
    });
  });
});
