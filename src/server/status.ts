// GET /status: the state of the service for monitors. The response is public, so it must contain no host, key or path.

import type { FastifyInstance } from 'fastify';
import type { StatusReader } from '../platform/core/status.ts';
import { readOncePerSecond } from './recent-read.ts';

/** Every client may request the status, so requests share what was read and serialised. */
export function registerStatusRoute(app: FastifyInstance, readStatus: StatusReader): void {
  const readBody = readOncePerSecond(async () => JSON.stringify({ data: await readStatus() }));
  app.get('/status', { config: { bucket: 'single' } }, async (_request, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    return reply.type('application/json; charset=utf-8').send(await readBody());
  });
}
