// The chains of the service, one row each: whatever differs from chain to chain stands in the chain's row and nowhere else.
// Chain ids are exact and lower case: `Ethereum` is not a chain.

import type { Address, ChainFamily } from './address.ts';
import { parseAddress } from './address.ts';

export type Chain = {
  readonly id: string;
  readonly family: ChainFamily;
  /** Native currency symbol, the `currency` of every Price on this chain. */
  readonly symbol: string;
  /** Symbols that the currency had before, which vendors may still use. */
  readonly formerSymbols: readonly string[];
  /** Base units in one native unit, as a power of ten. */
  readonly decimals: number;
  /** EIP-155 chain id; null outside the EVM. */
  readonly chainId: number | null;
  /** The contract, on Solana the mint, of the wrapped native currency, which counts as native one to one. Null: not known. */
  readonly wrappedNative: Address | null;
  /** Seaport's deployments, oldest version first. */
  readonly seaport: readonly SeaportDeployment[];
  /** By vendor: what it calls the chain, or its currency where it knows currencies only. See `nameAt`. */
  readonly names: ChainNames;
  /** Whether the last resolved buyer floor is kept, to be served while the order books cannot be read. */
  readonly keepsBuyerFloor: boolean;
  /** False for a chain that configuration added: accepted and served, but not in the published schema enumerations. */
  readonly published: boolean;
};

/** `version` as the domain of its signatures names it. */
export type SeaportDeployment = { readonly address: Address; readonly version: string };

/** By vendor, the name that its requests take first, then others that its responses may hold. */
export type ChainNames = Readonly<Record<string, readonly [string, ...string[]]>>;

/** All chains in their order of preference, the configured one last. */
export type Chains = ReadonlyMap<string, Chain>;

const SEAPORT_1_1 = { address: evm('0x00000000006c3852cbef3e08e8df289169ede581'), version: '1.1' };
const SEAPORT_1_4 = { address: evm('0x00000000000001ad428e4906ae43d8f9852d0dd6'), version: '1.4' };
const SEAPORT_1_5 = { address: evm('0x00000000000000adc04c56bf30ac9d3c0aaf14dc'), version: '1.5' };
const SEAPORT_1_6 = { address: evm('0x0000000000000068f116a894984e2db1123eb395'), version: '1.6' };

/** Seaport at the addresses of its makers, the same on every chain; its conduits belong to one controller. */
export const CANONICAL_SEAPORT: readonly SeaportDeployment[] = [SEAPORT_1_1, SEAPORT_1_4, SEAPORT_1_5, SEAPORT_1_6];

/**
 * Sources of the deployments. Ethereum and Polygon: recorded orders of 1.1 and 1.4 verify against these addresses (see the
 * tests). 1.6 on all six: OpenSea's SDK names its canonical address for each of them. A version that is listed but not
 * deployed does no harm: an address without code emits no events.
 */
const PUBLISHED = [
  {
    id: 'solana',
    family: 'solana',
    symbol: 'SOL',
    formerSymbols: [],
    decimals: 9,
    chainId: null,
    wrappedNative: solana('So11111111111111111111111111111111111111112'),
    seaport: [],
    names: { coingecko: ['solana'] },
    keepsBuyerFloor: true,
  },
  {
    id: 'ethereum',
    family: 'evm',
    symbol: 'ETH',
    formerSymbols: [],
    decimals: 18,
    chainId: 1,
    wrappedNative: evm('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'),
    seaport: CANONICAL_SEAPORT,
    names: { opensea: ['ethereum'], 'magic-eden': ['ethereum'], coingecko: ['ethereum'] },
    keepsBuyerFloor: true,
  },
  {
    id: 'polygon',
    family: 'evm',
    symbol: 'POL',
    formerSymbols: ['MATIC'],
    decimals: 18,
    chainId: 137,
    wrappedNative: evm('0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270'),
    seaport: CANONICAL_SEAPORT,
    names: { opensea: ['polygon', 'matic'], 'magic-eden': ['polygon'], coingecko: ['polygon-ecosystem-token'] },
    keepsBuyerFloor: false,
  },
  {
    id: 'base',
    family: 'evm',
    symbol: 'ETH',
    formerSymbols: [],
    decimals: 18,
    chainId: 8453,
    wrappedNative: evm('0x4200000000000000000000000000000000000006'),
    seaport: CANONICAL_SEAPORT,
    names: { opensea: ['base'], 'magic-eden': ['base'], coingecko: ['ethereum'] },
    keepsBuyerFloor: false,
  },
  {
    id: 'ink',
    family: 'evm',
    symbol: 'ETH',
    formerSymbols: [],
    decimals: 18,
    chainId: 57073,
    wrappedNative: evm('0x4200000000000000000000000000000000000006'),
    seaport: [SEAPORT_1_5, SEAPORT_1_6],
    names: { opensea: ['ink'], coingecko: ['ethereum'] },
    keepsBuyerFloor: false,
  },
  {
    id: 'apechain',
    family: 'evm',
    symbol: 'APE',
    formerSymbols: [],
    decimals: 18,
    chainId: 33139,
    wrappedNative: evm('0x48b62137edfa95a428d35c09e44256a739f6b557'),
    seaport: [SEAPORT_1_5, SEAPORT_1_6],
    names: { opensea: ['ape_chain'], 'magic-eden': ['apechain'], coingecko: ['apecoin'] },
    keepsBuyerFloor: false,
  },
  {
    id: 'abstract',
    family: 'evm',
    symbol: 'ETH',
    formerSymbols: [],
    decimals: 18,
    chainId: 2741,
    wrappedNative: evm('0x3439153eb7af838ad19d56e1571fbd09333c2809'),
    // The second one was built for the chain's zkSync machine, and Magic Eden uses it. Its address stands in public deployment
    // scripts and fill statistics. Its version is that of its sources; no order signed for it was at hand to prove that.
    seaport: [SEAPORT_1_6, { address: evm('0xdf3969a315e3fc15b89a2752d0915cc76a5bd82d'), version: '1.6' }],
    names: { opensea: ['abstract'], 'magic-eden': ['abstract'], coingecko: ['ethereum'] },
    keepsBuyerFloor: false,
  },
] as const satisfies readonly Omit<Chain, 'published'>[];

/** The chain ids of the published enumerations, in their order. */
export const PUBLISHED_CHAIN_IDS = PUBLISHED.map((chain) => chain.id);

/** What vendors call EVM chains that configuration may add, by chain id. */
const EXTRA_CHAIN_NAMES: Readonly<Record<string, ChainNames>> = {
  arbitrum: { opensea: ['arbitrum'] },
  avalanche: { opensea: ['avalanche'] },
  b3: { opensea: ['b3'] },
  blast: { opensea: ['blast'] },
  flow: { opensea: ['flow'] },
  hyperevm: { opensea: ['hyperevm'] },
  megaeth: { opensea: ['megaeth'] },
  monad: { opensea: ['monad'], 'magic-eden': ['monad'] },
  optimism: { opensea: ['optimism'] },
  ronin: { opensea: ['ronin'] },
  sei: { opensea: ['sei'] },
  shape: { opensea: ['shape'] },
  somnia: { opensea: ['somnia'] },
  soneium: { opensea: ['soneium'] },
  unichain: { opensea: ['unichain'] },
  zora: { opensea: ['zora'] },
};

/** What vendors call the currencies of chains that configuration may add, by symbol. */
const EXTRA_CURRENCY_NAMES: Readonly<Record<string, ChainNames>> = {
  AVAX: { coingecko: ['avalanche-2'] },
  BERA: { coingecko: ['berachain-bera'] },
  BNB: { coingecko: ['binancecoin'] },
  CRO: { coingecko: ['crypto-com-chain'] },
  FLOW: { coingecko: ['flow'] },
  HYPE: { coingecko: ['hyperliquid'] },
  MNT: { coingecko: ['mantle'] },
  MON: { coingecko: ['monad'] },
  RON: { coingecko: ['ronin'] },
  S: { coingecko: ['sonic-3'] },
  SEI: { coingecko: ['sei-network'] },
};

/** The chains of one service: the published seven and, where configured, one more. */
export function createChains(extra: Chain | null = null): Chains {
  const all: Chain[] = PUBLISHED.map((chain) => ({ ...chain, published: true }));
  if (extra) all.push(extra);
  return new Map(all.map((chain) => [chain.id, chain]));
}

/** The name that requests to a vendor take; null when the vendor does not have the chain. */
export function nameAt(chain: Chain, vendor: string): string | null {
  return chain.names[vendor]?.[0] ?? null;
}

/** Whether a vendor's response may call the chain `name`. */
export function isNameAt(chain: Chain, vendor: string, name: string): boolean {
  return chain.names[vendor]?.includes(name) ?? false;
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
    formerSymbols: [],
    decimals: Number(decimals),
    chainId: chainId === undefined ? null : Number(chainId),
    wrappedNative: null,
    seaport: [],
    names: { ...(family === 'evm' && EXTRA_CHAIN_NAMES[id]), ...findCurrencyNames(symbol) },
    keepsBuyerFloor: false,
    published: false,
  };
}

function findCurrencyNames(symbol: string): ChainNames {
  const published: readonly Omit<Chain, 'published'>[] = PUBLISHED;
  const coingecko = published.find((chain) => chain.symbol === symbol)?.names['coingecko'];
  return coingecko ? { coingecko } : (EXTRA_CURRENCY_NAMES[symbol] ?? {});
}

function evm(text: string): Address {
  return knownAddress('evm', text);
}

function solana(text: string): Address {
  return knownAddress('solana', text);
}

/** An address written in this file. Throws when it is mistyped. */
function knownAddress(family: ChainFamily, text: string): Address {
  const address = parseAddress(family, text);
  if (address === null) throw new Error(`${text} is not an address`);
  return address;
}
