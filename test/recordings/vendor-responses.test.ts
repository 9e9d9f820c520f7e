// Checks every recorded response of the vendors. First, the replay server must serve the response unchanged, at the same path as the vendor. Then
// each function that reads from this vendor gets this one response to all of its requests, whatever it requests. The function must give
// correct records, reject the rows, or fail with a reason.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { readCoingeckoPrices } from '../../src/sources/upstreams/prices/prices.ts';
import type { WalkOutcome } from '../support/replay/every-fault.ts';
import { assertValidRecords, createTestUpstream } from '../support/replay/every-fault.ts';
import { NOW, startSameResponse, summarize } from '../support/replay/wrong-response.ts';
import { RECORDED_SOURCES, DEGODS } from '../support/recordings/subjects.ts';
import type { RecordedResponse, Vendor } from '../support/recordings/payloads.ts';
import {
  RECORDED,
  listPayloads,
  needsPayloads,
  readPayload,
  readRecordedPrices,
  recordedRoutes,
} from '../support/recordings/payloads.ts';
import { startReplayServer } from '../support/replay/replay.ts';
import { createDasStore, dasRoutes } from '../support/replay/das.ts';
import { coingeckoRoutes } from '../support/replay/prices.ts';
import { createMagicEdenBook, magicEdenRoutes } from '../support/replay/magic-eden.ts';

const VENDORS = Object.keys(RECORDED_SOURCES) as Vendor[];
const answers = Object.entries(RECORDED).filter(
  (entry): entry is [string, RecordedResponse] => entry[1].what === 'answer',
);

const NO_OBJECT = '1 rejected (row: must be an object, not an array)';
const NO_SYMBOL = '1 rejected (symbol: is missing)';
const NO_FIGURES = '1 rejected (listedCount: is missing, and so is floorPrice)';
const NO_NFT = '1 rejected (row: must be an object, not absent)';
const FOREIGN = 'collection: belongs to another collection';
const FOREIGN_SALE = '1 rejected (collectionSymbol: belongs to another collection), incomplete';
const none = (rows: number, why: string) => `${rows} rejected (${why}), incomplete`;

/**
 * The expected outcome at each source for a file without an entry in EXPECTED. There is one outcome for a JSON object, and one for
 * an array.
 */
const USUAL: Readonly<Record<Vendor, Readonly<Record<string, readonly [object: string, array: string]>>>> = {
  coinbase: { price: ['', ''] },
  coingecko: { prices: ['1 rejected (response: has no requested coin)', ''] },
  'magic-eden': {
    stats: [NO_SYMBOL, NO_OBJECT],
    listings: ['malformed', ''],
    sales: ['malformed', ''],
    token: ['1 rejected (mintAddress: is missing)', NO_OBJECT],
    asks: ['malformed', 'malformed'],
  },
  // The recorded id is not the id of the request, so the outcome for an object is `malformed`. A test below replaces the id.
  helius: { collection: ['malformed', ''], tokens: ['malformed', ''], asset: ['malformed', ''] },
  opensea: {
    contract: ['malformed', ''],
    collection: ['1 rejected (collection: is missing)', ''],
    stats: ['1 rejected (total: must be an object, not absent)', ''],
    listings: ['malformed', ''],
    sales: ['malformed', ''],
    tokens: ['malformed', ''],
    token: [NO_NFT, ''],
  },
  reservoir: { asks: ['malformed', 'malformed'] },
};

const rowsOf = (rows: number, missing: string) => ({
  listings: none(rows, `${missing}: is missing`),
  sales: none(rows, 'type: is missing'),
});
const ME = 'magiceden-solana';

/** The expected outcomes that differ from USUAL, by file and source. At Magic Eden, the collection `magicticket` is requested. */
const EXPECTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'coinbase/v2_exchange-rates_ETH.partial.json': { price: '1 rejected (base: is another currency)' },
  'coinbase/v2_prices_ETH-USD_spot.json': { price: '1 rate' },
  'coingecko/coins_markets.openapi-example.json': { prices: '1 rejected (response: must be an object, not an array)' },
  // The file has three responses. A test below serves each of them separately.
  'coingecko/simple_price.recorded.txt': { prices: 'malformed' },
  // A listing of Blur, which is left out. The next page is the same page again, so the walk is incomplete.
  'magiceden-evm/orders_asks_v5.me-evm-v3-rtp.json': { asks: 'incomplete' },
  [`${ME}/recorded_collections_listings.degods-2025-07.json`]: {
    listings: none(1, FOREIGN),
    sales: none(1, 'type: is missing'),
  },
  [`${ME}/v2_collections.json`]: rowsOf(2, 'tokenMint'),
  [`${ME}/v2_collections_symbol_activities.json`]: { listings: none(2, 'pdaAddress: is missing'), sales: 'complete' },
  [`${ME}/v2_collections_symbol_holder_stats.json`]: { stats: NO_FIGURES },
  [`${ME}/v2_collections_symbol_leaderboard.json`]: { stats: NO_FIGURES },
  [`${ME}/v2_collections_symbol_listings.json`]: {
    listings: '2 listing, complete',
    sales: none(2, 'type: is missing'),
  },
  [`${ME}/v2_collections_symbol_stats.json`]: { stats: '1 stats, 1 analytics' },
  [`${ME}/v2_launchpad_collections.json`]: rowsOf(3, 'tokenMint'),
  [`${ME}/v2_tokens_token_mint.json`]: { token: '1 token' },
  [`${ME}/v2_tokens_token_mint_activities.json`]: { listings: none(2, 'pdaAddress: is missing'), sales: 'complete' },
  [`${ME}/v2_tokens_token_mint_listings.json`]: { listings: none(1, FOREIGN), sales: none(1, 'type: is missing') },
  [`${ME}/v2_tokens_token_mint_offers_received.json`]: rowsOf(2, 'seller'),
  [`${ME}/v2_wallets_owner_activities.json`]: { listings: none(2, 'pdaAddress: is missing'), sales: FOREIGN_SALE },
  [`${ME}/v2_wallets_wallet_address_activities.json`]: {
    listings: none(2, 'pdaAddress: is missing'),
    sales: FOREIGN_SALE,
  },
  [`${ME}/v2_wallets_wallet_address_offers_made.json`]: rowsOf(3, 'seller'),
  [`${ME}/v2_wallets_wallet_address_offers_received.json`]: rowsOf(1, 'seller'),
  [`${ME}/v2_wallets_wallet_address_tokens.json`]: rowsOf(1, 'tokenMint'),
  'opensea/collections_slug_stats.recorded.json': { stats: '1 stats, 1 analytics' },
  'reservoir/orders_bids_v5.50.json': { asks: none(50, 'side: is not an ask') },
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

test('the table of recorded responses names exactly the files in their folder', needsPayloads(), () => {
  assert.deepEqual(listPayloads(), Object.keys(RECORDED).sort());
  for (const file of Object.keys(EXPECTED))
    assert.ok(RECORDED[file], `${file} is in the table of outcomes, but not in the table of recorded responses`);
  for (const [file, { asked, contract }] of answers) {
    if (asked) assert.ok(contract, `${file} is requested by the service, but no test checks it`);
    if (contract) assert.ok(existsSync(new URL(`../../${contract}`, import.meta.url)), `${contract} does not exist`);
  }
});

test(
  'the replay server serves every recorded response at the path where its vendor serves it',
  needsPayloads(),
  async (t) => {
    const replays = new Map(
      await Promise.all(
        VENDORS.map(async (vendor) => {
          const routes = vendor === 'helius' ? dasRoutes(createDasStore()) : recordedRoutes(vendor);
          return [vendor, await startReplayServer(t, routes)] as const;
        }),
      ),
    );
    for (const [file, { vendor, path }] of answers) {
      const url = replays.get(vendor)?.url ?? assert.fail(vendor);
      const text = readPayload(file);
      if (path.startsWith('/#')) {
        const request = { jsonrpc: '2.0', id: 'ours', method: path.slice(2), params: {} };
        const answer = await fetch(url, { method: 'POST', body: JSON.stringify(request) });
        assert.deepEqual(await answer.json(), { ...JSON.parse(text), id: 'ours' }, file);
        continue;
      }
      const served = await (await fetch(url + path)).text();
      assert.equal(served, file.endsWith('.txt') ? readRecordedPrices()[0] : text, file);
    }
  },
);

test('the replay server also serves operations that the service does not call', needsPayloads(), async (t) => {
  const replay = await startReplayServer(t, magicEdenRoutes(createMagicEdenBook()));
  const prices = await startReplayServer(
    t,
    coingeckoRoutes({ ETH: '5' }, () => 1),
  );
  const fetchText = async (url: string) => {
    const answer = await fetch(url);
    return { status: answer.status, text: await answer.text() };
  };
  const pools = `${replay.url}/v2/mmm/token/6eGfgGuxA1pBtTX4k2oubpa6m1Z3eaJUBxgtZFB7sjZA/pools`;
  const good = { status: 200, text: readPayload(`${ME}/v2_mmm_token_mint_address_pools.json`) };
  assert.deepEqual(await fetchText(pools), good);
  replay.fail('server-error', { times: 1 });
  assert.equal((await fetchText(pools)).status, 500);
  replay.fail('nulls', { times: 1 });
  assert.match((await fetchText(pools)).text, /^\{"results":\[\{"spotPrice":null,/);
  replay.fail('reset', { times: 1 });
  await assert.rejects(fetchText(pools));
  assert.deepEqual(await fetchText(pools), good);
  assert.equal((await fetchText(`${prices.url}/api/v3/coins/markets`)).status, 200);
  assert.match((await fetchText(`${prices.url}/api/v3/simple/price?ids=ethereum`)).text, /^\{"ethereum":\{"usd":5,/);
});

for (const vendor of VENDORS) {
  test(`no source of ${vendor} makes an incorrect record from a recorded file`, needsPayloads(), async (t) => {
    const replay = await startSameResponse(t);
    for (const [file, recorded] of Object.entries(RECORDED)) {
      if (recorded.what === 'notes' || recorded.vendor !== vendor) continue;
      const text = readPayload(file);
      replay.give(text);
      const value = parse(text);
      for (const [source, read] of Object.entries(RECORDED_SOURCES[vendor])) {
        const outcome = await read(createTestUpstream(replay.url), 'magicticket');
        assertValidRecords(outcome.records.filter(({ kind }) => kind !== 'contract'));
        const [object, array] = USUAL[vendor][source] ?? assert.fail(source);
        const usual = value === undefined ? 'malformed' : Array.isArray(value) ? array : object;
        assert.equal(summarize(outcome), EXPECTED[file]?.[source] ?? usual, `${file} has another outcome at ${source}`);
      }
    }
  });
}

test(
  'rows of another operation give correct records if they look like rows of the operation that was called',
  needsPayloads(),
  async (t) => {
    const replay = await startSameResponse(t);
    const read = (file: string, source: string, symbol: string): Promise<WalkOutcome> => {
      replay.give(readPayload(`${ME}/${file}.json`));
      return (RECORDED_SOURCES['magic-eden'][source] ?? assert.fail(source))(createTestUpstream(replay.url), symbol);
    };
    const at = { chain: 'solana', contractAddress: DEGODS };
    assert.deepEqual((await read('v2_tokens_token_mint_listings', 'listings', 'devnet_zoolana')).records, [
      {
        kind: 'listing',
        source: 'magic-eden',
        ...at,
        mint: '6XkPLDtV2w17UUsyzah39PTBjZ9xTY8HokqRdWcmDhBa',
        id: '7PkCbEWQsndTKgSWySWjkggWxpZwPnrDop8vJc8vxevs',
        priceRaw: '1120000000',
        seller: 'AmGLq5ZRGKjCXPq4tMAEgsKogMu1qFV5Yj28NM4ZZHKN',
        timestamp: new Date(NOW).toISOString(),
      },
    ]);
    for (const file of ['v2_wallets_owner_activities', 'v2_wallets_wallet_address_activities']) {
      assert.deepEqual((await read(file, 'sales', 'runcible')).records, [
        {
          kind: 'sale',
          source: 'magic-eden',
          ...at,
          mint: '4DbHsohxbkSJRZUNeVPPdxgYKJwEtXVge1ibQivi9x3T',
          price: '45000000',
          seller: '4wejSnr97csngztZ5SU7A6iZRXJD7B3Y1R1koCQ5NjmD',
          buyer: 'FtynbMEVKQnZp5iUmVaooR2JNW4brGD68eU4PLUUjNdX',
          timestamp: '2022-01-28T22:15:48.000Z',
          tx: '2v5HjvhZf1bPJ6iFoHkbJWgcwEpYoTvhdWwDESDmrTsY6sX7MtN3eeEvLngoXMVrneyRboG74sQWScVcEFR7R5Qg',
        },
      ]);
    }
    const listed = await read('v2_tokens_token_mint_activities', 'sales', 'devnet_zoolana');
    assert.equal(summarize(listed), 'complete', 'a listing was read as a sale');
  },
);

test(
  'the assets in recorded lists of a creator and of an owner become tokens if they are in the requested collection',
  needsPayloads(),
  async (t) => {
    const replay = await startSameResponse(t);
    const [byCreator, byOwner] = ['getAssetsByCreator.famous-fox.50', 'getAssetsByOwner.50'];
    for (const [file, expected] of [
      // The page reports that it is full. The next page is requested, and the server gives the same page again.
      [byCreator, { collection: '50 token, incomplete' }],
      [byOwner, { collection: '1 token, 16 rejected (grouping: names another collection), incomplete' }],
    ] as const) {
      replay.give(JSON.stringify({ ...JSON.parse(readPayload(`helius/${file}.json`)), id: 'mercat' }));
      for (const [source, read] of Object.entries(RECORDED_SOURCES.helius)) {
        const outcome = await read(createTestUpstream(replay.url), '');
        assertValidRecords(outcome.records);
        const others = source === 'tokens' ? 'malformed' : '1 rejected (id: is missing)';
        assert.equal(
          summarize(outcome),
          source === 'collection' ? expected.collection : others,
          `${file} has another outcome at ${source}`,
        );
      }
    }
  },
);

const COINGECKO_IDS = new Map([
  ['ETH', 'ethereum'],
  ['SOL', 'solana'],
]);

test(
  'each recorded price of CoinGecko is accepted, unless its time is too old or invalid',
  needsPayloads(),
  async (t) => {
    const replay = await startSameResponse(t);
    const signal = AbortSignal.timeout(30_000);
    const read = async (text: string, now: number) => {
      replay.give(text);
      const { quotes, rejected } = await readCoingeckoPrices(createTestUpstream(replay.url), COINGECKO_IDS, {
        now,
        signal,
      });
      return [[...quotes].map(([symbol, { usd }]) => [symbol, usd]), rejected];
    };
    const [timed = '', ...timeless] = readRecordedPrices();
    const at = 1_776_305_796_000;
    assert.deepEqual(await read(timed, at + 60_000), [[['SOL', 84.95]], []]);
    assert.deepEqual(await read(timed, at + 15 * 60_000), [[['SOL', 84.95]], []]);
    assert.deepEqual(await read(timed, at + 15 * 60_000 + 1), [[], ['solana: is too old']]);
    assert.deepEqual(await Promise.all(timeless.slice(0, 1).map((line) => read(line, NOW))), [
      [[['ETH', 3_050.52]], []],
    ]);
    assert.deepEqual(await read(timeless[1] ?? '', NOW), [[['SOL', 127.05]], []]);
    assert.equal(timeless.length, 2);
    // Times that are not valid numbers of seconds since 1970.
    for (const [time, why] of [
      ['"1776305796"', 'must be a number, not a string'],
      ['1776305796.5', 'must be an integer'],
      ['1776305796000', 'is not a time in seconds since 1970'],
      ['0', 'is not a time in seconds since 1970'],
    ] as const) {
      const changed = timed.replace('1776305796', time);
      assert.deepEqual(await read(changed, at), [[], [`last_updated_at: ${why}`]], time);
    }
  },
);
