// Decodes the OTLP/JSON requests that an OpenTelemetry receiver has received, by the specification of OTLP.

import assert from 'node:assert/strict';
import type { Receiver } from '../../shop/webhooks/fixtures.ts';

export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  kind: 'internal' | 'server' | 'client';
  startNs: bigint;
  endNs: bigint;
  attributes: Record<string, string | number>;
  isError: boolean;
};

export type ReceivedMetric = {
  name: string;
  unit: string;
  type: string;
  points: { attributes: Record<string, string | number>; [field: string]: any }[];
};

const KINDS: readonly (ReceivedSpan['kind'] | undefined)[] = [undefined, 'internal', 'server', 'client'];

export function spansOf(receiver: Receiver): ReceivedSpan[] {
  return bodiesOf(receiver, '/v1/traces').flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap((resource: any) => resource.scopeSpans.flatMap((scope: any) => scope.spans.map(toSpan))),
  );
}

/** The metrics of the latest request. */
export function metricsOf(receiver: Receiver): ReceivedMetric[] {
  const latest = bodiesOf(receiver, '/v1/metrics').at(-1);
  if (!latest) return [];
  return latest.resourceMetrics.flatMap((resource: any) =>
    resource.scopeMetrics.flatMap((scope: any) => scope.metrics.map(toMetric)),
  );
}

export function resourceOf(receiver: Receiver, path: '/v1/traces' | '/v1/metrics'): Record<string, string | number> {
  const [body] = bodiesOf(receiver, path);
  const [resource] = Object.values(body)[0] as any[];
  return toAttributes(resource.resource.attributes);
}

function bodiesOf(receiver: Receiver, path: string): any[] {
  return receiver.received
    .filter((request) => request.path.endsWith(path))
    .map(({ headers, body }) => {
      assert.equal(headers['content-type'], 'application/json');
      return JSON.parse(body);
    });
}

function toSpan(span: any): ReceivedSpan {
  assert.match(span.traceId, /^[\da-f]{32}$/);
  assert.match(span.spanId, /^[\da-f]{16}$/);
  const kind = KINDS[span.kind];
  assert.ok(kind, `span kind ${span.kind}`);
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? null,
    name: span.name,
    kind,
    startNs: BigInt(span.startTimeUnixNano),
    endNs: BigInt(span.endTimeUnixNano),
    attributes: toAttributes(span.attributes),
    isError: span.status?.code === 2,
  };
}

function toMetric({ name, unit, gauge, sum, histogram }: any): ReceivedMetric {
  const data = gauge ?? sum ?? histogram;
  if (!gauge) assert.equal(data.aggregationTemporality, 2);
  const type = gauge ? 'gauge' : histogram ? 'histogram' : sum.isMonotonic ? 'counter' : 'updowncounter';
  const points = data.dataPoints.map((point: any) => ({ ...point, attributes: toAttributes(point.attributes) }));
  return { name, unit, type, points };
}

function toAttributes(list: any[]): Record<string, string | number> {
  return Object.fromEntries(
    list.map(({ key, value }) => [key, 'intValue' in value ? Number(value.intValue) : value.stringValue]),
  );
}
