// How orders are identified: the id of an order that this service stores, and the hash that its signature binds.

import type { Address, AssetId } from '../core/address.ts';

/** Statuses of an order or a mirrored listing. `active` comes first; under one id the others are final. */
export const LISTING_STATUSES = ['active', 'filled', 'cancelled', 'expired'] as const;
export type ListingStatus = (typeof LISTING_STATUSES)[number];

/** The id of an order of this service. Clients treat it as opaque. `createdAt` in milliseconds. */
export function toOrderId(chainId: string, contractAddress: Address, tokenId: AssetId, createdAt: number): string {
  return `${chainId}_${contractAddress}_${tokenId}_${createdAt}`;
}

/** A signed order, wherever it is listed. The hash alone is not unique: it does not depend on the chain. */
export type OrderKey = { chain: string; orderHash: string };

/** An order key as one text, for sets and maps. */
export function toOrderKeyText({ chain, orderHash }: OrderKey): string {
  return `${chain} ${orderHash}`;
}
