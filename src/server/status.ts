// GET /status: how the service is doing, for operators' monitors. What it says is fit for anyone, and never kept by a cache.

import type { FastifyInstance } from 'fastify';
import type { StatusReader } from '../core/status.ts';

/** However many ask: the databases are asked once in this time. */
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
