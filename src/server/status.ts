// GET /status: the state of the service for monitors. It is public, so it must contain no host, key or path.

import type { FastifyInstance } from 'fastify';
import type { StatusReader } from '../core/status.ts';

/** The status is read at most once in this time, however many requests there are. */
const FRESH_MS = 1_000;

export function registerStatusRoute(app: FastifyInstance, readStatus: StatusReader): void {
  let latest: { readAt: number; status: ReturnType<StatusReader> } | null = null;
  app.get('/status', async (_request, reply) => {
    const now = performance.now();
    if (!latest || now - latest.readAt >= FRESH_MS) latest = { readAt: now, status: readStatus() };
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    return { data: await latest.status };
  });
}
