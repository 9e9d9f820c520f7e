// The chains that the service knows, and what follows from a chain: address family, native currency, order of preference.
// Chain ids are exact and lower case everywhere: `Ethereum` is not a chain.

export type ChainFamily = 'evm' | 'solana';

export type Chain = {
  readonly id: string;
  readonly family: ChainFamily;
  /** Native currency symbol, the `currency` of every Price on this chain. */
  readonly symbol: string;
  /** Base units in one native unit, as a power of ten. */
  readonly decimals: number;
  /** EIP-155 chain id; null outside the EVM. */
  readonly chainId: number | null;
  /** False for a chain that configuration added: accepted and served, but not in the published schema enumerations. */
  readonly published: boolean;
};

/** All chains in their order of preference, the configured one last. */
export type Chains = ReadonlyMap<string, Chain>;

const PUBLISHED = [
  { id: 'solana', family: 'solana', symbol: 'SOL', decimals: 9, chainId: null },
  { id: 'ethereum', family: 'evm', symbol: 'ETH', decimals: 18, chainId: 1 },
  { id: 'polygon', family: 'evm', symbol: 'POL', decimals: 18, chainId: 137 },
  { id: 'base', family: 'evm', symbol: 'ETH', decimals: 18, chainId: 8453 },
  { id: 'ink', family: 'evm', symbol: 'ETH', decimals: 18, chainId: 57073 },
  { id: 'apechain', family: 'evm', symbol: 'APE', decimals: 18, chainId: 33139 },
  { id: 'abstract', family: 'evm', symbol: 'ETH', decimals: 18, chainId: 2741 },
] as const;

/** The chain ids of the published enumerations, in their order. */
export const PUBLISHED_CHAIN_IDS = PUBLISHED.map((chain) => chain.id);

/** The chains of one service: the published seven and, where configured, one more. */
export function createChains(extra: Chain | null = null): Chains {
  const all: Chain[] = PUBLISHED.map((chain) => ({ ...chain, published: true }));
  if (extra) all.push(extra);
  return new Map(all.map((chain) => [chain.id, chain]));
}

const EXTRA_CHAIN = /^([a-z][a-z0-9-]{1,30}):(evm|solana):([A-Za-z0-9]{1,12}):(\d{1,2})(?::(\d{1,10}))?$/;
const DECIMALS_MAX = 36;

/** Reads `id:family:symbol:decimals[:chainId]`; null when it is not of that form or names a published chain. */
export function parseExtraChain(text: string): Chain | null {
  const [, id, family, symbol, decimals, chainId] = EXTRA_CHAIN.exec(text) ?? [];
  if (!id || !symbol || Number(decimals) > DECIMALS_MAX) return null;
  if (PUBLISHED.some((chain) => chain.id === id)) return null;
  return {
    id,
    family: family as ChainFamily,
    symbol,
    decimals: Number(decimals),
    chainId: chainId === undefined ? null : Number(chainId),
    published: false,
  };
}
