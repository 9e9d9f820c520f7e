// The schema of a listing in responses of the explore interface: the item of the marketplace interface, and the hash of the signed order.

import type { Static } from 'typebox';
import Type from 'typebox';
import type { CollectionLocation } from '../../../platform/core/collection.ts';
import { toCollectionId } from '../../../platform/core/collection.ts';
import { closed, refOrNull, typeOrNull } from '../../../platform/http/schema-builders.ts';
import { toExamplePrice } from '../../reads/http/example-collection.ts';
import { LISTING_EXAMPLE, MarketItemSchema, toListingItem } from '../../reads/http/market-item.ts';
import { toOwnBuyerPrice } from '../../reads/buyer-price.ts';
import type { PriceContext, WirePrice } from '../../reads/http/price.ts';
import { toPriceOrNull } from '../../reads/http/price.ts';
import type { DetailedListing } from '../../reads/listing.ts';
import { valueOrNull } from '../../reads/market-source.ts';
import type { Market } from '../../reads/market.ts';
import { listCollectionsByIds } from '../../reads/queries/collections.ts';
import type { TokenLocation } from '../../reads/token.ts';
import { addExampleDecimals, readExplorePrices } from './price.ts';

export const HASHED_LISTING_EXAMPLE = addExampleDecimals({
  ...LISTING_EXAMPLE,
  quantity: '1',
  remaining: '1',
  total: LISTING_EXAMPLE.price,
  buyerTotal: toExamplePrice(445n),
  orderHash: '0xb39ba10e62538d8fc85c6a1a86f1ed0daeea95275a3b50834838d4e7266e1f0f',
});

export const orderHashField = typeOrNull<string>(
  'string',
  'Hash of the signed order; null if it is not known. Listings of one order at several marketplaces have one hash, and each an `orderId` of its own.',
);

const UNITS = { pattern: '^(0|[1-9][0-9]{0,77})$' };
/** A number of units of a token, as decimal text: a contract can have more units than a JSON number can state exactly. */
const unitsField = (description: string) => Type.String({ ...UNITS, description });
export const unitsOrNullField = (description: string) => typeOrNull<string>('string', description, UNITS);

export const ListingSchema = Type.Object(
  {
    ...MarketItemSchema.properties,
    orderId: Type.String({
      description: 'Id of the order. It is stable and opaque: compare it for equality, and never parse it.',
    }),
    orderHash: orderHashField,
    quantity: unitsField('Number of units offered, 1 for an ERC-721 token. `price` is the price of one unit.'),
    remaining: unitsOrNullField(
      'How many of these units were not bought yet; null if this is not known. If the order ended otherwise, they cannot be bought any more.',
    ),
    total: refOrNull<WirePrice>('Price', 'The price of all remaining units; null if their number is not known.'),
    buyerTotal: refOrNull<WirePrice>(
      'Price',
      'What a buyer pays for one unit, fees included, never less than `price`; null if the royalty of the collection cannot be read.',
    ),
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

/** `totals`: what a buyer pays for the listings of this service that state only the ask, by the ids of their orders. */
export type ListingPrices = PriceContext & { totals: ReadonlyMap<string, bigint> };

/** Reads what `toWireListing` needs for the listings of a response. `listing` is null for a token that is not listed. */
export async function readListingPrices(
  market: Market,
  rows: readonly { collectionId: string; listing: DetailedListing | null }[],
): Promise<ListingPrices> {
  const asks = rows.flatMap(({ collectionId, listing }) =>
    listing?.statedTotal === null ? [{ collectionId, listing }] : [],
  );
  const ids = [...new Set(asks.map(({ collectionId }) => collectionId))];
  const [prices, records] = await Promise.all([
    readExplorePrices(market),
    ids.length === 0 ? null : market.primary.read((db) => listCollectionsByIds(db, ids)),
  ]);
  const collections = new Map((records && valueOrNull(records))?.map((collection) => [collection.id, collection]));
  const totals = asks.flatMap(({ collectionId, listing: { orderId, raw } }) => {
    const collection = collections.get(collectionId);
    return collection ? [[orderId, toOwnBuyerPrice(market, collection, raw).total] as const] : [];
  });
  return { ...prices, totals: new Map(totals) };
}

/** Adds the id of the collection, as `readListingPrices` needs it. */
export function toListed<Row extends { listing: DetailedListing; location: TokenLocation }>({
  listing,
  location,
}: Row) {
  return { listing, collectionId: toCollectionId(location.chain.id, location.contractAddress) };
}

export function toWireListing(
  listing: DetailedListing,
  location: Pick<CollectionLocation, 'chain' | 'contractAddress'>,
  prices: ListingPrices,
): WireListing {
  const { orderId, orderHash, raw, quantity, filled, statedTotal } = listing;
  const remaining = filled === null ? null : quantity - filled;
  const totalRaw = remaining === null ? null : raw * remaining;
  return {
    ...toListingItem(listing, location, prices),
    orderId,
    orderHash,
    quantity: quantity.toString(),
    remaining: remaining?.toString() ?? null,
    total: toPriceOrNull(totalRaw, location.chain, prices),
    buyerTotal: toPriceOrNull(statedTotal ?? prices.totals.get(orderId) ?? null, location.chain, prices),
  };
}
