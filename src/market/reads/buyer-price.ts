// What a buyer pays for one listing, and how the amount is divided.

import { shareOf } from '../../platform/core/amount.ts';
import type { Collection } from '../../platform/core/collection.ts';
import type { Market } from './market.ts';

/** In base units. `platformFee` and `royalty` are null if the order or the marketplace states only the total. */
export type BuyerPrice = { ask: bigint; platformFee: bigint | null; royalty: bigint | null; total: bigint };

/**
 * The price of an own order that states only the ask: platform fee and royalty are added, each rounded up. Within a collection, a lower ask
 * never has a higher total, so the lowest total is that of the lowest ask.
 */
export function toOwnBuyerPrice(
  { platformFeeBps }: Pick<Market, 'platformFeeBps'>,
  { royaltyBps }: Pick<Collection, 'royaltyBps'>,
  ask: bigint,
): BuyerPrice & { platformFee: bigint; royalty: bigint } {
  const platformFee = shareOf(ask, platformFeeBps);
  const royalty = shareOf(ask, royaltyBps ?? 0);
  return { ask, platformFee, royalty, total: ask + platformFee + royalty };
}

/** The price of a listing that states its total. */
export function toStatedBuyerPrice(ask: bigint, total: bigint): BuyerPrice {
  return { ask, platformFee: null, royalty: null, total };
}
