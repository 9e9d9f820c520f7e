// How orders are identified: by the id under which this service stores an order, or by the chain and the hash of the signed order.

import type { Address, AssetId } from '../core/address.ts';

/**
 * Statuses of an order or a mirrored listing. An order starts as `active`. When a reorganisation of the chain removes the event that
 * ended a signed order, the order becomes `active` again.
 */
export const LISTING_STATUSES = ['active', 'filled', 'cancelled', 'expired'] as const;
export type ListingStatus = (typeof LISTING_STATUSES)[number];

/** Makes the id of an order of this service. Clients must treat the id as opaque. `createdAt` is in milliseconds. */
export function toOrderId(chainId: string, contractAddress: Address, tokenId: AssetId, createdAt: number): string {
  return `${chainId}_${contractAddress}_${tokenId}_${createdAt}`;
}

/**
 * Identifies a signed order at every marketplace that lists the order. The hash alone is not enough: orders with the same components
 * have the same hash on every chain.
 */
export type OrderKey = { chain: string; orderHash: string };

/** Writes an order key as one string, for use in sets and maps. */
export function toOrderKeyText({ chain, orderHash }: OrderKey): string {
  return `${chain} ${orderHash}`;
}
