// Exports traces and metrics to an OpenTelemetry receiver. The service does not depend on the receiver: no request and no task waits for an export.

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../platform/core/clock.ts';
import { systemClock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { isDoneWithin } from '../../platform/resilience/deadline.ts';
import { startPeriodic } from '../../platform/tasks/periodic.ts';
import { OtlpClient } from './otlp-client.ts';
import type { Resource } from './otlp-json.ts';
import { toMetricsJson, toTracesJson } from './otlp-json.ts';
import { createSampler } from './sampler.ts';
import type { TelemetrySettings } from './settings.ts';
import { SpanQueue } from './span-queue.ts';
import { Tracer } from './tracer.ts';

export type TelemetryOptions = {
  config: TelemetrySettings;
  serviceName: string;
  version: string;
  log: Log;
  /** `close` waits this long for the last export. Default: FLUSH_TIMEOUT_MS. */
  flushTimeoutMs?: number;
};

const TRACES_PERIOD_MS = 1_000;
const FLUSH_TIMEOUT_MS = 1_000;

export class Telemetry {
  /** Null if traces are not exported. */
  readonly tracer: Tracer | null;
  readonly #options: TelemetryOptions;
  readonly #resource: Resource;
  readonly #client: OtlpClient;
  readonly #spans: SpanQueue;
  /** The system clock and not the clock of the database, because receivers compare the times of several machines. */
  readonly #clock: Clock = systemClock;
  readonly #startMs = this.#clock();
  readonly #stops: (() => Promise<void>)[] = [];
  #exportMetrics: () => Promise<unknown> = () => Promise.resolve();

  constructor(endpoint: string, options: TelemetryOptions) {
    const { config, log } = options;
    this.#options = options;
    this.#resource = { attributes: resourceAttributesOf(options), version: options.version };
    const takeDropped = () => this.#spans.takeDropped();
    this.#client = new OtlpClient({ endpoint, headers: config.otlpHeaders, log, takeDropped });
    this.#spans = new SpanQueue((batch) => {
      const originMs = this.#clock() - performance.now();
      return this.#client.post('/v1/traces', toTracesJson(this.#resource, batch, originMs));
    });
    this.tracer =
      config.tracesExporter === 'none'
        ? null
        : new Tracer(createSampler(config.sampler, config.samplerRatio), this.#spans.add);
  }

  start(): void {
    if (!this.tracer) return;
    this.tracer.start();
    this.#startPeriodic('telemetry-traces', TRACES_PERIOD_MS, () => this.#spans.flush());
  }

  get exportsMetrics(): boolean {
    return this.#options.config.metricsExporter !== 'none';
  }

  /** Exports the metrics periodically. Must be called at most once. */
  exportMetrics(metrics: Pick<Metrics, 'families'>): void {
    this.#exportMetrics = async () => {
      const families = await metrics.families();
      const times = { startMs: this.#startMs, nowMs: this.#clock() };
      return this.#client.post('/v1/metrics', toMetricsJson(this.#resource, families, times));
    };
    this.#startPeriodic('telemetry-metrics', this.#options.config.metricExportIntervalMs, () => this.#exportMetrics());
  }

  /** Exports the remaining spans and the metrics, for at most `flushTimeoutMs`. Rejects only if the metrics cannot be read. */
  async close(): Promise<void> {
    this.tracer?.stop();
    try {
      await isDoneWithin(this.#flush(), this.#options.flushTimeoutMs ?? FLUSH_TIMEOUT_MS);
    } finally {
      this.#client.abort();
    }
  }

  async #flush(): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()));
    // The spans are sent even if the metrics cannot be read.
    const [, metrics] = await Promise.allSettled([this.#spans.flush(), this.#exportMetrics()]);
    if (metrics.status === 'rejected') throw metrics.reason;
  }

  #startPeriodic(name: string, periodMs: number, run: () => Promise<unknown>): void {
    this.#stops.push(startPeriodic({ name, periodMs, run }, this.#options.log));
  }
}

function resourceAttributesOf({ config, serviceName, version }: TelemetryOptions): Resource['attributes'] {
  return {
    'service.name': serviceName,
    'service.version': version,
    'service.instance.id': randomUUID(),
    'process.pid': process.pid,
    'process.runtime.name': 'nodejs',
    'process.runtime.version': process.versions.node,
    ...config.resourceAttributes,
    ...(config.telemetryServiceName !== null && { 'service.name': config.telemetryServiceName }),
  };
}
