// What an order or a mirrored listing can be, and how the own order book names its rows.

import type { Address, AssetId } from '../core/address.ts';

/** `active`, then one of the others, and not active again under the same id. */
export const LISTING_STATUSES = ['active', 'filled', 'cancelled', 'expired'] as const;
export type ListingStatus = (typeof LISTING_STATUSES)[number];

/** The id of an own order: opaque to everyone else. `createdAt` in milliseconds. */
export function toOrderId(chainId: string, contractAddress: Address, tokenId: AssetId, createdAt: number): string {
  return `${chainId}_${contractAddress}_${tokenId}_${createdAt}`;
}
