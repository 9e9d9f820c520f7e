// Merges the metrics of all serving processes of a service into one text for Prometheus.

import { AggregatorRegistry, Registry } from 'prom-client';
import { METRIC_CONVENTIONS } from '../metrics/metric-families.ts';
import type { MetricRecord } from '../metrics/metrics.ts';
import { GaugeTable } from '../metrics/gauge-table.ts';
import { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import type { MetricsOfProcess, ProcessReport } from './calls.ts';

/**
 * Metrics of a process and its runtime. A sum or maximum of them over all processes would have no meaning, so the values of each process
 * are listed separately.
 */
const RUNTIME_METRIC = /^(process|nodejs|v8js)_/;

type MergeableService = {
  readMetrics(): Promise<MetricsOfProcess[]>;
  reportOnProcesses(): Promise<ProcessReport[]>;
};

export class MergedMetrics {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #service: MergeableService;
  readonly #runtime = new RuntimeMetrics();
  /** The latest counters of each process, by the number of the process. */
  readonly #latest = new Map<number, { restarts: number; counters: MetricRecord[] }>();
  /** The sums of the counters that processes had before they were restarted. Each total includes them, so that no total decreases. */
  #ended: MetricRecord[] = [];
  /** The read that is in progress. If two reads ran at the same time, older counters could replace newer counters. */
  #running: Promise<string> | null = null;

  constructor(service: MergeableService) {
    this.#service = service;
  }

  /** Counters and histograms are sums over all processes since the start of the service. Concurrent calls share one read. */
  text(): Promise<string> {
    this.#running ??= this.#read().finally(() => (this.#running = null));
    return this.#running;
  }

  async #read(): Promise<string> {
    const [read, reports] = await Promise.all([this.#service.readMetrics(), this.#service.reportOnProcesses()]);
    for (const one of read) await this.#noteCounters(one);
    const isRead = new Set(read.map(({ process }) => process));
    const unread = [...this.#latest].filter(([process]) => !isRead.has(process));
    const all = [
      ...read.map(({ process, metrics }) => labelRuntime(metrics.own, String(process))),
      ...read.map(({ metrics }) => metrics.shared),
      ...unread.map(([, { counters }]) => counters),
      this.#ended,
      labelRuntime(await this.#readOwn(reports, isRead), 'supervisor'),
    ];
    return aggregate(all).metrics();
  }

  close(): void {
    this.#runtime.close();
  }

  /** `responding`: the processes that serve and have responded to this read. */
  async #readOwn(reports: readonly ProcessReport[], responding: ReadonlySet<number>): Promise<MetricRecord[]> {
    const gauges = new GaugeTable();
    this.#runtime.set(gauges);
    for (const { process, restarts } of reports) {
      gauges.set('mercat_serving_process_up', { process: String(process) }, responding.has(process) ? 1 : 0);
      gauges.set('mercat_serving_process_restarts_total', { process: String(process) }, restarts);
    }
    return gauges.registry.getMetricsAsJSON();
  }

  async #noteCounters({ process, restarts, metrics }: MetricsOfProcess): Promise<void> {
    const counters = metrics.own.filter(({ name, type }) => isCounter(type) && !RUNTIME_METRIC.test(name));
    const latest = this.#latest.get(process);
    if (latest && latest.restarts !== restarts)
      this.#ended = await aggregate([this.#ended, latest.counters]).getMetricsAsJSON();
    this.#latest.set(process, { restarts, counters });
  }
}

function isCounter(type: unknown): boolean {
  return ['counter', 'histogram'].includes(String(type));
}

/** Adds the label `process` to metrics of the runtime. */
function labelRuntime(metrics: readonly MetricRecord[], process: string): MetricRecord[] {
  return metrics.map((metric) => {
    if (!RUNTIME_METRIC.test(metric.name)) return metric;
    return { ...metric, values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, process } })) };
  });
}

/**
 * Combines the metrics of several processes. Adds up values such as requests and connections. For other metrics, such as the state of a
 * breaker, uses the largest value.
 */
function aggregate(all: readonly (readonly MetricRecord[])[]): Registry {
  const conventions: Readonly<Record<string, { isSum?: true }>> = METRIC_CONVENTIONS;
  const withAggregators = all.map((metrics) =>
    metrics.map((metric) => {
      const isSum = isCounter(metric.type) || conventions[metric.name]?.isSum === true;
      return { ...metric, aggregator: isSum ? 'sum' : 'max' };
    }),
  );
  return AggregatorRegistry.aggregate(
    withAggregators,
  ) as AggregatorRegistry<'text/plain; version=0.0.4; charset=utf-8'>;
}
