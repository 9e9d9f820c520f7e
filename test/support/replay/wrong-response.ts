// Every source of a vendor against an answer that is not its own, as a misrouted proxy or another version of the interface would
// give it: the answer stands at every path. What comes of it is told in one line.

import type { TestContext } from 'node:test';
import { parseAddress, parseAssetId } from '../../../src/core/address.ts';
import type { Address, AssetId } from '../../../src/core/address.ts';
import { createChains } from '../../../src/core/chains.ts';
import { readDasCollection, readDasTokens, walkDasCollection } from '../../../src/upstreams/das/assets.ts';
import { walkMagicEdenAsks } from '../../../src/upstreams/magic-eden/evm.ts';
import {
  readMagicEdenStats,
  readMagicEdenToken,
  walkMagicEdenListings,
  walkMagicEdenSales,
} from '../../../src/upstreams/magic-eden/solana.ts';
import {
  findOpenSeaContract,
  readOpenSeaCollection,
  readOpenSeaStats,
} from '../../../src/upstreams/opensea/collection.ts';
import { walkOpenSeaListings } from '../../../src/upstreams/opensea/listings.ts';
import { walkOpenSeaSales } from '../../../src/upstreams/opensea/sales.ts';
import { readOpenSeaToken, walkOpenSeaTokens } from '../../../src/upstreams/opensea/tokens.ts';
import type { Quotes } from '../../../src/upstreams/prices/prices.ts';
import { readCoinbasePrices, readCoingeckoPrices } from '../../../src/upstreams/prices/prices.ts';
import type { ParsedPage } from '../../../src/upstreams/rows.ts';
import type { Upstream } from '../../../src/upstreams/upstream.ts';
import { UpstreamFailure } from '../../../src/upstreams/upstream.ts';
import type { WalkOutcome } from './every-fault.ts';
import { collectPages } from './every-fault.ts';
import type { Vendor } from '../recordings/payloads.ts';
import { GHOSTS } from './opensea.ts';
import type { ReplayServer } from './replay.ts';
import { startReplayServer } from './replay.ts';
import { FAMOUS_FOX } from './das.ts';
import { DEGODS } from './magic-eden.ts';

export const NOW = Date.UTC(2026, 5, 1);
/** The token that the example of Magic Eden tells of. */
const MINT = '4uvpqEL73361hRXCrHqBZQWeqfbKPQw55yKSFZvLQYTq';
/** The collection of the recorded ask. */
const ASKED = '0x8132176f60e9db5288d84feeefae455c8caa3f95';

const ethereum = createChains().get('ethereum');
if (!ethereum) throw new Error('there is no Ethereum');
const ghosts = { slug: GHOSTS.slug, chain: ethereum, contractAddress: toEvm(GHOSTS.contract) };
const signal = AbortSignal.timeout(60_000);

function toEvm(text: string): Address {
  const address = parseAddress('evm', text);
  if (address === null) throw new Error(text);
  return address;
}

/** By what Magic Eden calls it. */
export function collectionOf(symbol: string): { symbol: string; contractAddress: string } {
  return { symbol, contractAddress: DEGODS };
}

type Reader = (upstream: Upstream, symbol: string) => Promise<WalkOutcome>;

const COINGECKO_IDS = new Map([
  ['ETH', 'ethereum'],
  ['SOL', 'solana'],
  ['POL', 'polygon-ecosystem-token'],
]);

/** Each source that asks a vendor, by what it asks for. */
export const SOURCES: Readonly<Record<Vendor, Readonly<Record<string, Reader>>>> = {
  coinbase: { price: (upstream) => toRates(readCoinbasePrices(upstream, ['ETH'], signal)) },
  coingecko: {
    prices: (upstream) => toRates(readCoingeckoPrices(upstream, COINGECKO_IDS, { now: NOW, signal })),
  },
  'magic-eden': {
    stats: (upstream, symbol) => toOutcome(readMagicEdenStats(upstream, collectionOf(symbol), { now: NOW })),
    listings: (upstream, symbol) => collectPages(walkMagicEdenListings(upstream, collectionOf(symbol), { now: NOW })),
    sales: (upstream, symbol) =>
      collectPages(walkMagicEdenSales(upstream, collectionOf(symbol), { now: NOW, since: 0 })),
    token: (upstream, symbol) => toOutcome(readMagicEdenToken(upstream, collectionOf(symbol), { mint: MINT })),
    asks: (upstream) => collectPages(walkMagicEdenAsks(upstream, { chain: ethereum, contractAddress: ASKED })),
  },
  helius: {
    collection: (upstream) => collectPages(walkDasCollection(upstream, FAMOUS_FOX)),
    tokens: (upstream) => toOutcome(readDasTokens(upstream, [DEGODS], { collection: FAMOUS_FOX })),
    asset: (upstream) => toOutcome(readDasCollection(upstream, FAMOUS_FOX)),
  },
  opensea: {
    contract: async (upstream) => {
      const found = findOpenSeaContract(upstream, ghosts);
      return toOutcome(found.then((one) => ({ records: one ? [{ kind: 'contract' }] : [], refused: [], skipped: 0 })));
    },
    collection: (upstream) => toOutcome(readOpenSeaCollection(upstream, ghosts)),
    stats: (upstream) => toOutcome(readOpenSeaStats(upstream, ghosts, { at: NOW })),
    listings: (upstream) => collectPages(walkOpenSeaListings(upstream, ghosts)),
    sales: (upstream) => collectPages(walkOpenSeaSales(upstream, ghosts, { since: null })),
    tokens: (upstream) => collectPages(walkOpenSeaTokens(upstream, ghosts)),
    token: (upstream) => toOutcome(readOpenSeaToken(upstream, ghosts, parseAssetId('evm', '5333') as AssetId)),
  },
  // Nobody here asks it. Magic Eden's older interface for EVM chains was its own, behind a proxy.
  reservoir: {
    asks: (upstream) => collectPages(walkMagicEdenAsks(upstream, { chain: ethereum, contractAddress: ASKED })),
  },
};

async function toOutcome(reading: Promise<ParsedPage>): Promise<WalkOutcome> {
  try {
    const { records, refused } = await reading;
    return { records, refused, end: null, failure: null };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { records: [], refused: [], end: null, failure: error.reason };
  }
}

function toRates(reading: Promise<Quotes>): Promise<WalkOutcome> {
  const at = new Date(NOW).toISOString();
  const toRecords = (quotes: Quotes['quotes']) =>
    [...quotes].map(([symbol, { usd }]) => ({ kind: 'rate', symbol, usd, at }));
  return toOutcome(reading.then(({ quotes, refused }) => ({ records: toRecords(quotes), refused, skipped: 0 })));
}

/** What came of it: `2 listing, 1 refused (seller: is missing), not whole`. */
export function summarize({ records, refused, end, failure }: WalkOutcome): string {
  const kinds = Object.entries(Object.groupBy(records, ({ kind }) => kind));
  return [
    ...kinds.map(([kind, ones = []]) => `${ones.length} ${kind}`),
    ...(refused.length > 0 ? [`${refused.length} refused (${[...new Set(refused)].join(', ')})`] : []),
    ...(end ? [end.whole ? 'whole' : 'not whole'] : []),
    ...(failure === null ? [] : [failure]),
  ].join(', ');
}

/** A server that gives the same answer to everything. */
export async function startSameResponse(
  t: Pick<TestContext, 'after'>,
): Promise<ReplayServer & { give(text: string): void }> {
  let text = '{}';
  const everything = { path: /\/.*/, origin: 'recorded', answer: () => text } as const;
  const replay = await startReplayServer(t, [everything, { ...everything, method: 'POST' }]);
  return { ...replay, give: (given) => (text = given) };
}
