// A route table with the given routes, for tests that need no service.

import Fastify from 'fastify';
import type { RouteBucket } from '../../../src/platform/http/rate-limit.ts';
import { RouteTable } from '../../../src/server/route-table.ts';

/** `routes`: the buckets of the routes, by method and path, such as `GET /v1/collections/:id`. */
export function routeTableOf(routes: Readonly<Record<string, RouteBucket>>): RouteTable {
  const app = Fastify();
  const table = new RouteTable();
  table.collect(app);
  for (const [route, bucket] of Object.entries(routes)) {
    const [method = '', url = ''] = route.split(' ');
    app.route({ method, url, config: { bucket }, handler: () => null });
  }
  return table;
}
