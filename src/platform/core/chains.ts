// The table of chains. A property in which chains of one family differ belongs in their rows, not in conditions elsewhere. Chain ids are
// compared exactly and are lower case: `Ethereum` is not a chain.

import type { Address, ChainFamily } from './address.ts';
import { parseAddress } from './address.ts';

export type Chain = {
  readonly id: string;
  readonly family: ChainFamily;
  /** The `currency` of every Price on this chain. */
  readonly symbol: string;
  /** Former symbols of the currency, which vendors may still use. */
  readonly formerSymbols: readonly string[];
  /** One native unit is 10^decimals base units. */
  readonly decimals: number;
  /** EIP-155 chain id. Null outside the EVM, and for an EVM chain that EXTRA_CHAIN adds without this id. */
  readonly chainId: number | null;
  /** The contract (on Solana: the mint) of the wrapped native currency, which counts as native. Null when the address is not known. */
  readonly wrappedNative: Address | null;
  /** The ERC-20 currencies in which bids can be paid besides the wrapped native one. The setting CURRENCIES names them. */
  readonly currencies: readonly Currency[];
  /** Oldest version first. */
  readonly seaport: readonly SeaportDeployment[];
  /** The names of the chain at each vendor. The names at CoinGecko are names of the native currency. */
  readonly names: ChainNames;
  /** Lower-case names that files may use for the chain, besides its id and its EIP-155 chain id. */
  readonly aliases: readonly string[];
  /** Whether the last buyer floor is stored, to be served as stale while the current floor cannot be read. */
  readonly keepsBuyerFloor: boolean;
  /** False for the chain of EXTRA_CHAIN, which is served, but which the OpenAPI documents do not list. */
  readonly published: boolean;
};

/** One unit of the currency is 10^decimals base units. */
export type Currency = { readonly address: Address; readonly symbol: string; readonly decimals: number };

/** `version` is the version in the EIP-712 domain of the signatures for this deployment. */
export type SeaportDeployment = { readonly address: Address; readonly version: string };

/** For each vendor: first the name in requests to the vendor, then other names that its responses may contain. */
export type ChainNames = Readonly<Record<string, readonly [string, ...string[]]>>;

/** In the order of the table, with the chain of EXTRA_CHAIN last. */
export type Chains = ReadonlyMap<string, Chain>;

const SEAPORT_1_1 = { address: evm('0x00000000006c3852cbef3e08e8df289169ede581'), version: '1.1' };
const SEAPORT_1_4 = { address: evm('0x00000000000001ad428e4906ae43d8f9852d0dd6'), version: '1.4' };
const SEAPORT_1_5 = { address: evm('0x00000000000000adc04c56bf30ac9d3c0aaf14dc'), version: '1.5' };
const SEAPORT_1_6 = { address: evm('0x0000000000000068f116a894984e2db1123eb395'), version: '1.6' };

/** Seaport at the addresses that its developers use on every chain. All these deployments share one conduit controller. */
export const CANONICAL_SEAPORT: readonly SeaportDeployment[] = [SEAPORT_1_1, SEAPORT_1_4, SEAPORT_1_5, SEAPORT_1_6];

/**
 * The published chains. Two facts show which Seaport deployments exist. For 1.1 and 1.4 on Ethereum and Polygon, the signatures of recorded
 * orders verify against these addresses (see the tests). For 1.6 on all six EVM chains, OpenSea's SDK names the canonical address. A
 * version that is listed but not deployed does no harm, because an address without code emits no events.
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
    aliases: ['sol'],
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
    aliases: ['eth', 'mainnet'],
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
    aliases: ['matic'],
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
    aliases: [],
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
    aliases: [],
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
    aliases: [],
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
    // Magic Eden uses the second deployment, which was compiled for the chain's zkSync virtual machine. Its address is in public deployment
    // scripts and in statistics of fills. Its version is from its source code: no order that was signed for it was available to confirm the
    // version.
    seaport: [SEAPORT_1_6, { address: evm('0xdf3969a315e3fc15b89a2752d0915cc76a5bd82d'), version: '1.6' }],
    names: { opensea: ['abstract'], 'magic-eden': ['abstract'], coingecko: ['ethereum'] },
    aliases: [],
    keepsBuyerFloor: false,
  },
] as const satisfies readonly Omit<Chain, 'published' | 'currencies'>[];

/** The ids of the published chains, in the order in which the OpenAPI documents list them. */
export const PUBLISHED_CHAIN_IDS = PUBLISHED.map((chain) => chain.id);

/** Names at vendors for EVM chains that EXTRA_CHAIN may add, by chain id. */
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

/** Names at vendors for the currencies of chains that EXTRA_CHAIN may add, by symbol. */
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

/** The seven published chains and, if EXTRA_CHAIN is set, `extra`. `currencies`: the value of CURRENCIES. */
export function createChains(extra: Chain | null = null, currencies: readonly ChainCurrency[] = []): Chains {
  const all: Chain[] = PUBLISHED.map((chain) => ({ ...chain, currencies: [], published: true }));
  if (extra) all.push(extra);
  const currenciesOf = ({ id }: Chain) => currencies.flatMap(({ chain, currency }) => (chain === id ? [currency] : []));
  return new Map(all.map((chain) => [chain.id, { ...chain, currencies: currenciesOf(chain) }]));
}

/** The currency with this contract. Null if `address` is null, which stands for the wrapped native currency. Undefined if CURRENCIES does not name it. */
export function findCurrency({ currencies }: Chain, address: string | null): Currency | null | undefined {
  return address === null ? null : currencies.find((currency) => currency.address === address);
}

/** The name of the chain in requests to a vendor. Null when the vendor does not support the chain. */
export function nameAt(chain: Chain, vendor: string): string | null {
  return chain.names[vendor]?.[0] ?? null;
}

/** Whether `name` is a name of the chain in a vendor's responses. */
export function isNameAt(chain: Chain, vendor: string, name: string): boolean {
  return chain.names[vendor]?.includes(name) ?? false;
}

const EXTRA_CHAIN = /^([a-z][a-z0-9-]{1,30}):(evm|solana):([A-Za-z0-9]{1,12}):(\d{1,2})(?::(\d{1,10}))?$/;
const DECIMALS_MAX = 36;

/**
 * Parses `id:family:symbol:decimals[:chainId]`. Null when the text has another form, when `decimals` exceeds 36, or when a published chain
 * has this id.
 */
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
    currencies: [],
    seaport: [],
    names: { ...(family === 'evm' && EXTRA_CHAIN_NAMES[id]), ...findCurrencyNames(symbol) },
    aliases: [],
    keepsBuyerFloor: false,
    published: false,
  };
}

/** A currency of CURRENCIES, and the id of its chain. */
export type ChainCurrency = { readonly chain: string; readonly currency: Currency };

const CURRENCY = /^([a-z][a-z0-9-]{1,30}):([A-Za-z0-9.$]{1,12}):(0x[0-9a-fA-F]{40}):(\d{1,2})$/;

/** Parses comma-separated `chain:SYMBOL:address:decimals`. Null when a part has another form, or when `decimals` exceeds 36. */
export function parseCurrencies(text: string): ChainCurrency[] | null {
  const currencies: ChainCurrency[] = [];
  for (const part of text === '' ? [] : text.split(',')) {
    const [, chain, symbol, contract = '', decimals] = CURRENCY.exec(part.trim()) ?? [];
    const address = parseAddress('evm', contract);
    if (!chain || !symbol || !address || Number(decimals) > DECIMALS_MAX) return null;
    currencies.push({ chain, currency: { address, symbol, decimals: Number(decimals) } });
  }
  return currencies;
}

/** What is wrong with parsed currencies, and how to mend it: one text for each currency that cannot be used on its chain. */
export function describeCurrencyMistakes(chains: Chains, currencies: readonly ChainCurrency[]): string[] {
  return currencies.flatMap(({ chain: id, currency: { address, symbol } }, index) => {
    const chain = chains.get(id);
    const earlier = currencies.slice(0, index).filter((other) => other.chain === id);
    if (chain?.family !== 'evm') {
      const known = [...chains.values()].flatMap(({ family, id: name }) => (family === 'evm' ? [name] : []));
      return [`names the chain ${id}, but must name one of ${known.join(', ')}`];
    }
    if (address === chain.wrappedNative) {
      return [`names ${address}, the wrapped native token of ${id}: leave it out, bids are always accepted in it`];
    }
    if (earlier.some(({ currency }) => currency.address === address)) return [`names ${address} on ${id} twice`];
    const names = [chain.symbol, ...earlier.map(({ currency }) => currency.symbol)];
    if (!names.includes(symbol)) return [];
    return [`names ${address} on ${id} ${symbol}, the symbol of another currency: give it a symbol of its own`];
  });
}

/** The chains that EXTRA_CHAIN may add and that this file names. Their symbol and decimals are placeholders. */
export function listNamedExtraChains(): Chain[] {
  return Object.keys(EXTRA_CHAIN_NAMES).flatMap((id) => parseExtraChain(`${id}:evm:ETH:18`) ?? []);
}

function findCurrencyNames(symbol: string): ChainNames {
  const published: readonly Omit<Chain, 'published' | 'currencies'>[] = PUBLISHED;
  const coingecko = published.find((chain) => chain.symbol === symbol)?.names['coingecko'];
  return coingecko ? { coingecko } : (EXTRA_CURRENCY_NAMES[symbol] ?? {});
}

function evm(text: string): Address {
  return knownAddress('evm', text);
}

function solana(text: string): Address {
  return knownAddress('solana', text);
}

/** Throws when the text is not an address. */
function knownAddress(family: ChainFamily, text: string): Address {
  const address = parseAddress(family, text);
  if (address === null) throw new Error(`${text} is not an address`);
  return address;
}
