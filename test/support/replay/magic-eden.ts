// Lets the replay server stand in for Magic Eden. It serves the listings, activities, tokens and asks that a test sets, in pages as the
// vendor's document describes them. Requests for other operations get recorded responses, if the recordings are present.

import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { toSolanaSignature } from '../../../sample/random.ts';
import { parseFixture } from '../fixtures.ts';
import { recordedRoutes } from '../recordings/payloads.ts';
import { ReplayResponse } from './replay.ts';
import type { Route } from './replay.ts';

type Json = Record<string, any>;

/** The Solana collection of the fixtures: its mint, and the symbol that Magic Eden has for it. */
export const LANTERNS = 'APieyPzspuhuiLerium3K7wTo7gLFqt1vG4yG8nz4Phu';
export const LANTERNS_SYMBOL = 'paper_lanterns';

export type MagicEdenBook = {
  /** Rows by symbol, in the order in which they are served. */
  listings: Map<string, Json[]>;
  activities: Map<string, Json[]>;
  stats: Map<string, Json>;
  /** Pools by symbol. */
  pools: Map<string, Json[]>;
  /** Tokens by mint. */
  tokens: Map<string, Json>;
  /** Asks on EVM chains by contract. */
  asks: Map<string, Json[]>;
  /** Called before a page of listings is served, with the offset of the page. A test can then change the listings between two pages. */
  onListings: (offset: number) => void;
};

export function createMagicEdenBook(): MagicEdenBook {
  return {
    listings: new Map(),
    activities: new Map(),
    stats: new Map(),
    pools: new Map(),
    tokens: new Map(),
    asks: new Map(),
    onListings: () => undefined,
  };
}

/** A Solana address that differs for each tag and number. */
export function addressOf(tag: string, number: number): string {
  return base58.encode(createHash('sha256').update(`${tag} ${number}`).digest());
}

const [POOL]: Json[] = parseFixture('magic-eden/pools.json').results;

/** A pool that buys tokens of the lanterns. */
export const poolRow = (number: number, more: Json = {}): Json => ({
  ...POOL,
  uuid: addressOf('pool', number),
  poolKey: addressOf('pool', number),
  spotPrice: 900_000_000 + number,
  ...more,
});

const LISTING: Json = parseFixture('magic-eden/listings.json')[0];
const SALE: Json = parseFixture('magic-eden/activities.json')[1];
const ASK: Json = parseFixture('magic-eden/asks.json').asks[0];

/** The listing of the fixture, changed to another token and price for each number. */
export function listingRow(number: number, more: Json = {}): Json {
  const lamports = 1_000_000_000 + number * 1_000_000;
  const mint = addressOf('mint', number);
  return {
    ...LISTING,
    pdaAddress: addressOf('pda', number),
    tokenMint: mint,
    seller: addressOf('se', number % 7),
    price: lamports / 1e9,
    priceInfo: { solPrice: { rawAmount: String(lamports), decimals: 9 } },
    rarity: { meInstant: { rank: number + 1 } },
    token: { ...LISTING['token'], mintAddress: mint, name: `Lantern #${number}` },
    ...more,
  };
}

/** The sale of the fixture, changed to another token and time. */
export function saleRow(number: number, seconds: number, more: Json = {}): Json {
  return {
    ...SALE,
    signature: toSolanaSignature('replayed sale', String(number)),
    tokenMint: addressOf('mint', number),
    slot: 1,
    blockTime: seconds,
    buyer: addressOf('bu', number),
    seller: addressOf('se', number),
    price: 0.045,
    ...more,
  };
}

/** The ask of the fixture, changed to another token and contract. */
export function askRow(number: number, contract: string, more: Json = {}): Json {
  return {
    ...ASK,
    id: `0x${number.toString(16).padStart(64, '0')}`,
    maker: `0x${(number % 5).toString(16).padStart(40, 'b')}`,
    price: { ...ASK['price'], amount: { raw: String(10n ** 18n + BigInt(number)) } },
    contract,
    assetId: `${contract}:${number}`,
    ...more,
  };
}

export function magicEdenRoutes(book: MagicEdenBook): Route[] {
  const page = (rows: Json[] | undefined, query: URLSearchParams, limitDefault: number) => {
    if (!rows) return [];
    const offset = Number(query.get('offset') ?? '0');
    return rows.slice(offset, offset + Number(query.get('limit') ?? limitDefault));
  };
  const symbol = '/v2/collections/(?<symbol>[^/]+)';
  return [
    {
      path: new RegExp(`${symbol}/stats`),
      origin: 'example',
      // The default is Magic Eden's response for a symbol that does not exist.
      answer: ({ groups }) => book.stats.get(groups['symbol'] ?? '') ?? { symbol: groups['symbol'], listedCount: 0 },
    },
    {
      path: new RegExp(`${symbol}/listings`),
      origin: 'recorded rows',
      paging: { parameter: 'offset' },
      answer: ({ groups, query }) => {
        book.onListings(Number(query.get('offset') ?? '0'));
        return page(book.listings.get(groups['symbol'] ?? ''), query, 20);
      },
    },
    {
      path: new RegExp(`${symbol}/activities`),
      origin: 'example',
      paging: { parameter: 'offset' },
      answer: ({ groups, query }) => page(book.activities.get(groups['symbol'] ?? ''), query, 100),
    },
    {
      path: /\/v2\/mmm\/pools/,
      origin: 'example',
      paging: { parameter: 'offset' },
      answer: ({ query }) => ({ results: page(book.pools.get(query.get('collectionSymbol') ?? ''), query, 100) }),
    },
    {
      path: /\/v2\/tokens\/(?<mint>[^/]+)/,
      origin: 'example',
      answer: ({ groups }) => book.tokens.get(groups['mint'] ?? '') ?? new ReplayResponse(404),
    },
    {
      path: /\/v4\/evm-public\/orders\/asks/,
      origin: 'schema',
      paging: { parameter: 'continuation', nextField: 'continuation' },
      answer: ({ query }) => {
        const rows = book.asks.get(query.get('collectionId') ?? '') ?? [];
        const from = Number(query.get('continuation') ?? '0');
        const to = from + Number(query.get('limit') ?? '20');
        return { asks: rows.slice(from, to), ...(to < rows.length && { continuation: String(to) }) };
      },
    },
    ...recordedRoutes('magic-eden'),
  ];
}
