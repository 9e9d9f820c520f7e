// The fields of a change that tell its units, its currency and its place in the chain. The stream and the lists of activity have the same.

import Type from 'typebox';
import type { Chain } from '../../../platform/core/chains.ts';
import { closed, refOrNull, typeOrNull } from '../../../platform/http/schema-builders.ts';
import type { WirePrice } from '../../reads/http/price.ts';
import type { Activity } from '../activity.ts';
import { unitsOrNullField } from './listing.ts';

export const activityUnitFields = {
  total: refOrNull<WirePrice>(
    'Price',
    'The price of all units that were sold, or that an order still offers; null if it is not known, and for other changes.',
  ),
  quantity: unitsOrNullField(
    'The units that were transferred or sold, or that an order still offers; null if not known, for a sale of several tokens, and for other changes.',
  ),
  currency: typeOrNull<string>(
    'string',
    'The currency of a sale that was not paid in the native currency, or of a bid that is not in its wrapped form: its symbol, or the address of its token. Otherwise null.',
  ),
  amount: unitsOrNullField(
    'What was paid in such a sale for all units, or what the bidder pays for one unit, in base units of `currency`. Otherwise null.',
  ),
  tokens: Type.Unsafe<WireSoldToken[] | null>({
    type: ['array', 'null'],
    items: Type.Object(
      {
        tokenId: typeOrNull<string>('string', 'Token id on EVM chains.'),
        mint: typeOrNull<string>('string', 'Mint on Solana.'),
        quantity: unitsOrNullField('The units that were sold; null if not known.'),
      },
      { description: 'A token.', ...closed },
    ),
    description:
      'The tokens of this collection in a sale of several tokens; null for other changes, and if they are not known.',
  }),
  block: typeOrNull<number>(
    'integer',
    'The block from which the change was read; null if it was not read from a block.',
  ),
  logIndex: typeOrNull<number>(
    'integer',
    'The position in its block of the event that the change was read from; null if it is not known.',
  ),
  collections: Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    items: { type: 'string' },
    description:
      'The canonical ids of the collections whose changes a `reorg` takes back; null for other kinds, and if they are not known.',
  }),
};

type WireSoldToken = { tokenId: string | null; mint: string | null; quantity: string | null };

/** The values of these fields in the examples. */
export const EXAMPLE_UNITS = {
  quantity: '1',
  currency: null,
  amount: null,
  tokens: null,
  block: 23_456_789,
  logIndex: 112,
  collections: null,
};

type Change = Omit<Activity, 'isOwn' | 'position'>;

/** A payment in another currency, as a source or the reader of the chain has written it: an amount, and a symbol or the address of a token. */
const PAYMENT = /^(\d{1,78}) (?:of )?(\S+)$/;

export function toActivityUnits(change: Change, chain: Chain | null) {
  const { asset, quantity, payment, tokens, block, logIndex, reorgIds } = change;
  const [, amount = null, currency = null] = PAYMENT.exec(payment ?? '') ?? [];
  const isMint = chain?.family === 'solana';
  return {
    quantity: asset === null ? null : (quantity?.toString() ?? null),
    currency,
    amount,
    tokens:
      tokens &&
      tokens.map((token): WireSoldToken => ({
        tokenId: isMint ? null : token.asset,
        mint: isMint ? token.asset : null,
        quantity: token.quantity?.toString() ?? null,
      })),
    block,
    logIndex,
    collections: reorgIds,
  };
}

/**
 * The price of one unit, and of all units. A sale is stored with the price of all units, so the price of one is rounded down. If the number of units of a
 * sale is not known, it is taken as one. A bundle has one price.
 */
export function toActivityAmounts({ kind, asset, priceRaw, quantity, orderId }: Change): {
  unitRaw: bigint | null;
  totalRaw: bigint | null;
} {
  if (priceRaw === null) return { unitRaw: null, totalRaw: null };
  if (kind === 'sale') {
    return { unitRaw: asset === null || quantity === null ? priceRaw : priceRaw / quantity, totalRaw: priceRaw };
  }
  return { unitRaw: priceRaw, totalRaw: orderId === null || quantity === null ? null : priceRaw * quantity };
}
