// What clients do not read occupies a limited amount of memory for each client address.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import net from 'node:net';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { createNodeServer } from '../../src/server/node-server.ts';
import { UNREAD_BYTES_MAX, UnreadBytes } from '../../src/server/unread-bytes.ts';
import { memoryHeld } from '../support/measure/cost.ts';
import { exchange, request } from '../support/http/raw-http.ts';
import { assertErrorEnvelope } from '../support/http/error-envelope.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
const LIMIT_MS = 60_000;
/** More than the sockets of both sides buffer. */
const LARGE_BYTES = 9 * MIB;
const CLIENTS = 60;

/** `/large/n`: a new body for each request. `/stored`: a small body. Other paths respond with the method. */
const listener: RequestListener = ({ url = '', method }, response) => {
  const body = url.startsWith('/large') || url.startsWith('/api/v1') ? randomBytes(LARGE_BYTES) : String(method);
  response.writeHead(200, ['content-length', String(Buffer.byteLength(body)), 'x-request-id', 'one']).end(body);
};

async function serve(t: TestContext, bytesMax = UNREAD_BYTES_MAX) {
  const counts = { rejected: 0 };
  const unread = new UnreadBytes({
    clientAddress: ({ headers }) => String(headers['x-client'] ?? 'one'),
    bytesMax,
    onRejected: () => (counts.rejected += 1),
  });
  const server = createNodeServer(listener, { unread });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  const sockets: net.Socket[] = [];
  const closeClients = () => {
    for (const socket of sockets.splice(0)) socket.destroy();
  };
  t.after(async () => {
    closeClients();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  /** Sends a request on a connection of its own, and reads nothing. */
  const sendOnly = async (target: string, client = 'one', count = 1) => {
    const socket = net.connect({ port: Number(new URL(url).port), host: '127.0.0.1' }).pause();
    socket.on('error', () => socket.destroy());
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nX-Client: ${client}\r\n\r\n`.repeat(count));
    return socket;
  };
  return { url, unread, counts, sendOnly, closeClients };
}

describe('bytes that clients do not read', () => {
  test('sixty clients of one address that read nothing hold at most 64 MiB', async (t) => {
    const { unread, counts, sendOnly } = await serve(t);
    const before = memoryHeld();
    for (let index = 0; index < CLIENTS; index += 1) await sendOnly(`/large/${index}`);
    await until(() => counts.rejected > 0, LIMIT_MS, 'no request was rejected');
    await until(async () => counts.rejected >= CLIENTS - 10, LIMIT_MS, 'the requests were not answered');
    const held = memoryHeld() - before;
    assert.ok(held < 64 * MIB, `${(held / MIB).toFixed(1)} MiB`);
    assert.ok(unread.of('one') > 0);
  });

  test('sixty clients of sixty addresses that read nothing hold at most 64 MiB, and end no small response', async (t) => {
    const { url, counts, sendOnly } = await serve(t);
    const before = memoryHeld();
    const slow = await sendOnly('/small', 'slow');
    for (let index = 0; index < CLIENTS; index += 1) await sendOnly(`/large/${index}`, `client ${index}`);
    await until(() => counts.rejected >= CLIENTS / 2, LIMIT_MS, 'the responses were not ended');
    const held = memoryHeld() - before;
    assert.ok(held < 64 * MIB, `${(held / MIB).toFixed(1)} MiB`);
    const { body } = await request(url, '/small', { headers: { 'x-client': 'another' } });
    assert.equal(body, 'GET');
    slow.resume();
    assert.match(String((await once(slow, 'data'))[0]), /GET$/);
  });

  test('sixty requests that one client sends before it reads hold at most 64 MiB', async (t) => {
    const { unread, sendOnly } = await serve(t);
    const before = memoryHeld();
    await sendOnly('/large', 'one', CLIENTS);
    await until(() => unread.of('one') > 0, LIMIT_MS, 'nothing was sent');
    const held = memoryHeld() - before;
    assert.ok(held < 64 * MIB, `${(held / MIB).toFixed(1)} MiB`);
  });

  test('another address is served, and the address itself as soon as the bytes were read or its connection has ended', async (t) => {
    const { url, unread, sendOnly, closeClients } = await serve(t, MIB);
    const slow = await sendOnly('/large');
    await until(() => unread.of('one') > MIB, LIMIT_MS, 'nothing was sent');
    assert.equal(unread.isFull({ headers: {} } as never), true);
    const rejected = await request(url, '/large/again');
    assertErrorEnvelope(rejected, 503, 'unread bytes');
    assert.equal(rejected.headers['x-request-id'], 'one');
    assert.equal(rejected.headers['retry-after'], '2');
    const { body } = await request(url, '/small', { headers: { 'x-client': 'two' } });
    assert.equal(body, 'GET');
    slow.resume();
    await until(() => unread.of('one') === 0, LIMIT_MS, 'the bytes count although they were read');
    await sendOnly('/large');
    await until(() => unread.of('one') > MIB, LIMIT_MS, 'nothing was sent');
    closeClients();
    await until(() => unread.of('one') === 0, LIMIT_MS, 'the bytes of a closed connection count');
  });

  test('the response to a change of the store is sent, although other bytes are unread', async (t) => {
    const { url, unread, sendOnly } = await serve(t, MIB);
    await sendOnly('/large');
    await until(() => unread.of('one') > MIB, LIMIT_MS, 'nothing was sent');
    const bytes = 'POST /api/v1/products HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n';
    const { answers } = await exchange(url, bytes, { answers: 1 });
    assert.equal(answers[0]?.status, 200);
  });

  test('responses that their clients read are never rejected', async (t) => {
    const { url, counts } = await serve(t, MIB);
    for (let round = 0; round < 3; round += 1) {
      const response = await fetch(`${url}/large/${round}`);
      assert.equal((await response.bytes()).length, LARGE_BYTES);
    }
    assert.equal(counts.rejected, 0);
  });
});
