// Every path counts in a rate limit, whoever registers it: the test finds the routes of all interfaces by itself.

import assert from 'node:assert/strict';
import diagnostics from 'node:diagnostics_channel';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { FAILURES_A_MINUTE_MAX } from '../../src/shop/http/authenticate.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Paths without a route. They cost a response too. */
const UNKNOWN = [
  '/nothing',
  '/v1/nothing',
  '/explore/v1/a/b',
  '/api/v1/nothing',
  '/api/v1',
  '/intake/v1/nothing',
  '/wp',
];
const DOCUMENTS = ['/v1', '/explore/v1', '/api/v1', '/intake/v1'].map((prefix) => `${prefix}/openapi.json`);

type Route = { method: string; path: string };

describe('rate limits', () => {
  const routes: Route[] = [];
  let service: TestService;
  let clients = 0;

  before(async () => {
    const collect = (message: unknown) => {
      (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', (route) => {
        for (const method of [route.method].flat()) routes.push({ method, path: route.url });
      });
    };
    const consoleFolder = path.join(temporaryDirectory(), 'console');
    mkdirSync(path.join(consoleFolder, 'console'), { recursive: true });
    writeFileSync(path.join(consoleFolder, 'index.html'), '<!doctype html>');
    writeFileSync(path.join(consoleFolder, 'console', 'a.js'), 'export {};');
    diagnostics.subscribe('fastify.initialization', collect);
    service = await startTestService({
      settings: { DATA_DIR: await directoryWithDatabase(), TRUST_PROXY: '1' },
      limits: { list: 1, single: 1, message: 1 },
      sample: true,
      consoleFolder,
    });
    diagnostics.unsubscribe('fastify.initialization', collect);
  });
  after(async () => {
    await service.close();
    await cleanUp();
  });

  const newClient = () => {
    clients += 1;
    return `192.0.2.${clients}`;
  };

  /** The status of the response, without its body: the body of a stream does not end. */
  const send = ({ method, path: target }: Route, client: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { 'x-forwarded-for': client };
      const call = request(`${service.url}${target}`, { method, headers, agent: false }, (response) => {
        resolve(response.statusCode ?? 0);
        response.destroy();
      });
      call.on('error', reject).end();
    });

  test('every route of every interface counts, and so does a path without a route', async () => {
    const served = routes.filter(({ path: pattern }) => !pattern.startsWith('/operator/'));
    for (const known of ['/v1/collections', '/api/v1/inventory', '/intake/v1/records', '/mcp', '/', '/docs', '/status'])
      assert.ok(
        served.some(({ path: pattern }) => pattern === known),
        `${known} is not among the routes`,
      );
    const uncounted: string[] = [];
    for (const { method, path: pattern } of [
      ...served,
      ...DOCUMENTS.map((document) => ({ method: 'GET', path: document })),
      ...UNKNOWN.map((unknown) => ({ method: 'GET', path: unknown })),
    ]) {
      const route = { method, path: pattern.replaceAll(/:\w+/g, 'x') };
      const client = newClient();
      const first = await send(route, client);
      // A request without a usable key is counted in a bucket of its own.
      const more = first === 401 ? FAILURES_A_MINUTE_MAX : 1;
      let last = first;
      for (let sent = 0; sent < more; sent += 1) last = await send(route, client);
      if (first === 429 || last !== 429) uncounted.push(`${method} ${pattern}: ${first}, ${last}`);
    }
    assert.deepEqual(uncounted, []);
  });

  test('only the health checks are free', async () => {
    const client = newClient();
    for (const free of ['/livez', '/readyz', '/livez', '/readyz'])
      assert.equal(await send({ method: 'GET', path: free }, client), 200, free);
  });

  test('each OpenAPI document is made once for concurrent requests, and then served from the response cache', async () => {
    for (const document of DOCUMENTS) {
      const responses = await Promise.all(
        Array.from({ length: 4 }, () =>
          fetch(`${service.url}${document}`, { headers: { 'x-forwarded-for': newClient() } }),
        ),
      );
      for (const response of responses) {
        assert.equal(response.status, 200, document);
        assert.match(response.headers.get('cache-control') ?? '', /s-maxage=300/, document);
        assert.equal(response.headers.get('etag'), responses[0]?.headers.get('etag'));
        await response.text();
      }
    }
  });
});
