// GET /v1/collections/{id}/floor.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import { RESPONSE_TIME, createCachedResponse } from '../../../platform/http/cached-response.ts';
import { cachedRoute } from '../../../platform/http/cached-route.ts';
import { closed, dataOf, dateTime, ref, refOrNull } from '../../../platform/http/schema-builders.ts';
import type { Floor } from '../floors/floor.ts';
import { readFloor } from '../floors/floor.ts';
import { cacheTagOf } from '../resolve-collection.ts';
import { collectionParams } from './collection-identity.ts';
import type { MarketplaceContext } from './context.ts';
import { marketResponses } from './envelopes.ts';
import { EXAMPLE_COLLECTION, EXAMPLE_TIME, toExamplePrice } from './example-collection.ts';
import type { PriceContext, WirePrice } from './price.ts';
import { readPriceContext, toPriceOrNull } from './price.ts';

const CACHE_POLICY = { sharedMaxAgeS: 5, staleWhileRevalidateS: 30 };

export const FloorSchema = Type.Object(
  {
    collectionId: Type.String({ description: 'Canonical collection id.' }),
    askFloor: refOrNull<WirePrice>('Price', 'Cheapest seller ask; null when unknown.'),
    buyerFloor: refOrNull<WirePrice>(
      'Price',
      'Lowest total that a buyer pays for one listing, fees included; null when there is no listing, or when the total is unknown.',
    ),
    aggregated: Type.Literal(true, { description: 'Always true.' }),
    updatedAt: dateTime('Time of this response, not of the observation.'),
    stale: Type.Boolean({
      description: 'True when `buyerFloor` is an earlier value, because the present one could not be computed.',
    }),
  },
  {
    $id: 'FloorResponse',
    title: 'FloorResponse',
    description: 'The floors of a collection.',
    examples: [
      {
        collectionId: EXAMPLE_COLLECTION.id,
        askFloor: toExamplePrice(420n),
        buyerFloor: toExamplePrice(445n),
        aggregated: true,
        updatedAt: EXAMPLE_TIME,
        stale: false,
      },
    ],
    ...closed,
  },
);

function toWireFloor(floor: Floor, prices: PriceContext): Static<typeof FloorSchema> {
  return {
    collectionId: floor.collection.id,
    askFloor: toPriceOrNull(floor.askFloorRaw, floor.chain, prices),
    buyerFloor: toPriceOrNull(floor.buyerFloorRaw, floor.chain, prices),
    aggregated: true,
    updatedAt: RESPONSE_TIME,
    stale: floor.stale,
  };
}

export function registerFloorRoute(app: FastifyInstance, context: MarketplaceContext): void {
  const { market } = context;

  cachedRoute(app, context, {
    path: '/v1/collections/:id/floor',
    bucket: 'single',
    schema: {
      operationId: 'getFloor',
      summary: 'Read the floors of a collection',
      description:
        'The cheapest ask, and the lowest total that a buyer pays, fees included. When a source cannot be read, a floor may be ' +
        'an earlier value or null; the response is not an error.',
      tags: ['Collections'],
      params: collectionParams,
      response: marketResponses(dataOf(ref('FloorResponse')), 400, 404),
    },
    respond: async ({ id = '' }) => {
      const [floor, prices] = await Promise.all([readFloor(market, id), readPriceContext(market)]);
      return createCachedResponse({
        cacheTag: cacheTagOf(floor.collection, id),
        policy: CACHE_POLICY,
        degraded: floor.degraded,
        body: { data: toWireFloor(floor, prices) },
        timestamped: true,
      });
    },
  });
}
