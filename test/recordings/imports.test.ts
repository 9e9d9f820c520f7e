// Tests that `mercat import` imports recorded responses of vendors without any change to the responses.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database } from '../../src/platform/database/port.ts';
import { createResponseImports, set } from '../cli/import/response-imports.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import { needsPayloads, readPayload } from '../support/recordings/payloads.ts';
import { DEGODS, FAMOUS_FOX, GHOSTS } from '../support/recordings/subjects.ts';
import { emptyTables } from '../support/service/intake.ts';

const ORDERS = 'opensea/orders_listings_v2.seaport15.json';
const LISTING = 'magiceden-solana/recorded_collections_listings.degods-2025-07.json';
const ACTIVITIES = 'magiceden-solana/v2_wallets_owner_activities.json';
const FOXES = 'helius/getAssetsByCreator.famous-fox.50.json';
const WALLET = 'helius/getAssetsByOwner.50.json';

forOneEngine('imports of recorded responses', (engine) => {
  let db: Database;
  let load: ReturnType<typeof createResponseImports>['load'];
  before(async () => {
    db = await engine.open();
    ({ load } = createResponseImports(db));
  });
  beforeEach(() => emptyTables(db));

  test(
    'recorded OpenSea orders of 2023 are imported, and a second import changes nothing',
    needsPayloads(ORDERS),
    async () => {
      const args = set({ chain: 'ethereum', contractAddress: GHOSTS.contractAddress });
      const { code, summary } = await load('opensea-listings', readPayload(ORDERS), { args });
      assert.deepEqual([code, summary.inserted, summary.answers.rows], [0, 4, 4]);
      assert.equal((await load('opensea-listings', readPayload(ORDERS), { args })).summary.unchanged, 4);
    },
  );

  test(
    'a recorded Magic Eden listing is imported with its exact price, and a second import changes nothing',
    needsPayloads(LISTING),
    async () => {
      const args = set({ contractAddress: DEGODS, symbol: 'degods', at: '2026-05-30T12:00:00.000Z' });
      const { code, summary } = await load('magic-eden-listings', readPayload(LISTING), { args });
      assert.deepEqual([code, summary.inserted, summary.answers], [0, 2, { pages: 1, rows: 1, leftOut: {} }]);
      const [row] = await db.query('select price_raw::text as price from indexer.listing');
      assert.deepEqual(row, { price: '5388500000' });
      assert.equal((await load('magic-eden-listings', readPayload(LISTING), { args })).summary.unchanged, 2);
    },
  );

  test(
    'the sale among recorded Magic Eden activities is imported, and a second import changes nothing',
    needsPayloads(ACTIVITIES),
    async () => {
      const args = set({ chain: 'solana', contractAddress: DEGODS, symbol: 'runcible' });
      const { code, summary } = await load('magic-eden-activities', readPayload(ACTIVITIES), { args });
      assert.deepEqual([code, summary.inserted, summary.answers.pages], [0, 1, 1]);
      assert.equal((await load('magic-eden-activities', readPayload(ACTIVITIES), { args })).summary.unchanged, 1);
    },
  );

  test('recorded DAS assets are imported into their own collections', needsPayloads(FOXES, WALLET), async () => {
    const ofOne = await load('das-assets', readPayload(FOXES), { args: set({ contractAddress: FAMOUS_FOX }) });
    assert.deepEqual([ofOne.code, ofOne.summary.inserted], [0, 50]);
    const ofWallet = await load('das-assets', readPayload(WALLET));
    assert.deepEqual([ofWallet.code, ofWallet.summary.inserted], [0, 11]);
    assert.deepEqual(ofWallet.summary.answers.leftOut, {
      'fungible, burnt, unknown to the endpoint, or of no collection': 39,
    });
  });
});
