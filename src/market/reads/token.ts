// Reads tokens: what the indexer has observed of a token, the listing of the token (from the own order book, otherwise from the mirror),
// and its beneficial owner.

import type { Address, AssetId } from '../../platform/core/address.ts';
import type { Chain } from '../../platform/core/chains.ts';
import { toCollectionId } from '../../platform/core/collection.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import type { FillableOrder } from '../orders/queries/fillable-orders.ts';
import { listFillableOrdersOfAssets } from '../orders/queries/fillable-orders.ts';
import type { Result } from '../../platform/resilience/source.ts';
import type { DetailedListing } from './listing.ts';
import { toDetailedListingOfMirror, toDetailedListingOfOrder } from './listing.ts';
import type { Market } from './market.ts';
import type { MarketSource } from './market-source.ts';
import { valueOrNull } from './market-source.ts';
import { listContractAddresses } from './queries/collections.ts';
import type { ObservedSale, ObservedToken } from '../index/queries/tokens.ts';
import { listObservedTokens, toTokenKeyText } from '../index/queries/tokens.ts';

export type TokenOwner = { address: string | null; kind: 'wallet' | 'custody' | 'unknown'; label: string | null };

export type TokenLocation = { chain: Chain; contractAddress: Address; asset: AssetId };

export type Token = TokenLocation & {
  collectionId: string;
  name: string | null;
  image: string | null;
  rarityRank: number | null;
  owner: TokenOwner;
  traits: ObservedToken['traits'];
  listing: DetailedListing | null;
  lastSale: ObservedSale | null;
  isBurned: boolean;
  /** False if the indexer has no record, listing or sale of the token, or could not be read. */
  isObserved: boolean;
};

/** `tokens` are in the order of the request. `observation`: whether the indexer could be read. `complete`: all sources could be read. */
export type TokensRead = { tokens: Token[]; observation: Result<unknown>; complete: boolean };

/**
 * Reads tokens. `source` reads the indexer. If the indexer cannot be read, only the listings in the own order book, and the sellers of
 * these listings, are known. If the order book cannot be read, the listings are those of the mirror. `largeImages`: see `listObservedTokens`.
 */
export async function readTokens(
  market: Market,
  source: MarketSource,
  locations: readonly TokenLocation[],
  { largeImages = false }: { largeImages?: boolean } = {},
): Promise<TokensRead> {
  const now = market.clock();
  const keys = locations.map(({ chain, contractAddress, asset }) => ({
    collectionId: toCollectionId(chain.id, contractAddress),
    asset,
  }));
  const evmKeys = keys.filter((_, index) => locations[index]?.chain.family === 'evm');
  const [observation, book] = await Promise.all([
    source.read((db) => listObservedTokens(db, keys, { now, largeImages })),
    evmKeys.length === 0 ? null : market.orderBook.read((db) => listFillableOrdersOfAssets(db, evmKeys, now)),
  ]);
  const orders = new Map((book && valueOrNull(book))?.map((order) => [toTokenKeyText(order), order]));
  const observed = valueOrNull(observation);
  const tokens = locations.map((location) => {
    const key = toTokenKeyText({
      collectionId: toCollectionId(location.chain.id, location.contractAddress),
      asset: location.asset,
    });
    return toToken(market, location, { observed: observed?.get(key) ?? null, order: orders.get(key) ?? null });
  });
  return { tokens, observation, complete: observation.ok && book?.ok !== false };
}

function toToken(
  market: Market,
  location: TokenLocation,
  { observed, order }: { observed: ObservedToken | null; order: FillableOrder | null },
): Token {
  const mirrored = observed?.listing && toDetailedListingOfMirror(observed.listing, market.serviceName);
  const own = order && toDetailedListingOfOrder(order);
  const listing = own ?? mirrored ?? null;
  return {
    ...location,
    collectionId: toCollectionId(location.chain.id, location.contractAddress),
    name: observed?.name ?? null,
    image: observed?.image ?? null,
    rarityRank: observed?.rarityRank ?? null,
    owner: toOwner(market, listing, observed),
    traits: observed?.traits ?? [],
    listing,
    lastSale: observed?.lastSale ?? null,
    isBurned: observed?.isBurned ?? false,
    isObserved: observed !== null,
  };
}

/** `tokens` are in the order of the request, with null for a token that does not exist. `degraded`: a source failed. */
export type FoundTokens = { tokens: (Token | null)[]; degraded: boolean };

/**
 * Finds tokens that a client has named. A token does not exist when the indexer can be read and has no record, listing or sale of the
 * token. With `openListed`, a token with a listing in the own order book exists too. On Solana, a token also does not exist when the collection
 * record has the mint of the collection in another letter case, because mints that differ only in letter case are different mints. If the indexer
 * cannot be read, only the listing in the own order book, and the seller of this listing, are known.
 */
export async function findTokens(
  market: Market,
  source: MarketSource,
  locations: readonly TokenLocation[],
  { openListed, largeImages = false }: { openListed: boolean; largeImages?: boolean },
): Promise<FoundTokens> {
  const solana = locations.filter(({ chain }) => chain.family === 'solana');
  const solanaIds = solana.map(({ chain, contractAddress }) => toCollectionId(chain.id, contractAddress));
  const [{ tokens, observation, complete }, record] = await Promise.all([
    readTokens(market, source, locations, { largeImages }),
    // The id of a collection does not keep the case of a mint, so another mint may lead to the same id.
    solanaIds.length === 0 ? null : market.primary.read((db) => listContractAddresses(db, solanaIds)),
  ]);
  const addresses = record && valueOrNull(record);
  const found = tokens.map((token) => {
    const recordedAddress = addresses?.get(token.collectionId) ?? token.contractAddress;
    const isKnown = token.isObserved || (openListed && token.listing !== null);
    const exists = recordedAddress === token.contractAddress && (isKnown || !observation.ok);
    if (exists && isKnown) market.recentViews.note(token.collectionId, token.asset);
    return exists ? token : null;
  });
  return { tokens: found, degraded: !complete || record?.ok === false };
}

/**
 * Finds one token by the rules of `findTokens`, without `openListed`: `/v1` does not find a token that is unknown to the indexer. Throws
 * `not_found` when the token does not exist.
 */
export async function readToken(market: Market, location: TokenLocation): Promise<Token & { degraded: boolean }> {
  const { tokens, degraded } = await findTokens(market, market.tokenOverlay, [location], {
    openListed: false,
    largeImages: true,
  });
  const [token] = tokens;
  if (!token) throw new ServiceError('not_found', 'Token not found');
  return { ...token, degraded };
}

/**
 * The beneficial owner: the holder that was read from the chain, otherwise the seller of a listed token, otherwise the reported holder. A
 * custody wallet holds tokens for other accounts: if the holder on the chain is a custody wallet, the seller is the owner. The address of a
 * custody wallet is not published.
 */
function toOwner(market: Market, listing: DetailedListing | null, observed: ObservedToken | null): TokenOwner {
  const holder = observed?.owner ?? null;
  const isOwner = observed?.isOwnerOfChain === true && !market.custodyWallets.has(holder as Address);
  const address = isOwner ? holder : (listing?.seller ?? holder);
  // The seller is checked as well, because some marketplaces report the custody wallet as the seller.
  return address === null ? { address: null, kind: 'unknown', label: null } : toAccount(market, address);
}

/** An account as it is published: the address of a custody wallet is withheld. */
export function toAccount(
  { custodyWallets }: Pick<Market, 'custodyWallets'>,
  address: string,
): TokenOwner & { kind: 'wallet' | 'custody' } {
  const label = custodyWallets.get(address as Address);
  return label === undefined ? { address, kind: 'wallet', label: null } : { address: null, kind: 'custody', label };
}
