// A file has listings with the same source and the same id in two collections. The migration 0027-collection-keys.sql waits for the operator.
// Before this migration, the key of a listing (source and id) is unique over all collections. So of the listings with one key, only those of
// the collection that comes first in the file are stored.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/core/log.ts';
import { migrate } from '../../src/database/migrate.ts';
import type { Databases } from '../../src/database/open.ts';
import { openDatabases } from '../../src/database/open.ts';
import type { UpsertCounts } from '../../src/database/upsert.ts';
import { ingestBatch } from '../../src/intake/ingest/batch.ts';
import { parseRecord } from '../../src/intake/records/parse.ts';
import type { TestEngine } from '../support/engines/each-engine.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { listing, NOW, order, recordContext, toContext, token } from '../support/service/intake.ts';

const addressOf = (collection: number) => `0x${String(collection).padStart(40, '0')}`;
const listed = (collection: number, id: string, fields: object = {}) =>
  listing({ contractAddress: addressOf(collection), tokenId: id.slice(1), id, ...fields });

/** The first L1 belongs to collection 2, and the first L2 to collection 1. Each of these two listings appears again with another price. */
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

/** Opens databases as an upgrade leaves them: without the contracting migrations, which wait for the operator. */
async function openUpgraded(engine: TestEngine): Promise<Databases & AsyncDisposable> {
  const databases = await openDatabases(readConfig(await engine.settings('empty')), createLog('silent'));
  for (const schema of ['main', 'indexer'] as const) await migrate(databases[schema], schema, { contracts: false });
  return { ...databases, [Symbol.asyncDispose]: databases.close };
}

/** Stores all records in one batch. */
async function ingestAtOnce(databases: Databases, values: readonly Record<string, unknown>[]): Promise<UpsertCounts> {
  const total = { inserted: 0, updated: 0, unchanged: 0 };
  const records = values.map((value, index) => {
    const { record } = parseRecord(recordContext, value);
    assert.ok(record);
    return { line: index + 1, record };
  });
  await ingestBatch(contextOf(databases), records, {
    now: NOW,
    dryRun: false,
    isImport: true,
    onIngested: ({ counts }) => {
      for (const { inserted, updated, unchanged } of counts.values()) {
        total.inserted += inserted;
        total.updated += updated;
        total.unchanged += unchanged;
      }
    },
  });
  return total;
}

const contextOf = ({ main, indexer }: Databases) => toContext(main, { indexer, copyCatalog: () => Promise.resolve() });

const listStored = async ({ indexer }: Databases) => {
  const rows = await indexer.query(
    `select right(collection_id, 1) as collection, id, price_raw::text as price from indexer.listing order by 2, 1`,
  );
  return rows.map(({ collection, id, price }) => `${collection} ${id} ${price}`);
};

forEachEngine('listings with one id in two collections', (engine) => {
  for (const [size, records] of [
    ['one part', REPEATED],
    ['several parts', [...REPEATED.slice(0, 3), ...MANY, ...REPEATED.slice(3)]],
  ] as const) {
    test(`before the contracting migration, a batch in ${size} stores an id only for the collection that comes first, and after it for both collections`, async (t) => {
      if (engine.hasCitus) return t.skip('on a cluster, the contracting migrations have always run');
      await using databases = await openUpgraded(engine);
      const first = await ingestAtOnce(databases, records);
      assert.deepEqual(await listStored(databases), ['2 L1 210', '1 L2 120']);
      assert.equal(first.unchanged, 2);
      assert.equal((await ingestAtOnce(databases, records)).inserted, 0);
      assert.deepEqual(await listStored(databases), ['2 L1 210', '1 L2 120']);
      await migrate(databases.indexer, 'indexer', { contracts: true });
      assert.equal((await ingestAtOnce(databases, records)).inserted, 2);
      assert.deepEqual(await listStored(databases), ['1 L1 11', '2 L1 210', '1 L2 120', '2 L2 22']);
    });
  }

  test('a later batch stores no listing with the id of a listing that is stored in another collection', async (t) => {
    if (engine.hasCitus) return t.skip('on a cluster, the contracting migrations have always run');
    await using databases = await openUpgraded(engine);
    await ingestAtOnce(databases, REPEATED.slice(0, 3));
    await ingestAtOnce(databases, REPEATED.slice(3));
    assert.deepEqual(await listStored(databases), ['2 L1 210', '1 L2 120']);
  });

  test('a marketplace listing of an own order is not stored, and the listing with the same id in the other collection is stored', async (t) => {
    if (engine.hasCitus) return t.skip('on a cluster, the contracting migrations have always run');
    await using databases = await openUpgraded(engine);
    const orderHash = `0x${'a'.repeat(64)}`;
    await ingestAtOnce(databases, [order({ contractAddress: addressOf(2) })]);
    await databases.main.query(`update main.book_order set order_hash = $1`, [orderHash]);
    await ingestAtOnce(databases, [listed(2, 'L1', { orderHash }), listed(1, 'L1')]);
    assert.deepEqual(await listStored(databases), ['1 L1 100']);
  });
});
