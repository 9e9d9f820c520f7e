// Tests which phases of the service and which failures the health checks report. Rate limits do not apply to the checks.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { OperatorError } from '../../src/platform/core/errors.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { Health, answerHealthChecks, createPrimaryCheck } from '../../src/server/health.ts';
import { holdPort, requireFreePort } from '../../src/server/starting-server.ts';
import { startOnTwoDatabases, withTwoServers } from '../degradation/two-databases.ts';
import { freePort } from '../support/free-port.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import { startTestService } from '../support/service/service.ts';
import { until } from '../support/until.ts';

const NOTICED_MS_MAX = 30_000;

async function readinessOf(url: string): Promise<[number, unknown]> {
  const response = await fetch(`${url}/readyz`);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  return [response.status, await response.json()];
}

const unavailable = (message: string) => [503, { error: { code: 'unavailable', message } }];
const READY = [200, { data: { status: 'ready' } }];

async function serveHealth(t: TestContext, health: Pick<Health, 'findObstacle'>): Promise<string> {
  const server = createServer(answerHealthChecks(health, (_request, response) => response.writeHead(418).end()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the phases of the service', () => {
  test('a service is ready while it serves and its primary responds, and alive in every phase', async (t) => {
    let isInReach = true;
    const health = new Health(() => Promise.resolve(isInReach));
    const url = await serveHealth(t, health);
    const isAlive = async () => assert.equal((await fetch(`${url}/livez`)).status, 200);
    assert.deepEqual(await readinessOf(url), unavailable('The service is starting'));
    await isAlive();
    health.serve();
    assert.deepEqual(await readinessOf(url), READY);
    isInReach = false;
    assert.deepEqual(await readinessOf(url), unavailable('The primary database is out of reach'));
    await isAlive();
    isInReach = true;
    health.drain();
    assert.deepEqual(await readinessOf(url), unavailable('The service is shutting down'));
    await isAlive();
  });

  test('a 503 has Retry-After, HEAD gets no body, POST gets a 405, and a request for any other path goes to the next handler', async (t) => {
    const url = await serveHealth(t, new Health(() => Promise.resolve(true)));
    assert.ok(Number((await fetch(`${url}/readyz`)).headers.get('retry-after')) > 0);
    const head = await fetch(`${url}/livez?probe=1`, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
    const post = await fetch(`${url}/livez`, { method: 'POST' });
    assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD']);
    assert.equal((await fetch(`${url}/livez/deeper`)).status, 418);
  });

  test('while a service starts, it is alive but not ready', async () => {
    const address = { host: '127.0.0.1', port: await freePort() };
    const url = `http://${address.host}:${address.port}`;
    {
      await using _port = await holdPort(address);
      assert.deepEqual(await readinessOf(url), unavailable('The service is starting'));
      assert.equal((await fetch(`${url}/livez`)).status, 200);
      const response = await fetch(`${url}/v1/collections`);
      assert.equal(response.status, 503);
      assert.ok(Number(response.headers.get('retry-after')) > 0);
      const typeOf = async (path: string, accept: string) =>
        (await fetch(url + path, { headers: { accept } })).headers.get('content-type')?.split(';', 1)[0];
      const page = 'text/html,application/xhtml+xml';
      assert.equal(await typeOf('/c/ethereum_1', page), 'text/html');
      assert.equal(await typeOf('/c/ethereum_1', '*/*'), 'application/json');
      assert.equal(await typeOf('/v1/collections', page), 'application/json');
      await assert.rejects(requireFreePort(address), OperatorError);
    }
    await requireFreePort(address);
  });
});

describe('the check of the primary', () => {
  const databaseThat = (query: () => Promise<[]>, respondedAt = Number.NEGATIVE_INFINITY) =>
    ({
      engine: 'postgresql',
      pool: () => ({ max: 10, open: 10, idle: 0, waiting: 0, respondedAt }),
      within: () => ({ query }),
    }) as unknown as Database;

  test('concurrent checks share one statement', async () => {
    let statements = 0;
    const { promise, resolve } = Promise.withResolvers<[]>();
    const check = createPrimaryCheck(databaseThat(() => ((statements += 1), promise)));
    const checks = Array.from({ length: 500 }, () => check());
    resolve([]);
    assert.deepEqual(new Set(await Promise.all(checks)), new Set([true]));
    assert.equal(statements, 1);
  });

  test('no statement is sent to check a primary that has just responded to a request', async () => {
    const busy = databaseThat(() => Promise.reject(new Error('no connection is free')), performance.now());
    assert.equal(await createPrimaryCheck(busy)(), true);
  });
});

test('no rate limit applies to the health checks', async (t) => {
  const dir = await directoryWithDatabase();
  const service = await startTestService({ settings: { DATA_DIR: dir }, limits: { list: 1, single: 1, message: 1 } });
  t.after(async () => {
    await service.close();
    rmSync(dir, { recursive: true, force: true });
  });
  assert.equal((await service.get('/v1')).status, 429);
  for (const path of ['/livez', '/readyz']) assert.equal((await fetch(`${service.url}${path}`)).status, 200);
  assert.ok(!service.logged.some((line) => line.includes('requestId')));
});

withTwoServers('the health checks, while a database is down', (servers) => {
  const isReady = async (url: string) => (await fetch(`${url}/readyz`)).status === 200;

  test('a service is not ready while its primary is frozen or stopped', async (t) => {
    const { url } = await startOnTwoDatabases(t, servers);
    assert.ok(await isReady(url));
    const outages = [
      [() => Promise.resolve(servers.primary.freeze()), () => Promise.resolve(servers.primary.thaw())],
      [() => servers.primary.stop(), () => servers.primary.start()],
    ] as const;
    for (const [begin, end] of outages) {
      await begin();
      try {
        await until(async () => !(await isReady(url)), NOTICED_MS_MAX, 'the outage was not noticed');
        assert.equal((await fetch(`${url}/livez`)).status, 200);
      } finally {
        await end();
      }
      await until(() => isReady(url), NOTICED_MS_MAX, 'the recovery was not noticed');
    }
  });

  test('a service is ready while its indexer is stopped', async (t) => {
    const { url } = await startOnTwoDatabases(t, servers);
    await servers.indexer.stop();
    t.after(() => servers.indexer.start());
    assert.ok(await isReady(url));
  });
});
