// Serves GET /metrics on a separate address. The public therefore cannot reach the metrics, and the rate limits do not count these
// requests.

import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '../../platform/core/errors.ts';
import type { Log } from '../../platform/core/log.ts';
import type { MetricsAddress } from '../../platform/core/metrics-address.ts';
import { sendErrorResponse, toErrorResponse } from '../../platform/http/error-response.ts';
import { pathOf } from '../../platform/http/request-target.ts';
import { toListenError } from '../../server/listen.ts';
import { removeDeadSocket } from '../../server/local-socket.ts';
import { createNodeServer } from '../../server/node-server.ts';
import type { Metrics } from './metrics.ts';

const STARTING = toErrorResponse(new ServiceError('unavailable', 'The process is starting, try again soon'));

type ServedMetrics = Pick<Metrics, 'text' | 'contentType'>;

export type MetricsServer = {
  /** Serves these metrics from now on. Before the first call, requests get a 503. */
  serve(metrics: ServedMetrics): void;
  /** Does nothing if the server is closed already. */
  close(): Promise<void>;
};

/**
 * Listens until the returned server is closed. Must be called before the process begins its work, so that a start whose address is in use has no
 * effect. Throws OperatorError if the server cannot listen on the address.
 */
export async function startMetricsServer(address: MetricsAddress, log: Log): Promise<MetricsServer> {
  let served: ServedMetrics | null = null;
  const server = createNodeServer((request, response) => void respond(served, request, response, log));
  const isSocket = 'path' in address;
  try {
    if (isSocket) await removeDeadSocket(address.path);
    await once(server.listen(address), 'listening');
    if (isSocket) chmodSync(address.path, 0o660);
  } catch (error) {
    throw toListenError(address, error, 'METRICS_ADDRESS');
  }
  return {
    serve: (metrics) => {
      served = metrics;
    },
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function respond(
  metrics: ServedMetrics | null,
  request: IncomingMessage,
  response: ServerResponse,
  log: Log,
): Promise<void> {
  if (pathOf(request.url ?? '') !== '/metrics')
    return sendErrorResponse(request, response, toErrorResponse(new ServiceError('not_found', 'Not found')));
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const error = new ServiceError('method_not_allowed', `Method ${request.method} is not allowed here`);
    return sendErrorResponse(request, response, toErrorResponse(error), { allow: 'GET, HEAD' });
  }
  if (metrics === null) return sendErrorResponse(request, response, STARTING);
  try {
    const body = Buffer.from(await metrics.text());
    response.writeHead(200, {
      'content-type': metrics.contentType,
      'cache-control': 'no-store',
      'content-length': body.length,
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  } catch (error) {
    log.error('the metrics could not be read', { error });
    sendErrorResponse(request, response, toErrorResponse(error));
  }
}
