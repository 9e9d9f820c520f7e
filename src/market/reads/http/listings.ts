// GET /v1/collections/{id}/listings.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { sealCursor } from '../../../platform/core/cursor.ts';
import { createCachedResponse } from '../../../platform/http/cached-response.ts';
import { cachedRoute } from '../../../platform/http/cached-route.ts';
import { closed } from '../../../platform/http/schema-builders.ts';
import { ListingWindowCache } from '../listing-window-cache.ts';
import { WINDOW_SIZE_MAX } from '../sorted-rows.ts';
import { cacheTagOf, locationOf, resolveCollection } from '../resolve-collection.ts';
import { collectionParams } from './collection-identity.ts';
import type { MarketplaceContext } from './context.ts';
import type { PageQuery } from './envelopes.ts';
import { invalidCursor, marketResponses, pageOf, pageQuery, readCursor } from './envelopes.ts';
import { toListingItem } from './market-item.ts';
import { readPriceContext } from './price.ts';

const CACHE_POLICY = { sharedMaxAgeS: 5, staleWhileRevalidateS: 30 };

const ListingsMetaSchema = Type.Object(
  {
    stale: Type.Literal(true, { description: 'Always true when `meta` is present.' }),
    staleSources: Type.Array(Type.String(), { description: 'The names of the sources that could not be read.' }),
  },
  { description: 'Present only when the listings of external marketplaces could not be read.', ...closed },
);

export function registerListingsRoute(app: FastifyInstance, context: MarketplaceContext): void {
  const { market, cursorSecret } = context;
  const windows = new ListingWindowCache(market, context.changes);

  cachedRoute<PageQuery>(app, context, {
    path: '/v1/collections/:id/listings',
    bucket: 'list',
    schema: {
      operationId: 'listListings',
      summary: 'List the cheapest listings of a collection',
      description:
        'The own order book merged with external marketplaces: one row per asset, cheapest first, at most 250. ' +
        '`meta` is present only when the listings of external marketplaces could not be read.',
      tags: ['Listings and sales'],
      params: collectionParams,
      querystring: Type.Object(pageQuery),
      response: marketResponses(
        pageOf('MarketItem', { members: { meta: Type.Optional(ListingsMetaSchema) } }),
        400,
        404,
      ),
    },
    respond: async ({ id = '' }, { cursor, limit }) => {
      const collection = await resolveCollection(market, id);
      const scope = `listings ${collection.id}`;
      const offset = cursor === undefined ? 0 : readOffset(cursorSecret, scope, cursor);
      const [window, prices] = await Promise.all([windows.read(collection), readPriceContext(market)]);
      const end = offset + limit;
      const hasMore = end < window.listings.length;
      const location = locationOf(market, collection);
      const listings = location ? window.listings.slice(offset, end) : [];
      return createCachedResponse({
        cacheTag: cacheTagOf(collection, id),
        policy: CACHE_POLICY,
        degraded: window.degraded,
        validUntil: window.validUntil,
        body: {
          data: location ? listings.map((listing) => toListingItem(listing, location, prices)) : [],
          pagination: { nextCursor: hasMore ? sealCursor(cursorSecret, scope, String(end)) : null, hasMore },
          ...(window.staleSources.length > 0 && { meta: { stale: true, staleSources: window.staleSources } }),
        },
      });
    },
  });
}

/** The cursor is an offset into the window. An offset beyond the largest possible window is rejected with `bad_request`. */
function readOffset(secret: Buffer, scope: string, cursor: string): number {
  const list = 'these listings';
  const offset = Number(readCursor(secret, { scope, list }, cursor));
  if (Number.isInteger(offset) && offset >= 0 && offset < WINDOW_SIZE_MAX) return offset;
  throw invalidCursor(list);
}
