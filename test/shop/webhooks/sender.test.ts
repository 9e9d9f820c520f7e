// Tests one attempt to deliver a webhook event. Its duration, and the number of bytes that it reads, are limited. An attempt has a result
// whatever the receiver does.

import assert from 'node:assert/strict';
import net from 'node:net';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { WEBHOOK_RESPONSE_BYTES_MAX, WebhookSender } from '../../../src/shop/webhooks/sender.ts';
import { until } from '../../support/until.ts';
import type { Receiver } from './fixtures.ts';
import { respondWith, startReceiver } from './fixtures.ts';

const TIMEOUT_MS = 400;

let receiver: Receiver;
let sender: WebhookSender;

before(async () => {
  receiver = await startReceiver();
});
after(() => receiver.close());
beforeEach(() => {
  receiver.received.length = 0;
  receiver.respond = respondWith(204);
  sender = new WebhookSender({ allowPrivate: true, timeoutMs: TIMEOUT_MS });
});
afterEach(() => sender.close());

const post = (url = receiver.url) =>
  sender.send({ url, headers: { 'webhook-id': 'evt_1' }, body: '{"a":"é"}' }, new AbortController().signal);

test('the body and the headers arrive unchanged, and the status is returned', async () => {
  receiver.respond = respondWith(201, { 'retry-after': '7' });
  const { durationMs, ...outcome } = await post(`${receiver.url}?x=1`);
  assert.deepEqual(outcome, { status: 201, retryAfter: '7', error: null });
  assert.ok(durationMs >= 0);
  const [request] = receiver.received;
  assert.equal(request?.path, '/hook?x=1');
  assert.equal(request?.body, '{"a":"é"}');
  assert.equal(request?.headers['webhook-id'], 'evt_1');
});

test('a redirect is not followed', async () => {
  const other = await startReceiver();
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.respond = respondWith(status, { location: other.url });
    assert.equal((await post()).status, status);
  }
  assert.equal(other.received.length, 0);
  await other.close();
});

test('an attempt fails at the timeout when the receiver does not end its response', async () => {
  const timedOut = { status: null, retryAfter: null, error: 'no complete response within 0.4 s' };
  receiver.respond = () => undefined;
  const { durationMs, ...silent } = await post();
  assert.deepEqual(silent, timedOut);
  assert.ok(durationMs >= TIMEOUT_MS - 10, `${durationMs} ms`);

  receiver.respond = (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('.'), 20);
    response.once('close', () => clearInterval(timer));
  };
  const { durationMs: _durationMs, ...dripping } = await post();
  assert.deepEqual(dripping, timedOut);
});

test('an attempt fails when the response is cut off', async () => {
  sender = new WebhookSender({ allowPrivate: true });
  receiver.respond = (_request, response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('...', () => response.destroy());
  };
  const { durationMs: _durationMs, ...outcome } = await post();
  assert.deepEqual(outcome, { status: null, retryAfter: null, error: 'the connection was cut off' });
});

test('a long response is read up to the limit only', async () => {
  let sent = 0;
  let isClosed = false;
  receiver.respond = (_request, response) => {
    const pour = () => {
      // If the sender reads without end, this bound makes the test fail. Without the bound, the test would hang.
      while (sent < 256 * WEBHOOK_RESPONSE_BYTES_MAX * 4 && response.write(Buffer.alloc(16_384))) sent += 16_384;
    };
    response.on('drain', pour).once('close', () => (isClosed = true));
    pour();
  };
  const { status, error } = await post();
  assert.deepEqual({ status, error }, { status: 200, error: null });
  await until(() => isClosed, 2_000, 'the connection was not closed');
  // The receiver can write more bytes than the limit, because the kernel buffers bytes on both sides of the connection.
  assert.ok(sent < WEBHOOK_RESPONSE_BYTES_MAX + 16 * 1024 * 1024, `${sent} bytes`);
});

test('the error of a failed connection describes the failure, without an address', async () => {
  const cases: [string, (socket: net.Socket) => void, RegExp][] = [
    ['cut off', (socket) => socket.once('data', () => socket.destroy()), /cut off/],
    ['not HTTP', (socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n\r\n')), /not HTTP/],
    [
      'half a response',
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab')),
      /cut off/,
    ],
  ];
  for (const [name, behave, expected] of cases) {
    const server = net.createServer(behave);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as net.AddressInfo;
    const { error } = await post(`http://127.0.0.1:${port}/`);
    assert.match(error ?? '', expected, name);
    server.close();
  }
  const closed = await startReceiver();
  await closed.close();
  const { error } = await post(closed.url);
  assert.equal(error, 'the connection was refused');
  assert.equal((await post('https://name.invalid/')).status, null);
});

test('an attempt fails when the URL has https and the server speaks plain HTTP', async () => {
  const { error, status } = await post(receiver.url.replace('http:', 'https:'));
  assert.equal(status, null);
  assert.ok(error);
});

test('an attempt on a kept connection that the receiver closes is repeated on a new connection', async () => {
  const sockets = new Set<net.Socket>();
  let requests = 0;
  // Responds once on each connection. Closes the connection when it is used again.
  const server = net.createServer((socket) => {
    sockets.add(socket);
    let isUsed = false;
    socket.on('data', () => {
      if (isUsed) return void socket.resetAndDestroy();
      isUsed = true;
      requests += 1;
      socket.write('HTTP/1.1 204 No Content\r\nconnection: keep-alive\r\n\r\n');
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}/`;
  assert.equal((await post(url)).status, 204);
  assert.equal((await post(url)).status, 204);
  assert.deepEqual({ requests, connections: sockets.size }, { requests: 2, connections: 2 });
  for (const socket of sockets) socket.destroy();
  server.close();
});

test('an aborted attempt ends without a status', async () => {
  receiver.respond = () => undefined;
  const controller = new AbortController();
  const sending = sender.send({ url: receiver.url, headers: {}, body: '' }, controller.signal);
  await until(() => receiver.received.length === 1, 2_000, 'nothing was received');
  controller.abort();
  assert.equal((await sending).status, null);
});
