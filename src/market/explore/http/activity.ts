// Defines how a change of the market appears in responses. The lists of activity and the stream have the same form.

import type { Static } from 'typebox';
import Type from 'typebox';
import type { ActivityKind } from '../../activity/market-change.ts';
import type { OrderSide } from '../../orders/order-id.ts';
import { ORDER_SIDES, sideOf } from '../../orders/order-id.ts';
import { ACTIVITY_KINDS } from '../../activity/market-change.ts';
import { closed, dateTime, refOrNull, typeOrNull } from '../../../platform/http/schema-builders.ts';
import { chainSchema } from '../../reads/http/asset-identity.ts';
import {
  EXAMPLE_COLLECTION,
  EXAMPLE_TIME,
  EXAMPLE_TOKEN,
  toExamplePrice,
} from '../../reads/http/example-collection.ts';
import type { PriceContext, WirePrice } from '../../reads/http/price.ts';
import { toPriceContext, toPriceOrNull } from '../../reads/http/price.ts';
import type { Market } from '../../reads/market.ts';
import type { Activity } from '../activity.ts';
import { OFFSET_PATTERN, toExampleOffset, toOffset } from '../stream/offset.ts';
import { EXAMPLE_UNITS, activityUnitFields, toActivityAmounts, toActivityUnits } from './activity-units.ts';
import { imageField } from './images.ts';
import { addExampleDecimals } from './price.ts';

export const EXAMPLE_ACTIVITY = addExampleDecimals({
  offset: toExampleOffset(42),
  kind: 'sale' as const,
  at: EXAMPLE_TIME,
  chain: EXAMPLE_COLLECTION.chain,
  collectionId: EXAMPLE_COLLECTION.id,
  tokenId: EXAMPLE_TOKEN.tokenId,
  mint: null,
  name: null,
  image: null,
  price: { ...toExamplePrice(420n), usd: null },
  total: { ...toExamplePrice(420n), usd: null },
  ...EXAMPLE_UNITS,
  from: EXAMPLE_TOKEN.seller,
  to: '0x92689952d9dba36f6202c79c1d2655ea78e8bfd3',
  orderId: null,
  side: null,
  marketplace: 'opensea',
  self: false,
  tx: `0x${'7a'.repeat(32)}`,
  reason: null,
  voids: null,
  voidedBy: null,
});

const offsetForm = { pattern: OFFSET_PATTERN };

const sideOfOrderField = Type.Unsafe<OrderSide | null>({
  type: ['string', 'null'],
  enum: [...ORDER_SIDES, null],
  description:
    'The side of the order. A sale of the side `bid` is an accepted bid of this service. Null if `orderId` is null.',
});

function toSideOfOrder(orderId: string | null): OrderSide | null {
  return orderId === null ? null : sideOf(orderId);
}

export const ActivitySchema = Type.Object(
  {
    offset: typeOrNull<string>(
      'string',
      'The position in the log and in the stream. Comparing the offsets of an epoch as text gives the order of the changes. Null only in lists, for a sale that is not in the log: a sale that a backfill read, a sale that was reported more than an hour after it happened, or a sale whose log row was deleted because of its age.',
      offsetForm,
    ),
    kind: Type.Unsafe<ActivityKind>({
      type: 'string',
      enum: ACTIVITY_KINDS,
      description: 'What has happened. Further kinds may be added.',
    }),
    at: dateTime('When it happened, as the chain, the marketplace or the service recorded it.'),
    chain: chainSchema,
    collectionId: typeOrNull<string>(
      'string',
      'Canonical id of the collection; null if no single collection is concerned.',
    ),
    tokenId: typeOrNull<string>(
      'string',
      'EVM token id as a decimal string; null on Solana, and if no single token is concerned.',
    ),
    mint: typeOrNull<string>('string', 'Solana asset id; null on EVM chains, and if no single token is concerned.'),
    name: typeOrNull<string>(
      'string',
      'Name of the token, in a list with `include=token`. Null in the stream, whose events never change, if no single token is concerned, and if it is not known.',
    ),
    image: imageField('Image URL of the token; known as `name` is.'),
    price: refOrNull<WirePrice>(
      'Price',
      'The price of one unit, or the new floor; for a sale of several tokens the price of all. Null if there is none. In the stream its `usd` is always null: dollar rates change, but an event does not.',
    ),
    ...activityUnitFields,
    from: typeOrNull<string>(
      'string',
      'The seller, the sender or, for a change of a bid, the bidder; null if unknown, for a mint, and for a custody wallet.',
    ),
    to: typeOrNull<string>(
      'string',
      'The buyer or the receiver; null if unknown, for a burn, and for a custody wallet.',
    ),
    orderId: typeOrNull<string>('string', 'The order or listing that the change concerns; null if there is none.'),
    side: sideOfOrderField,
    marketplace: typeOrNull<string>(
      'string',
      "An upper-case code for the service's own orders and sales, the lower-case source slug for others; null if no marketplace is concerned.",
    ),
    self: Type.Boolean({
      description:
        'True for a sale from an account to itself. Such a sale has no part in volume, number of sales and history. False for any other change.',
    }),
    tx: typeOrNull<string>('string', 'Transaction hash or signature; null if unknown or off-chain.'),
    reason: typeOrNull<string>(
      'string',
      'For `invalidate`: `owner`, `approval` or `counter`. For `bid-invalidate`: `balance`, `approval` or `counter`. For `reorg`: `correction` if a better record has replaced earlier records. Otherwise null.',
    ),
    voids: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string', ...offsetForm },
      description: 'For `reorg`: the offsets of the earlier changes that it takes back. Otherwise null.',
    }),
    voidedBy: typeOrNull<string>(
      'string',
      'In lists, the offset of the `reorg` that took this change back; null if it was not taken back. In the stream always null: an event does not change once it has an offset.',
      offsetForm,
    ),
  },
  {
    $id: 'Activity',
    title: 'Activity',
    description: 'A change of the market. All fields are always present.',
    examples: [EXAMPLE_ACTIVITY],
    ...closed,
  },
);
export type WireActivity = Static<typeof ActivitySchema>;

/** `token`: the name and the image of the token of the change. Null if they were not requested, or if nothing is known of the token. */
export type ActivityContext = { prices: PriceContext; token: { name: string | null; image: string | null } | null };

/**
 * The context of the stream, which must give the same object for the same event at any time. So it has neither dollar rates nor names, because
 * both change.
 */
export function toStreamContext(market: Pick<Market, 'serviceName' | 'custodyWallets'>): ActivityContext {
  return { prices: toPriceContext(market, { rates: new Map(), now: 0, hasDecimals: true }), token: null };
}

export function toWireActivity(
  market: Pick<Market, 'chainOf' | 'serviceName'>,
  change: Activity,
  { prices, token }: ActivityContext,
): WireActivity {
  const chain = market.chainOf(change.chain);
  const isMint = chain?.family === 'solana';
  const { epoch, collectionId, asset } = change;
  const { unitRaw, totalRaw } = toActivityAmounts(change);
  const isOwn = change.isOwn || change.marketplace === market.serviceName;
  const toAccount = (account: string | null) =>
    account !== null && prices.custodyWallets.has(account) ? null : account;
  const toOffsetOrNull = (position: number | null) =>
    epoch === null || position === null ? null : toOffset(epoch, position);
  return {
    offset: toOffsetOrNull(change.position),
    kind: change.kind,
    at: new Date(change.at).toISOString(),
    chain: change.chain,
    collectionId,
    tokenId: isMint ? null : asset,
    mint: isMint ? asset : null,
    name: token?.name ?? null,
    image: token?.image ?? null,
    price: toPriceOrNull(unitRaw, chain, prices),
    total: toPriceOrNull(totalRaw, chain, prices),
    ...toActivityUnits(change, chain),
    from: toAccount(change.from),
    to: toAccount(change.to),
    orderId: change.orderId,
    side: toSideOfOrder(change.orderId),
    marketplace: isOwn ? prices.ownCode : change.marketplace,
    self: isSelfTrade(change),
    tx: change.tx,
    reason: change.reason,
    voids: change.voids && change.voids.flatMap((position) => toOffsetOrNull(position) ?? []),
    voidedBy: toOffsetOrNull(change.voidedBy),
  };
}

/** Whether the change is a sale from an account to itself. */
function isSelfTrade({ kind, from, to }: Pick<Activity, 'kind' | 'from' | 'to'>): boolean {
  return kind === 'sale' && from !== null && from === to;
}
