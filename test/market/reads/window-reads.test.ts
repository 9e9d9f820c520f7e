// Tests which rows of the own order book and of the mirror a listing window reads. The collections have more rows than one statement reads.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database, Row, Statements } from '../../../src/platform/database/port.ts';
import { readListingWindow } from '../../../src/market/reads/listing-window.ts';
import { resolveCollection } from '../../../src/market/reads/resolve-collection.ts';
import { CHUNK_SIZE, WINDOW_SIZE_MAX } from '../../../src/market/reads/sorted-rows.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import {
  EVM,
  collection as collectionRecord,
  emptyTables,
  ingest,
  listing,
  order,
  toContext,
} from '../../support/service/intake.ts';

/** `own`: whether the row is in the own order book. All rows of a case have different prices, so only one order of the rows is correct. */
type Listed = { own: boolean; asset: number; price: number };

/** The expected window, computed from all rows at once. An own order replaces all mirrored rows of its asset. */
function naiveWindow(rows: readonly Listed[]): string[] {
  const ownAssets = new Set(rows.filter(({ own }) => own).map(({ asset }) => asset));
  const visible = rows.filter(({ own, asset }) => own || !ownAssets.has(asset)).sort((a, b) => a.price - b.price);
  const first = visible.filter((row, at) => visible.findIndex(({ asset }) => asset === row.asset) === at);
  return first.slice(0, WINDOW_SIZE_MAX).map(({ asset, price }) => `${asset} ${price}`);
}

/** `count` rows. Row n is of the asset `first + n % assets`, and costs `price + n * step`. */
type Series = { count: number; first?: number; assets?: number; price: number; step?: number };
const toRows = (own: boolean, { count, first = 0, assets = count, price, step = 1 }: Series): Listed[] =>
  Array.from({ length: count }, (_, n) => ({ own, asset: first + (n % assets), price: price + n * step }));
const ofBook = (series: Series) => toRows(true, series);
const ofMirror = (series: Series) => toRows(false, series);

/** The rows, and how many statements read each source: [order book, own orders of mirrored assets, mirror]. */
const CASES: Record<string, { rows: Listed[]; statements: [number, number, number] }> = {
  'all own orders fit into one read': {
    rows: [...ofBook({ count: 80, price: 100_000 }), ...ofMirror({ count: 700, price: 1_000 })],
    statements: [1, 0, 2],
  },
  'the cheapest rows of both sources fill the window together': {
    rows: [
      ...ofBook({ count: 400, price: 10, step: 10 }),
      ...ofMirror({ count: 400, first: 1_000, price: 11, step: 10 }),
    ],
    statements: [1, 1, 1],
  },
  'own orders of the cheapest mirrored assets are beyond the first read of the order book': {
    rows: [
      ...ofBook({ count: 310, first: 5_000, price: 50_000 }),
      ...ofBook({ count: 200, price: 90_000 }),
      ...ofMirror({ count: 500, price: 1_000 }),
    ],
    statements: [1, 2, 2],
  },
  'the cheapest rows belong to few assets': {
    rows: [
      ...ofBook({ count: 330, assets: 2, price: 10, step: 10 }),
      ...ofBook({ count: 10, first: 100, price: 9_000 }),
      ...ofMirror({ count: 310, first: 200, assets: 3, price: 11, step: 10 }),
      ...ofMirror({ count: 200, first: 300, price: 5_000 }),
    ],
    statements: [2, 1, 2],
  },
  'only the order book has listings': { rows: ofBook({ count: 650, price: 10 }), statements: [1, 0, 1] },
};

forOneEngine('the reads of a listing window', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => emptyTables(db));

  for (const [name, { rows, statements }] of Object.entries(CASES)) {
    test(`${name}: the window has the cheapest assets, and no unneeded statement is sent`, async (t) => {
      const times = new Map<number, number>();
      const records = rows.map(({ own, asset, price }, index) => {
        const common = { tokenId: String(asset), priceRaw: String(price) };
        if (!own) return listing({ ...common, id: `L${index}` });
        // The id of an own order is made from its token and its time. So each order of an asset needs a time of its own.
        const ordersOfAsset = (times.get(asset) ?? 0) + 1;
        times.set(asset, ordersOfAsset);
        return order({ ...common, createdAt: new Date(Date.UTC(2026, 4, 1) + ordersOfAsset * 1_000).toISOString() });
      });
      await ingest(db, collectionRecord(), ...records);
      const sent: string[] = [];
      const { market } = toContext(recording(db, sent));
      t.after(() => market.close());
      const collection = await resolveCollection(market, `ethereum_${EVM}`);
      sent.length = 0;
      const window = await readListingWindow(market, collection);
      assert.deepEqual(
        window.listings.map(({ asset, raw }) => `${asset} ${raw}`),
        naiveWindow(rows),
      );
      assert.equal(window.degraded, false);
      const countOf = (text: string) => sent.filter((sql) => sql.includes(text)).length;
      assert.deepEqual(
        [countOf('(price_raw, id) >'), countOf('token_id = any('), countOf('(price_raw, id, key) >')],
        statements,
      );
      assert.equal(sent.length, statements[0] + statements[1] + statements[2]);
    });
  }
});

test('one read of a source can fill a window', () => {
  assert.ok(CHUNK_SIZE > WINDOW_SIZE_MAX);
});

/** Wraps a database, and records the text of each statement with a deadline. */
function recording(database: Database, sent: string[]): Database {
  const within: Database['within'] = (timeoutMs, lane): Statements => {
    const statements = database.within(timeoutMs, lane);
    const query = <R extends Row>(sql: string, params: readonly unknown[] = []) => {
      sent.push(sql);
      return statements.query<R>(sql, params);
    };
    return { ...statements, query };
  };
  return { ...database, within };
}
