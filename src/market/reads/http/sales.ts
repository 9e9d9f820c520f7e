// GET /v1/collections/{id}/sales.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { sealCursor } from '../../../platform/core/cursor.ts';
import { createCachedResponse } from '../../../platform/http/cached-response.ts';
import { cachedRoute } from '../../../platform/http/cached-route.ts';
import { cacheTagOf } from '../resolve-collection.ts';
import type { SalePosition } from '../sales.ts';
import { readSales, resolveTradedCollection } from '../sales.ts';
import { collectionParams } from './collection-identity.ts';
import type { MarketplaceContext } from './context.ts';
import type { PageQuery } from './envelopes.ts';
import { invalidCursor, marketResponses, pageOf, pageQuery, readCursor } from './envelopes.ts';
import { SALE_EXAMPLE, toSaleItem } from './market-item.ts';
import { readPriceContext } from './price.ts';

const CACHE_POLICY = { sharedMaxAgeS: 10, staleWhileRevalidateS: 60 };

export function registerSalesRoute(app: FastifyInstance, context: MarketplaceContext): void {
  const { market, cursorSecret } = context;

  cachedRoute<PageQuery>(app, context, {
    path: '/v1/collections/:id/sales',
    bucket: 'list',
    schema: {
      operationId: 'listSales',
      summary: 'List the sales of a collection',
      description:
        'Completed sales, newest first. Sales whose price cannot be interpreted are left out of their page, so a page ' +
        'may be short or empty while `hasMore` is true.',
      tags: ['Listings and sales'],
      params: collectionParams,
      querystring: Type.Object(pageQuery),
      response: marketResponses(pageOf('MarketItem', { rows: [SALE_EXAMPLE] }), 400, 404, 502),
    },
    respond: async ({ id = '' }, { cursor, limit }) => {
      const { collection, location } = await resolveTradedCollection(market, id);
      const { collectionId } = location;
      const scope = `sales ${collectionId}`;
      const before = cursor === undefined ? null : readPosition(cursorSecret, scope, cursor);
      const [page, prices] = await Promise.all([
        readSales(market, collectionId, { before, limit }),
        readPriceContext(market),
      ]);
      return createCachedResponse({
        cacheTag: cacheTagOf(collection, id),
        policy: CACHE_POLICY,
        body: {
          data: page.sales.map((sale) => toSaleItem(sale, location, prices, market.serviceName)),
          pagination: {
            nextCursor: page.next && sealCursor(cursorSecret, scope, `${page.next.soldAt} ${page.next.key}`),
            hasMore: page.next !== null,
          },
        },
      });
    },
  });
}

function readPosition(secret: Buffer, scope: string, cursor: string): SalePosition {
  const list = 'these sales';
  const [soldAt, key] = readCursor(secret, { scope, list }, cursor).split(' ');
  if (soldAt === undefined || key === undefined) throw invalidCursor(list);
  return { soldAt: Number(soldAt), key };
}
