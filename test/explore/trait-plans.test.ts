// The statements of lists by traits read few rows, whatever the traits are.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createExploreSet } from '../../bench/explore-set.ts';
import type { TraitFilter } from '../../src/explore/queries/trait-keys.ts';
import {
  findTraitFilter,
  listTraitAssetsById,
  listTraitAssetsByPrice,
  listTraitAssetsByRank,
} from '../../src/explore/queries/trait-keys.ts';
import { listTraitValues } from '../../src/explore/queries/traits.ts';
import { listHeldAssets, listMirroredOfSeller } from '../../src/explore/queries/wallet-assets.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/core/log.ts';
import { openDatabases } from '../../src/database/open.ts';
import type { Database, Queryable } from '../../src/database/port.ts';
import type { TestEngine } from '../support/engines/each-engine.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';

const LIMIT = 26;
const NOW = Date.UTC(2026, 6, 1);
/** The most rows that a statement may read from a table. It reads either the next rows of the list, or the tokens of the rarest traits. */
const ROWS_MAX = 1_100;
/** 20,000 tokens: more than a statement visits in the order of the list. */
const SCALE = 0.02;

forEachEngine('lists by traits', (engine) => {
  // The inner suite closes the database before the engine removes it.
  describe('on a large collection', () => {
    declareTests(engine);
  });
});

function declareTests(engine: TestEngine): void {
  let db: Database;
  let id: string;
  before(async () => {
    const databases = await openDatabases(readConfig(await engine.settings('empty')), createLog('warn'));
    db = databases.main;
    ({ largestId: id } = await createExploreSet(db, { scale: SCALE, now: NOW, report: () => undefined }));
    // Traits of other collections make the table large. PostgreSQL would read all rows of a small table.
    await db.query(
      `insert into indexer.trait (collection_id, name, value) select 'other ' || n % 500, 'Name ' || n % 7, n::text from generate_series(1, 20000) as n`,
    );
    await db.query('analyze indexer.trait');
  });
  after(() => db.close());

  const filters: Record<string, [string, string[]][]> = {
    'one trait': [['Hat', ['Hat 3']]],
    'one of two values': [['Hat', ['Hat 3', 'Hat 0']]],
    'five common traits': ['Hat', 'Eyes', 'Coat', 'Mouth', 'Fur'].map((name) => [name, [`${name} 0`]]),
    'five rare traits': ['Hat', 'Eyes', 'Coat', 'Mouth', 'Fur'].map((name) => [name, [`${name} 19`]]),
    'a rare trait and a common one': [
      ['Aura', ['Gold']],
      ['Hat', ['Hat 0']],
    ],
    'a trait of every token': [['Kind', ['Spirit']]],
    'a trait of every token and a rare one': [
      ['Kind', ['Spirit']],
      ['Hat', ['Hat 19']],
    ],
  };
  for (const [name, wanted] of Object.entries(filters)) {
    test(`with ${name} read few rows of each table`, async () => {
      const filter = await findTraitFilter(db, id, new Map(wanted));
      assert.ok(filter);
      const query = { filter, limit: LIMIT, now: NOW };
      await assertPlans(db, async (reading) => {
        const priced = await listTraitAssetsByPrice(reading, id, { ...query, after: null, except: [] });
        await listTraitAssetsByPrice(reading, id, { ...query, after: priced[9] ?? null, except: ['5'] });
        for (const listed of [null, false]) {
          await listTraitAssetsById(reading, id, { ...query, listed, after: null, unranked: false });
          await listTraitAssetsByRank(reading, id, { ...query, listed, after: null });
        }
      });
      assert.deepEqual(
        (await listTraitAssetsByPrice(db, id, { ...query, after: null, except: [] })).map(({ asset }) => asset),
        await listByReading(db, id, filter),
      );
    });
  }

  test('the traits of a collection and the tokens of a wallet are read through indexes', async () => {
    const { owner } = (await db.query<{ owner: string }>(`select owner from indexer.token limit 1`))[0] ?? {
      owner: '',
    };
    await assertPlans(db, async (reading) => {
      await listTraitValues(reading, id, { after: null, limit: LIMIT, valuesMax: 251, except: [] });
      const wallet = { account: owner, chains: ['ethereum'], after: null, limit: LIMIT, now: NOW };
      await listHeldAssets(reading, wallet);
      await listMirroredOfSeller(reading, wallet);
    });
  });
}

/** The expected list, from a statement that reads all rows. */
async function listByReading(db: Database, collectionId: string, { rarest, others }: TraitFilter): Promise<string[]> {
  const rows = await db.query<{ asset: string }>(
    `select asset from indexer.trait_listing where collection_id = $1
     ${[rarest, ...others].map(({ ids }) => `and trait_ids && array[${ids.join(',')}]`).join(' ')}
     order by price_raw, asset limit ${LIMIT}`,
    [collectionId],
  );
  return rows.map(({ asset }) => asset);
}

/** Explains every statement that `read` runs. */
async function assertPlans(db: Database, read: (reading: Queryable) => Promise<unknown>): Promise<void> {
  const statements: { sql: string; params: unknown[] }[] = [];
  const reading: Queryable = {
    query: (sql, params = []) => {
      statements.push({ sql, params: [...params] });
      return db.query(sql, params);
    },
  };
  await read(reading);
  for (const { sql, params } of statements) {
    const [plan] = await db.query(`explain (analyze, format json, timing off) ${sql}`, params);
    const plans = (plan?.['QUERY PLAN'] ?? []) as { Plan: PlanNode }[];
    for (const node of plans.flatMap(({ Plan }) => nodesOf(Plan))) {
      const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
      const table = node['Relation Name'];
      if (table) assert.ok(rows <= ROWS_MAX, `${node['Node Type']} of ${table} reads ${rows} rows: ${sql}`);
      if (node['Node Type'] === 'Sort') assert.ok(rows <= ROWS_MAX, `a sort has ${rows} rows: ${sql}`);
      if (node['Node Type'] === 'Seq Scan') assert.equal(rows, 0, `a sequential scan of ${table}: ${sql}`);
    }
  }
}

type PlanNode = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
};

const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
