// How orders are identified: by the id under which this service stores an order, or by the chain and the hash of the signed order.

import type { Address, AssetId } from '../../platform/core/address.ts';

/**
 * Statuses of an order or a mirrored listing. If a reorganisation removes the event that ended a signed order, the order becomes `active`
 * again.
 */
export const LISTING_STATUSES = ['active', 'filled', 'cancelled', 'expired'] as const;
export type ListingStatus = (typeof LISTING_STATUSES)[number];

/** The id of an ask of this service. Clients must treat the id as opaque. `createdAt` is in milliseconds. */
export function toOrderId(chainId: string, contractAddress: Address, tokenId: AssetId, createdAt: number): string {
  return `${chainId}_${contractAddress}_${tokenId}_${createdAt}`;
}

/** The id of a bid of this service. Clients must treat the id as opaque. */
export function toBidId(chainId: string, contractAddress: Address, orderHash: string): string {
  return `${chainId}_${contractAddress}_bid_${orderHash}`;
}

/**
 * The id of a bid that a marketplace has reported. Clients must treat the id as opaque. `id`: its id at the marketplace. `contractAddress` on Solana has its
 * letter case.
 */
export function toReportedBidId(bid: { chain: string; contractAddress: Address; source: string; id: string }): string {
  return `${bid.chain}_${bid.contractAddress}_bid_${bid.source}:${bid.id}`;
}

export const ORDER_SIDES = ['ask', 'bid'] as const;
/** An ask offers a token for a price, a bid offers a price for a token. */
export type OrderSide = (typeof ORDER_SIDES)[number];

const BID_ID = /^[^_]+_(?:0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})_bid_/;

/** The side of an order of this service, or of a mirrored listing, by its id. */
export function sideOf(orderId: string): OrderSide {
  return BID_ID.test(orderId) ? 'bid' : 'ask';
}

/**
 * Identifies a signed order at every marketplace. The hash alone is not enough: orders with the same components have the same hash on every
 * chain.
 */
export type OrderKey = { chain: string; orderHash: string };

/** The key as text, for use in sets and maps. */
export function toOrderKeyText({ chain, orderHash }: OrderKey): string {
  return `${chain} ${orderHash}`;
}

/** The status at `now`: an active order whose expiry time has come is expired. The stored status changes only with the next sweep. */
export function statusAt(
  { status, expiresAt }: { status: ListingStatus; expiresAt: number | null },
  now: number,
): ListingStatus {
  return status === 'active' && expiresAt !== null && expiresAt <= now ? 'expired' : status;
}
