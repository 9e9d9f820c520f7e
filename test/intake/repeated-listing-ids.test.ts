// A file has listings with the same source and the same id in two collections. Both are stored, and each is updated by its own records.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forOneEngine } from '../support/engines/each-engine.ts';
import { listing, order, runImport, toContext, toNdjson, token } from '../support/service/intake.ts';

const addressOf = (collection: number) => `0x${String(collection).padStart(40, '0')}`;
const listed = (collection: number, id: string, fields: object = {}) =>
  listing({ contractAddress: addressOf(collection), tokenId: id.slice(1), id, ...fields });

const REPEATED = [
  listed(2, 'L1', { priceRaw: '21' }),
  listed(1, 'L2', { priceRaw: '12' }),
  listed(1, 'L1', { priceRaw: '11' }),
  listed(2, 'L2', { priceRaw: '22' }),
  listed(2, 'L1', { priceRaw: '210' }),
  listed(1, 'L2', { priceRaw: '120' }),
];
/** Enough records of both collections for a batch in two parts. */
const MANY = Array.from({ length: 3_000 }, (_, n) =>
  token({ contractAddress: addressOf(1 + (n % 2)), tokenId: `${n}` }),
);

forOneEngine('listings with one id in two collections', (engine) => {
  const open = async () => {
    const db = await engine.open();
    const context = toContext(db, { copyCatalog: () => Promise.resolve() });
    const load = async (records: readonly object[]) => (await runImport(context, toNdjson(records))).summary;
    const listStored = async () => {
      const rows = await db.query(
        `select right(collection_id, 1) as collection, id, price_raw::text as price from indexer.listing order by 2, 1`,
      );
      return rows.map(({ collection, id, price }) => `${String(collection)} ${String(id)} ${String(price)}`);
    };
    return { db, load, listStored };
  };

  for (const [size, records] of [
    ['one part', REPEATED],
    ['several parts', [...REPEATED.slice(0, 3), ...MANY, ...REPEATED.slice(3)]],
  ] as const) {
    test(`a batch in ${size} stores them for both collections, and storing them again changes nothing`, async () => {
      const { load, listStored } = await open();
      await load(records);
      assert.deepEqual(await listStored(), ['1 L1 11', '2 L1 210', '1 L2 120', '2 L2 22']);
      assert.equal((await load(records)).inserted, 0);
      assert.deepEqual(await listStored(), ['1 L1 11', '2 L1 210', '1 L2 120', '2 L2 22']);
    });
  }

  test('a marketplace listing of an own order is not stored, and the listing with the same id in the other collection is stored', async () => {
    const { db, load, listStored } = await open();
    const orderHash = `0x${'a'.repeat(64)}`;
    await load([order({ contractAddress: addressOf(2) })]);
    await db.query(`update main.book_order set order_hash = $1`, [orderHash]);
    await load([listed(2, 'L1', { orderHash }), listed(1, 'L1')]);
    assert.deepEqual(await listStored(), ['1 L1 100']);
  });
});
