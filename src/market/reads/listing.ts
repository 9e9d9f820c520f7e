// A listing as the marketplace interface serves it, from an order of the own book or a row of the mirror.

import type { AssetId } from '../../platform/core/address.ts';
import type { CheapOrder } from '../orders/queries/fillable-orders.ts';
import type { CheapListing } from '../index/queries/listings.ts';

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

/** `orderHash`: the hash of the signed order; null if it is not known. */
export type HashedListing = Listing & { orderHash: string | null };

export function toListingOfOrder(order: CheapOrder): Listing {
  const { orderId, asset, raw, seller, createdAt, expiresAt, tx } = order;
  return { orderId, asset, raw, seller, source: null, listedAt: createdAt, expiresAt, tx };
}

/** The mirror also holds the service's own Solana listings. The source in their rows is `serviceName`. */
export function toListingOfMirror(row: CheapListing, serviceName: string): Listing {
  const { orderId, asset, raw, seller, listedAt, expiresAt, tx } = row;
  const source = row.source === serviceName ? null : row.source;
  return { orderId, asset, raw, seller, source, listedAt, expiresAt, tx };
}
