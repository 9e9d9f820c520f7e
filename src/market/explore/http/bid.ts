// The fields by which a row of orders says what side it is of, and a bid in the form of a row of orders.

import type { Static } from 'typebox';
import Type from 'typebox';
import { closed, ref, refOrNull, typeOrNull } from '../../../platform/http/schema-builders.ts';
import type { Chain } from '../../../platform/core/chains.ts';
import { ORDER_SIDES } from '../../orders/order-id.ts';
import type { OrderSide } from '../../orders/order-id.ts';
import { toAssetIdentity } from '../../reads/http/asset-identity.ts';
import { toExamplePrice } from '../../reads/http/example-collection.ts';
import type { PriceContext, WirePrice } from '../../reads/http/price.ts';
import { MarketItemSchema } from '../../reads/http/market-item.ts';
import { toBidPrice, toPriceIn } from '../../reads/http/price.ts';
import type { Bid, BidLocation } from '../bids.ts';
import type { BidKind, TopBid } from '../queries/bids.ts';
import { BID_KINDS } from '../queries/bids.ts';
import type { WireListing } from './listing.ts';

const CriteriaSchema = Type.Object(
  {
    type: Type.Unsafe<'collection' | 'trait' | 'tokens'>({
      type: 'string',
      enum: ['collection', 'trait', 'tokens'],
      description:
        '`collection`: any token of the collection. `trait`: the tokens that have these traits. `tokens`: the tokens of a list.',
    }),
    traits: Type.Unsafe<{ name: string; value: string }[] | null>({
      type: ['array', 'null'],
      items: {
        type: 'object',
        required: ['name', 'value'],
        properties: { name: { type: 'string' }, value: { type: 'string' } },
        additionalProperties: false,
      },
      description:
        'For `trait`: the traits that each of the tokens has. The set is that of the time at which the bid was signed, or of the last report of another marketplace.',
    }),
    count: typeOrNull<number>('integer', 'The number of tokens of the set; null for `collection`.'),
    root: typeOrNull<string>(
      'string',
      'The Merkle root of the set, which the bidder has signed; null for `collection`, and for a bid of another marketplace.',
    ),
  },
  { description: 'Which tokens the bidder accepts.', ...closed },
);
type WireCriteria = Static<typeof CriteriaSchema>;

export const sideFields = {
  side: Type.Unsafe<OrderSide>({
    type: 'string',
    enum: ORDER_SIDES,
    description: '`ask`: offers a token, a listing. `bid`: offers to buy.',
  }),
  kind: Type.Unsafe<BidKind>({
    type: 'string',
    enum: BID_KINDS,
    description:
      '`item`: the order is for one token. `collection`: a bid for any token of the collection. `trait`: a bid for any token of a set.',
  }),
  criteria: Type.Unsafe<WireCriteria | null>({
    anyOf: [CriteriaSchema, { type: 'null' }],
    description: 'Which tokens a bid is for; null for an order for one token.',
  }),
  proceeds: refOrNull<WirePrice>(
    'Price',
    'For a bid: what the seller of one unit keeps of the price, after the fees in the order. Null for an ask.',
  ),
  maker: typeOrNull<string>(
    'string',
    'The account that made the order: the seller of an ask, the bidder of a bid. Null for a custody wallet.',
  ),
};
export type WireSide = {
  side: OrderSide;
  kind: BidKind;
  criteria: WireCriteria | null;
  proceeds: WirePrice | null;
  maker: string | null;
};

export const TOP_BID_EXAMPLE = {
  orderId: `ethereum_0x3dd4e9f052dbe1a6e836dc9b9787879836f2c5dd_bid_0x${'5e'.repeat(32)}`,
  marketplace: 'MERCAT',
  kind: 'collection',
  proceeds: toExamplePrice(390n),
  price: toExamplePrice(400n),
};

export const TopBidSchema = Type.Object(
  {
    orderId: Type.String({ description: 'Id of the bid.' }),
    marketplace: MarketItemSchema.properties.marketplace,
    kind: sideFields.kind,
    proceeds: ref<WirePrice>('Price'),
    price: ref<WirePrice>('Price'),
  },
  {
    $id: 'TopBid',
    title: 'TopBid',
    description:
      'The bid with the highest proceeds that can be accepted now. Only bids in the wrapped native currency count. `price` is what the bidder pays for one unit, `proceeds` what the seller keeps of it after the fees in the order.',
    examples: [TOP_BID_EXAMPLE],
    ...closed,
  },
);
export type WireTopBid = Static<typeof TopBidSchema>;

export function toWireTopBid(bid: TopBid, chain: Chain, prices: PriceContext): WireTopBid {
  const { orderId, source, kind, proceeds, raw } = bid;
  return {
    orderId,
    marketplace: source ?? prices.ownCode,
    kind,
    proceeds: toPriceIn(prices, proceeds, chain),
    price: toPriceIn(prices, raw, chain),
  };
}

/** The side of an ask. */
export function toAskSide({ seller }: Pick<WireListing, 'seller'>): WireSide {
  return { side: 'ask', kind: 'item', criteria: null, proceeds: null, maker: seller };
}

export function toBidSide(bid: Bid, prices: PriceContext): WireSide {
  const { kind, proceeds, bidder, currency, location } = bid;
  return {
    side: 'bid',
    kind,
    criteria: toCriteria(bid),
    proceeds: toBidPrice(prices, proceeds, { chain: location.chain, currency }),
    maker: bidder,
  };
}

function toCriteria({ kind, root, tokens, source }: Bid): WireCriteria | null {
  if (kind === 'item') return null;
  if (kind === 'collection') return { type: 'collection', traits: null, count: null, root: null };
  const traits = tokens?.traits ?? null;
  return {
    type: traits === null ? 'tokens' : 'trait',
    traits,
    count: tokens?.tokens ?? null,
    root: source === null ? root : null,
  };
}

/** The bid in the form of a listing: the bidder is the buyer, and there is no seller. */
export function toWireBid(bid: Bid, prices: PriceContext): WireListing {
  const { orderId, orderHash, raw, quantity, filled, location, status, currency } = bid;
  const { chain } = location;
  const price = toBidPrice(prices, raw, { chain, currency });
  return {
    ...toIdentity(bid, location),
    price,
    seller: null,
    buyer: bid.bidder,
    marketplace: bid.source ?? prices.ownCode,
    status,
    expiresAt: bid.expiresAt === null ? null : new Date(bid.expiresAt).toISOString(),
    timestamp: new Date(bid.createdAt).toISOString(),
    orderId,
    tx: bid.tx,
    orderHash,
    quantity: quantity.toString(),
    remaining: (quantity - filled).toString(),
    total: toBidPrice(prices, raw * (quantity - filled), { chain, currency }),
    buyerTotal: price,
  };
}

function toIdentity({ asset, collectionId }: Bid, location: BidLocation) {
  if (asset !== null) return toAssetIdentity(location, asset);
  const { chain, contractAddress } = location;
  return { chain: chain.id, contractAddress, tokenId: null, mint: null, collectionId };
}
