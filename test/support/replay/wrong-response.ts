// Reads every source of a vendor from a server that always sends the response of one operation of the vendor's API. A source is one kind of
// read of the API, such as the sales of a collection. Most sources then get the response of an operation that they did not call. A misconfigured
// proxy or another version of the API could send such a response.

import type { TestContext } from 'node:test';
import { parseAssetId } from '../../../src/platform/core/address.ts';
import type { AssetId } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { readDasCollection, readDasTokens, walkDasCollection } from '../../../src/sources/upstreams/das/assets.ts';
import { walkMagicEdenAsks } from '../../../src/sources/upstreams/magic-eden/evm.ts';
import {
  readMagicEdenStats,
  readMagicEdenToken,
  walkMagicEdenListings,
  walkMagicEdenSales,
} from '../../../src/sources/upstreams/magic-eden/solana.ts';
import {
  findOpenSeaContract,
  readOpenSeaCollection,
  readOpenSeaStats,
} from '../../../src/sources/upstreams/opensea/collection.ts';
import type { OpenSeaCollection } from '../../../src/sources/upstreams/opensea/names.ts';
import { walkOpenSeaListings } from '../../../src/sources/upstreams/opensea/listings.ts';
import { walkOpenSeaSales } from '../../../src/sources/upstreams/opensea/sales.ts';
import { readOpenSeaToken, walkOpenSeaTokens } from '../../../src/sources/upstreams/opensea/tokens.ts';
import type { Quotes } from '../../../src/sources/upstreams/prices/prices.ts';
import { readCoinbasePrices, readCoingeckoPrices } from '../../../src/sources/upstreams/prices/prices.ts';
import type { ParsedPage } from '../../../src/sources/upstreams/response-rows.ts';
import type { UpstreamClient } from '../../../src/sources/upstreams/upstream-client.ts';
import { UpstreamFailure } from '../../../src/sources/upstreams/upstream-client.ts';
import type { WalkOutcome } from './every-fault.ts';
import { collectPages, toReasons } from './every-fault.ts';
import type { Vendor } from '../recordings/payloads.ts';
import type { ReplayServer } from './replay.ts';
import { startReplayServer } from './replay.ts';

export const NOW = Date.UTC(2026, 5, 1);
const signal = AbortSignal.timeout(60_000);
const COINGECKO_IDS = new Map([
  ['ETH', 'ethereum'],
  ['SOL', 'solana'],
  ['POL', 'polygon-ecosystem-token'],
]);

/** The collections and tokens that are read from the sources. */
export type SourceSubjects = {
  opensea: OpenSeaCollection;
  openseaToken: string;
  /** The mint of the collection that is read from Magic Eden. */
  solana: string;
  /** The mint of the token that is read from Magic Eden and from the DAS endpoint. */
  mint: string;
  /** The mint of the collection that is read from the DAS endpoint. */
  das: string;
  /** The contract whose asks are read from Magic Eden. */
  asks: string;
};

/** Reads from one source. `symbol` is the name of the collection at Magic Eden. */
type Reader = (upstream: UpstreamClient, symbol: string) => Promise<WalkOutcome>;

/** For each source of each vendor, a function that reads the given collections or tokens from the source. */
export function createSources(subjects: SourceSubjects): Readonly<Record<Vendor, Readonly<Record<string, Reader>>>> {
  const { opensea, mint, das } = subjects;
  const ethereum = createChains().get('ethereum');
  if (!ethereum) throw new Error('the chain ethereum is not known');
  const asks = { chain: ethereum, contractAddress: subjects.asks };
  const collectionOf = (symbol: string) => ({ symbol, contractAddress: subjects.solana });
  return {
    coinbase: { price: (upstream) => toRates(readCoinbasePrices(upstream, ['ETH'], signal)) },
    coingecko: {
      prices: (upstream) => toRates(readCoingeckoPrices(upstream, COINGECKO_IDS, { now: NOW, signal })),
    },
    'magic-eden': {
      stats: (upstream, symbol) => toOutcome(readMagicEdenStats(upstream, collectionOf(symbol), { now: NOW })),
      listings: (upstream, symbol) => collectPages(walkMagicEdenListings(upstream, collectionOf(symbol), { now: NOW })),
      sales: (upstream, symbol) =>
        collectPages(walkMagicEdenSales(upstream, collectionOf(symbol), { now: NOW, since: 0 })),
      token: (upstream, symbol) => toOutcome(readMagicEdenToken(upstream, collectionOf(symbol), { mint })),
      asks: (upstream) => collectPages(walkMagicEdenAsks(upstream, asks)),
    },
    helius: {
      collection: (upstream) => collectPages(walkDasCollection(upstream, das)),
      tokens: (upstream) => toOutcome(readDasTokens(upstream, [mint], { collection: das })),
      asset: (upstream) => toOutcome(readDasCollection(upstream, das)),
    },
    opensea: {
      contract: async (upstream) => {
        const found = findOpenSeaContract(upstream, opensea);
        return toOutcome(
          found.then((one) => ({
            records: one ? [{ kind: 'contract' }] : [],
            rejected: [],
            unsupported: [],
            skipped: 0,
          })),
        );
      },
      collection: (upstream) => toOutcome(readOpenSeaCollection(upstream, opensea)),
      stats: (upstream) => toOutcome(readOpenSeaStats(upstream, opensea, { at: NOW })),
      listings: (upstream) => collectPages(walkOpenSeaListings(upstream, opensea)),
      sales: (upstream) => collectPages(walkOpenSeaSales(upstream, opensea, { since: null })),
      tokens: (upstream) => collectPages(walkOpenSeaTokens(upstream, opensea)),
      token: (upstream) =>
        toOutcome(readOpenSeaToken(upstream, opensea, parseAssetId('evm', subjects.openseaToken) as AssetId)),
    },
    // Responses of Reservoir are read as asks of Magic Eden, because Magic Eden's older API for EVM chains was Reservoir's API behind a proxy.
    reservoir: { asks: (upstream) => collectPages(walkMagicEdenAsks(upstream, asks)) },
  };
}

async function toOutcome(reading: Promise<ParsedPage>): Promise<WalkOutcome> {
  try {
    const { records, rejected, unsupported } = await reading;
    return { records, rejected: toReasons({ rejected, unsupported }), end: null, failure: null };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { records: [], rejected: [], end: null, failure: error.reason };
  }
}

function toRates(reading: Promise<Quotes>): Promise<WalkOutcome> {
  const at = new Date(NOW).toISOString();
  const toRecords = (quotes: Quotes['quotes']) =>
    [...quotes].map(([symbol, { usd }]) => ({ kind: 'rate', symbol, usd, at }));
  return toOutcome(
    reading.then(({ quotes, rejected }) => ({ records: toRecords(quotes), rejected, unsupported: [], skipped: 0 })),
  );
}

/** The outcome in one line: `2 listing, 1 rejected (seller: is missing), incomplete`. */
export function summarize({ records, rejected, end, failure }: WalkOutcome): string {
  const kinds = Object.entries(Object.groupBy(records, ({ kind }) => kind));
  return [
    ...kinds.map(([kind, ones = []]) => `${ones.length} ${kind}`),
    ...(rejected.length > 0 ? [`${rejected.length} rejected (${[...new Set(rejected)].join(', ')})`] : []),
    ...(end ? [end.gap === null ? 'complete' : 'incomplete'] : []),
    ...(failure === null ? [] : [failure]),
  ].join(', ');
}

/** A server that gives the same response to every request. */
export async function startSameResponse(
  t: Pick<TestContext, 'after'>,
): Promise<ReplayServer & { give(text: string): void }> {
  let text = '{}';
  const everything = { path: /\/.*/, origin: 'recorded', answer: () => text } as const;
  const replay = await startReplayServer(t, [everything, { ...everything, method: 'POST' }]);
  return { ...replay, give: (given) => (text = given) };
}
