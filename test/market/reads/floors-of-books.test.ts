// The floors follow the rows of `/listings` also while the index has not yet copied the own order book, and while a part of the book cannot be read.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { ServiceContext } from '../../../src/service/context.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { readFloor } from '../../../src/market/reads/floors/floor.ts';
import { readListingWindow } from '../../../src/market/reads/listing-window.ts';
import { resolveCollection } from '../../../src/market/reads/resolve-collection.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import {
  collection,
  emptyTables,
  EVM,
  listing,
  order,
  runImport,
  toContext,
  toNdjson,
} from '../../support/service/intake.ts';

/** A chain whose last buyer floors are not kept, so that each floor is of the present moment. */
const chain = 'base';
const ID = `${chain}_${EVM}`;

forOneEngine('the floors of the two books', (engine) => {
  let db: Database;
  /** Statements that match it fail. */
  let broken: RegExp | null = null;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    broken = null;
    await emptyTables(db);
  });

  /** A context whose reads do not fail on a slow machine, and whose imports are not copied to the index. */
  const start = (): ServiceContext => {
    const patient: Database = {
      ...db,
      query: (sql, params) => (broken?.test(sql) ? Promise.reject(new Error('broken')) : db.query(sql, params)),
      within: () => patient,
    };
    return toContext(patient, { copyCatalog: () => Promise.resolve(), settings: { SOURCE_TIMEOUT_MS: '60000' } });
  };
  const load = async (context: ServiceContext, records: readonly object[]) => {
    assert.equal(
      (await runImport(context, toNdjson(records.map((record) => ({ ...record, chain }))))).summary.refused,
      0,
    );
  };

  test('the ask floor is the price of the first listing, although the index does not know yet that the own book lists the cheapest mirrored asset', async () => {
    const context = start();
    await load(context, [
      collection(),
      listing({ id: 'a', tokenId: '1', priceRaw: '100', buyerTotalRaw: '200' }),
      listing({ id: 'b', tokenId: '2', priceRaw: '110', buyerTotalRaw: '150' }),
      listing({ id: 'c', tokenId: '3', priceRaw: '120', buyerTotalRaw: '120' }),
      order({ tokenId: '1', priceRaw: '500' }),
    ]);
    const [first] = (await readListingWindow(context.market, await resolveCollection(context.market, ID))).listings;
    assert.equal(first?.raw, 110n);
    const { askFloorRaw, buyerFloorRaw, degraded } = await readFloor(context.market, ID);
    assert.deepEqual([askFloorRaw, buyerFloorRaw, degraded], [110n, 120n, false]);
  });

  const PARTS = {
    'which own orders replace the cheapest mirrored rows': /as wanted \(id, asset\)\s+where exists/,
    'which assets an uncopied own book lists': /select distinct collection_id, token_id from main\.book_order/,
  };
  for (const [part, statement] of Object.entries(PARTS)) {
    test(`a floor is degraded, and the mirror decides alone, if it cannot be read ${part}`, async () => {
      const context = start();
      await load(context, [
        collection(),
        listing({ id: 'a', tokenId: '1', priceRaw: '100' }),
        listing({ id: 'b', tokenId: '2', priceRaw: '110' }),
        order({ tokenId: '1', priceRaw: '500' }),
      ]);
      broken = statement;
      const { askFloorRaw, buyerFloorRaw, degraded } = await readFloor(context.market, ID);
      assert.deepEqual([askFloorRaw, buyerFloorRaw, degraded], [100n, null, true]);
    });
  }
});
