// GET /status: the state of the service for monitors. The response is public, so it must contain no host, key or path.

import type { FastifyInstance } from 'fastify';
import type { StatusReader } from '../platform/core/status.ts';

/** `readStatus` must limit its own reads, because every client may request the status. */
export function registerStatusRoute(app: FastifyInstance, readStatus: StatusReader): void {
  app.get('/status', { config: { bucket: 'single' } }, async (_request, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    return { data: await readStatus() };
  });
}
