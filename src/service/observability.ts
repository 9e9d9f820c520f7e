// The export of traces and the metrics of a process. Both are loaded only if the settings ask for them, because their libraries slow the start.

import { readVersion } from '../platform/version.ts';
import type { RequestObserver } from '../server/request-observer.ts';
import type { ServiceContext } from './context.ts';
import type { MetricsSources } from './metrics/metrics.ts';
import type { MetricsServer } from './metrics/metrics-server.ts';
import { Parts } from './parts.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

/** Starts the export of traces. Returns null if the settings name no receiver. */
export async function openTelemetry(context: ServiceContext): Promise<Telemetry | null> {
  const { config, serviceName, log } = context;
  if (config.otlpEndpoint === null) return null;
  const { Telemetry } = await import('./telemetry/telemetry.ts');
  const telemetry = new Telemetry(config.otlpEndpoint, { config, serviceName, version: readVersion(), log });
  telemetry.start();
  return telemetry;
}

export type OpenMetrics = { observers: readonly RequestObserver[]; close: () => Promise<void> };

type MetricsOptions = {
  telemetry: Telemetry | null;
  sources: Pick<MetricsSources, 'tasks' | 'http'>;
  /** Null if the metrics are not served. */
  server: MetricsServer | null;
};

/**
 * Collects the metrics of this process if the settings name an address for them, serves them through `server` unless it is null, and exports
 * them with `telemetry`. The server and the export have separate `Metrics`, because each read of the metrics begins a new measuring period of the event loop.
 */
export async function openMetrics(
  context: ServiceContext,
  { telemetry, sources, server }: MetricsOptions,
): Promise<OpenMetrics> {
  const observers: RequestObserver[] = [];
  const parts = new Parts({ together: true });
  const create = async () => {
    const { Metrics } = await import('./metrics/metrics.ts');
    const metrics = new Metrics({ ...context, version: readVersion(), ...sources });
    observers.push(metrics.observe);
    parts.onClose(async () => metrics.close());
    return metrics;
  };
  if (server) parts.use(server).serve(await create());
  if (telemetry?.exportsMetrics) telemetry.exportMetrics(await create());
  return { observers, close: () => parts.close() };
}
