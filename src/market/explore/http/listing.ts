// The schema of a listing in responses of the explore interface: the item of the marketplace interface, and the hash of the signed order.

import type { Static } from 'typebox';
import Type from 'typebox';
import type { CollectionLocation } from '../../../platform/core/collection.ts';
import { closed, typeOrNull } from '../../../platform/http/schema-builders.ts';
import { LISTING_EXAMPLE, MarketItemSchema, toListingItem } from '../../reads/http/market-item.ts';
import type { PriceContext } from '../../reads/http/price.ts';
import type { HashedListing } from '../../reads/listing.ts';

export const HASHED_LISTING_EXAMPLE = {
  ...LISTING_EXAMPLE,
  orderHash: '0xb39ba10e62538d8fc85c6a1a86f1ed0daeea95275a3b50834838d4e7266e1f0f',
};

export const orderHashField = typeOrNull<string>(
  'string',
  'Hash of the signed order; null if it is not known. Listings of one order at several marketplaces have one hash, and each an `orderId` of its own.',
);

export const ListingSchema = Type.Object(
  {
    ...MarketItemSchema.properties,
    orderId: Type.String({
      description: 'Id of the order. It is stable and opaque: compare it for equality, and never parse it.',
    }),
    orderHash: orderHashField,
  },
  {
    $id: 'Listing',
    title: 'Listing',
    description: 'A listing. It has the same `orderId` in every list, in its order and in the stream.',
    examples: [HASHED_LISTING_EXAMPLE],
    ...closed,
  },
);
export type WireListing = Static<typeof ListingSchema>;

export function toWireListing(
  listing: HashedListing,
  location: Pick<CollectionLocation, 'chain' | 'contractAddress'>,
  prices: PriceContext,
): WireListing {
  const { orderId, orderHash } = listing;
  return { ...toListingItem(listing, location, prices), orderId, orderHash };
}
