// One token: what the indexer observed of it, its listing (from the own order book, otherwise from the mirror), and its beneficial owner.

import type { Address, AssetId } from '../core/address.ts';
import type { Chain } from '../core/chains.ts';
import { toCollectionId } from '../core/collection.ts';
import { ServiceError } from '../core/errors.ts';
import { findFillableOrderOfAsset } from '../orders/queries/fillable-orders.ts';
import type { Listing } from './listing.ts';
import { toListingOfMirror, toListingOfOrder } from './listing.ts';
import type { Market } from './market.ts';
import { listContractAddresses } from './queries/collections.ts';
import type { ObservedToken } from './queries/tokens.ts';
import { findObservedToken } from './queries/tokens.ts';

export type TokenOwner = { address: string | null; kind: 'wallet' | 'custody' | 'unknown'; label: string | null };

export type TokenLocation = { chain: Chain; contractAddress: Address; asset: AssetId };

export type Token = TokenLocation & {
  collectionId: string;
  name: string | null;
  image: string | null;
  rarityRank: number | null;
  owner: TokenOwner;
  listing: Listing | null;
  lastSaleRaw: bigint | null;
  /** True when a source failed. Fields that only the failed source has are null. */
  degraded: boolean;
};

/**
 * Throws `not_found` when the indexer can be read and has no record, listing or sale of the token. Also throws `not_found` when the
 * collection record has the collection mint in another letter case, because that is another mint. If the indexer cannot be read, only the
 * listing of the own order book and its seller are known.
 */
export async function readToken(market: Market, location: TokenLocation): Promise<Token> {
  const { chain, contractAddress, asset } = location;
  const collectionId = toCollectionId(chain.id, contractAddress);
  const now = market.clock();
  const [observation, order, record] = await Promise.all([
    market.tokenOverlay.read((db) => findObservedToken(db, collectionId, asset, now)),
    chain.family === 'evm'
      ? market.orderBook.read((db) => findFillableOrderOfAsset(db, collectionId, asset, now))
      : null,
    // The id of a collection does not keep the case of a mint, so another mint may lead to the same id.
    chain.family === 'solana' ? market.primary.read((db) => listContractAddresses(db, [collectionId])) : null,
  ]);
  const recordedAddress = record?.ok ? record.value.get(collectionId) : undefined;
  if (recordedAddress !== undefined && recordedAddress !== contractAddress) throw tokenNotFound();
  if (observation.ok && observation.value === null) throw tokenNotFound();
  const observed = observation.ok ? observation.value : null;
  if (observed) market.recentViews.note(collectionId, asset);
  // Here `orderId` is the hash of the signed order, if it is known. The list of listings serves the id that the mirror has.
  const mirrored = observed?.listing && {
    ...toListingOfMirror(observed.listing, market.serviceName),
    orderId: observed.listing.orderHash ?? observed.listing.orderId,
  };
  const own = order?.ok && order.value ? toListingOfOrder(order.value) : null;
  const listing = own ?? mirrored ?? null;
  return {
    ...location,
    collectionId,
    name: observed?.name ?? null,
    image: observed?.image ?? null,
    rarityRank: observed?.rarityRank ?? null,
    owner: toOwner(market, listing, observed),
    listing,
    lastSaleRaw: observed?.lastSaleRaw ?? null,
    degraded: !observation.ok || order?.ok === false || record?.ok === false,
  };
}

function tokenNotFound(): ServiceError {
  return new ServiceError('not_found', 'Token not found');
}

/**
 * The beneficial owner: the holder that was read from the chain, otherwise the seller of a listed token, otherwise the reported holder. A
 * custody wallet holds tokens for others: if it is the holder on the chain, the seller is the owner. The address of a custody wallet is not
 * published.
 */
function toOwner(market: Market, listing: Listing | null, observed: ObservedToken | null): TokenOwner {
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
