// GET /explore/v1/orders/{orderId}.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import type { Chain } from '../../../platform/core/chains.ts';
import { toCollectionId } from '../../../platform/core/collection.ts';
import { closed, dateTime, ref, refOrNull, typeOrNull } from '../../../platform/http/schema-builders.ts';
import { marketResponses } from '../../reads/http/envelopes.ts';
import { EXAMPLE_TIME, toExamplePrice } from '../../reads/http/example-collection.ts';
import type { BuyerPrice } from '../../reads/buyer-price.ts';
import type { PriceContext, WirePrice } from '../../reads/http/price.ts';
import { toPriceIn } from '../../reads/http/price.ts';
import { LISTING_STATUSES } from '../../orders/order-id.ts';
import type { Order } from '../order.ts';
import { readOrder } from '../order.ts';
import type { OrderDormancy } from '../order-dormancy.ts';
import { ORDER_DORMANCIES } from '../order-dormancy.ts';
import { sideFields, toAskSide, toBidSide, toWireBid } from './bid.ts';
import type { ExploreContext } from './context.ts';
import type { ListingPrices, WireListing } from './listing.ts';
import { HASHED_LISTING_EXAMPLE, orderHashField, readListingPrices, toListed, toWireListing } from './listing.ts';
import { exploreRoute, exploredDataOf } from './offset-meta.ts';

/** The lifetimes are short, because an order can end in every block. */
const CACHE_POLICY = { sharedMaxAgeS: 1, staleWhileRevalidateS: 0 };
/** A response is not served after this time, even while the database cannot be read: the order may have been cancelled. */
const VALID_MS = 5_000;

const DormantSchema = Type.Object(
  {
    reasons: Type.Array(
      Type.Unsafe<OrderDormancy>({
        type: 'string',
        enum: [...ORDER_DORMANCIES],
      }),
      {
        description:
          '`not-started`: the order can be filled later. `no-balance`: the seller does not have the token, or the bidder not the money. `not-approved`: the seller or the bidder has revoked the approval. ' +
          '`pending`: the listing has not been compared with the events of its chain yet.',
      },
    ),
  },
  closed,
);

export const FulfilmentSchema = Type.Object(
  {
    protocolAddress: Type.String({ description: 'The Seaport contract that the order is signed for.' }),
    parameters: Type.Unsafe<object>({
      type: 'object',
      description: 'The components of the order, as they were signed.',
    }),
    signature: Type.String({ description: 'The signature of the seller, or of the bidder.' }),
    criteriaProof: Type.Unsafe<readonly string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string', pattern: '^0x[0-9a-f]{64}$' },
      description:
        'For a bid that several tokens meet: the Merkle proof (`criteriaProof` of a `CriteriaResolver`) for the token that `token` names, empty if any token of the ' +
        'collection meets the bid. Null without `token`, and for an order for one token.',
    }),
  },
  {
    $id: 'Fulfilment',
    title: 'Fulfilment',
    description: 'What a buyer needs to fill an ask, and the owner of a token to accept a bid.',
    examples: [
      {
        protocolAddress: '0x0000000000000068F116a894984e2DB1123eB395',
        parameters: { orderType: 0, counter: '0' },
        signature: `0x${'5e'.repeat(64)}`,
        criteriaProof: null,
      },
    ],
    ...closed,
  },
);

const BUYER_PRICE_EXAMPLE = {
  ask: HASHED_LISTING_EXAMPLE.price,
  platformFee: toExamplePrice(2n),
  royalty: toExamplePrice(21n),
  fees: toExamplePrice(23n),
  total: toExamplePrice(443n),
};

export const BuyerPriceSchema = Type.Object(
  {
    ask: ref<WirePrice>('Price'),
    platformFee: refOrNull<WirePrice>(
      'Price',
      'The fee of this service; null if it is not stated apart from the other fees.',
    ),
    royalty: refOrNull<WirePrice>(
      'Price',
      'The royalty of the collection; null if it is not stated apart from the other fees.',
    ),
    fees: ref<WirePrice>('Price'),
    total: ref<WirePrice>('Price'),
  },
  {
    $id: 'BuyerPrice',
    title: 'BuyerPrice',
    description:
      '`total` is the sum of `ask` and `fees`. If `platformFee` and `royalty` are stated, `fees` is their sum.',
    examples: [BUYER_PRICE_EXAMPLE],
    ...closed,
  },
);

export const dormantField = Type.Unsafe<Static<typeof DormantSchema> | null>({
  anyOf: [DormantSchema, { type: 'null' }],
  description: 'Why an active order cannot be filled at present; null if it can, or if this is not known.',
});

export const OrderSchema = Type.Object(
  {
    orderId: Type.String({ description: 'Id of the order.' }),
    status: Type.Unsafe<(typeof LISTING_STATUSES)[number]>({
      type: 'string',
      enum: LISTING_STATUSES,
      description: 'State of the order.',
    }),
    dormant: dormantField,
    orderHash: orderHashField,
    ...sideFields,
    listing: ref<WireListing>('Listing'),
    buyerPrice: refOrNull<Static<typeof BuyerPriceSchema>>(
      'BuyerPrice',
      'What a buyer of an ask pays, and how the amount is divided; null for a bid, if the royalty of the collection cannot be read, or if the stated ' +
        'total is less than the ask.',
    ),
    evidence: Type.Array(
      Type.Object(
        {
          kind: Type.String({ description: 'What happened, such as `order-fulfilled` or `order-cancelled`.' }),
          at: dateTime('When it happened.'),
          block: typeOrNull<number>(
            'integer',
            'The number of the block; null if it is not known, or if the event was off-chain.',
          ),
          tx: typeOrNull<string>('string', 'The transaction; null if it is not known, or if the event was off-chain.'),
        },
        { description: 'One event.', ...closed },
      ),
      { description: 'The events that the status follows from, oldest first.' },
    ),
    fulfilment: refOrNull<Static<typeof FulfilmentSchema>>(
      'Fulfilment',
      'What is needed to fill the order; null for an order that is not active, has no signature or is not of this service. If ' +
        '`buyerPrice` states `platformFee` and `royalty`, the signed order does not include these two amounts.',
    ),
  },
  {
    $id: 'Order',
    title: 'Order',
    description: 'An order and why it has its status.',
    examples: [
      {
        orderId: HASHED_LISTING_EXAMPLE.orderId,
        status: 'cancelled',
        dormant: null,
        orderHash: HASHED_LISTING_EXAMPLE.orderHash,
        ...toAskSide(HASHED_LISTING_EXAMPLE),
        listing: { ...HASHED_LISTING_EXAMPLE, status: 'cancelled', tx: `0x${'7a'.repeat(32)}` },
        buyerPrice: BUYER_PRICE_EXAMPLE,
        evidence: [{ kind: 'order-cancelled', at: EXAMPLE_TIME, block: 23_456_789, tx: `0x${'7a'.repeat(32)}` }],
        fulfilment: null,
      },
    ],
    ...closed,
  },
);

export function registerOrderRoute(app: FastifyInstance, context: ExploreContext): void {
  const { market } = context;

  exploreRoute<{ token?: string }>(app, context, {
    path: '/explore/v1/orders/:orderId',
    bucket: 'single',
    schema: {
      operationId: 'getOrder',
      summary: 'Read an order',
      description:
        'An order of this service, ask or bid, or a listing of another marketplace, by its id or its order hash: its status, why it has this status, and, ' +
        'for an active order of this service, what is needed to fill it.',
      tags: ['Orders'],
      params: Type.Object({
        orderId: Type.String({
          minLength: 1,
          description: 'The `orderId` of a listing, or the hash of a signed order.',
          examples: [HASHED_LISTING_EXAMPLE.orderId],
        }),
      }),
      querystring: Type.Object({
        token: Type.Optional(
          Type.String({
            maxLength: 78,
            description:
              'For a bid that several tokens meet: the id of the token for which `fulfilment` has the proof.',
          }),
        ),
      }),
      response: marketResponses(exploredDataOf(ref('Order')), 400, 404, 502),
    },
    respond: async ({ orderId = '' }, { token }) => {
      const validUntil = market.clock() + VALID_MS;
      const order = await readOrder(market, orderId, token ?? null);
      const prices = await readListingPrices(market, order.side === 'ask' ? [toListed(order)] : []);
      const { chain, contractAddress } = order.side === 'ask' ? order.location : order.bid.location;
      const { expiresAt } = order.side === 'ask' ? order.listing : order.bid;
      return {
        cacheTag: toCollectionId(chain.id, contractAddress),
        policy: CACHE_POLICY,
        validUntil: Math.min(expiresAt ?? validUntil, validUntil),
        body: { data: toWireOrder(order, prices) },
      };
    },
  });
}

function toWireOrder(order: Order, prices: ListingPrices): Static<typeof OrderSchema> {
  const { status, dormant, events, fulfilment } = order;
  const terms = toWireTerms(order, prices);
  return {
    ...terms,
    orderId: terms.listing.orderId,
    status,
    dormant: dormant === null ? null : { reasons: [dormant] },
    orderHash: terms.listing.orderHash,
    evidence: events.map((event) => ({ ...event, at: new Date(event.at).toISOString() })),
    fulfilment,
  };
}

function toWireTerms(order: Order, prices: ListingPrices) {
  if (order.side === 'bid') {
    const { bid } = order;
    return { ...toBidSide(bid, prices), listing: toWireBid(bid, prices), buyerPrice: null };
  }
  const { listing: row, location, status, buyerPrice } = order;
  const listing = { ...toWireListing(row, location, prices), status };
  return {
    ...toAskSide(listing),
    listing,
    buyerPrice: buyerPrice && toWireBuyerPrice(buyerPrice, location.chain, prices),
  };
}

function toWireBuyerPrice(
  { ask, platformFee, royalty, total }: BuyerPrice,
  chain: Chain,
  prices: PriceContext,
): Static<typeof BuyerPriceSchema> {
  const priceOf = (raw: bigint) => toPriceIn(prices, raw, chain);
  return {
    ask: priceOf(ask),
    platformFee: platformFee === null ? null : priceOf(platformFee),
    royalty: royalty === null ? null : priceOf(royalty),
    fees: priceOf(total - ask),
    total: priceOf(total),
  };
}
