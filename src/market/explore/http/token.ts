// The schema of a token in responses of the explore interface.

import type { Static } from 'typebox';
import Type from 'typebox';
import { closed, dateTime, ref, refOrNull, typeOrNull } from '../../../platform/http/schema-builders.ts';
import { EXAMPLE_TIME, toExamplePrice } from '../../reads/http/example-collection.ts';
import type { WirePrice } from '../../reads/http/price.ts';
import { toPriceOrNull } from '../../reads/http/price.ts';
import { TOKEN_FIELDS_EXAMPLE, toTokenFields, tokenFields } from '../../reads/http/token.ts';
import type { Market } from '../../reads/market.ts';
import type { Token } from '../../reads/token.ts';
import type { ImageLinks } from './images.ts';
import { imageField, toExploredImage } from './images.ts';
import { firstExpiry } from '../../reads/listing-window.ts';
import { readTopBids, toSubjectKey } from '../bids.ts';
import type { TopBid } from '../queries/bids.ts';
import type { WireTopBid } from './bid.ts';
import { toWireTopBid } from './bid.ts';
import type { ListingPrices, WireListing } from './listing.ts';
import { HASHED_LISTING_EXAMPLE, readListingPrices, toWireListing, unitsOrNullField } from './listing.ts';

export const OwnerSchema = Type.Object(tokenFields.owner.properties, {
  $id: 'Owner',
  title: 'Owner',
  description: 'The beneficial owner of a token.',
  examples: [TOKEN_FIELDS_EXAMPLE.owner],
  ...closed,
});

const LAST_SALE_EXAMPLE = { price: toExamplePrice(395n), at: EXAMPLE_TIME, marketplace: 'opensea', tx: null };

export const LastSaleSchema = Type.Object(
  {
    price: refOrNull<WirePrice>('Price', 'Price of the sale; null if it could not be interpreted.'),
    at: dateTime('When the sale completed.'),
    marketplace: Type.String({
      description: "An upper-case code for the service's own sales, the lower-case source slug for others.",
    }),
    tx: typeOrNull<string>('string', 'Transaction hash or signature; null if it is not known.'),
  },
  {
    $id: 'LastSale',
    title: 'LastSale',
    description: 'The last sale of a token.',
    examples: [LAST_SALE_EXAMPLE],
    ...closed,
  },
);

export const TokenSchema = Type.Object(
  {
    ...tokenFields,
    image: imageField('Image URL.'),
    owner: ref<Static<typeof OwnerSchema>>('Owner'),
    listing: refOrNull<WireListing>('Listing', 'Active listing, if any.'),
    traits: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Name of the trait, as the metadata states it.' }),
          value: Type.String({ description: 'Value of the trait; numbers and dates as text.' }),
        },
        { description: 'A trait.', ...closed },
      ),
      { description: 'The traits in the metadata of the token. Empty if none are known.' },
    ),
    balance: unitsOrNullField(
      'In a list of the tokens of one wallet: the units that the wallet holds, by the log of the followed chain. Null in other responses, if the ' +
        'chain is not read, and if another account holds the token for the wallet.',
    ),
    lastSale: refOrNull<Static<typeof LastSaleSchema>>('LastSale', 'The last sale; null if none is known.'),
    topBid: refOrNull<WireTopBid>(
      'TopBid',
      'The best bid that the owner of the token can accept now, for this token, for its collection or for its traits; null if none is known.',
    ),
  },
  {
    $id: 'Token',
    title: 'Token',
    description: 'A token. All fields are always present.',
    examples: [
      {
        ...TOKEN_FIELDS_EXAMPLE,
        listing: HASHED_LISTING_EXAMPLE,
        traits: [{ name: 'Wind', value: 'Gale' }],
        balance: null,
        lastSale: LAST_SALE_EXAMPLE,
        topBid: null,
      },
    ],
    ...closed,
  },
);
export type WireToken = Static<typeof TokenSchema>;

/** `degraded`: the top bids could not be read. */
export type TokenPrices = ListingPrices & { topBids: ReadonlyMap<string, TopBid>; degraded: boolean };

/** Reads what `toWireToken` needs for the tokens of a response. */
export async function readTokenPrices(market: Market, tokens: readonly Token[]): Promise<TokenPrices> {
  const [prices, topBids] = await Promise.all([readListingPrices(market, tokens), readTopBids(market, tokens)]);
  return { ...prices, topBids: topBids ?? new Map(), degraded: topBids === null };
}

/** The time at which a listing or a top bid of the tokens expires first. */
export function firstExpiryOf(tokens: readonly Token[], { topBids }: TokenPrices): number | null {
  return firstExpiry([...tokens.flatMap(({ listing }) => listing ?? []), ...topBids.values()]);
}

export function toWireToken(
  context: ImageLinks & { market: Pick<Market, 'serviceName'> },
  token: Token & { balance?: bigint | null },
  prices: TokenPrices,
): WireToken {
  const { lastSale, listing, balance = null, collectionId, asset } = token;
  const topBid = prices.topBids.get(toSubjectKey(token));
  return {
    ...toTokenFields(token),
    image: toExploredImage(context, token.image, { collectionId, name: asset }),
    listing: listing && toWireListing(listing, token, prices),
    balance: balance?.toString() ?? null,
    traits: token.traits.map(({ name, value }) => ({ name, value })),
    lastSale: lastSale && {
      price: toPriceOrNull(lastSale.raw, token.chain, prices),
      at: new Date(lastSale.soldAt).toISOString(),
      marketplace: lastSale.source === context.market.serviceName ? prices.ownCode : lastSale.source,
      tx: lastSale.tx,
    },
    topBid: topBid ? toWireTopBid(topBid, token.chain, prices) : null,
  };
}
