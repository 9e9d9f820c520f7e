// Serves GET /metrics on a separate address. The public therefore cannot reach the metrics, and the rate limits do not count these
// requests.

import { once } from 'node:events';
import { chmodSync, rmSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { MetricsAddress } from '../core/metrics-address.ts';
import { sendErrorResponse, toErrorResponse } from '../http/error-response.ts';
import { pathOf } from '../http/request-target.ts';
import { toListenError } from '../server/listen.ts';
import { isServerListening } from '../server/local-socket.ts';
import { createNodeServer } from '../server/node-server.ts';
import type { Metrics } from './metrics.ts';

/** Listens until the returned function is called. Throws OperatorError if the server cannot listen on the address. */
export async function startMetricsServer(
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  address: MetricsAddress,
  log: Log,
): Promise<() => Promise<void>> {
  const server = createNodeServer((request, response) => void respond(metrics, request, response, log));
  const isSocket = 'path' in address;
  try {
    if (isSocket && isSocketFile(address.path) && !(await isServerListening(address.path))) rmSync(address.path);
    await once(server.listen(address), 'listening');
    if (isSocket) chmodSync(address.path, 0o660);
  } catch (error) {
    throw toListenError(address, error, 'METRICS_ADDRESS');
  }
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
}

/** Whether the file is a socket, which a killed process may have left. Any other file must not be deleted. */
function isSocketFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
}

async function respond(
  { text, contentType }: Pick<Metrics, 'text' | 'contentType'>,
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
  try {
    const body = Buffer.from(await text());
    response.writeHead(200, {
      'content-type': contentType,
      'cache-control': 'no-store',
      'content-length': body.length,
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  } catch (error) {
    log.error('the metrics could not be read', { error });
    sendErrorResponse(request, response, toErrorResponse(error));
  }
}
