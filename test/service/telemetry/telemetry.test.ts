// Tests the traces and metrics that a running service sends to an OpenTelemetry receiver.

import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { tracedOperations } from '../../../src/platform/core/traced.ts';
import { METRIC_CONVENTIONS } from '../../../src/service/metrics/metric-families.ts';
import { cleanUp } from '../../support/engines/cleanup.ts';
import { directoryWithDatabase } from '../../support/engines/embedded-template.ts';
import { startTestService } from '../../support/service/service.ts';
import { forOneStore } from '../../support/service/shop.ts';
import { until } from '../../support/until.ts';
import { respondWith, startReceiver } from '../../shop/webhooks/fixtures.ts';
import type { ReceivedSpan } from './otlp.ts';
import { metricsOf, resourceOf, spansOf } from './otlp.ts';

const WAIT_MS = 30_000;
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';

const receiver = await startReceiver();
const settings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=collector%20key',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  OTEL_METRIC_EXPORT_INTERVAL: '1000',
};
beforeEach(() => {
  receiver.received.length = 0;
  receiver.respond = respondWith(200);
});
after(async () => {
  await receiver.close();
  await cleanUp();
});

/** Waits for a span with the given name. Resolves with all spans of its trace. */
async function traceWith(
  name: string,
  isOfTrace: (span: ReceivedSpan) => boolean = () => true,
): Promise<ReceivedSpan[]> {
  const find = () => spansOf(receiver).find((span) => span.name === name && isOfTrace(span));
  await until(() => find() !== undefined, WAIT_MS, `there was no span ${name}`);
  return spansOf(receiver).filter(({ traceId }) => traceId === find()?.traceId);
}

/**
 * A body whose second part arrives after the service has handled the headers. Node.js delivers this part in the async context of the
 * connection. The spans of the statements must nevertheless belong to the trace of the request.
 */
function sendLate(text: string): ReadableStream {
  const bytes = Buffer.from(text);
  return new ReadableStream({
    start: async (controller) => {
      controller.enqueue(bytes.subarray(0, 5));
      await new Promise((resolve) => setTimeout(resolve, 200));
      controller.enqueue(bytes.subarray(5));
      controller.close();
    },
  });
}
const PAUSE_NS = 1_000_000_000n;

forOneStore(
  'telemetry',
  (store) => {
    test('a request is a span of the trace that the client began, and the statements of the request are spans below it', async () => {
      const shop = await store.shop();
      const response = await fetch(`${store.service.url}/api/v1/products`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${shop.key.secret}`,
          'content-type': 'application/json',
          traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`,
          'x-request-id': 'request-1',
        },
        body: sendLate(JSON.stringify({ name: 'a name in a parameter', price: '5' })),
        duplex: 'half',
      });
      assert.equal(response.status, 201, await response.text());
      const [request, ...others] = (await traceWith('POST /api/v1/products')).toSorted((a, b) =>
        a.kind === 'server' ? -1 : b.kind === 'server' ? 1 : 0,
      );
      assert.ok(request);
      assert.deepEqual([request.traceId, request.parentSpanId, request.kind], [TRACE_ID, PARENT_ID, 'server']);
      assert.deepEqual(request.attributes, {
        'http.request.method': 'POST',
        'http.response.status_code': 201,
        'http.route': '/api/v1/products',
        'mercat.request.id': 'request-1',
        'url.path': '/api/v1/products',
        'url.scheme': 'http',
      });
      const insert = others.find((span) => /^(INSERT|WITH) main\.product\b/.test(span.name));
      assert.ok(insert, others.map(({ name }) => name).join());
      assert.equal(insert.kind, 'client');
      assert.equal(insert.attributes['db.system.name'], 'postgresql');
      assert.match(String(insert.attributes['db.query.text']), /insert into main\.product/);
      const transaction = others.find((span) => span.spanId === insert.parentSpanId);
      assert.equal(transaction?.name, 'transaction');
      // The times of each batch are converted with one reading of two clocks, between which a busy machine may pause.
      for (const span of others) {
        assert.ok(span.startNs >= request.startNs - PAUSE_NS && span.startNs <= span.endNs, span.name);
      }
      const sent = receiver.received.map(({ body }) => body).join();
      assert.ok(!sent.includes('a name in a parameter'), 'a parameter was exported');
      assert.ok(!sent.includes(shop.key.secret), 'a key was exported');
    });

    test('a failed request and a request that is served from the cache have spans too', async () => {
      await store.service.get('/v1/collections');
      await store.service.get('/v1/collections');
      await fetch(`${store.service.url}/v1`, { method: 'PATCH' });
      await until(() => spansOf(receiver).some(({ name }) => name === 'PATCH'), WAIT_MS, 'no span of PATCH');
      const reads = spansOf(receiver).filter(({ name }) => name === 'GET /v1/collections');
      assert.equal(reads.length, 2);
      assert.notEqual(reads[0]?.traceId, reads[1]?.traceId);
      for (const read of reads) assert.equal(read.parentSpanId, null);
    });

    test('a trace that the client does not sample is not exported', async () => {
      const headers = { traceparent: `00-${'a'.repeat(32)}-${PARENT_ID}-00` };
      await store.service.get('/v1/collections?limit=7', { headers });
      await store.service.get('/v1/chains-that-do-not-exist').catch(() => null);
      await traceWith('GET', ({ attributes }) => attributes['http.response.status_code'] === 404);
      assert.ok(!spansOf(receiver).some(({ traceId }) => traceId === 'a'.repeat(32)));
    });

    test('the span of a delivery does not have the URL, and the receiver of the delivery gets no traceparent', async () => {
      const shop = await store.shop();
      const hooks = await startReceiver();
      const url = `${hooks.url}/path-with-a-key?token=key-in-the-query`;
      await shop.ok('POST', '/webhooks', { url, events: ['product.created'] }, 201);
      await shop.product();
      const [span] = await traceWith('POST webhook');
      assert.equal(span?.attributes['http.response.status_code'], 204);
      assert.equal(hooks.received[0]?.headers['traceparent'], undefined);
      await hooks.close();
      const sent = receiver.received.map(({ body }) => body).join();
      assert.ok(!sent.includes('path-with-a-key') && !sent.includes('key-in-the-query'));
    });

    test('metrics have the names, units and types of OpenTelemetry', async () => {
      await store.service.get('/v1/collections');
      await until(() => metricsOf(receiver).length > 0, WAIT_MS, 'no metrics were sent');
      const metric = (name: string) => {
        const found = metricsOf(receiver).find((one) => one.name === name);
        assert.ok(found, name);
        return found;
      };
      const durations = metric('http.server.request.duration');
      assert.deepEqual([durations.type, durations.unit], ['histogram', 's']);
      const point = durations.points.find(({ attributes }) => attributes['http.route'] === '/v1/collections');
      assert.deepEqual(point?.attributes['http.response.status_code'], 200);
      assert.equal(point?.bucketCounts.length, point?.explicitBounds.length + 1);
      assert.equal(
        point?.bucketCounts.reduce((sum: number, count: string) => sum + Number(count), 0),
        Number(point?.count),
      );
      assert.ok(Number(point?.count) >= 1 && point?.sum > 0);
      const pools = metric('db.client.connection.max');
      assert.deepEqual(
        [pools.type, pools.points[0]?.attributes['db.client.connection.pool.name']],
        ['updowncounter', 'main'],
      );
      assert.deepEqual([metric('process.cpu.time').type, metric('process.cpu.time').unit], ['counter', 's']);
      assert.equal(metric('mercat.task.period').type, 'gauge');
      assert.ok(metric('process.memory.usage').points[0]?.asDouble > 1e6);
    });

    test('every request to the receiver has the headers and the resource attributes that the settings name', async () => {
      await until(
        () => spansOf(receiver).length > 0 && metricsOf(receiver).length > 0,
        WAIT_MS,
        'nothing was sent to the receiver',
      );
      for (const { headers } of receiver.received) assert.equal(headers['x-api-key'], 'collector key');
      for (const path of ['/v1/traces', '/v1/metrics'] as const) {
        const resource = resourceOf(receiver, path);
        assert.equal(resource['service.name'], 'mercat');
        assert.equal(resource['deployment.environment.name'], 'test');
        assert.equal(resource['process.pid'], process.pid);
      }
    });
  },
  { ...settings, WEBHOOK_ALLOW_PRIVATE: 'true' },
);

test('the Prometheus name of each metric follows from its OpenTelemetry name and unit', () => {
  const suffixes: Record<string, string> = { s: '_seconds', By: '_bytes', '1': '_ratio', blocks: '_blocks' };
  for (const [prometheusName, { name, unit }] of Object.entries(METRIC_CONVENTIONS)) {
    const withUnit = `${name.replaceAll('.', '_')}${suffixes[unit] ?? ''}`;
    assert.equal(prometheusName.replace(/_total$/, ''), withUnit);
  }
});

test('a receiver that never responds causes no failed request, and at most one line in the log', async (t) => {
  receiver.respond = () => undefined;
  const service = await startTestService({
    settings: { ...settings, SOURCE_TIMEOUT_MS: '60000', DATA_DIR: await directoryWithDatabase() },
  });
  t.after(() => service.close());
  for (let number = 0; number < 20; number += 1) await service.ok(`/v1/collections?limit=${number + 1}`);
  await until(() => receiver.received.length > 0, WAIT_MS, 'nothing was sent to the receiver');
  await service.close();
  assert.ok(service.logged.filter((line) => line.includes('telemetry')).length <= 1);
  assert.equal(tracedOperations.hasSubscribers, false);
});
