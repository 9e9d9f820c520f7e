// Two nodes with two serving processes each, on one PostgreSQL and with REDIS_URL: a limit holds for the four processes together.
// Without Redis each process counts alone.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { after, before, describe, test } from 'node:test';
import { cleanUp } from '../../support/engines/cleanup.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import type { RedisServer } from '../../support/engines/redis-server.ts';
import { withRedis } from '../../support/engines/redis-server.ts';
import { OneConnection } from '../../support/http/one-connection.ts';
import { tally } from '../../support/service/shared-nodes.ts';
import type { ServiceProcess } from '../../support/service/service-process.ts';
import { sendToSocket, startServiceProcess } from '../../support/service/service-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';

const NODES = 2;
const PROCESSES = 2;
const LIST_MAX = 120;
const KEY_MAX = 30;
/** Each node gets this many connections, so that the system hardly ever gives all of them to one process. */
const CONNECTIONS_OF_NODE = 8;
const LIMIT_MS = 120_000;
const TRIES_MAX = 5;
const LISTS = '/v1/collections?limit=1';

after(cleanUp);

forEachEngine('serving processes of several nodes', (engine) => {
  // The embedded database can be opened by one process only.
  if (engine.name === 'embedded') return;

  withRedis('and Redis', (redis) => {
    describe('nodes', () => {
      const nodes: ServiceProcess[] = [];
      before(async () => {
        const settings = await engine.settings();
        for (let node = 0; node < NODES; node += 1) {
          const own = { DATA_DIR: temporaryDirectory(), REDIS_URL: redis.url, STORE_RATE_LIMIT: String(KEY_MAX) };
          const args = ['--no-sample', '--workers', String(PROCESSES)];
          nodes.push(
            await startServiceProcess({ ...settings, ...own, TRUST_PROXY: 'true', LOG_LEVEL: 'silent' }, args),
          );
        }
      });
      after(() => Promise.all(nodes.map((node) => node.stop())));

      /** Sends `count` concurrent requests of one client, over connections to all of `to`. */
      async function send(
        t: TestContext,
        to: readonly ServiceProcess[],
        count: number,
        path: string,
        headers: Record<string, string> = {},
      ) {
        const address = newAddress();
        const clients = to.flatMap(({ url }) =>
          Array.from({ length: CONNECTIONS_OF_NODE }, () => new OneConnection(t, url, address)),
        );
        return Promise.all(
          Array.from({ length: count }, async (_, index) => clients[index % clients.length]?.get(path, headers)),
        ).then((responses) => responses.filter((response) => response !== undefined));
      }

      test('the four processes together allow exactly the limit, and report the same end of the window', (t) =>
        whileShared(t, redis, async () => {
          const responses = await send(t, nodes, 2 * LIST_MAX, LISTS);
          assert.deepEqual(tally(responses), { 200: LIST_MAX, 429: LIST_MAX });
          const resets = responses.map(({ headers }) => headers['x-ratelimit-reset']).filter(Boolean);
          assert.equal(resets.length, LIST_MAX);
          assert.equal(new Set(resets).size, 1);
        }));

      test('the limit of an API key holds for the four processes together', (t) =>
        whileShared(t, redis, async () => {
          const { socketPath = '' } = nodes[0] ?? {};
          const input = { scopes: ['orders:write'] };
          const { body } = await sendToSocket(socketPath, 'POST', '/operator/v1/keys.create', input);
          const authorization = `Bearer ${body.result.secret}`;
          const responses = await send(t, nodes, 2 * KEY_MAX, '/intake/v1/orders/none', { authorization });
          assert.deepEqual(tally(responses), { 404: KEY_MAX, 429: KEY_MAX });
        }));

      test('without Redis each process counts alone; when Redis is back, all processes count together again', async (t) => {
        await redis.stop();
        // A process notices the loss of its connection at once, and counts without Redis from then on.
        for (const node of nodes) {
          const counts = tally(await send(t, [node], (PROCESSES + 1) * LIST_MAX, LISTS));
          assert.ok(
            (counts[200] ?? 0) >= LIST_MAX && (counts[200] ?? 0) <= PROCESSES * LIST_MAX,
            JSON.stringify(counts),
          );
          assert.equal((counts[200] ?? 0) + (counts[429] ?? 0), (PROCESSES + 1) * LIST_MAX);
        }
        await redis.start();
        await whileShared(t, redis, async () => {
          assert.deepEqual(tally(await send(t, nodes, 2 * LIST_MAX, LISTS)), { 200: LIST_MAX, 429: LIST_MAX });
        });
      });
    });
  });
});

/**
 * Runs `body` while all processes count in Redis. If a busy machine delays Redis, a process replaces its connection and counts without Redis meanwhile.
 * The body then runs again, at most TRIES_MAX times in all.
 */
async function whileShared(t: TestContext, redis: RedisServer, body: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const isShared = async () => (await readConnections(redis)).length === NODES * PROCESSES;
    await until(isShared, LIMIT_MS, 'the processes are not connected to Redis');
    const before = await readConnections(redis);
    const failure = await body().then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (String(before) === String(await readConnections(redis)) || tries === TRIES_MAX) {
      if (failure) throw failure.error;
      return;
    }
    t.diagnostic('Redis did not respond in time: the test is repeated');
  }
}

/** The ids of the connections over which the processes count requests, in ascending order. */
async function readConnections(redis: RedisServer): Promise<number[]> {
  const lines = String(await redis.ask('CLIENT', 'LIST')).split('\n');
  const counting = lines.filter((line) => / cmd=(evalsha|eval|script\|load|hincrby)/.test(line));
  return counting.map((line) => Number(/^id=(\d+)/.exec(line)?.[1])).toSorted((one, other) => one - other);
}

let addresses = 0;

function newAddress(): string {
  addresses += 1;
  return `198.19.0.${addresses}`;
}
