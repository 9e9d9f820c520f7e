// `mercat import` of recorded responses. The records of each format are stored with exact numbers. They do not depend on how the
// responses are arranged in files. A second import changes nothing.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { before, beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Database } from '../../../src/platform/database/port.ts';
import {
  AT,
  CONTRACT,
  atLanterns,
  createResponseImports,
  lanterns,
  envelope,
  lines,
  range,
  set,
} from './response-imports.ts';
import { dumpTables, emptyTables } from '../../support/service/intake.ts';
import { APES, makeAddress, makeCollection, makeHash, openseaRoutes } from '../../support/replay/opensea.ts';
import { parseFixture, readFixture } from '../../support/fixtures.ts';
import { startReplayServer } from '../../support/replay/replay.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { assetOf } from '../../support/replay/das.ts';
import { addressOf, askRow, LANTERNS, listingRow, saleRow } from '../../support/replay/magic-eden.ts';

const POLYGON_WETH = '0x7ceb23fd6bc0add59e62ac25578270cff1b9f619';
/** The contract of `orders-2023.json`. */
const KITES = '0x7f57bc32ee0034fa9a41fac7df1d2c0e5782b9ad';
const apes = set({ chain: 'apechain', contractAddress: APES.contract });

/** Pages of responses in the shape that OpenSea's API document describes. */
async function readOpenSea(t: TestContext): Promise<Record<'listings' | 'events' | 'nfts' | 'nft', object[]>> {
  const made = makeCollection({
    tokens: range(45, String),
    listings: range(45, (index) => ({
      tokenId: String(index),
      seller: makeAddress(index % 7),
      total: 10n ** 18n + BigInt(index),
      hash: makeHash(index + 1),
      ...(index === 7 && { currency: { token: POLYGON_WETH, symbol: 'USDC', decimals: 6 } }),
      ...(index === 8 && { status: 'INACTIVE' }),
      ...(index === 9 && { hash: 'none' }),
    })),
    sales: range(25, (index) => ({
      tokenId: String(index),
      raw: 10n ** 18n,
      tx: makeHash(90_000 + index),
      soldAt: 1_770_000_000 + index,
    })),
  });
  const { url } = await startReplayServer(t, openseaRoutes([made]));
  const readPages = async (where: string) => {
    const pages: { next?: string }[] = [];
    for (let next = ''; ;) {
      const response = await fetch(`${url}/api/v2/${where}?limit=20${next}`);
      const page = (await response.json()) as { next?: string };
      pages.push(page);
      if (!page.next) return pages;
      next = `&next=${page.next}`;
    }
  };
  const contract = `chain/ape_chain/contract/${APES.contract}/nfts`;
  return {
    listings: await readPages(`listings/collection/${APES.slug}/all`),
    events: await readPages(`events/collection/${APES.slug}`),
    nfts: await readPages(contract),
    nft: await readPages(`${contract}/12`),
  };
}

forOneEngine('an import of recorded responses', (engine) => {
  let db: Database;
  let load: ReturnType<typeof createResponseImports>['load'];
  before(async () => {
    db = await engine.open();
    ({ load } = createResponseImports(db));
  });
  beforeEach(() => emptyTables(db));

  /** Imports responses, and then imports the same responses again in every arrangement. The later imports must change nothing. */
  const importInEachArrangement = async (format: string, responses: readonly unknown[], args: string[]) => {
    const arrangements = [
      lines(responses),
      JSON.stringify(responses, null, 2),
      gzipSync(lines(responses)),
      ...(responses.length === 1 ? [JSON.stringify(responses[0])] : []),
    ];
    await emptyTables(db);
    const first = await load(format, lines(responses), { args });
    const dump = await dumpTables(db);
    const { inserted, updated, unchanged, refused } = first.summary;
    for (const arrangement of arrangements) {
      const again = await load(format, arrangement, { args });
      const counts = [again.summary.inserted, again.summary.updated, again.summary.unchanged, again.summary.refused];
      assert.deepEqual(
        counts,
        [0, 0, inserted + updated + unchanged, refused],
        'the same responses in another arrangement gave other rows',
      );
      assert.deepEqual(again.summary.answers, first.summary.answers);
      assert.deepEqual([again.code, again.stderr], [first.code, first.stderr]);
      assert.deepEqual(await dumpTables(db), dump);
    }
    return { ...first, dump };
  };

  test('an import stores OpenSea listings, events and nfts of several pages', async (t) => {
    const { listings, events, nfts, nft } = await readOpenSea(t);
    const imported = await importInEachArrangement('opensea-listings', listings, apes);
    assert.equal(imported.code, 1);
    assert.equal(imported.stderr, 'file: page 1, row 10: order_hash: is not a hash\n');
    const { read, inserted, refused, answers } = imported.summary;
    assert.deepEqual([read, inserted, refused], [43, 42, 1]);
    assert.deepEqual(answers, {
      pages: 3,
      rows: 45,
      leftOut: {
        'consideration: is in another currency': 1,
        'inactive, not begun, or of another chain or contract': 1,
      },
    });
    const [row] = await db.query(
      `select price_raw::text as price, seller, chain, asset from indexer.listing where asset = '44'`,
    );
    assert.deepEqual(row, { price: '1000000000000000044', seller: makeAddress(2), chain: 'apechain', asset: '44' });

    const sales = await importInEachArrangement('opensea-events', events, apes);
    assert.deepEqual([sales.code, sales.summary.inserted, sales.summary.answers.pages], [0, 25, 2]);

    const tokens = await importInEachArrangement('opensea-nfts', nfts, apes);
    assert.deepEqual([tokens.code, tokens.summary.inserted, tokens.summary.answers.rows], [0, 45, 45]);
    const single = await load('opensea-nfts', lines(nft), { args: apes });
    assert.deepEqual([single.code, single.summary.updated], [0, 1]);
    const [owned] = await db.query(
      `select owner, rarity_rank::int as rarity_rank from indexer.token where asset = '12'`,
    );
    assert.deepEqual(owned, { owner: makeAddress(3), rarity_rank: 12 });
  });

  test('an import stores no OpenSea listing that has not begun', async (t) => {
    const { listings } = await readOpenSea(t);
    const text = JSON.stringify(listings[2])
      .replaceAll('"startTime":"1763000000"', '"startTime":"1963000000"')
      .replaceAll(/"endTime":"\d+"/g, '"endTime":"1999999999"');
    const { code, summary } = await load('opensea-listings', text, { args: apes });
    assert.deepEqual([code, summary.read, Object.values(summary.answers.leftOut)], [0, 0, [5]]);
  });

  test('an import stores OpenSea orders in the form of the API of 2023', async () => {
    const args = set({ chain: 'ethereum', contractAddress: KITES });
    const { code, summary } = await importInEachArrangement(
      'opensea-listings',
      [parseFixture('opensea/orders-2023.json')],
      args,
    );
    assert.deepEqual([code, summary.inserted, summary.answers.rows], [0, 1, 1]);
  });

  test('an import stores Magic Eden listings and their tokens with exact prices', async () => {
    const pages = [
      range(100, (index) => listingRow(index)),
      range(7, (index) => listingRow(100 + index, index === 3 ? { seller: 'x' } : {})),
    ];
    const { code, stderr, summary, dump } = await importInEachArrangement('magic-eden-listings', pages, atLanterns);
    assert.equal(code, 1);
    assert.match(stderr, /^file: page 2, row 4: seller: is not an address of the family solana\n$/);
    assert.deepEqual(
      [summary.read, summary.inserted, summary.answers],
      [213, 212, { pages: 2, rows: 107, leftOut: {} }],
    );
    assert.equal(dump['indexer.listing']?.length, 106);
    const [at] = await db.query<{ at: string }>(
      "select distinct to_json(listed_at) #>> '{}' as at from indexer.listing",
    );
    assert.equal(Date.parse(at?.at ?? ''), Date.parse(AT));
    // A price that a double cannot represent.
    const preciselyPriced = JSON.stringify([listingRow(900, { priceInfo: null, price: '@' })]).replace(
      '"@"',
      '123456789.123456789',
    );
    assert.equal((await load('magic-eden-listings', preciselyPriced, { args: atLanterns })).code, 0);
    const [price] = await db.query('select max(price_raw)::text as price from indexer.listing');
    assert.deepEqual(price, { price: '123456789123456789' });
  });

  test('an import stores the rows of the Magic Eden responses in the fixtures', async () => {
    const listings = await load('magic-eden-listings', readFixture('magic-eden/listings.json'), { args: atLanterns });
    assert.deepEqual([listings.code, listings.summary.inserted], [0, 3]);
    assert.deepEqual(listings.summary.answers, { pages: 1, rows: 2, leftOut: {} });
    const rows = await db.query('select price_raw::text as price from indexer.listing order by price_raw');
    assert.deepEqual(rows, [{ price: '4207500000' }, { price: '9000000000' }]);
    const activities = await load('magic-eden-activities', readFixture('magic-eden/activities.json'), {
      args: lanterns,
    });
    assert.deepEqual([activities.code, activities.summary.inserted], [0, 1]);
    assert.deepEqual(activities.summary.answers, { pages: 1, rows: 4, leftOut: { 'no sale': 3 } });
  });

  test('an import stores only the sales among Magic Eden activities', async () => {
    const seconds = Date.parse(AT) / 1_000;
    const rows = range(40, (index) => saleRow(index, seconds - index, index % 4 === 0 ? { type: 'bid' } : {}));
    const { code, summary } = await importInEachArrangement('magic-eden-activities', [rows, []], lanterns);
    assert.deepEqual([code, summary.inserted], [0, 30]);
    assert.deepEqual(summary.answers, { pages: 2, rows: 40, leftOut: { 'no sale': 10 } });
  });

  test('an import stores Magic Eden asks on an EVM chain', async () => {
    const ask = (index: number) =>
      askRow(index, CONTRACT, {
        ...(index === 3 && { quantity: { filled: '0', remaining: '2' } }),
        ...(index === 4 && { status: 'cancelled' }),
        ...(index === 5 && { maker: 'x' }),
      });
    const args = set({ chain: 'ethereum', contractAddress: CONTRACT });
    const pages = [{ asks: range(10, ask), continuation: 'x' }, { asks: [askRow(10, CONTRACT)] }];
    const { code, stderr, summary } = await importInEachArrangement('magic-eden-asks', pages, args);
    assert.deepEqual([code, summary.inserted, summary.refused], [1, 8, 1]);
    assert.equal(stderr, 'file: page 1, row 6: maker: is not an address of the family evm\n');
    assert.deepEqual(summary.answers.leftOut, {
      'quantity.remaining: is not one token': 1,
      'not active, not begun, or of another marketplace': 1,
    });
  });

  test('an import stores the same tokens from each form of a DAS response', async () => {
    const collection = addressOf('co', 1);
    const assets = range(12, (index) =>
      assetOf(addressOf('mt', index), collection, index === 5 ? { burnt: true } : {}),
    );
    const args = set({ contractAddress: collection });
    const { code, summary, dump } = await importInEachArrangement(
      'das-assets',
      [envelope({ total: 12, limit: 1000, page: 1, items: assets })],
      args,
    );
    assert.deepEqual([code, summary.inserted], [0, 11]);
    const others: unknown[][] = [
      [{ total: 12, limit: 1000, page: 1, items: assets }],
      [envelope([...assets.slice(0, 11), null]), envelope(assets.slice(11))],
      assets.map((asset) => envelope(asset)),
      assets,
    ];
    for (const other of others) {
      await emptyTables(db);
      assert.equal((await load('das-assets', lines(other), { args })).code, 0);
      assert.deepEqual(await dumpTables(db), dump);
    }
    // A file with the result of one getAsset, as it is printed by a program.
    await emptyTables(db);
    const lone = await load('das-assets', JSON.stringify(assets[0], null, 2), { args });
    assert.deepEqual(
      [lone.code, lone.summary.inserted, lone.summary.answers],
      [0, 1, { pages: 1, rows: 1, leftOut: {} }],
    );
    // The result of getAssetBatch is an array. Its rows count as one page.
    await emptyTables(db);
    const invalid = { ...assets[3], id: 'x' };
    const batch = await load('das-assets', JSON.stringify([...assets.slice(0, 3), null, invalid]), { args });
    assert.deepEqual([batch.code, batch.summary.inserted, batch.summary.answers.pages], [1, 3, 1]);
    assert.equal(batch.stderr, 'file: page 1, row 5: id: is not an asset of the family solana\n');
  });

  test('an import stores each DAS asset of a wallet in its own collection', async () => {
    const args = set({ contractAddress: LANTERNS });
    const ofCollection = await load('das-assets', readFixture('das/assets-by-group.json'), { args });
    assert.deepEqual([ofCollection.code, ofCollection.summary.inserted], [0, 8]);
    const ofWallet = await importInEachArrangement('das-assets', [parseFixture('das/assets-by-owner.json')], []);
    assert.deepEqual([ofWallet.code, ofWallet.summary.inserted], [0, 2]);
    assert.deepEqual(ofWallet.summary.answers.leftOut, {
      'fungible, burnt, unknown to the endpoint, or of no collection': 6,
    });
  });
});
