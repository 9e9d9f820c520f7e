// Reads of the order book: every read leaves out the orders that cannot be filled at the moment, including dormant orders.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database } from '../../../src/platform/database/port.ts';
import { listOwnBooks } from '../../../src/market/orders/queries/book-figures.ts';
import {
  listFillableOrdersOfAssets,
  listFillableAssets,
  listFillableAssetsOf,
  listFillableAssetsAmong,
  listFillableOrders,
} from '../../../src/market/orders/queries/fillable-orders.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { emptyTables, EVM, ingest, NOW, order } from '../../support/service/intake.ts';

const ID = `ethereum_${EVM}`;
const CHEAP = '1';
const HIGHER = '2';

/** Reasons for which the cheap order cannot be filled now, each with the SQL that changes its row. */
const REASONS: Readonly<Record<string, string>> = {
  'its offerer does not hold the token': `dormant = 'no-balance'`,
  'its offerer has revoked the approval': `dormant = 'not-approved'`,
  'it was cancelled': `status = 'cancelled'`,
  'it has expired': `expires_at = to_timestamp(${NOW / 1_000})`,
  'it has not started': `starts_at = to_timestamp(${NOW / 1_000 + 1})`,
};

forOneEngine('fillable orders', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    await emptyTables(db);
    await ingest(db, order({ tokenId: CHEAP, priceRaw: '100' }), order({ tokenId: HIGHER, priceRaw: '200' }));
  });

  const readBook = async () => ({
    orders: (await listFillableOrders(db, ID, { now: NOW, limit: 10 })).map(({ asset }) => asset),
    ofAsset: (await listFillableOrdersOfAssets(db, [{ collectionId: ID, asset: CHEAP }], NOW))[0]?.asset ?? null,
    asks: [...(await listOwnBooks(db, [ID], NOW)).values()].map(({ ask, bareAsk, total, known }) => [
      ask,
      bareAsk,
      total,
      known,
    ]),
    among: (await listFillableAssetsAmong(db, ID, [CHEAP, HIGHER], NOW)).toSorted(),
    assets: (await listFillableAssets(db, [ID], { now: NOW, limit: 10 })).map(({ asset }) => asset).toSorted(),
    ofAssets: (await listFillableAssetsOf(db, [{ collectionId: ID, asset: CHEAP }], NOW)).map(({ asset }) => asset),
  });

  test('an order that can be filled is in every read of the order book', async () => {
    assert.deepEqual(await readBook(), {
      orders: [CHEAP, HIGHER],
      ofAsset: CHEAP,
      asks: [[100n, 100n, null, true]],
      among: [CHEAP, HIGHER],
      assets: [CHEAP, HIGHER],
      ofAssets: [CHEAP],
    });
  });

  for (const [reason, change] of Object.entries(REASONS)) {
    test(`an order is in no read of the order book when ${reason}`, async () => {
      await db.query(`update main.book_order set ${change} where token_id = $1`, [CHEAP]);
      assert.deepEqual(await readBook(), {
        orders: [HIGHER],
        ofAsset: null,
        asks: [[200n, 200n, null, true]],
        among: [HIGHER],
        assets: [HIGHER],
        ofAssets: [],
      });
    });
  }
});
