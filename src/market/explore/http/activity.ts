// Defines how an event of the activity log appears in responses, and converts stored events to this form.

import type { Static } from 'typebox';
import Type from 'typebox';
import type { ActivityRow } from '../../activity/queries/activity-rows.ts';
import type { ActivityKind } from '../../activity/market-change.ts';
import { ACTIVITY_KINDS } from '../../activity/market-change.ts';
import { toDetailedPrice } from '../../../platform/core/price.ts';
import { closed, dateTime, refOrNull, typeOrNull } from '../../../platform/http/schema-builders.ts';
import {
  EXAMPLE_COLLECTION,
  EXAMPLE_TIME,
  EXAMPLE_TOKEN,
  toExamplePrice,
} from '../../reads/http/example-collection.ts';
import type { WirePrice } from '../../reads/http/price.ts';
import type { Market } from '../../reads/market.ts';
import { EXAMPLE_UNITS, activityUnitFields, toActivityAmounts, toActivityUnits } from './activity-units.ts';
import { addExampleDecimals } from './price.ts';
import { OFFSET_PATTERN, toExampleOffset, toOffset } from '../stream/offset.ts';

export const EXAMPLE_ACTIVITY = addExampleDecimals({
  offset: toExampleOffset(42),
  kind: 'sale' as const,
  at: EXAMPLE_TIME,
  chain: EXAMPLE_COLLECTION.chain,
  collectionId: EXAMPLE_COLLECTION.id,
  tokenId: EXAMPLE_TOKEN.tokenId,
  mint: null,
  price: { ...toExamplePrice(420n), usd: null },
  total: { ...toExamplePrice(420n), usd: null },
  ...EXAMPLE_UNITS,
  from: EXAMPLE_TOKEN.seller,
  to: '0x92689952d9dba36f6202c79c1d2655ea78e8bfd3',
  orderId: null,
  marketplace: 'opensea',
  self: false,
  tx: `0x${'7a'.repeat(32)}`,
  reason: null,
  voids: null,
  voidedBy: null,
});

export const ActivitySchema = Type.Object(
  {
    offset: Type.String({
      pattern: OFFSET_PATTERN,
      description:
        'The position in the stream. Comparing the offsets of an epoch as text gives the order of the events.',
    }),
    kind: Type.Unsafe<ActivityKind>({
      type: 'string',
      enum: ACTIVITY_KINDS,
      description: 'What has happened. Further kinds may be added.',
    }),
    at: dateTime('When it happened.'),
    chain: Type.String({ description: 'The chain.' }),
    collectionId: typeOrNull<string>(
      'string',
      'Canonical id of the collection; null if no single collection is concerned.',
    ),
    tokenId: typeOrNull<string>('string', 'Token id on EVM chains; null if no single token is concerned.'),
    mint: typeOrNull<string>('string', 'Mint on Solana; null if no single token is concerned.'),
    price: refOrNull<WirePrice>(
      'Price',
      'The price of one unit, or the new floor; for a sale of several tokens the price of all. Its `usd` is always null: dollar rates change, but an event does not.',
    ),
    ...activityUnitFields,
    from: typeOrNull<string>(
      'string',
      'The seller or the sender; null if unknown, for a mint, and for a custody wallet.',
    ),
    to: typeOrNull<string>(
      'string',
      'The buyer or the receiver; null if unknown, for a burn, and for a custody wallet.',
    ),
    orderId: typeOrNull<string>('string', 'Id of the order.'),
    marketplace: typeOrNull<string>(
      'string',
      "An upper-case code for the service's own orders and sales, the lower-case source slug for others.",
    ),
    self: Type.Boolean({
      description:
        'True for a sale from an account to itself. Such a sale has no part in volume, number of sales and history. False for any other change.',
    }),
    tx: typeOrNull<string>('string', 'Transaction hash or signature; null if unknown or off-chain.'),
    reason: typeOrNull<string>(
      'string',
      'For `invalidate`: `owner`, `approval` or `counter`. For `reorg`: `correction` if a better record has replaced earlier records. Otherwise null.',
    ),
    voids: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description:
        'The offsets of the earlier events that an event of the kind `reorg` takes back; null for other kinds.',
    }),
    voidedBy: typeOrNull<string>(
      'string',
      'In lists of activity, the offset of the `reorg` that took this event back. In the stream always null: an event does not change once it has an offset.',
    ),
  },
  {
    $id: 'Activity',
    title: 'Activity',
    description: 'An event of the market. An event does not change once it has an offset.',
    examples: [EXAMPLE_ACTIVITY],
    ...closed,
  },
);
export type WireActivity = Static<typeof ActivitySchema>;

/** Whether the change is a sale from an account to itself. */
export function isSelfTrade({ kind, from, to }: Pick<ActivityRow, 'kind' | 'from' | 'to'>): boolean {
  return kind === 'sale' && from !== null && from === to;
}

type ActivityRules = Pick<Market, 'chains' | 'serviceName' | 'custodyWallets'>;

/** Must give the same object for the same event at any time. So the object has no dollar value, because dollar rates change. */
export function toWireActivity(
  { chains, serviceName, custodyWallets }: ActivityRules,
  event: ActivityRow,
): WireActivity {
  const chain = chains.get(event.chain);
  const isOwnOrder = event.orderId !== null && event.marketplace === null && event.origin === 'main';
  const isOwn = isOwnOrder || event.marketplace === serviceName;
  const isMint = chain?.family === 'solana';
  const { unitRaw, totalRaw } = toActivityAmounts(event);
  const priceOf = (raw: bigint | null) => (raw === null || !chain ? null : toDetailedPrice(raw, chain, new Map(), 0));
  const withoutCustody = (address: string | null) =>
    address !== null && custodyWallets.has(address as never) ? null : address;
  return {
    offset: toOffset(event.epoch, event.position),
    kind: event.kind,
    at: new Date(event.at).toISOString(),
    chain: event.chain,
    collectionId: event.collectionId,
    tokenId: isMint ? null : event.asset,
    mint: isMint ? event.asset : null,
    price: priceOf(unitRaw),
    total: priceOf(totalRaw),
    ...toActivityUnits(event, chain ?? null),
    from: withoutCustody(event.from),
    to: withoutCustody(event.to),
    orderId: event.orderId,
    marketplace: isOwn ? serviceName.toUpperCase() : event.marketplace,
    self: isSelfTrade(event),
    tx: event.tx,
    reason: event.reason,
    voids: event.voids && event.voids.map((position) => toOffset(event.epoch, position)),
    voidedBy: null,
  };
}
