// GET /v1/collections.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import { ALL_COLLECTIONS } from '../../../platform/core/collection-versions.ts';
import type { Chain } from '../../../platform/core/chains.ts';
import { sealCursor } from '../../../platform/core/cursor.ts';
import { createCachedResponse } from '../../../platform/http/cached-response.ts';
import { cachedRoute } from '../../../platform/http/cached-route.ts';
import { closed } from '../../../platform/http/schema-builders.ts';
import type { CollectionSummary } from '../collections.ts';
import { listCollections } from '../collections.ts';
import type { RankKey, Sort } from '../../index/queries/ranks.ts';
import type { RankingQuery } from '../ranking.ts';
import { SORTS } from '../ranking.ts';
import { chainSchema } from './asset-identity.ts';
import {
  collectionIdentity,
  countOrNull,
  exampleCollectionIdentity,
  statsDescription,
  statsFloor,
  toCollectionIdentity,
} from './collection-identity.ts';
import type { MarketplaceContext } from './context.ts';
import type { PageQuery } from './envelopes.ts';
import { marketResponses, pageOf, pageQuery, readCursor } from './envelopes.ts';
import { toExamplePrice } from './example-collection.ts';
import type { PriceContext } from './price.ts';
import { readPriceContext, toPriceOrNull } from './price.ts';

/** How long a list of collections may be cached. */
export const COLLECTIONS_POLICY = { sharedMaxAgeS: 5, staleWhileRevalidateS: 30 };

const LIST = 'ranked collections';

const sortSchema = Type.Optional(
  Type.Unsafe<Sort>({
    type: 'string',
    enum: SORTS,
    default: 'volume',
    description:
      '`volume`: by all-time volume. `floor`: by floor. When `chain` is absent, volumes and floors are compared in dollars, ' +
      'at the newest known rate of each currency, even if that rate is old. Volumes and floors on chains without a known rate ' +
      'follow those in dollars, and are compared in native units. `recent`: newest record first.',
  }),
);

export const SUMMARY_EXAMPLE = {
  ...exampleCollectionIdentity,
  stats: { floor: toExamplePrice(420n), volumeAllTime: 179.7, supply: 420, owners: 137 },
};

export const CollectionSummarySchema = Type.Object(
  {
    ...collectionIdentity,
    stats: Type.Object(
      {
        floor: statsFloor,
        volumeAllTime: countOrNull('All-time volume in native units, best effort.'),
        supply: countOrNull('Number of tokens.'),
        owners: countOrNull('Number of distinct owners.'),
      },
      { description: statsDescription, ...closed },
    ),
  },
  {
    $id: 'CollectionSummary',
    title: 'CollectionSummary',
    description: 'A collection in a list.',
    examples: [SUMMARY_EXAMPLE],
    ...closed,
  },
);

export type WireSummary = Static<typeof CollectionSummarySchema>;

export function toWireSummary(summary: CollectionSummary, chain: Chain | null, prices: PriceContext): WireSummary {
  const { collection, askFloorRaw, volumeAllTime, supply, owners } = summary;
  const floor = toPriceOrNull(askFloorRaw, chain, prices);
  return { ...toCollectionIdentity(collection), stats: { floor, volumeAllTime, supply, owners } };
}

export function registerCollectionsRoute(app: FastifyInstance, context: MarketplaceContext): void {
  const { market, cursorSecret } = context;

  cachedRoute<PageQuery & { chain?: string; sort: Sort }>(app, context, {
    path: '/v1/collections',
    bucket: 'list',
    schema: {
      operationId: 'listCollections',
      summary: 'List collections',
      description:
        'Collections launched on the service come first, then all others. `sort` orders both groups from high to low, with unknown ' +
        'values last.',
      tags: ['Collections'],
      querystring: Type.Object({
        chain: Type.Optional(chainSchema),
        ...pageQuery,
        sort: sortSchema,
      }),
      response: marketResponses(pageOf('CollectionSummary'), 400, 502),
    },
    respond: async (_params, { chain = null, cursor, limit, sort }) => {
      const query = { chain, sort };
      const after = cursor === undefined ? null : readRankCursor(cursorSecret, LIST, query, cursor);
      const [page, prices] = await Promise.all([
        listCollections(market, { ...query, after, limit }),
        readPriceContext(market),
      ]);
      return createCachedResponse({
        cacheTag: ALL_COLLECTIONS,
        policy: COLLECTIONS_POLICY,
        degraded: page.degraded,
        body: {
          data: page.summaries.map((one) => toWireSummary(one, market.chainOf(one.collection.chain), prices)),
          pagination: {
            nextCursor: page.next && toRankCursor(cursorSecret, LIST, query, page.next),
            hasMore: page.next !== null,
          },
        },
      });
    },
  });
}

/** A cursor is valid only for the list, the chain and the sort that it was issued for. `list` names the list. */
function toScope(list: string, { chain, sort }: RankingQuery): string {
  return `${list} ${chain ?? '*'} ${sort}`;
}

/** The cursor of the page after a position of the ranking. A floor in base units is written as text: a JSON number would round it. */
export function toRankCursor(secret: Buffer, list: string, query: RankingQuery, key: RankKey): string {
  const value = typeof key.value === 'bigint' ? { raw: key.value.toString() } : key.value;
  return sealCursor(secret, toScope(list, query), JSON.stringify([key.launched, key.chain, value, key.id]));
}

/** Throws `bad_request` if the cursor was issued for another list, chain or sort. */
export function readRankCursor(secret: Buffer, list: string, query: RankingQuery, cursor: string): RankKey {
  const payload = readCursor(secret, { scope: toScope(list, query), list: 'this list' }, cursor);
  const [launched, chain, value, id] = JSON.parse(payload) as [
    boolean,
    string,
    number | { raw: string } | null,
    string,
  ];
  return { launched, chain, id, value: typeof value === 'object' && value !== null ? BigInt(value.raw) : value };
}
