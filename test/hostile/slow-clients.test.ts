// Slow clients: every connection that a slow client holds open ends at a limit. Each request gets at most one response.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import http from 'node:http';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';
import { allowLongBody } from '../../src/platform/http/body-time.ts';
import { CLIENT_LIMITS, createNodeServer } from '../../src/server/node-server.ts';
import { until } from '../support/until.ts';
import { exchange } from '../support/http/raw-http.ts';
import { assertErrorEnvelope } from '../support/http/error-envelope.ts';
import { useSampleService } from '../support/service/sample-service.ts';

const LIMITS = {
  headersTimeoutMs: 300,
  checkPeriodMs: 50,
  bodyTimeoutMs: 600,
  keepAliveTimeoutMs: 300,
  stallTimeoutMs: 400,
  headersBytesMax: 16_384,
};
/** How much later than its limit a connection may end on a busy machine. */
const SLACK_MS = 20_000;
const HEAD = 'GET /at-once HTTP/1.1\r\nHost: a\r\n';
const LARGE = Buffer.alloc(4 * 1024 * 1024, 'x');

/**
 * `/at-once` responds before the body arrives. `/large` responds with more bytes than a socket can buffer. `/long` reads a long body. Other
 * paths, and `/long`, respond after the body.
 */
const listener: RequestListener = (request, response) => {
  if (request.url === '/long') allowLongBody(request);
  if (request.url === '/at-once') response.end('done');
  else if (request.url === '/large') response.end(LARGE);
  else request.resume().on('end', () => response.end('done'));
};

describe('slow clients', { concurrency: true }, () => {
  const server = createNodeServer(listener, { limits: LIMITS });
  let url = '';
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  });
  after(() => server.close().closeAllConnections());

  const servedByPort = new Map<number | undefined, net.Socket>();
  server.on('connection', (socket) => servedByPort.set(socket.remotePort, socket));
  /** Connects. Resolves with both ends of the connection: the client's and the server's. */
  const connect = async (): Promise<{ client: net.Socket; served: net.Socket }> => {
    const client = net.connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    await once(client, 'connect');
    await until(() => servedByPort.has(client.localPort), SLACK_MS, 'the connection was not accepted');
    return { client, served: servedByPort.get(client.localPort) ?? assert.fail() };
  };

  test('a request whose headers do not arrive, or arrive byte by byte, ends with 408', async () => {
    for (const [begun, drip] of [
      ['', ''],
      ['GET /v', 'x'],
      [HEAD, 'X: y\r\n'],
      [`${HEAD}X: `, 'y'],
    ] as const) {
      const { answers, closedBy, elapsedMs } = await exchange(url, begun, { drip: { bytes: drip, everyMs: 20 } });
      assert.equal(closedBy, 'server');
      assert.equal(answers.length, 1);
      assertErrorEnvelope(answers[0] ?? assert.fail(), 408, begun);
      assert.ok(elapsedMs < LIMITS.headersTimeoutMs + LIMITS.checkPeriodMs + SLACK_MS);
    }
  });

  test('a request whose body arrives byte by byte ends with 408', async () => {
    for (const framing of ['Content-Length: 100000', 'Transfer-Encoding: chunked']) {
      const drip = { bytes: framing.startsWith('C') ? 'x' : '1\r\nx\r\n', everyMs: 20 };
      const { answers } = await exchange(url, `POST /later HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`, { drip });
      assert.equal(answers.length, 1);
      assertErrorEnvelope(answers[0] ?? assert.fail(), 408, framing);
    }
  });

  test('a long body may arrive for longer than other bodies, but the connection is closed when nothing arrives', async () => {
    const head = (bytes: number) => `POST /long HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`;
    const drips = Math.ceil((2 * LIMITS.bodyTimeoutMs) / 20);
    const { answers, elapsedMs } = await exchange(url, head(drips), {
      drip: { bytes: 'x', everyMs: 20 },
      answers: 1,
    });
    assert.ok(elapsedMs > LIMITS.bodyTimeoutMs, `the body arrived within ${elapsedMs} ms`);
    assert.equal(answers[0]?.status, 200);
    const silent = await exchange(url, `${head(2)}x`);
    assert.deepEqual([silent.closedBy, silent.answers], ['server', []]);
  });

  test('a request that got its response before its body arrived gets no second response', async () => {
    for (const drip of ['', 'x']) {
      const head = `${HEAD}Content-Length: 100000\r\n\r\n`;
      const { answers, closedBy } = await exchange(url, head, { drip: { bytes: drip, everyMs: 20 } });
      assert.equal(closedBy, 'server');
      assert.deepEqual(
        answers.map(({ body }) => body),
        ['done'],
      );
    }
  });

  test('after a served request, an idle connection is closed without a response, and an incomplete second request gets a 408', async () => {
    const idle = await exchange(url, `${HEAD}\r\n`);
    assert.deepEqual(
      idle.answers.map(({ status }) => status),
      [200],
    );
    const half = await exchange(url, `${HEAD}\r\n${HEAD}`);
    assert.deepEqual(
      half.answers.map(({ status }) => status),
      [200, 408],
    );
  });

  test('the connection of a client that does not read its responses is closed', async () => {
    const { client, served } = await connect();
    const cut = once(served, 'close');
    client.pause().write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3));
    await cut;
    client.destroy();
  });

  test('the connection of a client that keeps sending after its malformed request was rejected is closed', async () => {
    const { client, served } = await connect();
    const cut = once(served, 'close');
    client.on('error', () => client.destroy()).resume();
    const timer = setInterval(() => client.write('garbage\r\n\r\n'), 20);
    await cut;
    clearInterval(timer);
    client.destroy();
  });
});

describe('the limits of the service', { concurrency: true }, () => {
  const service = useSampleService();

  test('an incomplete request ends with a 408 within ten seconds', async () => {
    const { answers, elapsedMs } = await exchange(service.url, 'GET /v1 HTTP/1.1\r\nHost: a\r\n', {
      drip: { bytes: 'X: y\r\n', everyMs: 500 },
      limitMs: 60_000,
    });
    assert.equal(answers.length, 1);
    assertErrorEnvelope(answers[0] ?? assert.fail(), 408, 'half a request');
    const isInTime = elapsedMs >= CLIENT_LIMITS.headersTimeoutMs - 500 && elapsedMs < 10_000 + SLACK_MS;
    assert.ok(isInTime, `the response came after ${elapsedMs} ms`);
  });

  test('the records of an import may arrive for longer than the bodies of other requests', async () => {
    const { body } = await service.operate('keys.create', { scopes: ['intake:write'] });
    const headers = { authorization: `Bearer ${body.result.secret}` };
    const request = http.request(`${service.url}/intake/v1/records`, { method: 'POST', headers });
    const responding = once(request, 'response');
    const sending = setInterval(() => request.write('\n'), 100);
    setTimeout(() => {
      clearInterval(sending);
      request.end();
    }, CLIENT_LIMITS.bodyTimeoutMs + 1_000);
    const [response] = (await responding.finally(() => clearInterval(sending))) as [http.IncomingMessage];
    assert.equal(response.statusCode, 200);
    assert.match(Buffer.concat(await response.toArray()).toString(), /"event":"done"/);
  });

  test('a server that is created without limits has the limits of the service', () => {
    const server = createNodeServer(listener);
    assert.deepEqual([server.headersTimeout, server.keepAliveTimeout, server.timeout], [8_000, 65_000, 30_000]);
    assert.equal(CLIENT_LIMITS.bodyTimeoutMs, 15_000);
  });
});
