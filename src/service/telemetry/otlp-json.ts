// Converts spans and metrics to the JSON encoding of OTLP 1 (opentelemetry-proto), in which ids are hexadecimal and 64-bit integers are text.

import type { TracedAttributes } from '../../platform/core/traced.ts';
import { redact } from '../../platform/core/redaction.ts';
import type { MetricFamily } from '../metrics/metric-families.ts';
import type { Span } from './tracer.ts';

/** The process that exports, and the version of the program. */
export type Resource = { attributes: TracedAttributes; version: string };

const SCOPE_NAME = 'mercat';
const SPAN_KINDS: Record<Span['kind'], number> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;
const TEMPORALITY_CUMULATIVE = 2;

/** `originMs`: when `performance.now()` was 0, in milliseconds since the epoch. */
export function toTracesJson(resource: Resource, spans: readonly Span[], originMs: number): string {
  const scope = { name: SCOPE_NAME, version: resource.version };
  const scopeSpans = [{ scope, spans: spans.map((span) => toSpan(span, originMs)) }];
  return JSON.stringify({ resourceSpans: [{ resource: toResource(resource), scopeSpans }] });
}

/** `startMs` is when the counters of this process were zero. */
export function toMetricsJson(
  resource: Resource,
  families: readonly MetricFamily[],
  { startMs, nowMs }: { startMs: number; nowMs: number },
): string {
  const scope = { name: SCOPE_NAME, version: resource.version };
  const times = { startTimeUnixNano: toNanos(startMs), timeUnixNano: toNanos(nowMs) };
  const scopeMetrics = [{ scope, metrics: families.map((family) => toMetric(family, times)) }];
  return JSON.stringify({ resourceMetrics: [{ resource: toResource(resource), scopeMetrics }] });
}

function toResource({ attributes }: Resource): object {
  return { attributes: toAttributes(attributes) };
}

function toSpan(span: Span, originMs: number): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentId !== null && { parentSpanId: span.parentId }),
    name: span.name,
    kind: SPAN_KINDS[span.kind],
    startTimeUnixNano: toNanos(originMs + span.startedAt),
    endTimeUnixNano: toNanos(originMs + span.endedAt),
    attributes: toAttributes(span.attributes),
    ...(span.hasFailed && { status: { code: STATUS_ERROR } }),
  };
}

type Times = { startTimeUnixNano: string; timeUnixNano: string };

function toMetric({ name, help, unit, data }: MetricFamily, times: Times): object {
  const described = { name, description: help, unit };
  if (data.type === 'histogram') {
    const dataPoints = data.points.map(({ attributes, count, sum, bounds, bucketCounts }) => ({
      ...times,
      attributes: toAttributes(attributes),
      count: String(count),
      sum,
      explicitBounds: bounds,
      bucketCounts: bucketCounts.map(String),
    }));
    return { ...described, histogram: { aggregationTemporality: TEMPORALITY_CUMULATIVE, dataPoints } };
  }
  const toPoint = ({ attributes, value }: { attributes: TracedAttributes; value: number }) => ({
    attributes: toAttributes(attributes),
    asDouble: value,
  });
  if (data.type === 'gauge')
    return {
      ...described,
      gauge: { dataPoints: data.points.map((point) => ({ timeUnixNano: times.timeUnixNano, ...toPoint(point) })) },
    };
  const dataPoints = data.points.map((point) => ({ ...times, ...toPoint(point) }));
  const isMonotonic = data.type === 'counter';
  return { ...described, sum: { aggregationTemporality: TEMPORALITY_CUMULATIVE, isMonotonic, dataPoints } };
}

function toAttributes(attributes: TracedAttributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: redact(value) },
  }));
}

/** Rounds to microseconds, because the clocks are not more precise. */
function toNanos(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}
