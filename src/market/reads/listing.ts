// A listing as the marketplace interface serves it, from an order of the own book or a row of the mirror.

import type { AssetId } from '../../platform/core/address.ts';
import type { CheapOrder, FillableOrder } from '../orders/queries/fillable-orders.ts';
import { toKnownTotal } from '../index/known-total.ts';
import type { CheapListing, MirroredListing } from '../index/queries/listings.ts';
import type { ListingStatus } from '../orders/order-id.ts';

/** `raw` is the price in base units. `source` is null for the service's own listings. Times in milliseconds. */
export type Listing = {
  orderId: string;
  asset: AssetId;
  raw: bigint;
  seller: string;
  source: string | null;
  listedAt: number;
  expiresAt: number | null;
  tx: string | null;
};

/**
 * `orderHash`: the hash of the signed order; null if it is not known. `quantity`: the units offered, of which `raw` is the price of one.
 * `filled`: how many of them were bought; null if this is not known. `statedTotal`: what a buyer pays for one unit; null for a listing of this
 * service that states only the ask, to which platform fee and royalty are added.
 */
export type DetailedListing = Listing & {
  orderHash: string | null;
  quantity: bigint;
  filled: bigint | null;
  statedTotal: bigint | null;
};

export function toListingOfOrder(order: CheapOrder): Listing {
  const { orderId, asset, raw, seller, createdAt, expiresAt, tx } = order;
  return { orderId, asset, raw, seller, source: null, listedAt: createdAt, expiresAt, tx };
}

export function toDetailedListingOfOrder(order: FillableOrder): DetailedListing {
  const { orderHash, quantity, filled, buyerTotal } = order;
  return { ...toListingOfOrder(order), orderHash, quantity, filled, statedTotal: buyerTotal };
}

/** The mirror also holds the service's own Solana listings. The source in their rows is `serviceName`. */
export function toListingOfMirror(row: CheapListing, serviceName: string): Listing {
  const { orderId, asset, raw, seller, listedAt, expiresAt, tx } = row;
  const source = row.source === serviceName ? null : row.source;
  return { orderId, asset, raw, seller, source, listedAt, expiresAt, tx };
}

/**
 * An active listing that must be filled at once has no filled units. A marketplace that states no number of units offers one. If a listing of
 * another marketplace states no total, its price is the total. The buyer floor has the same rule.
 */
export function toDetailedListingOfMirror(
  row: MirroredListing & { status?: ListingStatus },
  serviceName: string,
): DetailedListing {
  const { orderHash, status = 'active' } = row;
  const quantity = row.quantity ?? 1n;
  const isAtOnce = quantity === 1n || row.partial !== true;
  const filled = status === 'filled' ? quantity : isAtOnce ? 0n : row.filled;
  const stated = toKnownTotal(row.raw, row.buyerTotal);
  const statedTotal = row.source === serviceName ? stated : (stated ?? row.raw);
  return { ...toListingOfMirror(row, serviceName), orderHash, quantity, filled, statedTotal };
}
