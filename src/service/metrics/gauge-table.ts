// Lists the labels and the meaning of each metric whose value is read only when the metrics are requested.

import { Counter, Gauge, Registry } from 'prom-client';

type Definition = { help: string; labels: readonly string[] };

const DEFINITIONS = {
  target_info: { help: 'The program.', labels: ['service_name', 'service_version'] },
  mercat_response_cache_requests_total: {
    help: 'Requests to cached routes: hit (fresh), stale, shared (waited for the computation of another request) or computed.',
    labels: ['result'],
  },
  mercat_rejected_requests_total: { help: 'Requests that a limit rejected.', labels: ['limit'] },
  mercat_stream_subscribers: { help: 'Connections to the stream.', labels: [] },
  mercat_stream_buffered_bytes: { help: 'Bytes in memory that clients of the stream have not read.', labels: [] },
  mercat_stream_events_sent_total: { help: 'Events sent on the stream, over all connections.', labels: [] },
  mercat_stream_slow_readers_total: {
    help: 'Connections to the stream that were ended because their client did not read.',
    labels: [],
  },
  mercat_stream_lag_max_seconds: {
    help: 'Longest time in the last minute from the entry of an event into the activity log until the event was sent on a connection of the stream.',
    labels: [],
  },
  mercat_database_writes_failing: {
    help: '1 while writes to a database fail, although reads may succeed: until a write works again.',
    labels: ['name'],
  },
  mercat_breaker_open: {
    help: '1 while the circuit breaker of a source, an upstream or a chain endpoint is not closed.',
    labels: ['kind', 'name'],
  },
  mercat_task_failures: { help: 'Consecutive failed runs of a task.', labels: ['task'] },
  mercat_task_lag_seconds: { help: 'Time since the end of the last successful run of a task.', labels: ['task'] },
  mercat_task_period_seconds: { help: 'Time from one run of a task to the next.', labels: ['task'] },
  mercat_task_state: { help: '1 for the current state of a task.', labels: ['task', 'state'] },
  mercat_chain_block: { help: 'The last block that was read.', labels: ['chain'] },
  mercat_chain_lag_seconds: { help: 'Age of the last block that was read.', labels: ['chain'] },
  mercat_chain_head_distance_blocks: {
    help: 'Blocks between the newest block of the chain and the last one that was read. Only in processes that follow the chain.',
    labels: ['chain'],
  },
  mercat_chain_disputed: {
    help: '1 while the endpoints of a chain disagree about a block or a contract call. Disputed data is not stored. Only in processes that read the chain.',
    labels: ['chain'],
  },
  mercat_chain_uncompared_blocks_total: {
    help: 'Blocks that were accepted from one endpoint without a comparison. Only in processes that read the chain.',
    labels: ['chain'],
  },
  mercat_chain_uncompared_calls_total: {
    help: 'Contract calls whose result was accepted from one endpoint without a comparison. Only in processes that read the chain.',
    labels: ['chain'],
  },
  mercat_chain_reorganisations_total: { help: 'Reorganisations of a chain.', labels: ['chain'] },
  mercat_chain_undecodable_logs_total: {
    help: 'Logs that were left out because they could not be decoded. Only in processes that read the chain.',
    labels: ['chain'],
  },
  mercat_chain_unread_protocol_logs_total: {
    help: 'Logs of settlement contracts that reported sales and could not be read. Only in processes that read the chain.',
    labels: ['chain', 'protocol'],
  },
  mercat_chain_unread_pool_ranges_total: {
    help: 'Ranges of blocks whose sales of pools were left out, because no endpoint served their logs. Only in processes that read the chain.',
    labels: ['chain'],
  },
  mercat_sales_without_native_price: {
    help: 'Sales that are not part of any volume, because they have no price in the native currency.',
    labels: ['chain'],
  },
  mercat_webhook_deliveries_pending: {
    help: 'Deliveries to enabled webhooks that are not sent yet, at most 10000 of each webhook.',
    labels: [],
  },
  mercat_webhook_deliveries_due: { help: 'Pending deliveries whose time has come.', labels: [] },
  mercat_webhook_oldest_due_age_seconds: {
    help: 'How late the webhook worker is: how long the oldest due delivery has been due, without webhooks that fail or are being sent to.',
    labels: [],
  },
  mercat_webhooks_failing: { help: 'Enabled webhooks whose receivers fail.', labels: [] },
  mercat_webhook_failing_deliveries_due: { help: 'Due deliveries of the webhooks whose receivers fail.', labels: [] },
  mercat_webhook_events_pending: { help: 'Events without deliveries yet, at most 10000.', labels: [] },
  mercat_last_backup_timestamp_seconds: {
    help: 'Time of the data in the newest backup that mercat backup has completed, in Unix time. Absent if there is none.',
    labels: [],
  },
  mercat_metrics_section_readable: { help: '0 when the metrics of a section could not be read.', labels: ['section'] },
  db_client_connection_count: {
    help: 'Connections of a pool.',
    labels: ['db_client_connection_pool_name', 'db_client_connection_state'],
  },
  db_client_connection_max: {
    help: 'Maximum number of connections of a pool.',
    labels: ['db_client_connection_pool_name'],
  },
  db_client_connection_pending_requests: {
    help: 'Callers that wait for a connection.',
    labels: ['db_client_connection_pool_name'],
  },
  nodejs_eventloop_delay_mean_seconds: {
    help: 'Mean delay of the event loop since the metrics were last read.',
    labels: [],
  },
  nodejs_eventloop_delay_p99_seconds: {
    help: '99th percentile of the delay of the event loop since the metrics were last read.',
    labels: [],
  },
  nodejs_eventloop_delay_max_seconds: {
    help: 'Longest delay of the event loop since the metrics were last read.',
    labels: [],
  },
  nodejs_eventloop_utilization_ratio: { help: 'Share of time in which the event loop was busy.', labels: [] },
  v8js_memory_heap_used_bytes: { help: 'Used bytes of the JavaScript heap.', labels: [] },
  v8js_memory_heap_limit_bytes: { help: 'Limit of the JavaScript heap.', labels: [] },
  process_memory_usage_bytes: { help: 'Resident memory.', labels: [] },
  process_cpu_time_seconds_total: { help: 'CPU time of the process.', labels: [] },
  process_uptime_seconds: { help: 'Time since the start of the process.', labels: [] },
} as const satisfies Readonly<Record<string, Definition>>;

export type MetricName = keyof typeof DEFINITIONS;

export const METRIC_NAMES: readonly string[] = Object.keys(DEFINITIONS);

/** Metrics with their values at one moment. A metric without a value is left out. */
export class GaugeTable {
  readonly registry = new Registry();
  readonly #metrics = new Map<MetricName, Gauge | Counter>();

  /** Must be called at most once for each name and set of labels, because a second call would add its value to the first value. */
  set(name: MetricName, labels: Readonly<Record<string, string>>, value: number): void {
    let metric = this.#metrics.get(name);
    if (!metric) {
      const { help, labels: labelNames } = DEFINITIONS[name];
      const configuration = { name, help, labelNames, registers: [this.registry] };
      metric = name.endsWith('_total') ? new Counter(configuration) : new Gauge(configuration);
      this.#metrics.set(name, metric);
    }
    metric.inc(labels, value);
  }
}
