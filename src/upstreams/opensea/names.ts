// How OpenSea names collections, chains and currencies.

import type { Address } from '../../core/address.ts';
import type { Chain } from '../../core/chains.ts';
import { isNameAt, nameAt } from '../../core/chains.ts';

/** The vendor, and the source of its rows. */
export const OPENSEA = 'opensea';

export type OpenSeaContract = { chain: Chain; contractAddress: Address };

/** One contract of a collection. The collection behind a slug may have several. */
export type OpenSeaCollection = OpenSeaContract & { slug: string };

export const NO_ADDRESS = '0x0000000000000000000000000000000000000000';

/** OpenSea's name of a chain; null for a chain that it does not have. */
export function toOpenSeaChain(chain: Chain): string | null {
  return nameAt(chain, OPENSEA);
}

export function isOpenSeaChain(name: string, chain: Chain): boolean {
  return isNameAt(chain, OPENSEA, name);
}

/** Whether a symbol is that of the chain's native currency, wrapped or not. */
export function isNativeSymbol(symbol: string, chain: Chain): boolean {
  return [chain.symbol, ...chain.formerSymbols].some((name) => symbol === name || symbol === `W${name}`);
}

/** Whether a contract is the chain's native currency, wrapped or not. */
export function isNativeToken(token: Address, chain: Chain): boolean {
  return token === NO_ADDRESS || token === chain.wrappedNative;
}
