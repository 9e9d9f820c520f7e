// Tests that recorded responses of Magic Eden are converted to exact records.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChains } from '../../src/platform/core/chains.ts';
import { parseJsonText } from '../../src/platform/core/json-text.ts';
import { parseMagicEdenAsks } from '../../src/sources/upstreams/magic-eden/evm.ts';
import {
  readMagicEdenStats,
  readMagicEdenToken,
  walkMagicEdenListings,
  walkMagicEdenSales,
} from '../../src/sources/upstreams/magic-eden/solana.ts';
import { needsPayloads, readPayload } from '../support/recordings/payloads.ts';
import { ASKED, DEGODS } from '../support/recordings/subjects.ts';
import { assertValidRecords, collectPages, createTestUpstream } from '../support/replay/every-fault.ts';
import { addressOf, createMagicEdenBook, magicEdenRoutes } from '../support/replay/magic-eden.ts';
import { startReplayServer } from '../support/replay/replay.ts';

const NOW = Date.UTC(2026, 5, 1);
const AT = new Date(NOW).toISOString();
const COLLECTION = { symbol: 'degods', contractAddress: DEGODS };
const TICKET = { symbol: 'magicticket', contractAddress: addressOf('tick', 1) };
const CONTRACT = ASKED;
const ethereum = createChains().get('ethereum') ?? assert.fail();

const LISTING = 'magiceden-solana/recorded_collections_listings.degods-2025-07.json';
const LISTINGS = 'magiceden-solana/v2_collections_symbol_listings.json';
const STATS = 'magiceden-solana/v2_collections_symbol_stats.json';
const WALLET = 'magiceden-solana/v2_wallets_owner_activities.json';
const ACTIVITIES = 'magiceden-solana/v2_collections_symbol_activities.json';
const TOKEN = 'magiceden-solana/v2_tokens_token_mint.json';
const ASK = 'magiceden-evm/orders_asks_v5.me-evm-v3-rtp.json';

const parsePayload = (name: string) => JSON.parse(readPayload(name));

async function start(t: Parameters<typeof startReplayServer>[0]) {
  const book = createMagicEdenBook();
  const replay = await startReplayServer(t, magicEdenRoutes(book));
  return { book, upstream: createTestUpstream(replay.url) };
}

test(
  'the recorded listing has its exact price, and its id is the address of the listing’s account',
  needsPayloads(LISTING),
  async (t) => {
    const { book, upstream } = await start(t);
    book.listings.set('degods', parsePayload(LISTING));
    const { records, rejected, end } = await collectPages(walkMagicEdenListings(upstream, COLLECTION, { now: NOW }));
    assert.deepEqual(rejected, []);
    assert.equal(end?.gap, null);
    assert.deepEqual(records, [
      {
        kind: 'listing',
        source: 'magic-eden',
        chain: 'solana',
        contractAddress: DEGODS,
        mint: '4yeWHnJ11vYYVJ9QWZiCxsiuXA2tQkj15AaczN6Z4hUt',
        id: 'HdddQqvN3Rri7ViPdXGdMTNAF2P5g7JQLvzVRE6yenbP',
        priceRaw: '5388500000',
        seller: 'hero2pbJAsW6iGxkiGBwbptJXeoR4eJuwJQFnp1qa3B',
        timestamp: AT,
      },
      {
        kind: 'token',
        chain: 'solana',
        contractAddress: DEGODS,
        mint: '4yeWHnJ11vYYVJ9QWZiCxsiuXA2tQkj15AaczN6Z4hUt',
        name: 'DeGod #3203',
        image: 'https://metadata.degods.com/g/3202-dead-rm.png',
        rarityRank: 3936,
      },
    ]);
    assertValidRecords(records);
  },
);

test(
  'if a row of Magic Eden’s example of listings has two different mints, the listed token is `tokenMint`',
  needsPayloads(LISTINGS),
  async (t) => {
    const { book, upstream } = await start(t);
    book.listings.set('magicticket', parsePayload(LISTINGS));
    const { records } = await collectPages(walkMagicEdenListings(upstream, TICKET, { now: NOW }));
    assert.deepEqual(
      records.map(({ kind, mint, priceRaw }) => [kind, mint, priceRaw]),
      [
        ['listing', 'HqRZKSAWHig98928x6jezNxUUmwY8VrHn1WF6NzeVU27', '2870000000'],
        ['listing', '5qiToEtKs4uf2CAxYxCM7RQXqbKK9Hd8XEe9XR7k2jG8', '9000000000'],
      ],
    );
  },
);

test('the floor and the volume in Magic Eden’s example of stats are in lamports', needsPayloads(STATS), async (t) => {
  const { book, upstream } = await start(t);
  book.stats.set('magicticket', parsePayload(STATS));
  const { records } = await readMagicEdenStats(upstream, TICKET, { now: NOW });
  const { contractAddress } = TICKET;
  const stats = { kind: 'stats', chain: 'solana', contractAddress, at: AT, floorRaw: '2850000000', listedCount: 877 };
  const { listedCount: _, floorRaw: __, ...common } = stats;
  assert.deepEqual(records, [stats, { ...common, kind: 'analytics', volume: { allTime: 76_113.329022113 } }]);
  assertValidRecords(records);
});

test(
  'of the activities in Magic Eden’s examples only the `buyNow` becomes a sale',
  needsPayloads(WALLET, ACTIVITIES),
  async (t) => {
    const { book, upstream } = await start(t);
    book.activities.set('runcible', [...parsePayload(WALLET), ...parsePayload(ACTIVITIES)]);
    const runcible = { symbol: 'runcible', contractAddress: addressOf('run', 1) };
    const { records, rejected, end } = await collectPages(
      walkMagicEdenSales(upstream, runcible, { now: NOW, since: 0 }),
    );
    assert.deepEqual(rejected, []);
    assert.equal(end?.gap, null);
    assert.deepEqual(records, [
      {
        kind: 'sale',
        source: 'magic-eden',
        chain: 'solana',
        contractAddress: runcible.contractAddress,
        mint: '4DbHsohxbkSJRZUNeVPPdxgYKJwEtXVge1ibQivi9x3T',
        price: '45000000',
        seller: '4wejSnr97csngztZ5SU7A6iZRXJD7B3Y1R1koCQ5NjmD',
        buyer: 'FtynbMEVKQnZp5iUmVaooR2JNW4brGD68eU4PLUUjNdX',
        timestamp: '2022-01-28T22:15:48.000Z',
        tx: '2v5HjvhZf1bPJ6iFoHkbJWgcwEpYoTvhdWwDESDmrTsY6sX7MtN3eeEvLngoXMVrneyRboG74sQWScVcEFR7R5Qg',
      },
    ]);
    assertValidRecords(records);
  },
);

test('the token of Magic Eden’s example has its name, picture and owner', needsPayloads(TOKEN), async (t) => {
  const { book, upstream } = await start(t);
  const mint = '4uvpqEL73361hRXCrHqBZQWeqfbKPQw55yKSFZvLQYTq';
  book.tokens.set(mint, parsePayload(TOKEN));
  assert.deepEqual((await readMagicEdenToken(upstream, COLLECTION, { mint })).records, [
    {
      kind: 'token',
      chain: 'solana',
      contractAddress: DEGODS,
      mint,
      name: 'Beyond Reach',
      image: 'https://ipfs.io/ipfs/QmY4PDbfRsuwCvmJeY6NdzaRXFJhypgVwzNyDwin91dsM2',
      owner: '8ao31PYJ7jHiGQDAkRN1sDWxUgUMwTjMZ7uyiS5F9aNs',
    },
  ]);
});

test('the recorded ask is left out because it is of another marketplace', needsPayloads(ASK), () => {
  const text = readPayload(ASK);
  const subject = { chain: ethereum, contractAddress: CONTRACT };
  const { orders } = parseJsonText(text) as { orders: Record<string, unknown>[] };
  assert.deepEqual(parseMagicEdenAsks(orders, subject), { records: [], rejected: [], unsupported: [], skipped: 1 });
  const own = orders.map((order) => ({ ...order, source: { domain: 'magiceden.io' } }));
  const { records } = parseMagicEdenAsks(own, subject);
  assert.deepEqual(records, [
    {
      kind: 'listing',
      source: 'magic-eden',
      chain: 'ethereum',
      contractAddress: CONTRACT,
      tokenId: '653',
      id: 'magic-eden_9e7f4701b835812467ee5266fcd4e560',
      orderHash: '0x5844792a36ff5966a325d2180ebda80f8f63a7f3d4585e1c88615a111ce42942',
      priceRaw: '39999000000000000',
      seller: '0xd8da6bf26964af9d7eed9e03e53415d37aa96045',
      timestamp: '2024-04-24T19:01:40.579Z',
    },
  ]);
  assertValidRecords(records);
});
