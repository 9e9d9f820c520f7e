// Defines the schema ListedActivity: the form in which lists of activity show a change of the market.

import type { Static } from 'typebox';
import Type from 'typebox';
import { ACTIVITY_KINDS } from '../../activity/market-change.ts';
import { toServedImage } from '../../../platform/core/image-url.ts';
import { closed, dateTime, refOrNull, typeOrNull } from '../../../platform/http/schema-builders.ts';
import { toTokenKeyText } from '../../index/queries/tokens.ts';
import {
  EXAMPLE_COLLECTION,
  EXAMPLE_TIME,
  EXAMPLE_TOKEN,
  toExamplePrice,
} from '../../reads/http/example-collection.ts';
import type { PriceContext, WirePrice } from '../../reads/http/price.ts';
import { toPriceOrNull } from '../../reads/http/price.ts';
import { tokenFields } from '../../reads/http/token.ts';
import type { Market } from '../../reads/market.ts';
import { EXAMPLE_UNITS, activityUnitFields, toActivityAmounts, toActivityUnits } from './activity-units.ts';
import type { Activity } from '../activity.ts';
import { isSelfTrade } from './activity.ts';
import { OFFSET_PATTERN, toExampleOffset, toOffset } from '../stream/offset.ts';

const offsetForm = { pattern: OFFSET_PATTERN };

export const ListedActivitySchema = Type.Object(
  {
    offset: typeOrNull<string>(
      'string',
      'Position in the log; null for a sale that is not in the log: a sale that a backfill read, a sale that was reported more than an hour after it happened, or a sale whose log row was deleted because of its age. Comparing the offsets of an epoch as text gives the order of the changes.',
      offsetForm,
    ),
    kind: Type.Unsafe<string>({ type: 'string', enum: ACTIVITY_KINDS, description: 'What has changed.' }),
    at: dateTime('When it happened, as the chain, the marketplace or the service recorded it.'),
    chain: Type.String({ description: 'Chain value.' }),
    collectionId: typeOrNull<string>('string', 'Canonical collection id; null for `reorg`.'),
    tokenId: typeOrNull<string>(
      'string',
      'EVM token id as a decimal string; null on Solana, and if no single token is concerned.',
    ),
    mint: typeOrNull<string>('string', 'Solana asset id; null on EVM chains, and if no single token is concerned.'),
    token: Type.Unsafe<{ name: string | null; image: string | null } | null>({
      anyOf: [
        Type.Object({ name: tokenFields.name, image: tokenFields.image }, { description: 'The token.', ...closed }),
        { type: 'null' },
      ],
      description:
        'With `include=token`: the name and the image of the token; null if no single token is concerned, or if nothing is known of it.',
    }),
    price: refOrNull<WirePrice>(
      'Price',
      'The price of one unit, or the new floor; for a sale of several tokens the price of all. Null if there is none.',
    ),
    ...activityUnitFields,
    from: typeOrNull<string>('string', 'Seller or sender; null if unknown, for a mint, and for a custody wallet.'),
    to: typeOrNull<string>('string', 'Buyer or receiver; null if unknown, for a burn, and for a custody wallet.'),
    orderId: typeOrNull<string>('string', 'The order or listing that the change concerns; null if there is none.'),
    marketplace: typeOrNull<string>(
      'string',
      "An upper-case code for the service's own orders, the lower-case source slug for others; null if no marketplace is concerned.",
    ),
    self: Type.Boolean({
      description:
        'True for a sale from an account to itself. Such a sale has no part in volume, number of sales and history. False for any other change.',
    }),
    tx: typeOrNull<string>('string', 'Transaction hash or signature; null if there is none.'),
    reason: typeOrNull<string>(
      'string',
      'For `invalidate`: `owner`, `approval` or `counter`. For `reorg`: `correction` if a better record has replaced earlier records. Otherwise null.',
    ),
    voids: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string', ...offsetForm },
      description: 'For `reorg`: the offsets of the changes that the `reorg` takes back. Otherwise null.',
    }),
    voidedBy: typeOrNull<string>(
      'string',
      'The offset of the `reorg` that took this change back; null if the change was not taken back.',
      offsetForm,
    ),
  },
  {
    $id: 'ListedActivity',
    title: 'ListedActivity',
    description: 'A change of the market. All fields are always present.',
    examples: [
      {
        offset: toExampleOffset(1742),
        kind: 'list',
        at: EXAMPLE_TIME,
        chain: EXAMPLE_COLLECTION.chain,
        collectionId: EXAMPLE_COLLECTION.id,
        tokenId: EXAMPLE_TOKEN.tokenId,
        mint: null,
        token: null,
        price: toExamplePrice(420n),
        total: toExamplePrice(420n),
        ...EXAMPLE_UNITS,
        block: null,
        logIndex: null,
        from: EXAMPLE_TOKEN.seller,
        to: null,
        orderId: 'ethereum-249-1764580800000',
        marketplace: 'opensea',
        self: false,
        tx: null,
        reason: null,
        voids: null,
        voidedBy: null,
      },
    ],
    ...closed,
  },
);
type WireListedActivity = Static<typeof ListedActivitySchema>;

/** `tokens`: what is known of the tokens, by `toTokenKeyText`. */
export type ActivityContext = {
  prices: PriceContext;
  tokens: ReadonlyMap<string, { name: string | null; image: string | null }>;
};

export function toListedActivity(
  market: Market,
  change: Activity,
  { prices, tokens }: ActivityContext,
): WireListedActivity {
  const chain = market.chainOf(change.chain);
  const isMint = chain?.family === 'solana';
  const toAccount = (account: string | null) =>
    account !== null && prices.custodyWallets.has(account) ? null : account;
  const { unitRaw, totalRaw } = toActivityAmounts(change);
  const isOwn = change.isOwn || change.marketplace === market.serviceName;
  const { epoch, collectionId, asset } = change;
  const token = collectionId === null || asset === null ? null : tokens.get(toTokenKeyText({ collectionId, asset }));
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
    token: token ? { name: token.name, image: toServedImage(token.image) } : null,
    price: toPriceOrNull(unitRaw, chain, prices),
    total: toPriceOrNull(totalRaw, chain, prices),
    ...toActivityUnits(change, chain),
    from: toAccount(change.from),
    to: toAccount(change.to),
    orderId: change.orderId,
    marketplace: isOwn ? prices.ownCode : change.marketplace,
    self: isSelfTrade(change),
    tx: change.tx,
    reason: change.reason,
    voids: change.voids && change.voids.flatMap((position) => toOffsetOrNull(position) ?? []),
    voidedBy: toOffsetOrNull(change.voidedBy),
  };
}
