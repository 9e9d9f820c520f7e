// Reads the owners of one token: several accounts can hold units of an ERC-1155 token.

import { toCollectionId } from '../../platform/core/collection.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import type { Market } from '../reads/market.ts';
import { requireValue } from '../reads/market-source.ts';
import type { TokenLocation, TokenOwner } from '../reads/token.ts';
import { findTokens, toAccount } from '../reads/token.ts';
import { listTokenHolders } from './queries/holdings.ts';

/** `balance` is null if the owner was not read from a chain. */
export type OwnerOfUnits = TokenOwner & { balance: bigint | null };

/** `next`: the last holder that was read; null on the last page. */
export type OwnersPage = { owners: OwnerOfUnits[]; next: string | null; degraded: boolean };

/**
 * The holders by the log of the chain, sorted by address. If the collection is not followed, only the beneficial owner, if it is known. Throws `not_found`
 * when the token does not exist, and `unavailable` when the holders cannot be read.
 */
export async function readTokenOwners(
  market: Market,
  location: TokenLocation,
  { after, limit }: { after: string | null; limit: number },
): Promise<OwnersPage> {
  const key = { collectionId: toCollectionId(location.chain.id, location.contractAddress), asset: location.asset };
  const [{ tokens, degraded }, read] = await Promise.all([
    findTokens(market, market.tokenOverlay, [location], { openListed: true }),
    market.exploredOrders.read((db) => listTokenHolders(db, key, { after: after ?? '', limit: limit + 1 })),
  ]);
  const [token] = tokens;
  if (!token || token.isBurned) throw new ServiceError('not_found', 'Token not found');
  const holders = requireValue(read, 'unavailable');
  if (holders === null) {
    const owners = token.owner.kind === 'unknown' || after !== null ? [] : [{ ...token.owner, balance: null }];
    return { owners, next: null, degraded };
  }
  const page = holders.slice(0, limit);
  return {
    owners: page.map(({ holder, units }) => ({ ...toAccount(market, holder), balance: units })),
    next: holders.length > limit ? (page.at(-1)?.holder ?? null) : null,
    degraded,
  };
}
