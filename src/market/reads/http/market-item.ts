// The schema of a listing or a sale in responses.

import type { Static } from 'typebox';
import Type from 'typebox';
import type { CollectionLocation } from '../../../platform/core/collection.ts';
import { toIsoText } from '../../../platform/core/time.ts';
import { closed, dateTime, dateTimeOrNull, ref, typeOrNull } from '../../../platform/http/schema-builders.ts';
import { sideOf } from '../../orders/order-id.ts';
import type { Listing } from '../listing.ts';
import type { InterpretableSale } from '../sales.ts';
import { assetIdentity, toAssetIdentity, toExampleIdentity } from './asset-identity.ts';
import { EXAMPLE_TOKEN, toExamplePrice } from './example-collection.ts';
import type { PriceContext, WirePrice } from './price.ts';
import { toPriceIn } from './price.ts';

const STATUSES = ['active', 'filled', 'cancelled', 'expired', 'sold'] as const;

export const LISTING_EXAMPLE = {
  ...toExampleIdentity(EXAMPLE_TOKEN.tokenId),
  price: toExamplePrice(420n),
  seller: EXAMPLE_TOKEN.seller,
  buyer: null,
  marketplace: 'opensea',
  status: 'active',
  expiresAt: '2026-09-14T00:00:00.000Z',
  timestamp: '2026-03-31T02:18:18.000Z',
  orderId: '43ee0663148eceef91c75d6e',
  tx: null,
};

export const SALE_EXAMPLE = {
  ...toExampleIdentity('118'),
  price: toExamplePrice(560n),
  seller: '0x1f7a8c44028296ce184ff0e83a5bd191c1622c02',
  buyer: '0x92689952d9dba36f6202c79c1d2655ea78e8bfd3',
  marketplace: 'opensea',
  status: 'sold',
  expiresAt: null,
  timestamp: '2025-09-17T14:42:45.000Z',
  orderId: null,
  tx: '0x1ea8b7e245edb92c489dbd1855e1723c1f9993640fc2337cdf498e1c141c2751',
};

export const MarketItemSchema = Type.Object(
  {
    ...assetIdentity,
    price: ref<WirePrice>('Price'),
    seller: typeOrNull<string>(
      'string',
      'Address of the seller; null when the seller is not known or is a custody wallet, which holds tokens for others.',
    ),
    buyer: typeOrNull<string>(
      'string',
      'Address of the buyer; null for a listing, and for a sale whose buyer is not known or is a custody wallet.',
    ),
    marketplace: Type.String({
      description: "An upper-case code for the service's own rows, the lower-case source slug for external rows.",
    }),
    status: Type.Unsafe<(typeof STATUSES)[number]>({
      type: 'string',
      enum: STATUSES,
      description: 'State of the listing or sale.',
    }),
    expiresAt: dateTimeOrNull('When the listing expires; null for a listing without expiry, and for a sale.'),
    timestamp: dateTime('When the listing was created, or the sale completed.'),
    orderId: typeOrNull<string>(
      'string',
      'Id of the listing, or of the listing that the sale filled; null for a sale whose listing is not known. The id is stable and opaque: compare it for equality, and never parse it.',
    ),
    tx: typeOrNull<string>('string', 'Transaction hash or signature; null for rows that exist only off-chain.'),
  },
  {
    $id: 'MarketItem',
    title: 'MarketItem',
    description: 'A listing or a sale. All fields are always present.',
    examples: [LISTING_EXAMPLE, SALE_EXAMPLE],
    ...closed,
  },
);
export type WireMarketItem = Static<typeof MarketItemSchema>;

type ItemLocation = Pick<CollectionLocation, 'chain' | 'contractAddress'>;

export function toListingItem(listing: Listing, location: ItemLocation, context: PriceContext): WireMarketItem {
  return {
    ...toAssetIdentity(location, listing.asset),
    price: toPriceIn(context, listing.raw, location.chain),
    seller: withoutCustody(listing.seller, context),
    buyer: null,
    marketplace: listing.source ?? context.ownCode,
    status: 'active',
    expiresAt: listing.expiresAt === null ? null : toIsoText(listing.expiresAt),
    timestamp: toIsoText(listing.listedAt),
    orderId: listing.orderId,
    tx: listing.tx,
  };
}

/** `serviceName` is the source of the service's own sales. */
export function toSaleItem(
  sale: InterpretableSale,
  location: ItemLocation,
  context: PriceContext,
  serviceName: string,
): WireMarketItem {
  return {
    ...toAssetIdentity(location, sale.asset),
    price: toPriceIn(context, sale.raw, location.chain),
    seller: withoutCustody(sale.seller, context),
    buyer: withoutCustody(sale.buyer, context),
    marketplace: sale.source === serviceName ? context.ownCode : sale.source,
    status: 'sold',
    expiresAt: null,
    timestamp: toIsoText(sale.soldAt),
    // A sale by an accepted bid comes from no listing.
    orderId: sale.listingId !== null && sideOf(sale.listingId) === 'ask' ? sale.listingId : null,
    tx: sale.tx,
  };
}

/** Null for a custody wallet: it holds tokens for others, so it is neither the seller nor the buyer. */
function withoutCustody(address: string | null, { custodyWallets }: PriceContext): string | null {
  return address !== null && custodyWallets.has(address) ? null : address;
}
