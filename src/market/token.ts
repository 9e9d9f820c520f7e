// One token: what the indexer observed of it, laid over by the own order book, and whom it really belongs to.

import { findFillableOrderOfAsset } from '../orders/queries/fillable-orders.ts';
import { findObservedToken } from './queries/tokens.ts';
import type { Address, AssetId } from '../core/address.ts';
import type { Chain } from '../core/chains.ts';
import { toCollectionId } from '../core/collection.ts';
import { ServiceError } from '../core/errors.ts';
import type { Listing } from './listings.ts';
import { toListing, toOwnListing } from './listings.ts';
import type { Market } from './market.ts';

export type TokenOwner = { address: string | null; kind: 'wallet' | 'custody' | 'unknown'; label: string | null };

export type Token = {
  chain: Chain;
  contractAddress: Address;
  asset: AssetId;
  collectionId: string;
  name: string | null;
  image: string | null;
  rarityRank: number | null;
  owner: TokenOwner;
  listing: Listing | null;
  lastSaleRaw: bigint | null;
  degraded: boolean;
};

/**
 * A token by its chain, address and id. Throws `not_found` when the indexer answers and has never seen it; with the indexer
 * out of reach, unknown cannot be told from unreachable, and the answer is what the order book knows.
 */
export async function readToken(
  market: Market,
  subject: { chain: Chain; contractAddress: Address; asset: AssetId },
): Promise<Token> {
  const { chain, contractAddress, asset } = subject;
  const collectionId = toCollectionId(chain.id, contractAddress);
  const now = market.clock();
  const [observed, order] = await Promise.all([
    market.tokenOverlay.read((db) => findObservedToken(db, collectionId, asset, now)),
    chain.family === 'evm'
      ? market.orderBook.read((db) => findFillableOrderOfAsset(db, collectionId, asset, now))
      : null,
  ]);
  if (observed.ok && observed.value === null) throw new ServiceError('not_found', 'Token not found');
  const known = observed.ok ? observed.value : null;
  if (known) market.recentViews.note(collectionId, asset);
  // The one place where a signed-order hash is shown: on a listing that came from the overlay.
  const overlay = known?.listing && {
    ...toListing(market, known.listing),
    orderId: known.listing.orderHash ?? known.listing.orderId,
  };
  const own = order?.ok && order.value ? toOwnListing(order.value) : null;
  const listing = own ?? overlay ?? null;
  return {
    ...subject,
    collectionId,
    name: known?.name ?? null,
    image: known?.image ?? null,
    rarityRank: known?.rarityRank ?? null,
    owner: toOwner(market, listing, known?.owner ?? null),
    listing,
    lastSaleRaw: known?.lastSaleRaw ?? null,
    degraded: !observed.ok || order?.ok === false,
  };
}

/** The beneficial owner: the seller while listed, never the wallet that holds tokens for many. */
function toOwner(market: Market, listing: Listing | null, holder: string | null): TokenOwner {
  const address = listing?.seller ?? holder;
  if (address === null) return { address: null, kind: 'unknown', label: null };
  // A source may take the custody wallet for the seller: its address is withheld there too.
  const label = market.custodyWallets.get(address as Address);
  return label === undefined ? { address, kind: 'wallet', label: null } : { address: null, kind: 'custody', label };
}
