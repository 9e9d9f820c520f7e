// Tests the edge with a rate limiter that responds late. Responses must keep the order of their requests. Requests of closed connections must
// not be routed.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { createEdge } from '../../src/server/edge.ts';
import { createNodeServer } from '../../src/server/node-server.ts';
import { UnreadBytes } from '../../src/server/unread-bytes.ts';
import type { RateLimitExceeded } from '../../src/platform/http/rate-limit.ts';
import { until } from '../support/until.ts';
import { exchange } from '../support/http/raw-http.ts';

const LIMIT_MS = 60_000;
const REJECTION: RateLimitExceeded = { limit: 1, resetAt: 60_000, leftMs: 60_000 };

type Verdict = PromiseWithResolvers<RateLimitExceeded | null>;

/** An edge with a route that responds with the path. The limiter resolves when the test decides. */
async function startEdge(t: TestContext) {
  const verdicts: Verdict[] = [];
  const sockets: net.Socket[] = [];
  const routed: string[] = [];
  const edge = createEdge(
    {
      routes: { bucketOf: () => 'single' },
      requests: {
        count: () => {
          const verdict: Verdict = Promise.withResolvers();
          verdicts.push(verdict);
          return verdict.promise;
        },
      },
      responses: { peek: () => undefined },
      unread: new UnreadBytes({ clientAddress: () => '', onRejected: () => undefined }),
      clock: () => 0,
      baseUrl: () => 'http://127.0.0.1',
      observation: null,
    },
    (request: IncomingMessage, response: ServerResponse) => {
      routed.push(request.url ?? '');
      response.end(request.url);
    },
  );
  const server = createNodeServer(edge).listen(0, '127.0.0.1');
  server.on('connection', (socket: net.Socket) => sockets.push(socket));
  await once(server, 'listening');
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, verdicts, sockets, routed };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

test('responses keep the order of their requests even if the limiter resolves in another order', async (t) => {
  const { url, verdicts } = await startEdge(t);
  const exchanged = exchange(url, get('/a') + get('/b') + get('/c') + get('/d'), { answers: 4 });
  await until(() => verdicts.length === 4, LIMIT_MS, 'the requests did not arrive');
  for (const index of [3, 1, 0, 2]) {
    verdicts[index]?.resolve(index === 1 ? REJECTION : null);
    await new Promise(setImmediate);
  }
  const { answers } = await exchanged;
  assert.deepEqual(
    answers.map(({ status, body }) => (status === 200 ? body : status)),
    ['/a', 429, '/c', '/d'],
  );
});

test('a request is not routed if its connection is closed while the request is being counted', async (t) => {
  const { url, verdicts, sockets, routed } = await startEdge(t);
  const client = net.connect(Number(new URL(url).port), '127.0.0.1');
  client.write(get('/gone') + get('/gone'));
  await until(() => verdicts.length === 2, LIMIT_MS, 'the requests did not arrive');
  client.resetAndDestroy();
  await until(() => sockets.every(({ destroyed }) => destroyed), LIMIT_MS, 'the connection is still open');
  for (const [index, { resolve }] of verdicts.entries()) resolve(index === 0 ? null : REJECTION);
  const next = exchange(url, get('/next'), { answers: 1 });
  await until(() => verdicts.length === 3, LIMIT_MS, 'the request did not arrive');
  verdicts[2]?.resolve(null);
  assert.equal((await next).answers[0]?.body, '/next');
  assert.deepEqual(routed, ['/next']);
});
