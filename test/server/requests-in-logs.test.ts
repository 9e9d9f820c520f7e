// Tests the ids of requests, the access log, and the log messages about outages.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createLog } from '../../src/platform/core/log.ts';
import { OutageLog } from '../../src/platform/http/outage-log.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';
import { until } from '../support/until.ts';

const WAIT_MS = 30_000;

let service: TestService;
before(async () => {
  service = await startTestService({ settings: { DATA_DIR: await directoryWithDatabase(), ACCESS_LOG: 'true' } });
});
after(async () => {
  await service.close();
  await cleanUp();
});

const accessLines = (): any[] =>
  service.logged.map((line) => JSON.parse(line)).filter(({ message }) => message === 'request');

test('each response has the request id that the client sent if it is valid, and otherwise a new id', async () => {
  const { url } = service;
  const idOf = async (path: string, sent?: string) => {
    const response = await fetch(`${url}${path}`, sent === undefined ? {} : { headers: { 'x-request-id': sent } });
    return response.headers.get('x-request-id') ?? '';
  };
  // The second response of /v1 comes from the cache. The last three are rejected: one by the edge, one by the router, one by a
  // route.
  const paths = ['/v1', '/v1', '/status', '/docs', '/v1/%ff', '/nowhere', '/api/v1/products'];
  const made: string[] = [];
  for (const path of paths) {
    made.push(await idOf(path));
    assert.equal(await idOf(path, 'load-balancer:7f3a'), 'load-balancer:7f3a', path);
  }
  assert.equal(new Set(made).size, paths.length);
  for (const id of made) assert.match(id, /^[\w-]{8,64}$/);
  for (const bad of ['a'.repeat(129), 'has space', 'quote"', 'semi;colon', '<b>']) {
    assert.notEqual(await idOf('/v1', bad), bad);
  }
  assert.equal((await idOf('/v1', 'a'.repeat(128))).length, 128);
});

describe('the access log', () => {
  test('a line names the key and the shop of the request, also when the request is rejected', async () => {
    const { body: created } = await service.operate('shops.create', { name: 'logged' });
    const { body } = await service.operate('keys.create', { shop: 'logged', scopes: ['products:read'] });
    const headers = { authorization: `Bearer ${body.result.secret}` };
    service.logged.length = 0;
    for (const path of ['/api/v1/products', '/api/v1/products', '/api/v1/inventory', '/v1'])
      await (await fetch(`${service.url}${path}`, { headers })).text();
    await (await fetch(`${service.url}/api/v1/products`)).text();
    await until(() => accessLines().length === 5, WAIT_MS, 'the requests were not logged');
    const own = { key: body.result.id, shop: created.result.id };
    assert.deepEqual(
      accessLines().map(({ status, key, shop }) => [status, key, shop]),
      [
        [200, own.key, own.shop],
        [200, own.key, own.shop],
        [403, own.key, own.shop],
        [200, undefined, undefined],
        [401, undefined, undefined],
      ],
    );
    assert.ok(!service.logged.join('').includes(body.result.secret));
  });

  test('the access log has one line for each request, without the query', async () => {
    service.logged.length = 0;
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const send = (path: string) =>
      fetch(`${service.url}${path}`, {
        headers: { 'x-request-id': 'one', 'user-agent': 'agent\u00e9'.repeat(100), traceparent },
      });
    for (const path of ['/v1/collections?limit=3', '/v1/collections?limit=3', '/api/v1/products?key=secret', '/x'])
      await (await send(path)).text();
    await until(() => accessLines().length === 4, WAIT_MS, 'the requests were not logged');
    const lines = accessLines();
    assert.deepEqual(
      lines.map(({ path, route, status }) => [path, route, status]),
      [
        ['/v1/collections', '/v1/collections', 200],
        ['/v1/collections', '/v1/collections', 200],
        ['/api/v1/products', '/api/v1/products', 401],
        ['/x', null, 404],
      ],
    );
    for (const line of lines) {
      assert.deepEqual(
        [line.requestId, line.traceId, line.parentId, line.method, line.client, line.userAgent.length],
        ['one', '4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7', 'GET', '127.0.0.1', 200],
      );
      assert.ok(line.durationMs >= 0);
    }
    assert.ok(!service.logged.join('').includes('secret'));
  });

  test('the access log has no trace for a request with a malformed traceparent', async () => {
    service.logged.length = 0;
    for (const traceparent of ['00-0-0-0', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, 'x'.repeat(500)])
      await (await fetch(`${service.url}/v1`, { headers: { traceparent } })).text();
    const lines = accessLines();
    assert.equal(lines.length, 3);
    for (const line of lines) assert.equal(line.traceId, undefined);
  });
});

test('a client that disconnects while it sends a body is not logged as a failure of the database', async () => {
  await service.operate('shops.create', { name: 's' });
  const { body } = await service.operate('keys.create', { shop: 's', scopes: ['products:write', 'intake:write'] });
  const { port } = new URL(service.url);
  for (const path of ['/api/v1/products', '/intake/v1/records']) {
    service.logged.length = 0;
    const socket = net.connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    const type = path.startsWith('/intake') ? 'application/x-ndjson' : 'application/json';
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${body.result.secret}\r\ncontent-type: ${type}\r\ncontent-length: 1000\r\n\r\n{"name":`,
    );
    // The service needs time to verify the key before the request reaches its route.
    await new Promise((resolve) => setTimeout(resolve, 200));
    socket.resetAndDestroy();
    await until(() => accessLines().length === 1, WAIT_MS, 'the request did not end');
    assert.deepEqual([accessLines()[0].aborted, accessLines()[0].status], [true, 499]);
    assert.deepEqual(
      service.logged.filter((line) => /"level":"(warn|error)"/.test(line)),
      [],
      path,
    );
  }
});

describe('an outage of a database', () => {
  function start() {
    let now = 0;
    const lines: any[] = [];
    const outages = new OutageLog(
      createLog('info', (line) => void lines.push(JSON.parse(line))),
      undefined,
      () => now,
    );
    return { outages, lines, advance: (ms: number) => (now += ms) };
  }

  test('an outage is logged once when it begins, and once when it ends', () => {
    const { outages, lines, advance } = start();
    outages.noteSuccess();
    for (let request = 0; request < 1_000; request += 1) {
      outages.noteFailure(new Error('connection refused'));
      advance(1_000);
    }
    assert.deepEqual(
      lines.map(({ level, message, error }) => [level, message, error]),
      [['warn', 'requests cannot reach the database', 'connection refused']],
    );
    outages.noteSuccess();
    outages.noteSuccess();
    assert.equal(lines.length, 2);
    assert.deepEqual([lines[1].message, lines[1].failed], ['requests reach the database again', 1_000]);
  });

  test('an outage that begins and ends repeatedly is logged at most once in half a minute', () => {
    const { outages, lines, advance } = start();
    for (let second = 0; second < 29; second += 1) {
      outages.noteFailure(new Error('timeout'));
      outages.noteSuccess();
      advance(1_000);
    }
    assert.equal(lines.length, 2);
    advance(1_000);
    outages.noteFailure(new Error('timeout'));
    assert.equal(lines.length, 3);
    outages.noteSuccess();
    assert.equal(lines[3].failed, 29);
  });
});
