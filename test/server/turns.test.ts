// Tests how requests are spread over turns of the event loop (server/turns.ts).

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { handleInTurns } from '../../src/server/turns.ts';
import { startTestService } from '../support/service/service.ts';
import { until } from '../support/until.ts';

const LIMIT_MS = 60_000;
const CLIENTS = 100;
/** Longer than a turn, so that a turn handles one request as it arrives, and one that has waited. */
const WORK_MS = 3;

async function connect(port: number): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

function connectAll(port: number): Promise<net.Socket[]> {
  return Promise.all(Array.from({ length: CLIENTS }, () => connect(port)));
}

async function serveInTurns(t: TestContext, handle: RequestListener) {
  const { listener, noteConnection } = handleInTurns(handle);
  const server = createServer(listener).on('connection', noteConnection).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port };
}

/** Connects clients, sends the requests of all of them at once, and calls `handle` in turns. */
async function sendAtOnce(t: TestContext, handle: RequestListener) {
  const { server, port } = await serveInTurns(t, handle);
  const sockets = await connectAll(port);
  await until(async () => (await connectionsOf(server)) === CLIENTS, LIMIT_MS, 'the connections were not accepted');
  sockets.forEach((socket, index) => socket.write(requestOf(`/${index}`)));
  return { sockets, url: `http://127.0.0.1:${port}` };
}

function connectionsOf(server: net.Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

function requestOf(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
}

function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('a turn of the event loop handles a few requests, and the others wait in their order', async (t) => {
  let turn = 0;
  const counting = setInterval(() => undefined, 1_000);
  const count = () => {
    turn += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  t.after(() => {
    clearInterval(counting);
    clearImmediate(immediate);
  });
  const handledIn: number[] = [];
  await sendAtOnce(t, (_request, response) => {
    handledIn.push(turn);
    work(WORK_MS);
    response.end();
  });
  await until(() => handledIn.length === CLIENTS, LIMIT_MS, 'a request was not handled');
  const perTurn = Map.groupBy(handledIn, (turn) => turn).values();
  const most = Math.max(...[...perTurn].map((requests) => requests.length));
  assert.ok(most <= 2, `a turn handled ${most} requests`);
});

test('clients that connect at once are all connected before their requests are handled', async (t) => {
  const connectedAtRequest: number[] = [];
  const { server, port } = await serveInTurns(t, (_request, response) => {
    connectedAtRequest.push(connected);
    work(WORK_MS);
    response.end();
  });
  let connected = 0;
  server.on('connection', () => (connected += 1));
  for (let n = 0; n < CLIENTS; n += 1) net.connect(port, '127.0.0.1').write(requestOf(`/${n}`));
  await until(() => connectedAtRequest.length === CLIENTS, LIMIT_MS, 'a request was not handled');
  const first = connectedAtRequest[0] ?? 0;
  assert.ok(first > CLIENTS / 2, `the first request was handled after ${first} clients had connected`);
});

test('a request is handled although a client connects in each turn', async (t) => {
  let [connected, connectedAtRequest] = [0, Number.POSITIVE_INFINITY];
  const { server, port } = await serveInTurns(t, (_request, response) => {
    connectedAtRequest = connected;
    response.end();
  });
  server.on('connection', () => (connected += 1));
  const clients: net.Socket[] = [];
  const connectInEachTurn = (): void => {
    clients.push(net.connect(port, '127.0.0.1').on('error', () => undefined));
    connecting = setImmediate(connectInEachTurn);
  };
  let connecting = setImmediate(connectInEachTurn);
  t.after(() => {
    clearImmediate(connecting);
    for (const client of clients) client.destroy();
  });
  const socket = await connect(port);
  socket.write(requestOf('/'));
  await once(socket, 'data');
  assert.ok(connectedAtRequest < 1_500, `it was handled after ${connectedAtRequest} clients had connected`);
});

test('a request whose client disconnects while it waits is dropped', async (t) => {
  let handled = 0;
  const { sockets, url } = await sendAtOnce(t, (_request, response) => {
    handled += 1;
    // The clients disconnect while the first request is handled and the others wait.
    if (handled === 1) for (const socket of sockets) socket.destroy();
    work(WORK_MS);
    response.end();
  });
  // The request after them is handled when none of them waits any more.
  await until(() => handled > 0, LIMIT_MS, 'no request was handled');
  await fetch(url);
  assert.ok(handled < CLIENTS / 2, `${handled} requests were handled`);
});

test('a health check is answered before requests that arrived earlier', async (t) => {
  const service = await startTestService({ settings: { RATE_LIMITS_EXEMPT: '127.0.0.1' } });
  t.after(() => service.close());
  const port = Number(new URL(service.url).port);
  const sockets = [...(await connectAll(port)), await connect(port)];
  // The server has accepted a connection when it answers on it.
  for (const socket of sockets) {
    socket.write(requestOf('/livez'));
    await once(socket, 'data');
  }
  const answered: string[] = [];
  sockets.forEach((socket, index) => {
    const path = index < CLIENTS ? '/explore/v1/collections?limit=0' : '/livez';
    socket.once('data', () => answered.push(path));
    socket.write(requestOf(path));
  });
  await until(() => answered.length === sockets.length, LIMIT_MS, 'a request was not answered');
  for (const socket of sockets) socket.destroy();
  assert.ok(answered.indexOf('/livez') < CLIENTS / 2, `${answered.indexOf('/livez')} were answered before`);
});
