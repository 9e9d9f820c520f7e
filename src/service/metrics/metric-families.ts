// Converts the metrics of Prometheus to metrics with the names, units and types of OpenTelemetry. The Prometheus name of a metric follows from
// its OpenTelemetry name and unit.

import type { Registry } from 'prom-client';
import type { MetricName } from './gauge-table.ts';
import type { KEY_REQUESTS, REQUEST_DURATION } from './request-metrics.ts';

export type MetricFamily = {
  name: string;
  help: string;
  /** In the notation of UCUM, such as `s` and `By`. */
  unit: string;
  data:
    | { type: 'counter' | 'updowncounter' | 'gauge'; points: { attributes: MetricAttributes; value: number }[] }
    | { type: 'histogram'; points: HistogramPoint[] };
};

type MetricAttributes = Record<string, string | number>;

/** `bucketCounts` has one count more than `bounds`. The last count is the number of values above the last bound. */
type HistogramPoint = {
  attributes: MetricAttributes;
  count: number;
  sum: number;
  bounds: number[];
  bucketCounts: number[];
};

/** `isSum`: a gauge of Prometheus whose values can be added up over processes. */
type Convention = { name: string; unit: string; isSum?: true };

export const METRIC_CONVENTIONS: Readonly<
  Record<Exclude<MetricName, 'target_info'> | typeof REQUEST_DURATION | typeof KEY_REQUESTS, Convention>
> = {
  http_server_request_duration_seconds: { name: 'http.server.request.duration', unit: 's' },
  mercat_response_cache_requests_total: { name: 'mercat.response_cache.requests', unit: '{request}' },
  mercat_key_requests_total: { name: 'mercat.key.requests', unit: '{request}' },
  mercat_rejected_requests_total: { name: 'mercat.rejected_requests', unit: '{request}' },
  mercat_stream_subscribers: { name: 'mercat.stream.subscribers', unit: '{connection}', isSum: true },
  mercat_stream_buffered_bytes: { name: 'mercat.stream.buffered', unit: 'By', isSum: true },
  mercat_stream_events_sent_total: { name: 'mercat.stream.events_sent', unit: '{event}' },
  mercat_stream_slow_readers_total: { name: 'mercat.stream.slow_readers', unit: '{connection}' },
  mercat_stream_lag_max_seconds: { name: 'mercat.stream.lag.max', unit: 's' },
  mercat_database_writes_failing: { name: 'mercat.database.writes_failing', unit: '' },
  mercat_breaker_open: { name: 'mercat.breaker.open', unit: '' },
  mercat_task_failures: { name: 'mercat.task.failures', unit: '{run}' },
  mercat_task_lag_seconds: { name: 'mercat.task.lag', unit: 's' },
  mercat_task_period_seconds: { name: 'mercat.task.period', unit: 's' },
  mercat_task_state: { name: 'mercat.task.state', unit: '' },
  mercat_chain_block: { name: 'mercat.chain.block', unit: '' },
  mercat_chain_lag_seconds: { name: 'mercat.chain.lag', unit: 's' },
  mercat_chain_head_distance_blocks: { name: 'mercat.chain.head_distance', unit: 'blocks' },
  mercat_chain_disputed: { name: 'mercat.chain.disputed', unit: '' },
  mercat_chain_uncompared_blocks_total: { name: 'mercat.chain.uncompared_blocks', unit: '{block}' },
  mercat_chain_uncompared_calls_total: { name: 'mercat.chain.uncompared_calls', unit: '{call}' },
  mercat_chain_reorganisations_total: { name: 'mercat.chain.reorganisations', unit: '{reorganisation}' },
  mercat_chain_undecodable_logs_total: { name: 'mercat.chain.undecodable_logs', unit: '{log}' },
  mercat_chain_unread_protocol_logs_total: { name: 'mercat.chain.unread_protocol_logs', unit: '{log}' },
  mercat_chain_unread_pool_ranges_total: { name: 'mercat.chain.unread_pool_ranges', unit: '{range}' },
  mercat_sales_without_native_price: { name: 'mercat.sales.without_native_price', unit: '{sale}' },
  mercat_webhook_deliveries_pending: { name: 'mercat.webhook.deliveries.pending', unit: '{delivery}' },
  mercat_webhook_deliveries_due: { name: 'mercat.webhook.deliveries.due', unit: '{delivery}' },
  mercat_webhook_oldest_due_age_seconds: { name: 'mercat.webhook.oldest_due.age', unit: 's' },
  mercat_webhook_events_pending: { name: 'mercat.webhook.events.pending', unit: '{event}' },
  mercat_last_backup_timestamp_seconds: { name: 'mercat.last_backup.timestamp', unit: 's' },
  mercat_webhooks_failing: { name: 'mercat.webhooks.failing', unit: '{webhook}' },
  mercat_webhook_failing_deliveries_due: { name: 'mercat.webhook.failing_deliveries.due', unit: '{delivery}' },
  mercat_metrics_section_readable: { name: 'mercat.metrics.section.readable', unit: '' },
  db_client_connection_count: { name: 'db.client.connection.count', unit: '{connection}', isSum: true },
  db_client_connection_max: { name: 'db.client.connection.max', unit: '{connection}', isSum: true },
  db_client_connection_pending_requests: {
    name: 'db.client.connection.pending_requests',
    unit: '{request}',
    isSum: true,
  },
  nodejs_eventloop_delay_mean_seconds: { name: 'nodejs.eventloop.delay.mean', unit: 's' },
  nodejs_eventloop_delay_p99_seconds: { name: 'nodejs.eventloop.delay.p99', unit: 's' },
  nodejs_eventloop_delay_max_seconds: { name: 'nodejs.eventloop.delay.max', unit: 's' },
  nodejs_eventloop_utilization_ratio: { name: 'nodejs.eventloop.utilization', unit: '1' },
  v8js_memory_heap_used_bytes: { name: 'v8js.memory.heap.used', unit: 'By', isSum: true },
  v8js_memory_heap_limit_bytes: { name: 'v8js.memory.heap.limit', unit: 'By', isSum: true },
  process_memory_usage_bytes: { name: 'process.memory.usage', unit: 'By', isSum: true },
  process_cpu_time_seconds_total: { name: 'process.cpu.time', unit: 's' },
  process_uptime_seconds: { name: 'process.uptime', unit: 's' },
};

const ATTRIBUTE_NAMES: Readonly<Record<string, string>> = {
  http_request_method: 'http.request.method',
  http_response_status_code: 'http.response.status_code',
  http_route: 'http.route',
  db_client_connection_pool_name: 'db.client.connection.pool.name',
  db_client_connection_state: 'db.client.connection.state',
};

/** Converts the metrics that have values. `target_info`, the description of the process, is left out, because it is a resource in OpenTelemetry. */
export async function toMetricFamilies(registries: readonly Registry[]): Promise<MetricFamily[]> {
  const metrics = await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()));
  const conventions: Readonly<Record<string, Convention>> = METRIC_CONVENTIONS;
  return metrics.flat().flatMap(({ name: prometheusName, help, type, values }): MetricFamily[] => {
    const convention = conventions[prometheusName];
    if (!convention || values.length === 0) return [];
    const { name, unit, isSum } = convention;
    // The library declares `type` as a number, and the values of a histogram without `metricName`. At run time `type` is a string, and
    // `metricName` is set.
    if (String(type) === 'histogram') {
      return [{ name, help, unit, data: { type: 'histogram', points: toHistogramPoints(values) } }];
    }
    const kind =
      String(type) === 'counter' ? ('counter' as const) : isSum ? ('updowncounter' as const) : ('gauge' as const);
    const points = values.map(({ labels, value }) => ({ attributes: toAttributeNames(labels), value }));
    return [{ name, help, unit, data: { type: kind, points } }];
  });
}

type PrometheusValue = { value: number; labels: Labels; metricName?: string };
type Labels = Readonly<Record<string, string | number | undefined>>;

/** A bucket of Prometheus counts all values up to its bound. A bucket of OpenTelemetry counts the values between two bounds. */
function toHistogramPoints(values: readonly PrometheusValue[]): HistogramPoint[] {
  const points = new Map<string, HistogramPoint & { counted: number }>();
  for (const { value, labels, metricName = '' } of values) {
    const { le, ...ownLabels } = labels;
    const key = JSON.stringify(ownLabels);
    let point = points.get(key);
    if (!point) {
      point = { attributes: toAttributeNames(ownLabels), count: 0, sum: 0, bounds: [], bucketCounts: [], counted: 0 };
      points.set(key, point);
    }
    if (metricName.endsWith('_sum')) point.sum = value;
    else if (metricName.endsWith('_count')) point.count = value;
    else {
      if (le !== '+Inf') point.bounds.push(Number(le));
      point.bucketCounts.push(value - point.counted);
      point.counted = value;
    }
  }
  return Array.from(points.values(), ({ counted: _counted, ...point }) => point);
}

function toAttributeNames(labels: Labels): MetricAttributes {
  const attributes: MetricAttributes = {};
  for (const [label, value] of Object.entries(labels)) {
    if (value !== undefined && value !== '') attributes[ATTRIBUTE_NAMES[label] ?? label] = value;
  }
  return attributes;
}
