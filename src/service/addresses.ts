// The addresses of a process besides the port: the local socket, and the address of the metrics.

import type { Log } from '../platform/core/log.ts';
import type { MetricsAddress } from '../platform/core/metrics-address.ts';
import { toAddressOf } from '../platform/core/metrics-address.ts';
import type { LocalServer } from '../server/local-server.ts';
import { startLocalServer } from '../server/local-server.ts';
import { socketPathOf } from '../server/local-socket.ts';
import type { Config } from './config.ts';
import type { MetricsServer } from './metrics/metrics-server.ts';
import { Parts } from './parts.ts';
import type { Membership } from './processes/membership.ts';

export type Addresses = {
  /** Null if another process has the local socket. */
  local: LocalServer | null;
  metrics: MetricsServer | null;
  close: () => Promise<void>;
};

/**
 * Binds the local socket and the address of the metrics. Several serving processes have one local socket, and each has an address of its own
 * for metrics. Throws OperatorError if the process cannot listen on an address.
 */
export async function bindAddresses(config: Config, log: Log, membership: Membership | null): Promise<Addresses> {
  await using opening = new AsyncDisposableStack();
  const parts = opening.use(new Parts({ together: true }));
  const metrics = parts.use(await bindMetrics(toAddressOf(config.metricsAddress, membership?.start.number ?? 1), log));
  const isFirst = membership?.isFirst ?? true;
  const local = isFirst ? parts.use(await startLocalServer(socketPathOf(config.dataDir), log)) : null;
  opening.move();
  return { metrics, local, close: () => parts.close() };
}

/** Null if the settings name no address for metrics. */
export async function bindMetrics(address: MetricsAddress | null, log: Log): Promise<MetricsServer | null> {
  if (address === null) return null;
  const { startMetricsServer } = await import('./metrics/metrics-server.ts');
  return startMetricsServer(address, log);
}
