// GET /v1/collections/{id}/floor.

import type { FastifyInstance } from 'fastify';
import { createFloorReader } from '../floor.ts';
import { cacheTagOf } from '../resolve-collection.ts';
import { DEGRADED_POLICY, createCachedResponse } from '../../http/cached-response.ts';
import { collectionParams, responses } from './documented.ts';
import type { MarketplaceContext } from './cached-route.ts';
import { cachedRoute, readPriceContext } from './cached-route.ts';
import { wrapped } from './schemas.ts';
import { toWireFloor } from './shapes.ts';

const FLOOR_POLICY = { sharedMaxAgeS: 5, staleWhileRevalidateS: 30 };

export function registerFloorRoute(app: FastifyInstance, context: MarketplaceContext): void {
  const { market } = context;
  const readFloor = createFloorReader(market);

  cachedRoute(app, context, {
    path: '/v1/collections/:id/floor',
    schema: {
      operationId: 'getFloor',
      summary: 'Read the floors of a collection',
      description:
        'The cheapest ask, and what the cheapest fill costs a buyer in all. A failure gives nulls, not an error.',
      tags: ['Collections'],
      params: collectionParams,
      response: responses(wrapped('FloorResponse'), 400, 404),
    },
    make: async ({ id = '' }) => {
      const [floor, wording] = await Promise.all([readFloor(id), readPriceContext(market)]);
      const data = toWireFloor(floor, wording);
      const policy = floor.degraded ? DEGRADED_POLICY : FLOOR_POLICY;
      return createCachedResponse({ subject: cacheTagOf(floor.collection, id), policy, body: { data }, stamped: true });
    },
  });
}
