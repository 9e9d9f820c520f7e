// GET /explore/v1/collections and GET /explore/v1/collections/{id}.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import { toNativeNumber } from '../../../platform/core/amount.ts';
import type { Chain } from '../../../platform/core/chains.ts';
import { ALL_COLLECTIONS } from '../../../platform/core/collection-versions.ts';
import { closed, dateTimeOrNull, ref, typeOrNull } from '../../../platform/http/schema-builders.ts';
import { chainSchema } from '../../reads/http/asset-identity.ts';
import { COLLECTION_POLICY, detailStats, exampleDetailStats, toWireDetail } from '../../reads/http/collection.ts';
import {
  collectionIdentity,
  collectionParams,
  exampleCollectionIdentity,
  statsDescription,
} from '../../reads/http/collection-identity.ts';
import { COLLECTIONS_POLICY, readRankCursor, sortSchema, toRankCursor } from '../../reads/http/collections.ts';
import type { PageQuery } from '../../reads/http/envelopes.ts';
import { marketResponses, pageQuery } from '../../reads/http/envelopes.ts';
import { toExamplePrice } from '../../reads/http/example-collection.ts';
import type { PriceContext, WirePrice } from '../../reads/http/price.ts';
import { readPriceContext, toPriceOrNull } from '../../reads/http/price.ts';
import type { Sort } from '../../index/queries/ranks.ts';
import { cacheTagOf } from '../../reads/resolve-collection.ts';
import type { MarketCollection } from '../collections.ts';
import { SPARKLINE_LENGTH, listMarketCollections, readMarketCollection } from '../collections.ts';
import type { ExploreContext } from './context.ts';
import { exploreRoute, exploredDataOf, exploredPageOf } from './offset-meta.ts';

const LIST = 'collections with figures';

const changesOf = (what: string, earlier: string) =>
  Type.Object(
    {
      twentyFourHour: typeOrNull<number>('number', `${what} in 24 hours; null if either value is unknown.`),
      sevenDay: typeOrNull<number>('number', `${what} in seven days; null if either value is unknown.`),
    },
    { description: `${what}, as a ratio to ${earlier}: 0.05 is 5 % more.`, ...closed },
  );

const buyerFloor = Type.Unsafe<{ price: WirePrice; stale: boolean; observedAt: string | null } | null>({
  anyOf: [
    Type.Object(
      {
        price: ref<WirePrice>('Price'),
        stale: Type.Boolean({
          description: 'True if the price is the last stored one, because the present one cannot be read.',
        }),
        observedAt: dateTimeOrNull('When a stale price was read; null if the price is of the same moment as `floor`.'),
      },
      closed,
    ),
    { type: 'null' },
  ],
  description:
    'The lowest total that a buyer pays, fees included. It is of the same moment as `floor` and `listedCount`, and never below `floor`. While it cannot be read, it is the last stored one, of the last half hour, on the chains on which `GET /v1/collections/{id}/floor` can serve a stored floor. Null if nothing is listed, or if it is unknown.',
});

const sparkline = Type.Array(Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0 }), {
  minItems: SPARKLINE_LENGTH,
  maxItems: SPARKLINE_LENGTH,
  description:
    'The floors of the last seven days in native units, one for every six hours, the earliest first. An element is null if no floor of its six hours is known.',
});

const EXAMPLE_SPARKLINE = Array.from({ length: SPARKLINE_LENGTH }, (_, index) => (index < 14 ? 0.44 : 0.42));

export const MarketCollectionSchema = Type.Object(
  {
    ...collectionIdentity,
    stats: Type.Object(
      {
        ...detailStats,
        buyerFloor,
        floorChange: changesOf('The change of the floor', 'the floor at the beginning of the period'),
        volumeChange: changesOf('The change of the volume', 'the volume of the preceding period'),
      },
      { description: statsDescription, ...closed },
    ),
    sparkline,
    stale: Type.Boolean({ description: 'True only when neither of the two sources of statistics could be read.' }),
  },
  {
    $id: 'MarketCollection',
    title: 'MarketCollection',
    description: 'A collection with all figures of a market table. All fields are always present.',
    examples: [
      {
        ...exampleCollectionIdentity,
        stats: {
          ...exampleDetailStats,
          buyerFloor: { price: toExamplePrice(441n), stale: false, observedAt: null },
          floorChange: { twentyFourHour: 0, sevenDay: -0.045_454 },
          volumeChange: { twentyFourHour: 0.25, sevenDay: null },
        },
        sparkline: EXAMPLE_SPARKLINE,
        stale: false,
      },
    ],
    ...closed,
  },
);

export function registerCollectionRoutes(app: FastifyInstance, context: ExploreContext): void {
  registerList(app, context);
  registerSingle(app, context);
}

function registerList(app: FastifyInstance, context: ExploreContext): void {
  const { market, cursorSecret } = context;

  exploreRoute<PageQuery & { chain?: string; sort: Sort }>(app, context, {
    path: '/explore/v1/collections',
    bucket: 'list',
    schema: {
      operationId: 'listMarketCollections',
      summary: 'List collections with all figures',
      description:
        'The collections of `GET /v1/collections` in the same order, with the figures of `GET /v1/collections/{id}`, the buyer floor, and the changes of floor and volume.',
      tags: ['Collections'],
      querystring: Type.Object({ chain: Type.Optional(chainSchema), ...pageQuery, sort: sortSchema }),
      response: marketResponses(exploredPageOf('MarketCollection'), 400, 502),
    },
    respond: async (_params, { chain = null, cursor, limit, sort }) => {
      const query = { chain, sort };
      const after = cursor === undefined ? null : readRankCursor(cursorSecret, LIST, query, cursor);
      const [{ collections, next }, prices] = await Promise.all([
        listMarketCollections(market, { ...query, after, limit }),
        readPriceContext(market),
      ]);
      return {
        cacheTag: ALL_COLLECTIONS,
        policy: COLLECTIONS_POLICY,
        degraded: collections.some(({ degraded }) => degraded),
        body: {
          data: collections.map((one) => toWireCollection(one, market.chainOf(one.detail.collection.chain), prices)),
          pagination: {
            nextCursor: next && toRankCursor(cursorSecret, LIST, query, next),
            hasMore: next !== null,
          },
        },
      };
    },
  });
}

function registerSingle(app: FastifyInstance, context: ExploreContext): void {
  const { market } = context;

  exploreRoute(app, context, {
    path: '/explore/v1/collections/:id',
    bucket: 'single',
    schema: {
      operationId: 'getMarketCollection',
      summary: 'Read a collection with all figures',
      description:
        'The row of the collection in `GET /explore/v1/collections`. A figure that cannot be read is null, as in `GET /v1/collections/{id}`.',
      tags: ['Collections'],
      params: collectionParams,
      response: marketResponses(exploredDataOf(ref('MarketCollection')), 400, 404),
    },
    respond: async ({ id = '' }) => {
      const [figures, prices] = await Promise.all([readMarketCollection(market, id), readPriceContext(market)]);
      const { collection } = figures.detail;
      return {
        cacheTag: cacheTagOf(collection, id),
        policy: COLLECTION_POLICY,
        degraded: figures.degraded,
        body: { data: toWireCollection(figures, market.chainOf(collection.chain), prices) },
      };
    },
  });
}

function toWireCollection(
  { detail, floorChange, volumeChange, sparkline: floors }: MarketCollection,
  chain: Chain | null,
  prices: PriceContext,
): Static<typeof MarketCollectionSchema> {
  const { stats, ...identity } = toWireDetail(detail, chain, prices);
  const { buyerFloor } = detail;
  const price = buyerFloor && toPriceOrNull(buyerFloor.raw, chain, prices);
  const since = buyerFloor?.staleSince ?? null;
  const observedAt = since === null ? null : new Date(since).toISOString();
  return {
    ...identity,
    stats: {
      ...stats,
      buyerFloor: price && { price, stale: observedAt !== null, observedAt },
      floorChange,
      volumeChange,
    },
    sparkline: floors.map((raw) => (raw === null || !chain ? null : toNativeNumber(raw, chain.decimals))),
  };
}
