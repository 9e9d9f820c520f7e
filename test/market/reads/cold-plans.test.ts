// Every statement of an uncached read of the marketplace interface is an index scan of few rows, whatever the size of the market. The test
// data has as many rows as PostgreSQL needs to choose the plans of a large market.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { RecordedStatement, ReadCollection } from '../../../bench/reads/cold-reads.ts';
import {
  COLD_PLAN_LIMITS,
  ColdReads,
  findReadCollections,
  LIST_READS,
  readsOfCollection,
} from '../../../bench/reads/cold-reads.ts';
import { createLargeSet } from '../../../bench/large/large-set.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import type { TestEngine } from '../../support/engines/each-engine.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { listPlanFaults } from '../../support/engines/query-plans.ts';

const NOW = Date.UTC(2026, 6, 1);
const SIZE = { collections: 6_000, sales: 40_000, listings: 20_000, tokens: 40_000 };

forEachEngine('uncached reads', (engine) => {
  // The inner suite closes the database before the engine removes it.
  describe('uncached reads of a large market', () => declareTests(engine));
});

function declareTests(engine: TestEngine): void {
  let db: Database;
  let reads: ColdReads;
  let collection: ReadCollection;
  before(async () => {
    db = await engine.open();
    await createLargeSet(db, { ...SIZE, now: NOW, report: () => undefined });
    reads = await ColdReads.open(db, { now: () => NOW });
    collection = (await findReadCollections(db)).largest;
  });
  after(() => reads.close());

  const record = async (path: string): Promise<RecordedStatement[]> => {
    const statements = await reads.record(await reads.prepare(path));
    assert.ok(statements.length > 0);
    return statements;
  };
  const assertPlans = async (path: string) =>
    assert.deepEqual(await listPlanFaults(db, await record(path), COLD_PLAN_LIMITS), []);
  /** The path of the page after the one at `path`. */
  const nextPage = async (path: string) => {
    const [part] = (await (await reads.prepare(path))()).parts;
    const { pagination } = JSON.parse(String(part)) as { pagination: { nextCursor: string | null } };
    assert.ok(pagination.nextCursor !== null, path);
    return `${path}${path.includes('?') ? '&' : '?'}cursor=${pagination.nextCursor}`;
  };

  test('the reads of a collection by its id, its slug and its address are index scans', async () => {
    for (const path of Object.values(readsOfCollection(collection))) {
      await assertPlans(path);
      await assertPlans(path.replace(collection.id, collection.slug));
      await assertPlans(path.replace(collection.id, collection.contractAddress));
    }
  });

  test('the reads of later pages of sales are index scans', async () => {
    let path = `/v1/collections/${collection.id}/sales?limit=100`;
    for (let pages = 0; pages < 3; pages += 1)
      await assertPlans((path = await nextPage(path.replace(/&cursor=.*/, ''))));
  });

  for (const [name, path] of Object.entries(LIST_READS)) {
    test(`the reads of the ${name} are index scans, on all chains and on one, on the first page and on the next`, async () => {
      for (const list of [path, `${path}&chain=base`]) {
        await assertPlans(list);
        await assertPlans(await nextPage(list));
      }
    });
  }

  test('all statements of a read are recorded', async () => {
    const tables = (statements: readonly RecordedStatement[]) =>
      new Set(
        statements.flatMap(({ sql }) =>
          [...sql.matchAll(/(?:from|join) ((?:main|indexer)\.\w+)/g)].map(([, table]) => table),
        ),
      );
    const window = tables(await record(`/v1/collections/${collection.id}/listings`));
    assert.deepEqual([...window].map(String).sort(), [
      'indexer.listing',
      'main.book_order',
      'main.collection',
      'main.collection_metadata',
    ]);
    assert.ok(tables(await record(`/v1/collections/${collection.id}`)).has('indexer.sale_hour'));
  });

  test('a statement that scans or sorts all rows of a table is reported', async () => {
    const scan = { sql: 'select count(*) from indexer.sale where asset = $1', params: ['1'] };
    const sort = {
      sql: 'select asset from indexer.token where collection_id = $1 order by image',
      params: [collection.id],
    };
    const faults = await listPlanFaults(db, [scan, sort], COLD_PLAN_LIMITS);
    assert.ok(
      faults.some((fault) => fault.startsWith('a sequential scan of sale')),
      faults.join('\n'),
    );
    assert.ok(
      faults.some((fault) => fault.startsWith('a sort of')),
      faults.join('\n'),
    );
  });
}
