// Tests the parts of the telemetry export one by one: the sampler, the queue of spans, the client, the spans of outgoing calls, the export at
// the end of the service, and the settings.

import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { traced, tracedOperations } from '../../../src/platform/core/traced.ts';
import { exchange } from '../../../src/platform/resilience/http-exchange.ts';
import { OtlpClient } from '../../../src/service/telemetry/otlp-client.ts';
import { createSampler } from '../../../src/service/telemetry/sampler.ts';
import { SpanQueue } from '../../../src/service/telemetry/span-queue.ts';
import type { Span } from '../../../src/service/telemetry/tracer.ts';
import { Telemetry } from '../../../src/service/telemetry/telemetry.ts';
import { Tracer } from '../../../src/service/telemetry/tracer.ts';
import { respondWith, startReceiver } from '../../shop/webhooks/fixtures.ts';
import { metricsOf, spansOf } from './otlp.ts';

const WAIT_MS = 30_000;
/** The longest time that a request to the receiver may take. */
const POST_TIMEOUT_MS = 10_000;

const receiver = await startReceiver();
beforeEach(() => {
  receiver.received.length = 0;
  receiver.respond = respondWith(200);
});
after(() => receiver.close());

describe('the sampler', () => {
  const low = `${'f'.repeat(18)}${'0'.repeat(14)}`;
  const high = `${'0'.repeat(18)}${'f'.repeat(14)}`;
  for (const [name, ratio, traceId, isParentSampled, expected] of [
    ['always_on', 0, high, false, true],
    ['always_off', 1, low, true, false],
    ['traceidratio', 0, low, true, false],
    ['traceidratio', 0.5, low, false, true],
    ['traceidratio', 0.5, high, true, false],
    ['traceidratio', 1, high, null, true],
    ['parentbased_always_on', 1, low, false, false],
    ['parentbased_always_on', 1, low, null, true],
    ['parentbased_always_off', 1, low, true, true],
    ['parentbased_always_off', 1, low, null, false],
    ['parentbased_traceidratio', 0.5, high, true, true],
    ['parentbased_traceidratio', 0.5, high, null, false],
  ] as const) {
    const parent = isParentSampled === null ? 'without a parent' : `if the parent decided ${isParentSampled}`;
    test(`the sampler ${name} with ${ratio} decides ${expected} ${parent}`, () =>
      assert.equal(createSampler(name, ratio)(traceId, isParentSampled), expected));
  }
});

describe('the queue of spans', () => {
  const span: Span = {
    traceId: 'a',
    spanId: 'b',
    parentId: null,
    kind: 'internal',
    name: 'x',
    startedAt: 0,
    endedAt: 1,
    attributes: {},
    hasFailed: false,
  };

  test('the queue keeps a limited number of spans while the receiver is unavailable, and sends them afterwards', async () => {
    let isAvailable = false;
    let sent = 0;
    const queue = new SpanQueue(async (batch) => {
      if (!isAvailable) return 'unavailable';
      sent += batch.length;
      return 'accepted';
    });
    for (let number = 0; number < 100_000; number += 1) queue.add(span);
    await queue.flush();
    assert.deepEqual([queue.takeDropped(), queue.takeDropped()], [100_000 - 2_048, 0]);
    isAvailable = true;
    await queue.flush();
    assert.equal(sent, 2_048);
    queue.add(span);
    await queue.flush();
    assert.equal(sent, 2_049);
  });

  test('a batch that the receiver rejects is not sent again, and its spans count as dropped', async () => {
    const batches: number[] = [];
    const queue = new SpanQueue(async (batch) => {
      batches.push(batch.length);
      return 'rejected';
    });
    for (let number = 0; number < 3; number += 1) queue.add(span);
    await queue.flush();
    await queue.flush();
    assert.deepEqual(batches, [3]);
    assert.deepEqual([queue.takeDropped(), queue.takeDropped()], [3, 0]);
  });
});

test('an outage of the receiver is logged once when it begins and once when it ends, without the URL', async () => {
  const lines: string[] = [];
  const endpoint = `${receiver.url}/path-with-a-key`;
  const client = new OtlpClient({ endpoint, headers: {}, log: createLog('info', (line) => lines.push(line)) });
  const results: string[] = [];
  for (const status of [503, 400, 429, 200, 200]) {
    receiver.respond = respondWith(status);
    results.push(await client.post('/v1/traces', '{}'));
  }
  assert.deepEqual(results, ['unavailable', 'rejected', 'unavailable', 'accepted', 'accepted']);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).message),
    ['telemetry cannot be exported', 'telemetry is exported again'],
  );
  assert.ok(!lines.join('').includes('path-with-a-key'));
  client.abort();
  assert.equal(await client.post('/v1/traces', '{}'), 'unavailable');
});

describe('outgoing calls', () => {
  const call = (path: string, trace?: { peer: string }) =>
    exchange(`${receiver.url}/${path}`, { timeoutMs: 10_000, bytesMax: 100, ...(trace && { trace }) });

  test('the span of a call has the name of the upstream instead of its URL, and the request has no traceparent header', async () => {
    const spans: Span[] = [];
    const tracer = new Tracer(
      () => true,
      (span) => spans.push(span),
    );
    tracer.start();
    try {
      await call('v2/key?api-key=key', { peer: 'opensea' });
      receiver.respond = respondWith(302, { location: '/key' });
      await assert.rejects(call('v2/key', { peer: 'opensea' }));
      await call('v2/key').catch(() => null);
    } finally {
      tracer.stop();
    }
    assert.deepEqual(
      spans.map(({ name, kind, attributes, hasFailed }) => [name, kind, attributes, hasFailed]),
      [
        [
          'GET opensea',
          'client',
          { 'http.request.method': 'GET', 'http.response.status_code': 200, 'server.service.name': 'opensea' },
          false,
        ],
        [
          'GET opensea',
          'client',
          { 'error.type': 'ExchangeFailure', 'http.request.method': 'GET', 'server.service.name': 'opensea' },
          true,
        ],
      ],
    );
    for (const { headers } of receiver.received) assert.equal(headers['traceparent'], undefined);
  });

  test('after the tracer has stopped, no span is made', async () => {
    const spans: Span[] = [];
    const tracer = new Tracer(
      () => true,
      (span) => spans.push(span),
    );
    tracer.start();
    tracer.stop();
    await call('a', { peer: 'opensea' });
    assert.deepEqual(spans, []);
  });
});

describe('the end of the service', () => {
  const metrics = {
    families: () =>
      Promise.resolve([
        { name: 'a', help: '', unit: 's', data: { type: 'gauge' as const, points: [{ attributes: {}, value: 1.5 }] } },
      ]),
  };
  const operation = () => ({ kind: 'internal' as const, name: 'task a', needsParent: false, attributes: {} });
  const startTelemetry = (flushTimeoutMs: number, settings: Record<string, string> = {}) => {
    const log = createLog('silent');
    const config = readConfig(settings);
    const telemetry = new Telemetry(receiver.url, {
      config,
      serviceName: 'mercat',
      version: '1.0.0',
      log,
      flushTimeoutMs,
    });
    telemetry.start();
    return telemetry;
  };

  test('the end of the service exports the spans and metrics that were not exported yet', async () => {
    const telemetry = startTelemetry(WAIT_MS);
    telemetry.exportMetrics(metrics);
    await traced(operation, async () => undefined);
    await telemetry.close();
    assert.deepEqual(
      spansOf(receiver).map(({ name }) => name),
      ['task a'],
    );
    assert.deepEqual(
      metricsOf(receiver).map(({ name, points }) => [name, points[0]?.asDouble]),
      [['a', 1.5]],
    );
  });

  test('the last spans are exported even if the metrics cannot be read', async () => {
    const telemetry = startTelemetry(WAIT_MS);
    telemetry.exportMetrics({ families: () => Promise.reject(new Error('no metrics')) });
    await traced(operation, async () => undefined);
    receiver.respond = (
      (respond) =>
      (...args) =>
        void setTimeout(respond, 50, ...args)
    )(receiver.respond);
    await assert.rejects(telemetry.close(), /no metrics/);
    assert.deepEqual(
      spansOf(receiver).map(({ name }) => name),
      ['task a'],
    );
  });

  test('the end of the service waits only for a limited time for a receiver that never responds', async () => {
    receiver.respond = () => undefined;
    const telemetry = startTelemetry(10);
    telemetry.exportMetrics(metrics);
    await traced(operation, async () => undefined);
    const startedAt = performance.now();
    await telemetry.close();
    assert.ok(performance.now() - startedAt < POST_TIMEOUT_MS);
  });

  test('OTEL_TRACES_EXPORTER and OTEL_METRICS_EXPORTER switch off traces and metrics', async () => {
    const withoutTraces = startTelemetry(WAIT_MS, { OTEL_TRACES_EXPORTER: 'none' });
    assert.deepEqual([withoutTraces.tracer, withoutTraces.exportsMetrics], [null, true]);
    assert.equal(tracedOperations.hasSubscribers, false);
    const withoutMetrics = startTelemetry(WAIT_MS, { OTEL_METRICS_EXPORTER: 'none' });
    assert.deepEqual([withoutMetrics.tracer === null, withoutMetrics.exportsMetrics], [false, false]);
    await Promise.all([withoutTraces.close(), withoutMetrics.close()]);
  });
});

describe('the settings', () => {
  test('headers and attributes are decoded', () => {
    const config = readConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://a.example/otlp/',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20YTpi,x-key = k=1 ',
      OTEL_RESOURCE_ATTRIBUTES: 'service.namespace=shops,host.name=a%2Cb,',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    });
    assert.equal(config.otlpEndpoint, 'https://a.example/otlp');
    assert.deepEqual(config.otlpHeaders, { Authorization: 'Basic YTpi', 'x-key': 'k=1' });
    assert.deepEqual(config.resourceAttributes, { 'service.namespace': 'shops', 'host.name': 'a,b' });
    assert.equal(config.samplerRatio, 0.25);
  });

  for (const [name, text] of [
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://user:secret@a.example'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'a.example:4318'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'key=secret%0d%0aevil: 1'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'key=secret%zz'],
    ['OTEL_RESOURCE_ATTRIBUTES', '=x'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_METRICS_EXPORTER', 'prometheus'],
    ['OTEL_METRIC_EXPORT_INTERVAL', '10'],
  ] as const) {
    test(`${name} rejects ${JSON.stringify(text)} without showing a secret`, () =>
      assert.throws(
        () => readConfig({ [name]: text }),
        ({ message }: Error) => message.includes(`${name} must be`) && !message.includes('secret'),
      ));
  }
});
