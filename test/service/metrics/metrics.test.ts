// Tests what the metrics count, and where they can be read.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { request } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { createLog } from '../../../src/platform/core/log.ts';
import { parseMetricsAddress } from '../../../src/platform/core/metrics-address.ts';
import { startMetricsServer } from '../../../src/service/metrics/metrics-server.ts';
import { cleanUp } from '../../support/engines/cleanup.ts';
import { START } from '../../support/service/market.ts';
import { freePort } from '../../support/free-port.ts';
import { directoryWithDatabase } from '../../support/engines/embedded-template.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { TestService } from '../../support/service/service.ts';
import { startTestService } from '../../support/service/service.ts';
import { startOnTwoDatabases, withTwoServers } from '../../degradation/two-databases.ts';

/** The number of keys that have metrics of their own. */
const KEYS_WITH_METRICS = 200;
/** Longer than the time for which the server caches the metrics. */
const READ_AGAIN_MS = 1_050;

type Sample = { name: string; labels: Record<string, string>; value: number };

function parseMetrics(body: string): Sample[] {
  return body
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', found = '']) => [key, found] as const);
      return { name, labels: Object.fromEntries(pairs), value: Number(value) };
    });
}

async function readMetrics(address: string): Promise<(name: string, labels?: Record<string, string>) => number | null> {
  await new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS));
  const response = await fetch(`http://${address}/metrics`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const samples = parseMetrics(await response.text());
  return (name, labels = {}) => {
    const matching = samples.filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
    return matching.length === 0 ? null : matching.reduce((sum, { value }) => sum + value, 0);
  };
}

describe('the metrics of a service', () => {
  let service: TestService;
  let address: string;
  before(async () => {
    address = `127.0.0.1:${await freePort()}`;
    const settings = { DATA_DIR: await directoryWithDatabase(), METRICS_ADDRESS: address };
    // The clock stands still. A cached response then stays fresh, however slow the machine is.
    service = await startTestService({
      settings,
      limits: { list: 3, single: 1_000, message: 1_000 },
      clock: () => START,
    });
  });
  after(async () => {
    await service.close();
    await cleanUp();
  });

  test('the metrics count requests by operation and status, including responses from the cache', async () => {
    for (let number = 0; number < 5; number += 1) await service.get('/v1/collections');
    for (const id of ['a', 'b']) await service.get(`/v1/collections/${id}`);
    await fetch(`${service.url}/api/v1/products`);
    await fetch(`${service.url}/v1`, { method: 'PATCH' });
    const metric = await readMetrics(address);
    const requests = (route: string, status: number, method = 'GET') =>
      metric('http_server_request_duration_seconds_count', {
        http_request_method: method,
        http_route: route,
        http_response_status_code: String(status),
      });
    assert.equal(requests('/v1/collections', 200), 3);
    assert.equal(requests('', 429), 2);
    assert.equal(requests('/v1/collections/:id', 404), 2);
    assert.equal(requests('/api/v1/products', 401), 1);
    assert.equal(requests('', 405, 'PATCH'), 1);
    assert.equal(metric('mercat_rejected_requests_total', { limit: 'list' }), 2);
    assert.equal(metric('mercat_response_cache_requests_total', { result: 'hit' }), 2);
    assert.ok((metric('http_server_request_duration_seconds_sum') ?? 0) > 0);
  });

  test('the metrics count reads of products whose responses are cached', async () => {
    await service.operate('shops.create', { name: 'read' });
    const { body } = await service.operate('keys.create', { shop: 'read', scopes: ['products:read'] });
    const readCount = async (status: number) =>
      (await readMetrics(address))('http_server_request_duration_seconds_count', {
        http_route: '/api/v1/products',
        http_response_status_code: String(status),
      });
    const headers = { authorization: `Bearer ${body.result.secret}` };
    const read = async (query: string) => {
      const { status } = await fetch(`${service.url}/api/v1/products${query}`, { headers });
      assert.equal(status, 200);
    };
    await read('');
    assert.equal(await readCount(200), 1);
    for (let number = 0; number < 3; number += 1) await read('');
    assert.equal(await readCount(200), 4);
  });

  test('the metrics count the requests of each key, and those of all keys beyond a limit together', async () => {
    await service.operate('shops.create', { name: 'counted' });
    const secrets: { id: string; secret: string }[] = [];
    for (let number = 0; number < KEYS_WITH_METRICS + 3; number += 1) {
      const { body } = await service.operate('keys.create', { shop: 'counted', scopes: ['products:read'] });
      secrets.push(body.result);
    }
    for (const { secret } of secrets) {
      const headers = { authorization: `Bearer ${secret}` };
      assert.equal((await fetch(`${service.url}/api/v1/inventory`, { headers })).status, 403);
    }
    const metric = await readMetrics(address);
    assert.equal(metric('mercat_key_requests_total', { key: secrets[0]?.id ?? '', status: '4xx' }), 1);
    const all = metric('mercat_key_requests_total', { status: '4xx' }) ?? 0;
    assert.equal(all, secrets.length);
    assert.ok((metric('mercat_key_requests_total', { key: 'other', shop: '' }) ?? 0) >= 3);
  });

  test('the metrics show pools, breakers, tasks, the webhook queue and the process', async () => {
    const metric = await readMetrics(address);
    assert.equal(metric('db_client_connection_max', { db_client_connection_pool_name: 'main' }), 1);
    assert.equal(metric('mercat_breaker_open', { kind: 'source', name: 'indexer-mirror' }), 0);
    assert.notEqual(metric('mercat_task_period_seconds', { task: 'expiry' }), null);
    assert.equal(metric('mercat_webhook_deliveries_pending'), 0);
    assert.equal(metric('mercat_webhook_oldest_due_age_seconds'), 0);
    for (const section of ['tasks', 'chains', 'webhooks'])
      assert.equal(metric('mercat_metrics_section_readable', { section }), 1);
    for (const name of ['process_memory_usage_bytes', 'v8js_memory_heap_used_bytes', 'process_cpu_time_seconds_total'])
      assert.ok((metric(name) ?? 0) > 0, name);
    assert.notEqual(metric('nodejs_eventloop_delay_p99_seconds'), null);
    assert.equal(metric('target_info', { service_name: 'mercat' }), 1);
  });

  test('the metrics are served only on their own port, which serves nothing else', async () => {
    assert.equal((await fetch(`${service.url}/metrics`)).status, 404);
    assert.equal((await fetch(`http://${address}/v1`)).status, 404);
    const post = await fetch(`http://${address}/metrics`, { method: 'POST' });
    assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD']);
  });
});

test('metrics can be served on a Unix socket that other users cannot open', async () => {
  const socketPath = path.join(temporaryDirectory(), 'metrics.sock');
  const metrics = { contentType: 'text/plain', text: () => Promise.resolve('up 1\n') };
  const log = createLog('silent');
  // A killed process leaves a socket on which nobody listens. At the second start there is such a socket.
  for (const start of ['first', 'second']) {
    const server = await startMetricsServer({ path: socketPath }, log);
    const read = () =>
      new Promise<[number | undefined, string]>((resolve, reject) => {
        request(
          { socketPath, path: '/metrics', agent: false },
          (response) => void text(response).then((body) => resolve([response.statusCode, body]), reject),
        )
          .on('error', reject)
          .end();
      });
    const [status, body] = await read();
    assert.equal(status, 503);
    assert.match(body, /The process is starting/);
    server.serve(metrics);
    assert.deepEqual(await read(), [200, 'up 1\n'], start);
    assert.equal(statSync(socketPath).mode & 0o007, 0);
    await server.close();
    await leaveSocket(socketPath);
  }
});

test('when the port of the metrics is in use, the error names the setting METRICS_ADDRESS', async () => {
  const port = await freePort();
  const server = net.createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  await assert.rejects(startMetricsServer({ host: '127.0.0.1', port }, createLog('silent')), {
    message: `cannot listen on 127.0.0.1:${port}: listen EADDRINUSE: address already in use 127.0.0.1:${port}; choose another port with METRICS_ADDRESS`,
  });
  server.close();
});

test('when METRICS_ADDRESS names a file that is not a socket, the start fails and the file is not deleted', async () => {
  const file = path.join(temporaryDirectory(), 'notes.txt');
  writeFileSync(file, 'notes');
  await assert.rejects(
    startMetricsServer({ path: file }, createLog('silent')),
    ({ message }: Error) =>
      message.startsWith(`cannot listen on ${file}: `) &&
      message.endsWith('; choose another path with METRICS_ADDRESS'),
  );
  assert.equal(readFileSync(file, 'utf8'), 'notes');
});

/**
 * Makes a socket file on which no process listens. When the server closes, it removes only the name on which it listened, so the renamed file
 * stays.
 */
async function leaveSocket(socketPath: string): Promise<void> {
  const server = net.createServer().listen(`${socketPath}.listening`);
  await once(server, 'listening');
  renameSync(`${socketPath}.listening`, socketPath);
  server.close();
  await once(server, 'close');
}

describe('the setting METRICS_ADDRESS', () => {
  for (const [setting, address] of [
    ['', null],
    ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
    ['[::1]:9464', { host: '::1', port: 9464 }],
    ['./metrics.sock', { path: './metrics.sock' }],
    ['9464', undefined],
    ['localhost', undefined],
    ['localhost:0', undefined],
    ['localhost:70000', undefined],
    ['a b:1', undefined],
  ] as const) {
    test(`METRICS_ADDRESS=${setting} is ${address === undefined ? 'rejected' : `read as ${JSON.stringify(address)}`}`, () =>
      assert.deepEqual(parseMetricsAddress(setting), address));
  }
});

withTwoServers('the metrics, while the primary is stopped', (servers) => {
  test('while the primary is stopped, the metrics show what this process knows, and mark the sections that cannot be read', async (t) => {
    const address = `127.0.0.1:${await freePort()}`;
    await startOnTwoDatabases(t, servers, { settings: { METRICS_ADDRESS: address } });
    await servers.primary.stop();
    t.after(() => servers.primary.start());
    const metric = await readMetrics(address);
    assert.equal(metric('mercat_metrics_section_readable', { section: 'webhooks' }), 0);
    assert.equal(metric('mercat_webhook_deliveries_pending'), null);
    assert.ok((metric('process_memory_usage_bytes') ?? 0) > 0);
    assert.equal(metric('db_client_connection_max', { db_client_connection_pool_name: 'indexer' }), 10);
    assert.equal(metric('db_client_connection_max', { db_client_connection_pool_name: 'store' }), 10);
  });
});
