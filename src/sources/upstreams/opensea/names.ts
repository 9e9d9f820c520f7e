// How OpenSea names collections, chains and currencies.

import type { Address } from '../../../platform/core/address.ts';
import type { Chain } from '../../../platform/core/chains.ts';
import { isNameAt, nameAt } from '../../../platform/core/chains.ts';

/** The name of the vendor, and the `source` of its records. */
export const OPENSEA = 'opensea';

export type OpenSeaContract = { chain: Chain; contractAddress: Address };

/** The slug of a collection, and one of its contracts. The collection may have several contracts. */
export type OpenSeaCollection = OpenSeaContract & { slug: string };

const NO_ADDRESS = '0x0000000000000000000000000000000000000000';

/** Null for a chain that OpenSea does not have. */
export function toOpenSeaChain(chain: Chain): string | null {
  return nameAt(chain, OPENSEA);
}

export function isOpenSeaChain(name: string, chain: Chain): boolean {
  return isNameAt(chain, OPENSEA, name);
}

/** Whether a symbol names the chain's native currency or its wrapped form. */
export function isNativeSymbol(symbol: string, chain: Chain): boolean {
  return [chain.symbol, ...chain.formerSymbols].some((name) => symbol === name || symbol === `W${name}`);
}

/** Whether a token address stands for the chain's native currency or its wrapped form. */
export function isNativeToken(token: Address, chain: Chain): boolean {
  return token === NO_ADDRESS || token === chain.wrappedNative;
}
