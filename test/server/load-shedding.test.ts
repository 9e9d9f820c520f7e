// Tests which requests are shed: rejected with a 503, because too many requests of the same interface are in progress.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { answerHealthChecks } from '../../src/server/health.ts';
import { leaveRequestsInProgress } from '../../src/platform/http/requests-in-progress.ts';
import { EventLoopDelay, shedLoad } from '../../src/server/load-shedding.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import { startTestService } from '../support/service/service.ts';
import { until } from '../support/until.ts';

const LIMIT_MS = 60_000;
const LIMITS = { inProgressMax: 8, inProgressLateMax: 3, lateMs: 500 };

/** A server whose requests stay in progress until the test ends them. `delay.ms` is the reported delay of the event loop. */
async function startServer(t: TestContext) {
  const held: ServerResponse[] = [];
  const delay = { ms: 0 };
  const counted = { shed: 0 };
  const shedding = shedLoad(
    { limits: LIMITS, delayMs: () => delay.ms, onShed: () => (counted.shed += 1) },
    (_request, response) => void held.push(response),
  );
  const health = { findObstacle: () => Promise.resolve(null) };
  const server = createServer(answerHealthChecks(health, shedding)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  /** Starts requests and waits until they are in progress. Returns a function that ends them. */
  const hold = async (path: string, count: number) => {
    const before = held.length;
    const sent = Array.from({ length: count }, () => fetch(`${url}${path}`));
    await until(() => held.length === before + count, LIMIT_MS, 'the requests are not in progress');
    return async () => {
      for (const response of held.slice(before, before + count)) response.end('done');
      for (const response of await Promise.all(sent)) assert.equal(await response.text(), 'done');
    };
  };
  const assertShed = async (path: string) => {
    const response = await fetch(`${url}${path}`);
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '2'], path);
    assert.equal(((await response.json()) as any).error.code, 'unavailable');
    return response;
  };
  return { url, delay, counted, held, hold, assertShed };
}

test('an interface at its limit of requests in progress sheds further requests', async (t) => {
  const { hold, assertShed, counted } = await startServer(t);
  const end = await hold('/v1/collections', LIMITS.inProgressMax);
  const shed = await assertShed('/v1/collections');
  assert.equal(shed.headers.get('access-control-allow-origin'), '*');
  assert.equal(counted.shed, 1);
  await end();
  const endAgain = await hold('/v1/collections', LIMITS.inProgressMax);
  await endAgain();
  assert.equal(counted.shed, 1);
});

test('a stream that has begun does not count towards the limit of its interface', async (t) => {
  const { hold, held, assertShed } = await startServer(t);
  const endLong = await hold('/explore/v1/stream', LIMITS.inProgressMax);
  await assertShed('/explore/v1/orders/x');
  for (const response of held) leaveRequestsInProgress(response);
  const end = await hold('/explore/v1/orders/x', LIMITS.inProgressMax);
  await assertShed('/explore/v1/orders/x');
  await endLong();
  await assertShed('/explore/v1/orders/x');
  await end();
});

test('a request for a path outside an interface, such as `/v1x`, does not count towards the limit of the interface `/v1`', async (t) => {
  const { hold } = await startServer(t);
  const endOther = await hold('/v1x/collections', LIMITS.inProgressMax);
  const end = await hold('/v1/collections', LIMITS.inProgressMax);
  await end();
  await endOther();
});

for (const [flooded, other] of [
  ['/v1/collections', '/api/v1/products'],
  ['/api/v1/products', '/v1/collections'],
] as const) {
  test(`a flood of ${flooded} sheds no request of ${other} and no health check`, async (t) => {
    const { url, hold, assertShed } = await startServer(t);
    const end = await hold(flooded, LIMITS.inProgressMax);
    await assertShed(flooded);
    const endOther = await hold(other, LIMITS.inProgressMax - 1);
    for (const path of ['/livez', '/readyz']) assert.equal((await fetch(`${url}${path}`)).status, 200, path);
    await endOther();
    await end();
  });
}

test('a service with 1,000 requests of one interface in progress sheds only further requests of this interface', async (t) => {
  const settings = { DATA_DIR: await directoryWithDatabase(), STORE_RATE_LIMIT: '1000000' };
  const service = await startTestService({ settings });
  t.after(async () => {
    await service.close();
    rmSync(settings.DATA_DIR, { recursive: true, force: true });
  });
  await service.operate('shops.create', { name: 'one' });
  const { body } = await service.operate('keys.create', { shop: 'one', scopes: ['orders:write', 'products:read'] });
  const authorization = `Bearer ${body.result.secret}`;
  const statusOf = async (path: string) => (await fetch(service.url + path, { headers: { authorization } })).status;
  const unknownOrder = '/intake/v1/orders/none';
  assert.equal(await statusOf(unknownOrder), 404);
  // Each request waits for its body, which does not come.
  const head = `POST /intake/v1/orders HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Length: 9\r\n\r\n`;
  const sockets = Array.from({ length: 1_000 }, () => {
    const socket = net.connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('error', () => undefined).write(head);
    return socket;
  });
  const isShed = async () => (await statusOf(unknownOrder)) === 503;
  await until(isShed, LIMIT_MS, 'no request was shed');
  for (const path of ['/v1/collections', '/api/v1/products', '/livez', '/readyz']) {
    assert.equal(await statusOf(path), 200, path);
  }
  for (const socket of sockets) socket.destroy();
  await until(async () => !(await isShed()), LIMIT_MS, 'requests are shed although none is in progress');
});

test('while the event loop is late, an interface may have fewer requests in progress', async (t) => {
  const { delay, hold, assertShed } = await startServer(t);
  const end = await hold('/intake/v1/orders', LIMITS.inProgressLateMax);
  delay.ms = LIMITS.lateMs + 1;
  await assertShed('/intake/v1/orders');
  const endStatus = await hold('/status', LIMITS.inProgressMax + 1);
  delay.ms = LIMITS.lateMs;
  const endMore = await hold('/intake/v1/orders', 1);
  await endMore();
  await endStatus();
  await end();
});

test('EventLoopDelay measures the delay while the event loop is blocked', async (t) => {
  const delay = new EventLoopDelay();
  t.after(() => delay.stop());
  const block = () => {
    for (const end = performance.now() + 300; performance.now() < end;);
  };
  await until(
    () => {
      block();
      return delay.meanMs() > 100;
    },
    LIMIT_MS,
    'a blocked event loop was not noticed',
  );
});
