// Starts a replay server for each marketplace, feed and price source that the service reads. `follow` follows collections that exist on these
// servers, `makeNews` adds rows at all servers, and `missing` lists the tasks that have not stored these rows yet.

import type { TestContext } from 'node:test';
import type { Database } from '../../../src/platform/database/port.ts';
import { upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import { upsertRecentViews } from '../../../src/market/reads/queries/recent-views.ts';
import type { Address, AssetId } from '../../../src/platform/core/address.ts';
import { toCollectionId } from '../../../src/platform/core/collection.ts';
import { assetOf, createDasStore, dasRoutes } from './das.ts';
import { createFeedStore, feedRoutes } from './feed.ts';
import {
  addressOf,
  askRow,
  createMagicEdenBook,
  LANTERNS,
  LANTERNS_SYMBOL,
  listingRow,
  poolRow,
  magicEdenRoutes,
  saleRow,
} from './magic-eden.ts';
import { APES, makeAddress, makeCollection, makeHash, openseaRoutes } from './opensea.ts';
import type { ReplayServer } from './replay.ts';
import { startReplayServer } from './replay.ts';
import { coinbaseRoutes, coingeckoRoutes } from './prices.ts';

const ASKED = `0x${'a5'.repeat(20)}`;
const DAY_S = 86_400;
const LONG_MS = 7 * DAY_S * 1_000;

/** The followed collections, as arguments of `mercat collections add`. */
export const FOLLOWED = [
  { chain: 'apechain', address: APES.contract, opensea: APES.slug, magiceden: null },
  { chain: 'solana', address: LANTERNS, opensea: null, magiceden: LANTERNS_SYMBOL },
  { chain: 'polygon', address: ASKED, opensea: null, magiceden: LANTERNS_SYMBOL },
] as const;

export const SERVERS = ['opensea', 'magicEden', 'das', 'feed', 'coinbase', 'coingecko'] as const;
export type Server = (typeof SERVERS)[number];

export type VendorServers = {
  replays: Readonly<Record<Server, ReplayServer>>;
  /** The settings of a service that reads these servers. `urls` replaces the URLs of some servers. */
  settings(urls?: Partial<Record<Server, string>>): Record<string, string>;
  follow(db: Database): Promise<void>;
  /** Marks every followed collection, and one token of each, as recently viewed for the rest of the test. */
  show(db: Database): Promise<void>;
  /** Adds a listing, a sale and a token at each server that has such rows, and changes the price of ether. */
  makeNews(): void;
  /** The names of the tasks that have not stored the newest row of their server. */
  missing(db: Database): Promise<string[]>;
};

/** Starts the servers. `rows`: how many listings and tokens each server has at first. */
export async function startVendorServers(
  t: Pick<TestContext, 'after'>,
  { now, rows }: { now: () => number; rows: number },
): Promise<VendorServers> {
  const range = Array.from({ length: rows }, (_, index) => index);
  const listedAt = Math.floor(now() / 1_000) - DAY_S;
  const apes = makeCollection({ tokens: range.map(String) });
  const book = createMagicEdenBook();
  const das = createDasStore();
  const feed = createFeedStore();
  const prices = { ETH: '2700.5', SOL: '84.95', POL: '0.2174', APE: '0.61' };

  const serve = (numbers: readonly number[], salesUpTo: number) => {
    apes.tokens = numbers.map(String);
    apes.listings = numbers.map((n) => ({
      tokenId: String(n),
      seller: makeAddress(n % 5),
      total: 10n ** 18n + BigInt(n),
      hash: makeHash(n + 1),
      listedAt,
    }));
    apes.offers = numbers.map((n) => ({
      bidder: makeAddress(n % 5),
      total: 10n ** 17n + BigInt(n),
      hash: makeHash(n + 300_000),
      madeAt: listedAt,
    }));
    book.pools.set(
      LANTERNS_SYMBOL,
      numbers.map((n) => poolRow(n)),
    );
    const sold = numbers.slice(-salesUpTo);
    apes.sales = sold.map((n) => ({ tokenId: String(n), raw: 5n, tx: makeHash(70_000 + n), soldAt: listedAt + n }));
    book.listings.set(
      LANTERNS_SYMBOL,
      numbers.map((n) => listingRow(n)),
    );
    book.stats.set(LANTERNS_SYMBOL, {
      symbol: LANTERNS_SYMBOL,
      listedCount: numbers.length,
      floorPrice: 1_000_000_000,
    });
    book.activities.set(
      LANTERNS_SYMBOL,
      sold.toReversed().map((n) => saleRow(n, listedAt + n)),
    );
    book.asks.set(
      ASKED,
      numbers.map((n) => askRow(n + 500_000, ASKED, { chain: 'polygon', ...inNative('POL') })),
    );
    das.assets = [
      assetOf(LANTERNS, 'nothing', { grouping: [] }),
      ...numbers.map((n) => assetOf(addressOf('das', n), LANTERNS)),
    ];
    feed.lines = [
      { kind: 'feed', snapshot: ['listing'] },
      ...numbers.map((n) => ownListing(n, listedAt)),
      { kind: 'feed', end: true },
    ];
    prices.ETH = `${2_700 + numbers.length}.5`;
  };
  serve(range, SALES);

  const replays = {
    opensea: await startReplayServer(t, openseaRoutes([apes])),
    magicEden: await startReplayServer(t, magicEdenRoutes(book)),
    das: await startReplayServer(t, dasRoutes(das)),
    feed: await startReplayServer(t, feedRoutes(feed)),
    coinbase: await startReplayServer(t, coinbaseRoutes(prices)),
    coingecko: await startReplayServer(
      t,
      coingeckoRoutes(prices, () => Math.floor(now() / 1_000)),
    ),
  };
  return {
    replays,
    settings: (urls = {}) => {
      const at = (server: Server) => urls[server] ?? replays[server].url;
      return {
        OPENSEA_API_KEY: 'a-key',
        OPENSEA_URL: at('opensea'),
        MAGICEDEN_URL: at('magicEden'),
        MAGICEDEN_EVM_URL: at('magicEden'),
        DAS_URL: at('das'),
        FEED_URL: new URL('/feed', at('feed')).href,
        PRICE_SOURCES: 'coinbase,coingecko',
        COINBASE_URL: at('coinbase'),
        COINGECKO_URL: at('coingecko'),
      };
    },
    follow: async (db) => {
      for (const { chain, address, opensea, magiceden } of FOLLOWED) {
        const contractAddress = address as Address;
        const collectionId = toCollectionId(chain, contractAddress);
        await upsertFollow(db, {
          collectionId,
          chain,
          contractAddress,
          standard: null,
          fromBlock: null,
          createdAt: now(),
          names: new Map([
            ...(opensea === null ? [] : [['opensea', opensea] as const]),
            ...(magiceden === null ? [] : [['magic-eden', magiceden] as const]),
          ]),
        });
      }
    },
    show: (db) =>
      upsertRecentViews(
        db,
        FOLLOWED.flatMap(({ chain, address }) => {
          const collectionId = toCollectionId(chain, address as Address);
          const token = (chain === 'solana' ? addressOf('das', 0) : '0') as AssetId;
          return [null, token].map((asset) => ({ collectionId, asset, at: now() + LONG_MS }));
        }),
      ),
    makeNews: () => {
      range.push(range.length);
      serve(range, SALES);
    },
    missing: (db) => findMissing(db, range.length - 1, Number(prices.ETH)),
  };
}

/** The number of newest tokens that have a sale. */
const SALES = 30;

function inNative(symbol: string): object {
  const currency = { contract: `0x${'0'.repeat(40)}`, symbol, decimals: 18, displayName: symbol };
  return { price: { amount: { raw: String(10n ** 18n) }, currency } };
}

function ownListing(n: number, listedAt: number): object {
  return {
    kind: 'listing',
    source: 'mercat',
    chain: 'solana',
    contractAddress: LANTERNS,
    mint: addressOf('mint', n),
    id: `own-${n}`,
    priceRaw: String(9_000_000_000 + n),
    seller: addressOf('se', 8),
    timestamp: new Date(listedAt * 1_000).toISOString(),
  };
}

/** The names of the tasks that have not stored row number `n` of their server, or the price of ether. */
async function findMissing(db: Database, n: number, eth: number): Promise<string[]> {
  const has = async (sql: string, ...values: unknown[]) => (await db.query(sql, values)).length > 0;
  const listed = (source: string, id: string) =>
    has(
      `select 1 from indexer.listing where source = $1 and coalesce(order_hash, id) = $2 and status = 'active'`,
      source,
      id,
    );
  const bidFor = (source: string, id: string) =>
    has(
      `select 1 from main.book_order where source = $1 and right(id, length($2)) = $2 and status = 'active'`,
      source,
      id,
    );
  const sold = (tx: string) => has(`select 1 from indexer.sale where tx = $1`, tx);
  const known = (asset: string) => has(`select 1 from indexer.token where asset = $1 and name is not null`, asset);
  const arrived: Record<string, boolean> = {
    'opensea-listings': await listed('opensea', makeHash(n + 1)),
    'opensea-sales': await sold(makeHash(70_000 + n)),
    'opensea-offers': await bidFor('opensea', makeHash(n + 300_000)),
    'opensea-tokens': await known(String(n)),
    'magic-eden-listings': await listed('magic-eden', addressOf('pda', n)),
    'magic-eden-pools': await bidFor('magic-eden', addressOf('pool', n)),
    'magic-eden-sales': await sold(String(saleRow(n, 0)['signature'])),
    'magic-eden-asks': await listed('magic-eden', makeHash(n + 500_000)),
    'das-tokens': await known(addressOf('das', n)),
    feed: await listed('mercat', `mercat_own-${n}`),
    prices: await has(`select 1 from main.rate where symbol = 'ETH' and usd = $1`, eth),
  };
  return Object.keys(arrived).filter((name) => !arrived[name]);
}
