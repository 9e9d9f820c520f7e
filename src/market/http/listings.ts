// GET /v1/collections/{id}/listings.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { openCursor, sealCursor } from '../../core/cursor.ts';
import { WINDOW_SIZE_MAX } from '../listing-window.ts';
import { ServiceError } from '../../core/errors.ts';
import { chainAndAddressOf, resolveCollection, cacheTagOf } from '../resolve-collection.ts';
import { createListingWindowReader } from '../listing-window-cache.ts';
import { DEGRADED_POLICY, createCachedResponse } from '../../http/cached-response.ts';
import { collectionParams, responses } from './documented.ts';
import type { MarketplaceContext } from './cached-route.ts';
import { cachedRoute, readPriceContext } from './cached-route.ts';
import { ListingsMetaSchema, cursorSchema, limitSchema, paged } from './schemas.ts';
import { toWireListing } from './shapes.ts';

type PageQuery = { cursor?: string; limit: number };

const LISTINGS_POLICY = { sharedMaxAgeS: 5, staleWhileRevalidateS: 30 };

export function registerListingRoute(app: FastifyInstance, context: MarketplaceContext): void {
  const { market, cursorSecret } = context;
  const readWindow = createListingWindowReader(market, context.changes);

  cachedRoute<PageQuery>(app, context, {
    path: '/v1/collections/:id/listings',
    schema: {
      operationId: 'listListings',
      summary: 'List the cheapest listings of a collection',
      description:
        'The own order book merged with external marketplaces, one row an asset, cheapest first, at most 250. ' +
        '`meta` is there only when a source could not be read.',
      tags: ['Listings and sales'],
      params: collectionParams,
      querystring: Type.Object({ cursor: Type.Optional(cursorSchema), limit: Type.Optional(limitSchema) }),
      response: responses(paged('MarketItem', { meta: Type.Optional(ListingsMetaSchema) }), 400, 404),
    },
    make: async ({ id = '' }, { cursor, limit }) => {
      const collection = await resolveCollection(market, id);
      const scope = `listings ${collection.id}`;
      const offset = cursor === undefined ? 0 : readOffset(cursorSecret, scope, cursor);
      const [window, wording] = await Promise.all([readWindow(collection), readPriceContext(market)]);
      const end = offset + limit;
      const hasMore = end < window.listings.length;
      const place = chainAndAddressOf(market, collection);
      const rows = place ? window.listings.slice(offset, end) : [];
      const stale = window.staleSources.length > 0;
      return createCachedResponse({
        subject: cacheTagOf(collection, id),
        policy: window.degraded ? DEGRADED_POLICY : LISTINGS_POLICY,
        trueUntil: window.trueUntil,
        body: {
          data: place
            ? rows.map((row) => toWireListing(row, { chain: place.chain, contractAddress: place.address }, wording))
            : [],
          pagination: { nextCursor: hasMore ? sealCursor(cursorSecret, scope, String(end)) : null, hasMore },
          ...(stale && { meta: { stale: true, staleSources: window.staleSources } }),
        },
      });
    },
  });
}

/** The cursor is an offset into the window. One beyond its last possible row is refused, never an empty page. */
function readOffset(secret: Buffer, scope: string, cursor: string): number {
  const offset = Number(openCursor(secret, scope, cursor) ?? Number.NaN);
  if (Number.isInteger(offset) && offset >= 0 && offset < WINDOW_SIZE_MAX) return offset;
  throw new ServiceError('bad_request', 'Query parameter cursor is not one that was handed out for these listings');
}
