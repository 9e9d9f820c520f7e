// GET /v1/collections/{id}/sales.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { openCursor, sealCursor } from '../../core/cursor.ts';
import { ServiceError } from '../../core/errors.ts';
import { cacheTagOf } from '../resolve-collection.ts';
import type { SalePlace } from '../sales.ts';
import { readSales, resolveTradedCollection } from '../sales.ts';
import { createCachedResponse } from '../../http/cached-response.ts';
import { collectionParams, responses } from './documented.ts';
import type { MarketplaceContext } from './cached-route.ts';
import { cachedRoute, readPriceContext } from './cached-route.ts';
import { cursorSchema, limitSchema, paged } from './schemas.ts';
import { toWireSale } from './shapes.ts';

type PageQuery = { cursor?: string; limit: number };

const SALES_POLICY = { sharedMaxAgeS: 10, staleWhileRevalidateS: 60 };

export function registerSaleRoute(app: FastifyInstance, context: MarketplaceContext): void {
  const { market, cursorSecret } = context;

  cachedRoute<PageQuery>(app, context, {
    path: '/v1/collections/:id/sales',
    schema: {
      operationId: 'listSales',
      summary: 'List the sales of a collection',
      description:
        'Completed sales, newest first. A page is cut before rows with uninterpretable prices are dropped: it may be ' +
        'short, even empty, while `hasMore` is true.',
      tags: ['Listings and sales'],
      params: collectionParams,
      querystring: Type.Object({ cursor: Type.Optional(cursorSchema), limit: Type.Optional(limitSchema) }),
      response: responses(paged('MarketItem'), 400, 404, 502),
    },
    make: async ({ id = '' }, { cursor, limit }) => {
      const { collection, chain, address, key } = await resolveTradedCollection(market, id);
      const scope = `sales ${key}`;
      const before = cursor === undefined ? null : readPlace(cursorSecret, scope, cursor);
      const [page, wording] = await Promise.all([readSales(market, key, { before, limit }), readPriceContext(market)]);
      const place = { chain, contractAddress: address };
      return createCachedResponse({
        subject: cacheTagOf(collection, id),
        policy: SALES_POLICY,
        body: {
          data: page.sales.map((sale) => toWireSale(sale, place, wording, market.serviceName)),
          pagination: {
            nextCursor: page.next && sealCursor(cursorSecret, scope, `${page.next.soldAt} ${page.next.key}`),
            hasMore: page.next !== null,
          },
        },
      });
    },
  });
}

function readPlace(secret: Buffer, scope: string, cursor: string): SalePlace {
  const [soldAt, key] = openCursor(secret, scope, cursor)?.split(' ') ?? [];
  if (soldAt === undefined || key === undefined) {
    throw new ServiceError('bad_request', 'Query parameter cursor is not one that was handed out for these sales');
  }
  return { soldAt: Number(soldAt), key };
}
