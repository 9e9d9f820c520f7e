// Magic Eden as the replay server answers for it: a book of listings made of the recorded one, pages cut by offset as the
// vendor's document says, sales and tokens from its examples, and asks of the EVM side by schema. What nothing here asks is
// answered as it was recorded.

import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { findPayload, recordedRoutes } from '../recordings/payloads.ts';
import { ReplayResponse } from './replay.ts';
import type { Route } from './replay.ts';

type Json = Record<string, any>;

export const DEGODS = '6XxjKYFbcndh2gDcsUrmZgVEsoDxXMnfsaGY6fpTJzNr';

export type MagicEdenBook = {
  /** Rows by symbol, in the order in which they are shown. */
  listings: Map<string, Json[]>;
  activities: Map<string, Json[]>;
  stats: Map<string, Json>;
  tokens: Map<string, Json>;
  /** Asks of the EVM side by contract. */
  asks: Map<string, Json[]>;
  /** Called before each page of listings is cut. */
  onListings: (offset: number) => void;
};

export function createMagicEdenBook(): MagicEdenBook {
  return {
    listings: new Map(),
    activities: new Map(),
    stats: new Map(),
    tokens: new Map(),
    asks: new Map(),
    onListings: () => undefined,
  };
}

/** The recorded answers, or null where they are not at hand. */
export function readMagicEden(name: string): any {
  const text = findPayload(`magiceden-solana/${name}.json`);
  return text === null ? null : JSON.parse(text);
}

/** A Solana address, another one for each tag and number. */
export function addressOf(tag: string, number: number): string {
  return base58.encode(createHash('sha256').update(`${tag} ${number}`).digest());
}

/** A listing as the recorded one is, of another token; without the file, as the document has it. */
export function listingRow(number: number, more: Json = {}): Json {
  const [recorded] = readMagicEden('recorded_collections_listings.degods-2025-07') ?? [{ token: {}, expiry: -1 }];
  const lamports = 1_000_000_000 + number * 1_000_000;
  const mint = addressOf('mint', number);
  return {
    ...recorded,
    pdaAddress: addressOf('pda', number),
    tokenMint: mint,
    seller: addressOf('se', number % 7),
    price: lamports / 1e9,
    priceInfo: { solPrice: { rawAmount: String(lamports), decimals: 9 } },
    rarity: { meInstant: { rank: number + 1 } },
    token: { ...recorded.token, mintAddress: mint, collection: 'degods', name: `DeGod #${number}` },
    ...more,
  };
}

export function saleRow(number: number, seconds: number, more: Json = {}): Json {
  return {
    signature: `sig${addressOf('s', number)}`.padEnd(88, 'y'),
    type: 'buyNow',
    source: 'magiceden_v2',
    tokenMint: addressOf('mint', number),
    collectionSymbol: 'degods',
    slot: 1,
    blockTime: seconds,
    buyer: addressOf('bu', number),
    seller: addressOf('se', number),
    price: 0.045,
    ...more,
  };
}

/** By the schema of the document: nothing of v4 was recorded. */
export function askRow(number: number, contract: string, more: Json = {}): Json {
  return {
    id: `0x${number.toString(16).padStart(64, '0')}`,
    kind: 'ASK',
    status: 'active',
    maker: `0x${(number % 5).toString(16).padStart(40, 'b')}`,
    price: {
      amount: { raw: String(10n ** 18n + BigInt(number)) },
      currency: { contract: `0x${'0'.repeat(40)}`, symbol: 'ETH', decimals: 18, displayName: 'Ether' },
    },
    quantity: { filled: '0', remaining: '1' },
    expiry: { validUntil: '2030-01-01T00:00:00.000Z' },
    source: 'MAGICEDEN',
    fees: { royaltyBp: 0, makerMarketplaceBp: 0, takerMarketplaceBp: 0, lpFeeBp: 0 },
    createdAt: '2025-05-01T06:01:09.000Z',
    chain: 'ethereum',
    protocol: 'ERC721',
    contract,
    contractData: { orderContractKind: 'seaport-v1.6' },
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
      // As it answers for a symbol that does not exist.
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
