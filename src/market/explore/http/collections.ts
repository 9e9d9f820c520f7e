// GET /explore/v1/collections and GET /explore/v1/collections/{id}.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import { DECIMAL_PATTERN, toNativeNumber } from '../../../platform/core/amount.ts';
import { ALL_COLLECTIONS } from '../../../platform/core/collection-versions.ts';
import { parameterError } from '../../../platform/core/errors.ts';
import { closed, dateTimeOrNull, ref, refOrNull, typeOrNull } from '../../../platform/http/schema-builders.ts';
import { chainSchema } from '../../reads/http/asset-identity.ts';
import {
  COLLECTION_POLICY,
  detailStats,
  exampleDetailStats,
  toWireDetail,
  tradeStats,
} from '../../reads/http/collection.ts';
import {
  collectionIdentity,
  collectionParams,
  exampleCollectionIdentity,
  statsDescription,
} from '../../reads/http/collection-identity.ts';
import { COLLECTIONS_POLICY, readRankCursor, toRankCursor } from '../../reads/http/collections.ts';
import type { PageQuery } from '../../reads/http/envelopes.ts';
import { marketResponses, pageQuery } from '../../reads/http/envelopes.ts';
import { EXAMPLE_COLLECTION, toExamplePrice } from '../../reads/http/example-collection.ts';
import type { PriceContext, WirePrice } from '../../reads/http/price.ts';
import { toPriceOrNull } from '../../reads/http/price.ts';
import type { Range, Sort } from '../../index/queries/ranks.ts';
import { RANK_SORTS } from '../../index/queries/ranks.ts';
import type { WindowName } from '../../provenance/trade.ts';
import { toWindowValues } from '../../provenance/trade.ts';
import type { Market } from '../../reads/market.ts';
import type { RankingQuery } from '../../reads/ranking.ts';
import { cacheTagOf } from '../../reads/resolve-collection.ts';
import type { MarketCollection } from '../collections.ts';
import { SPARKLINE_LENGTH, listMarketCollections, readMarketCollection, readNamedCollections } from '../collections.ts';
import type { WireTopBid } from './bid.ts';
import { toWireTopBid } from './bid.ts';
import type { ExploreContext } from './context.ts';
import type { ImageLinks } from './images.ts';
import { collectionImageFields, toCollectionImages } from './images.ts';
import { exploreRoute, exploredDataOf, exploredPageOf } from './offset-meta.ts';
import { readExplorePrices } from './price.ts';

const LIST = 'collections with figures';

const changesOf = (what: string, earlier: string) =>
  Type.Object(
    {
      oneHour: typeOrNull<number>('number', `${what} in one hour; null if either value is unknown.`),
      twentyFourHour: typeOrNull<number>('number', `${what} in 24 hours; null if either value is unknown.`),
      sevenDay: typeOrNull<number>('number', `${what} in seven days; null if either value is unknown.`),
      thirtyDay: typeOrNull<number>('number', `${what} in 30 days; null if either value is unknown.`),
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
    ...collectionImageFields,
    stats: Type.Object(
      {
        ...detailStats,
        ...tradeStats,
        buyerFloor,
        topBid: refOrNull<WireTopBid>(
          'TopBid',
          'The best bid for any token of the collection; null if none is known. Bids for one token or for traits do not count.',
        ),
        spread: typeOrNull<number>(
          'number',
          'How far the proceeds of the top bid are below the floor, as a ratio to the floor: 0.05 is 5 %. Null if either is unknown.',
        ),
        floorChange: changesOf('The change of the floor', 'the floor at the beginning of the period'),
        volumeChange: changesOf('The change of the volume', 'the volume of the preceding period'),
      },
      { description: statsDescription, ...closed },
    ),
    sparkline,
    launched: Type.Boolean({ description: 'True if the collection was launched on the service.' }),
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
          volume: { ...exampleDetailStats.volume, thirtyDay: 41.22, oneHour: 0.42 },
          sales: { ...exampleDetailStats.sales, thirtyDay: 77, oneHour: 1 },
          buyerFloor: { price: toExamplePrice(441n), stale: false, observedAt: null },
          topBid: null,
          spread: null,
          floorChange: { oneHour: 0, twentyFourHour: 0, sevenDay: -0.045_454, thirtyDay: null },
          volumeChange: { oneHour: null, twentyFourHour: 0.25, sevenDay: null, thirtyDay: null },
        },
        sparkline: EXAMPLE_SPARKLINE,
        launched: true,
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

/** The windows by their names in requests. */
export const WINDOW_OF = {
  '1h': 'oneHour',
  '24h': 'twentyFourHour',
  '7d': 'sevenDay',
  '30d': 'thirtyDay',
  all: 'allTime',
} as const satisfies Record<string, WindowName>;

type Query = PageQuery & {
  ids?: string;
  chain?: string;
  sort?: Sort;
  window?: keyof typeof WINDOW_OF;
  order?: 'asc' | 'desc';
  launchedFirst?: boolean;
  floorMin?: string;
  floorMax?: string;
  volumeMin?: string;
  volumeMax?: string;
};

const IDS_MAX = 100;

const limitOf = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: DECIMAL_PATTERN,
      examples: ['0.5'],
      description: `${description} In native units of \`chain\`; without \`chain\` in dollars, and then collections on chains without a known rate are left out.`,
    }),
  );

const listQuery = Type.Object({
  ids: Type.Optional(
    Type.String({
      minLength: 1,
      description: `Only these collections, in this order: up to ${IDS_MAX} ids, slugs or addresses, separated by commas. All of them are on one page. No filter, sort or cursor may be given.`,
      examples: [`${EXAMPLE_COLLECTION.slug},${EXAMPLE_COLLECTION.id}`],
    }),
  ),
  chain: Type.Optional(chainSchema),
  ...pageQuery,
  sort: Type.Optional(
    Type.Unsafe<Sort>({
      type: 'string',
      enum: RANK_SORTS,
      description:
        'Default: `volume`. `volume` and `sales`: by the volume and the number of sales of the `window`. `floor`: by floor. `change`: by the ' +
        'change of the floor in the `window`. `listed`: by the number of listed assets. `recent`: by the time of the record. When `chain` is ' +
        'absent, volumes and floors are compared in dollars, at the newest known rate of each currency, even if that rate is old. Volumes ' +
        'and floors on chains without a known rate follow those in dollars, and are compared in native units. Numbers of sales, changes and ' +
        'numbers of listed assets have no unit and are compared as they are.',
    }),
  ),
  window: Type.Optional(
    Type.Unsafe<keyof typeof WINDOW_OF>({
      type: 'string',
      enum: Object.keys(WINDOW_OF),
      description:
        'The period of `volume`, `sales` and `change`, and of `volumeMin` and `volumeMax`. Default: `all`, and `24h` for the sort `change`, ' +
        'which has no period `all`.',
    }),
  ),
  order: Type.Optional(
    Type.Unsafe<'asc' | 'desc'>({
      type: 'string',
      enum: ['asc', 'desc'],
      description: 'Default: `desc`. From high to low, or from low to high. Unknown values come last in both.',
    }),
  ),
  launchedFirst: Type.Optional(
    Type.Boolean({
      description:
        'Default: `true`. Collections launched on the service come before all others, each part in its order. `false`: all collections are in one order.',
    }),
  ),
  floorMin: limitOf('Only collections with at least this floor.'),
  floorMax: limitOf('Only collections with at most this floor.'),
  volumeMin: limitOf('Only collections with at least this volume in the `window`.'),
  volumeMax: limitOf('Only collections with at most this volume in the `window`.'),
});

function registerList(app: FastifyInstance, context: ExploreContext): void {
  const { market, cursorSecret } = context;

  exploreRoute<Query>(app, context, {
    path: '/explore/v1/collections',
    bucket: 'list',
    schema: {
      operationId: 'listMarketCollections',
      summary: 'List collections with all figures',
      description:
        'The collections of `GET /v1/collections`, with the figures of `GET /v1/collections/{id}`, the buyer floor, and the changes of floor and ' +
        'volume. Collections launched on the service come first, then all others, unless `launchedFirst` is `false`. A collection whose value ' +
        'is not known comes last. The order by a window, or by the number of all sales, is brought up to date some seconds after a change of the ' +
        'collection, each minute while it has sales in the last hour, and otherwise each ten minutes; the figures of the rows are those of the present.',
      tags: ['Collections'],
      querystring: listQuery,
      response: marketResponses(exploredPageOf('MarketCollection'), 400, 404, 502),
    },
    respond: async (_params, { ids, ...given }) => {
      const [page, prices] = await Promise.all([
        ids === undefined ? listPage(context, given) : listNamed(market, { ids, given }),
        readExplorePrices(market),
      ]);
      return {
        cacheTag: ALL_COLLECTIONS,
        policy: COLLECTIONS_POLICY,
        degraded: page.collections.some(({ degraded }) => degraded),
        body: {
          data: page.collections.map((one) => toWireCollection(context, one, prices)),
          pagination: { nextCursor: page.nextCursor, hasMore: page.nextCursor !== null },
        },
      };
    },
  });

  async function listPage({ market: read }: ExploreContext, given: Omit<Query, 'ids'>): Promise<Page> {
    const { query, list } = toRanking(given);
    const { cursor, limit } = given;
    const after = cursor === undefined ? null : readRankCursor(cursorSecret, list, query, cursor);
    const { collections, next } = await listMarketCollections(read, { ...query, after, limit });
    return { collections, nextCursor: next && toRankCursor(cursorSecret, list, query, next) };
  }
}

type Page = { collections: MarketCollection[]; nextCursor: string | null };

/** `list` names the list in its cursors: a cursor is valid only for the same window, order and filters. */
function toRanking({ sort = 'volume', order = 'desc', launchedFirst = true, ...given }: Omit<Query, 'ids'>): {
  query: RankingQuery;
  list: string;
} {
  const { window = sort === 'change' ? '24h' : 'all', floorMin, floorMax, volumeMin, volumeMax } = given;
  if (sort === 'change' && window === 'all') {
    throw parameterError('window', 'must be 1h, 24h, 7d or 30d for the sort change');
  }
  const query = {
    sort,
    chain: given.chain ?? null,
    window: WINDOW_OF[window],
    isAscending: order === 'asc',
    isLaunchedFirst: launchedFirst,
    floor: toRange(floorMin, floorMax),
    volume: toRange(volumeMin, volumeMax),
  };
  const { isAscending, isLaunchedFirst, floor, volume } = query;
  return { query, list: `${LIST} ${JSON.stringify([window, isAscending, isLaunchedFirst, floor, volume])}` };
}

function toRange(min: string | undefined, max: string | undefined): Range<string> | null {
  return min === undefined && max === undefined ? null : { min: min ?? null, max: max ?? null };
}

async function listNamed(
  market: Market,
  { ids, given: { limit: _limit, ...others } }: { ids: string; given: Omit<Query, 'ids'> },
): Promise<Page> {
  const names = ids.split(',');
  const [other] = Object.keys(others);
  if (other !== undefined) {
    throw parameterError(other, 'cannot be combined with ids');
  }
  if (names.length > IDS_MAX || names.includes('')) {
    throw parameterError('ids', `must be up to ${IDS_MAX} ids, slugs or addresses, separated by commas`);
  }
  return { collections: await readNamedCollections(market, names), nextCursor: null };
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
      const [figures, prices] = await Promise.all([readMarketCollection(market, id), readExplorePrices(market)]);
      const { collection } = figures.detail;
      return {
        cacheTag: cacheTagOf(collection, id),
        policy: COLLECTION_POLICY,
        degraded: figures.degraded,
        body: { data: toWireCollection(context, figures, prices) },
      };
    },
  });
}

function toWireCollection(
  context: ImageLinks & { market: Pick<Market, 'chainOf'> },
  { detail, floorChange, volumeChange, sparkline: floors, topBid }: MarketCollection,
  prices: PriceContext,
): Static<typeof MarketCollectionSchema> {
  const chain = context.market.chainOf(detail.collection.chain);
  const { stats, ...identity } = toWireDetail(detail, chain, prices);
  const { buyerFloor } = detail;
  const price = buyerFloor && toPriceOrNull(buyerFloor.raw, chain, prices);
  const since = buyerFloor?.staleSince ?? null;
  const observedAt = since === null ? null : new Date(since).toISOString();
  return {
    ...identity,
    ...toCollectionImages(context, detail.collection),
    stats: {
      ...stats,
      volume: toWindowValues(detail.volume),
      sales: toWindowValues(detail.sales),
      buyerFloor: price && { price, stale: observedAt !== null, observedAt },
      topBid: topBid && chain && toWireTopBid(topBid, chain, prices),
      spread: toSpread(detail.floor?.value ?? null, topBid?.proceeds ?? null),
      floorChange,
      volumeChange,
    },
    sparkline: floors.map((raw) => (raw === null || !chain ? null : toNativeNumber(raw, chain.decimals))),
    launched: detail.collection.launched,
  };
}

const SPREAD_PRECISION = 1_000_000n;

/** A ratio with six decimals. */
function toSpread(floor: bigint | null, proceeds: bigint | null): number | null {
  if (floor === null || floor === 0n || proceeds === null) return null;
  return Number(((floor - proceeds) * SPREAD_PRECISION) / floor) / Number(SPREAD_PRECISION);
}
