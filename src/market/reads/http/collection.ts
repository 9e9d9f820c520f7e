// GET /v1/collections/{id}.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { TSchema } from 'typebox';
import Type from 'typebox';
import type { Chain } from '../../../platform/core/chains.ts';
import { createCachedResponse } from '../../../platform/http/cached-response.ts';
import { cachedRoute } from '../../../platform/http/cached-route.ts';
import { closed, dataOf, ref } from '../../../platform/http/schema-builders.ts';
import type { CollectionDetail } from '../collection.ts';
import { readCollectionDetail } from '../collection.ts';
import type { Figure } from '../../provenance/figure.ts';
import type { StatedWindows, Windows } from '../../provenance/trade.ts';
import { toWindowValues } from '../../provenance/trade.ts';
import { cacheTagOf } from '../resolve-collection.ts';
import {
  collectionIdentity,
  collectionParams,
  countOrNull,
  exampleCollectionIdentity,
  statsDescription,
  statsFloor,
  toCollectionIdentity,
} from './collection-identity.ts';
import type { MarketplaceContext } from './context.ts';
import { marketResponses } from './envelopes.ts';
import { toExamplePrice } from './example-collection.ts';
import type { PriceContext } from './price.ts';
import { readPriceContext, toPriceOrNull } from './price.ts';

/** How long a collection may be cached. */
export const COLLECTION_POLICY = { sharedMaxAgeS: 10, staleWhileRevalidateS: 60 };

const windowsOf = (measure: string) => ({
  allTime: countOrNull(`${measure}, all time.`),
  sevenDay: countOrNull(`${measure}, the last seven days.`),
  twentyFourHour: countOrNull(`${measure}, the last 24 hours.`),
});

const windowsSchemaOf = <T extends Record<string, TSchema>>(measure: string, windows: T) =>
  Type.Object(windows, { description: `${measure}. Null means unknown at present, never zero.`, ...closed });

/** The windows of the explore interface: those of `/v1`, and two more. */
const allWindowsOf = (measure: string) =>
  windowsSchemaOf(measure, {
    ...windowsOf(measure),
    thirtyDay: countOrNull(`${measure}, the last 30 days.`),
    oneHour: countOrNull(`${measure}, the last hour.`),
  });

const VOLUME = 'Volume in native units';
const SALES = 'Number of sales';

/** The statistics of a collection in detail. */
export const detailStats = {
  floor: statsFloor,
  volume: windowsSchemaOf(VOLUME, windowsOf(VOLUME)),
  sales: windowsSchemaOf(SALES, windowsOf(SALES)),
  supply: countOrNull('Number of tokens.'),
  owners: countOrNull('Number of distinct owners.'),
  listedCount: countOrNull('Number of listed assets.'),
};

/** Volume and sales in all windows. */
export const tradeStats = { volume: allWindowsOf(VOLUME), sales: allWindowsOf(SALES) };

export const exampleDetailStats = {
  floor: toExamplePrice(420n),
  volume: { allTime: 179.7, sevenDay: 9.915, twentyFourHour: 4.604 },
  sales: { allTime: 378, sevenDay: 18, twentyFourHour: 7 },
  supply: 420,
  owners: 137,
  listedCount: 268,
};

export const CollectionDetailSchema = Type.Object(
  {
    ...collectionIdentity,
    stats: Type.Object(detailStats, { description: statsDescription, ...closed }),
    stale: Type.Boolean({ description: 'True only when neither of the two sources of statistics could be read.' }),
  },
  {
    $id: 'CollectionDetail',
    title: 'CollectionDetail',
    description: 'One collection.',
    examples: [
      {
        ...exampleCollectionIdentity,
        stats: exampleDetailStats,
        stale: false,
      },
    ],
    ...closed,
  },
);

export function toWireDetail(
  detail: CollectionDetail,
  chain: Chain | null,
  prices: PriceContext,
): Static<typeof CollectionDetailSchema> {
  const { volume, sales, supply, owners, listedCount } = detail;
  const floor = toPriceOrNull(detail.floor?.value ?? null, chain, prices);
  return {
    ...toCollectionIdentity(detail.collection),
    stats: {
      floor,
      volume: toWireWindows(volume),
      sales: toWireWindows(sales),
      supply: supply?.value ?? null,
      owners: owners?.value ?? null,
      listedCount: listedCount?.value ?? null,
    },
    stale: detail.stale,
  };
}

function toWireWindows(figures: Windows<Figure<number> | null>): StatedWindows<number | null> {
  const { allTime, sevenDay, twentyFourHour } = toWindowValues(figures);
  return { allTime, sevenDay, twentyFourHour };
}

export function registerCollectionRoute(app: FastifyInstance, context: MarketplaceContext): void {
  const { market } = context;

  cachedRoute(app, context, {
    path: '/v1/collections/:id',
    bucket: 'single',
    schema: {
      operationId: 'getCollection',
      summary: 'Read a collection',
      description:
        'Identity and statistics. `volume` and `sales` come from one source of statistics; `supply`, `owners` and ' +
        '`listedCount` come from another; `floor` comes from the listings. A field that cannot be read is null, except that ' +
        '`supply` and `floor` fall back to stored values. `stale` is true only when neither source of statistics could be read.',
      tags: ['Collections'],
      params: collectionParams,
      response: marketResponses(dataOf(ref('CollectionDetail')), 400, 404),
    },
    respond: async ({ id = '' }) => {
      const [detail, prices] = await Promise.all([readCollectionDetail(market, id), readPriceContext(market)]);
      const { collection } = detail;
      return createCachedResponse({
        cacheTag: cacheTagOf(collection, id),
        policy: COLLECTION_POLICY,
        degraded: detail.degraded,
        body: { data: toWireDetail(detail, market.chainOf(collection.chain), prices) },
      });
    },
  });
}
