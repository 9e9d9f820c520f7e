// Collects the metrics of a process, as text for Prometheus or as metric families for OpenTelemetry. Only the durations of requests are
// recorded here. All other values are read when the metrics are requested, from counters elsewhere and from the databases.

import { Registry } from 'prom-client';
import type { LastBackup } from '../../platform/database/backup/record.ts';
import { findLastBackup } from '../../platform/database/backup/record.ts';
import type { Database } from '../../platform/database/port.ts';
import type { StreamCounts } from '../../market/explore/stream/status.ts';
import type { RejectionCounts } from '../../platform/http/rejection-counts.ts';
import type { ResponseCache } from '../../platform/http/response-cache.ts';
import type { Market } from '../../market/reads/market.ts';
import { readOncePerSecond } from '../../server/recent-read.ts';
import type { RequestObserver } from '../../server/request-observer.ts';
import { findDeliveryQueue } from '../../shop/queries/delivery-queue.ts';
import type { RunningTasks } from '../workers/start.ts';
import { GaugeTable } from './gauge-table.ts';
import type { MetricFamily } from './metric-families.ts';
import { toMetricFamilies } from './metric-families.ts';
import { createRequestMetrics } from './request-metrics.ts';
import { RuntimeMetrics } from './runtime-metrics.ts';
import { setChainMetrics, setSaleMetrics, setTaskMetrics } from './task-metrics.ts';

export type MetricsSources = {
  main: Database;
  indexer: Database;
  market: Pick<Market, 'sourceStates'>;
  serviceName: string;
  version: string;
  tasks: Pick<RunningTasks, 'readTasks' | 'readChains' | 'readSales'>;
  /** Null in a process that serves no requests. */
  http: {
    responses: Pick<ResponseCache, 'counts'>;
    rejections: RejectionCounts;
    store: Database;
    stream: { readonly counts: StreamCounts };
  } | null;
};

/** The deadline for reading the queue of webhook deliveries. If it passes, the metrics of the queue are left out. */
const DATABASE_TIMEOUT_MS = 2_000;

export class Metrics {
  readonly contentType: string;
  readonly observe: RequestObserver;
  readonly #registry = new Registry();
  readonly #sources: MetricsSources;
  readonly #runtime: RuntimeMetrics;

  constructor(sources: MetricsSources) {
    this.contentType = this.#registry.contentType;
    this.observe = createRequestMetrics(this.#registry);
    this.#sources = sources;
    this.#runtime = new RuntimeMetrics();
  }

  /** The metrics as text, read at most once a second. */
  readonly text: () => Promise<string> = readOncePerSecond(async () => {
    const texts = await Promise.all((await this.#read()).map((registry) => registry.metrics()));
    return texts.join('');
  });

  async families(): Promise<MetricFamily[]> {
    return toMetricFamilies(await this.#read());
  }

  close(): void {
    this.#runtime.close();
  }

  /** Returns the registries that together contain all metrics. */
  async #read(): Promise<Registry[]> {
    const gauges = new GaugeTable();
    this.#setOwn(gauges);
    await this.#setShared(gauges);
    return [this.#registry, gauges.registry];
  }

  #setOwn(gauges: GaugeTable): void {
    const { serviceName, version } = this.#sources;
    gauges.set('target_info', { service_name: serviceName, service_version: version }, 1);
    this.#setPools(gauges);
    this.#setWrites(gauges);
    this.#setBreakers(gauges);
    this.#setHttp(gauges);
    this.#runtime.set(gauges);
  }

  async #setShared(gauges: GaugeTable): Promise<void> {
    await Promise.all([
      setFrom(gauges, 'tasks', () => this.#sources.tasks.readTasks(), setTaskMetrics),
      setFrom(gauges, 'chains', () => this.#sources.tasks.readChains(), setChainMetrics),
      setFrom(gauges, 'sales', () => this.#sources.tasks.readSales(), setSaleMetrics),
      setFrom(gauges, 'webhooks', () => findDeliveryQueue(this.#sources.main.within(DATABASE_TIMEOUT_MS)), setQueue),
      setFrom(
        gauges,
        'backups',
        async () => ({ last: await findLastBackup(this.#sources.main.within(DATABASE_TIMEOUT_MS)) }),
        setLastBackup,
      ),
    ]);
  }

  #setPools(gauges: GaugeTable): void {
    const { main, indexer, http } = this.#sources;
    for (const db of new Set([main, indexer, http?.store ?? main])) {
      const { max, open, idle, waiting } = db.pool();
      const pool = { db_client_connection_pool_name: db.name };
      gauges.set('db_client_connection_max', pool, max);
      gauges.set('db_client_connection_pending_requests', pool, waiting);
      gauges.set('db_client_connection_count', { ...pool, db_client_connection_state: 'idle' }, idle);
      gauges.set('db_client_connection_count', { ...pool, db_client_connection_state: 'used' }, open - idle);
    }
  }

  #setWrites(gauges: GaugeTable): void {
    for (const { name, writes } of new Set([this.#sources.main, this.#sources.indexer]))
      gauges.set('mercat_database_writes_failing', { name }, writes.failure ? 1 : 0);
  }

  #setBreakers(gauges: GaugeTable): void {
    for (const { name, isOpen } of this.#sources.market.sourceStates())
      gauges.set('mercat_breaker_open', { kind: 'source', name }, isOpen ? 1 : 0);
  }

  #setHttp(gauges: GaugeTable): void {
    const { http } = this.#sources;
    if (!http) return;
    for (const [result, count] of Object.entries(http.responses.counts))
      gauges.set('mercat_response_cache_requests_total', { result }, count);
    for (const [limit, count] of http.rejections.entries())
      gauges.set('mercat_rejected_requests_total', { limit }, count);
    const { subscribers, bufferedBytes, eventsSent, slowReaders, lagMs } = http.stream.counts;
    gauges.set('mercat_stream_subscribers', {}, subscribers);
    gauges.set('mercat_stream_buffered_bytes', {}, bufferedBytes);
    gauges.set('mercat_stream_events_sent_total', {}, eventsSent);
    gauges.set('mercat_stream_slow_readers_total', {}, slowReaders);
    if (lagMs !== null) gauges.set('mercat_stream_lag_max_seconds', {}, lagMs / 1_000);
  }
}

/**
 * Reads a section from a database and sets its metrics. If the section cannot be read, its metrics are left out, and the section is marked
 * as unreadable.
 */
async function setFrom<T>(
  gauges: GaugeTable,
  section: string,
  read: () => Promise<T>,
  set: (gauges: GaugeTable, value: T) => void,
): Promise<void> {
  const value = await read().catch(() => null);
  if (value !== null) set(gauges, value);
  gauges.set('mercat_metrics_section_readable', { section }, value === null ? 0 : 1);
}

function setLastBackup(gauges: GaugeTable, { last }: { last: LastBackup | null }): void {
  if (last) gauges.set('mercat_last_backup_timestamp_seconds', {}, Date.parse(last.at) / 1_000);
}

function setQueue(gauges: GaugeTable, queue: Awaited<ReturnType<typeof findDeliveryQueue>>): void {
  gauges.set('mercat_webhook_deliveries_pending', {}, queue.pending);
  gauges.set('mercat_webhook_deliveries_due', {}, queue.due);
  gauges.set('mercat_webhook_oldest_due_age_seconds', {}, queue.oldestDueAgeSeconds);
  gauges.set('mercat_webhook_events_pending', {}, queue.events);
  gauges.set('mercat_webhooks_failing', {}, queue.failingWebhooks);
  gauges.set('mercat_webhook_failing_deliveries_due', {}, queue.failingDue);
}
