// What a question to OpenSea is about, and how OpenSea names chains and currencies. It asks nothing by itself.

import type { Address } from '../../core/address.ts';
import type { Chain } from '../../core/chains.ts';
import { findWrappedNative } from '../../core/wrapped-native.ts';

/** The source of its rows. */
export const OPENSEA = 'opensea';

/** One contract of a collection: a slug of OpenSea may have several. */
export type OpenSeaSubject = { slug: string; chain: Chain; contractAddress: Address };

export const NO_ADDRESS = '0x0000000000000000000000000000000000000000';

/** Chains whose name is another one there, each first by the name that its API takes. */
const NAMES: Readonly<Record<string, readonly string[]>> = { apechain: ['ape_chain'], polygon: ['polygon', 'matic'] };

/** The other EVM chains of its document, which are called the same here, should configuration add one. */
const SAME_NAMES: ReadonlySet<string> = new Set([
  'ethereum',
  'base',
  'ink',
  'abstract',
  'arbitrum',
  'avalanche',
  'b3',
  'blast',
  'flow',
  'hyperevm',
  'megaeth',
  'monad',
  'optimism',
  'ronin',
  'sei',
  'shape',
  'somnia',
  'soneium',
  'unichain',
  'zora',
]);

/** What OpenSea calls a chain; null for what it does not have, or not as an EVM chain. */
export function toOpenSeaChain(chain: Chain): string | null {
  if (chain.family !== 'evm') return null;
  return NAMES[chain.id]?.[0] ?? (SAME_NAMES.has(chain.id) ? chain.id : null);
}

export function isOpenSeaChain(name: string, chain: Chain): boolean {
  return NAMES[chain.id]?.includes(name) ?? (SAME_NAMES.has(name) && name === chain.id);
}

/** Whether a currency's symbol is that of the chain's own one, wrapped or not. */
export function isNativeSymbol(symbol: string, chain: Chain): boolean {
  const own = chain.id === 'polygon' ? [chain.symbol, 'MATIC'] : [chain.symbol];
  return own.some((name) => symbol === name || symbol === `W${name}`);
}

/** Whether a contract is the chain's own currency, wrapped or not. */
export function isNativeToken(token: Address, chain: Chain): boolean {
  return token === NO_ADDRESS || token === findWrappedNative(chain);
}
