// GET /explore/v1/orders.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import type { Address } from '../../../platform/core/address.ts';
import { parseAnyAddress } from '../../../platform/core/address.ts';
import { ALL_COLLECTIONS } from '../../../platform/core/collection-versions.ts';
import { sealCursor } from '../../../platform/core/cursor.ts';
import { parameterError } from '../../../platform/core/errors.ts';
import { closed } from '../../../platform/http/schema-builders.ts';
import type { PageQuery } from '../../reads/http/envelopes.ts';
import { invalidCursor, marketResponses, pageQuery, readCursor } from '../../reads/http/envelopes.ts';
import { EXAMPLE_COLLECTION } from '../../reads/http/example-collection.ts';
import { firstExpiry } from '../../reads/listing-window.ts';
import type { Market } from '../../reads/market.ts';
import { cacheTagOf, locationOf, resolveCollection } from '../../reads/resolve-collection.ts';
import type { OrderSide } from '../../orders/order-id.ts';
import { ORDER_SIDES } from '../../orders/order-id.ts';
import type { PriceContext } from '../../reads/http/price.ts';
import type { Bid } from '../bids.ts';
import { listAllBids } from '../bids.ts';
import type { BidKind } from '../queries/bids.ts';
import { BID_KINDS } from '../queries/bids.ts';
import { sideFields, toAskSide, toBidSide, toWireBid } from './bid.ts';
import type { ExploreContent } from './offset-meta.ts';
import { readExplorePrices } from './price.ts';
import type { OrderInList, OrderListPosition, OrderListQuery } from '../orders.ts';
import { listOrders } from '../orders.ts';
import type { OrderSort, OrderListStatus } from '../queries/order-lists.ts';
import { ORDER_SORTS, ORDER_LIST_STATUSES } from '../queries/order-lists.ts';
import type { ExploreContext } from './context.ts';
import type { ListingPrices } from './listing.ts';
import { HASHED_LISTING_EXAMPLE, ListingSchema, readListingPrices, toListed, toWireListing } from './listing.ts';
import { dormantField } from './order.ts';
import { exploreRoute, exploredPageOf } from './offset-meta.ts';
import { parseTokenParameter, tokenParameter } from './token-parameter.ts';

const CACHE_POLICY = { sharedMaxAgeS: 1, staleWhileRevalidateS: 5 };
const NAME_LENGTH_MAX = 500;

export const ListedOrderSchema = Type.Object(
  { ...ListingSchema.properties, ...sideFields, dormant: dormantField },
  {
    $id: 'ListedOrder',
    title: 'ListedOrder',
    description:
      'An order of any status: an ask (a listing) or a bid. All fields are always present. A bid has the bidder as `buyer`, no `seller`, and no token if several tokens meet it.',
    examples: [{ ...HASHED_LISTING_EXAMPLE, ...toAskSide(HASHED_LISTING_EXAMPLE), dormant: null }],
    ...closed,
  },
);

type Query = PageQuery & {
  collection?: string;
  token?: string;
  maker?: string;
  source?: string;
  side?: OrderSide;
  kind?: BidKind;
  status: OrderListStatus;
  sort: OrderSort;
};

export function registerOrdersRoute(app: FastifyInstance, context: ExploreContext): void {
  const { market, cursorSecret } = context;

  exploreRoute<Query>(app, context, {
    path: '/explore/v1/orders',
    bucket: 'list',
    schema: {
      operationId: 'listOrders',
      summary: 'List orders',
      description:
        'The orders of this service, and the listings and bids of other marketplaces, of one side. The list has every order, also the more expensive orders of a ' +
        'token and the orders of one seller for one token. Follow the stream from `meta.offset` of the first page to keep the list up to date.',
      tags: ['Orders'],
      querystring: Type.Object({
        collection: Type.Optional(
          Type.String({
            maxLength: NAME_LENGTH_MAX,
            description: 'Only orders of this collection: its canonical id, slug or address.',
            examples: [EXAMPLE_COLLECTION.slug],
          }),
        ),
        token: tokenParameter('orders'),
        maker: Type.Optional(Type.String({ maxLength: 44, description: 'Only orders of this seller or bidder.' })),
        side: Type.Optional(
          Type.Unsafe<OrderSide>({
            type: 'string',
            enum: ORDER_SIDES,
            description:
              'Default: `ask`, listings. `bid`: offers to buy. With `token`, bids are those that the owner of the token can accept, of each kind.',
          }),
        ),
        kind: Type.Optional(
          Type.Unsafe<BidKind>({
            type: 'string',
            enum: BID_KINDS,
            description: 'Only bids of this kind. Needs `side=bid`.',
          }),
        ),
        source: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: NAME_LENGTH_MAX,
            description:
              'Only orders of this source: a value of `marketplace`. Needs `collection`, `token` or `maker`.',
            examples: ['opensea'],
          }),
        ),
        status: Type.Optional(
          Type.Unsafe<OrderListStatus>({
            type: 'string',
            enum: ORDER_LIST_STATUSES,
            default: 'active',
            description:
              '`active`: can be filled now. `dormant`: has not ended, and cannot be filled at present; `dormant` of the row says why. ' +
              '`filled`, `cancelled`, `expired`: has ended. Another status than `active` needs `collection`, `token` or `maker`.',
          }),
        ),
        sort: Type.Optional(
          Type.Unsafe<OrderSort>({
            type: 'string',
            enum: ORDER_SORTS,
            default: 'created',
            description:
              '`created`: the newest first. `price`: the lowest price first, and of bids the highest `proceeds` first. `expires`: the order that expires next first; leaves out orders that do ' +
              'not expire. `price` and `expires` are for active orders, and need `collection` or `token`.',
          }),
        ),
        ...pageQuery,
      }),
      response: marketResponses(exploredPageOf('ListedOrder'), 400, 404, 502),
    },
    respond: async (_params, query) => {
      const { cacheTag, filter } = await toFilter(market, query);
      const scope = `orders ${query.side ?? 'ask'} ${query.kind ?? ''} ${JSON.stringify(filter)}`;
      const after = query.cursor === undefined ? null : readPosition(cursorSecret, scope, query.cursor);
      if (query.side === 'bid') return respondBids({ cacheTag, filter, scope, after }, query);
      const page = filter ? await listOrders(market, { ...filter, after, limit: query.limit }) : NO_ORDERS;
      const prices = await readListingPrices(market, page.orders.map(toListed));
      return {
        cacheTag,
        policy: CACHE_POLICY,
        validUntil: query.status === 'active' ? firstExpiry(page.orders.map(({ listing }) => listing)) : null,
        body: {
          data: page.orders.map((order) => toWireListedOrder(order, prices)),
          pagination: {
            nextCursor: page.next && sealCursor(cursorSecret, scope, toPayload(page.next)),
            hasMore: page.next !== null,
          },
        },
      };
    },
  });

  async function respondBids({ cacheTag, filter, scope, after }: RequestedList, query: Query): Promise<ExploreContent> {
    const { kind = null, limit, status } = query;
    const page = filter ? await listAllBids(market, { ...filter, kind, after, limit }) : NO_BIDS;
    const prices = await readExplorePrices(market);
    return {
      cacheTag,
      policy: CACHE_POLICY,
      validUntil: status === 'active' ? firstExpiry(page.bids) : null,
      body: {
        data: page.bids.map((bid) => toWireListedBid(bid, prices)),
        pagination: {
          nextCursor: page.next && sealCursor(cursorSecret, scope, toPayload(page.next)),
          hasMore: page.next !== null,
        },
      },
    };
  }
}

/** A bid as a row of a list of orders. */
function toWireListedBid(bid: Bid, prices: PriceContext): Static<typeof ListedOrderSchema> {
  const { dormant } = bid;
  return {
    ...toWireBid(bid, prices),
    ...toBidSide(bid, prices),
    dormant: dormant === null ? null : { reasons: [dormant] },
  };
}

const NO_ORDERS = { orders: [], next: null };
const NO_BIDS = { bids: [], next: null };

type Filter = Omit<OrderListQuery, 'after' | 'limit'>;
/** A list that was requested. `scope`: what its cursors are valid for. */
type RequestedList = { cacheTag: string; filter: Filter | null; scope: string; after: OrderListPosition | null };

/** `filter` is null if the token is not one of the collection: then no order matches. */
async function toFilter(market: Market, query: Query): Promise<{ cacheTag: string; filter: Filter | null }> {
  const { status: state, sort } = query;
  if (query.kind !== undefined && query.side !== 'bid') throw parameterError('kind', 'needs side=bid');
  const account = query.maker === undefined ? null : parseMaker(query.maker);
  const collection = query.collection === undefined ? undefined : await resolveCollection(market, query.collection);
  const location = collection && locationOf(market, collection);
  const token = query.token === undefined ? null : parseTokenParameter(market, query.token, location);
  const collectionId = token?.collectionId ?? location?.collectionId ?? collection?.id ?? null;
  rejectUnindexed(query, { isWholeMarket: collectionId === null && account === null });
  const isOther = collection !== undefined && collectionId !== (location?.collectionId ?? collection.id);
  const filter = {
    collectionId,
    asset: token?.asset ?? null,
    account,
    source: query.source === undefined ? null : toSource(market, query.source),
    state,
    sort,
  };
  return {
    cacheTag:
      collection && query.collection !== undefined
        ? cacheTagOf(collection, query.collection)
        : (token?.collectionId ?? ALL_COLLECTIONS),
    filter: isOther ? null : filter,
  };
}

/** Rejects the lists that no index has in their order. */
function rejectUnindexed(
  { status, sort, source, collection, token }: Query,
  { isWholeMarket }: { isWholeMarket: boolean },
): void {
  if (sort !== 'created' && status !== 'active') {
    throw parameterError('sort', 'must be created, unless status is active');
  }
  if (sort !== 'created' && collection === undefined && token === undefined) {
    throw parameterError('sort', `can be ${sort} only with collection or token`);
  }
  if (isWholeMarket && (status !== 'active' || source !== undefined)) {
    const name = status === 'active' ? 'source' : 'status';
    throw parameterError(name, 'needs collection, token or maker');
  }
}

function parseMaker(text: string): Address {
  const account = parseAnyAddress(text);
  if (!account) throw parameterError('maker', 'is not an EVM or Solana address');
  return account;
}

/** The own orders have the name of the service as their source, which responses show in upper case. */
function toSource({ serviceName }: Market, marketplace: string): string {
  return marketplace === serviceName.toUpperCase() ? serviceName : marketplace;
}

/** The first column after the value can have spaces, so it is last. */
function toPayload({ isOwn, value, ties }: OrderListPosition): string {
  return [isOwn ? 'own' : 'mirror', value, ...ties.toReversed()].join(' ');
}

const POSITION = /^(own|mirror) (\S+) (\S+)(?: (.*))?$/s;

function readPosition(secret: Buffer, scope: string, cursor: string): OrderListPosition {
  const payload = readCursor(secret, { scope, list: 'this list' }, cursor);
  const [, table, value, last, first] = POSITION.exec(payload) ?? [];
  if (value === undefined || last === undefined) throw invalidCursor('this list');
  return { isOwn: table === 'own', value, ties: first === undefined ? [last] : [first, last] };
}

function toWireListedOrder(
  { listing, location, status, dormant }: OrderInList,
  prices: ListingPrices,
): Static<typeof ListedOrderSchema> {
  const row = toWireListing(listing, location, prices);
  return {
    ...row,
    ...toAskSide(row),
    status,
    dormant: dormant === null ? null : { reasons: [dormant] },
  };
}
