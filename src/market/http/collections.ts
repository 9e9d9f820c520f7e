// GET /v1/collections and GET /v1/collections/{id}.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { openCursor, sealCursor } from '../../core/cursor.ts';
import { ServiceError } from '../../core/errors.ts';
import { ALL_COLLECTIONS } from '../../core/changes.ts';
import { readCollectionDetail } from '../collection.ts';
import { listCollections } from '../collections.ts';
import { chainOf } from '../market.ts';
import type { Rank, RankingQuery, Sort } from '../ranking.ts';
import { SORTS, createRankingReader } from '../ranking.ts';
import { cacheTagOf } from '../resolve-collection.ts';
import { DEGRADED_POLICY, createCachedResponse } from '../../http/cached-response.ts';
import { collectionParams, responses } from './documented.ts';
import type { MarketplaceContext } from './cached-route.ts';
import { cachedRoute, readPriceContext } from './cached-route.ts';
import { chainSchema, cursorSchema, limitSchema, paged, wrapped } from './schemas.ts';
import { toWireDetail, toWireSummary } from './shapes.ts';

type ListQuery = { chain?: string; cursor?: string; limit: number; sort: Sort };

const LIST_POLICY = { sharedMaxAgeS: 5, staleWhileRevalidateS: 30 };
const DETAIL_POLICY = { sharedMaxAgeS: 10, staleWhileRevalidateS: 60 };

export function registerCollectionRoutes(app: FastifyInstance, context: MarketplaceContext): void {
  const { market, cursorSecret } = context;
  const readRanking = createRankingReader(market, context.changes);

  cachedRoute<ListQuery>(app, context, {
    path: '/v1/collections',
    schema: {
      operationId: 'listCollections',
      summary: 'List collections',
      description: 'Collections launched on the service come first; `sort` orders the rest, high to low.',
      tags: ['Collections'],
      querystring: Type.Object({
        chain: Type.Optional(chainSchema),
        cursor: Type.Optional(cursorSchema),
        limit: Type.Optional(limitSchema),
        sort: Type.Optional(
          Type.Unsafe<Sort>({
            type: 'string',
            enum: SORTS,
            default: 'volume',
            description: 'All-time volume, floor (in dollars across chains), or newest record first.',
          }),
        ),
      }),
      response: responses(paged('CollectionSummary'), 400, 502),
    },
    make: async (_params, { chain = null, cursor, limit, sort }) => {
      const query = { chain, sort };
      const after = cursor === undefined ? null : readRank(cursorSecret, query, cursor);
      const [page, wording] = await Promise.all([
        listCollections(market, readRanking, { ...query, after, limit }),
        readPriceContext(market),
      ]);
      return createCachedResponse({
        subject: ALL_COLLECTIONS,
        policy: page.degraded ? DEGRADED_POLICY : LIST_POLICY,
        body: {
          data: page.summaries.map((one) => toWireSummary(one, chainOf(market, one.collection.chain), wording)),
          pagination: {
            nextCursor: page.next && sealCursor(cursorSecret, toScope(query), toPayload(page.next)),
            hasMore: page.next !== null,
          },
        },
      });
    },
  });

  cachedRoute(app, context, {
    path: '/v1/collections/:id',
    schema: {
      operationId: 'getCollection',
      summary: 'Read a collection',
      description:
        'Identity and stats. A stats source that fails leaves its fields null; `stale` says that both failed.',
      tags: ['Collections'],
      params: collectionParams,
      response: responses(wrapped('CollectionDetail'), 400, 404),
    },
    make: async ({ id = '' }) => {
      const [detail, wording] = await Promise.all([readCollectionDetail(market, id), readPriceContext(market)]);
      const { collection } = detail;
      const data = toWireDetail(detail, chainOf(market, collection.chain), wording);
      const policy = detail.degraded ? DEGRADED_POLICY : DETAIL_POLICY;
      return createCachedResponse({ subject: cacheTagOf(collection, id), policy, body: { data } });
    },
  });
}

/** A cursor of this list is good for the chain and the sort that it was made for. */
function toScope({ chain, sort }: RankingQuery): string {
  return `collections ${chain ?? '*'} ${sort}`;
}

// Floors of one chain are compared as integers of any size, everything else as doubles; both go through text unharmed.
function toPayload(rank: Rank): string {
  const value = typeof rank.value === 'bigint' ? { raw: rank.value.toString() } : rank.value;
  return JSON.stringify([rank.launched, value, rank.id]);
}

function readRank(secret: Buffer, query: RankingQuery, cursor: string): Rank {
  const payload = openCursor(secret, toScope(query), cursor);
  if (payload === null)
    throw new ServiceError('bad_request', 'Query parameter cursor is not one that was handed out for this list');
  const [launched, value, id] = JSON.parse(payload) as [boolean, number | { raw: string } | null, string];
  return { launched, value: typeof value === 'object' && value !== null ? BigInt(value.raw) : value, id };
}
