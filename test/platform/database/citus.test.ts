// The indexer's schema on a Citus cluster. Runs with TEST_CITUS=1 where Citus is installed.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { findCluster, useOneConnection } from '../../../src/platform/database/citus.ts';
import { applyMigration, migrate } from '../../../src/platform/database/migrate.ts';
import type { AssetId } from '../../../src/platform/core/address.ts';
import type { Database, Queryable } from '../../../src/platform/database/port.ts';
import { createDatabase } from '../../../src/platform/database/port.ts';
import { lockFigures } from '../../../src/market/index/queries/figures.ts';
import { listDoubleWindows, listTradeFacts, listVolumeFacts } from '../../../src/market/index/queries/analytics.ts';
import { listCoverage } from '../../../src/market/index/queries/coverage.ts';
import { listMirrorRows } from '../../../src/market/index/queries/listings.ts';
import { listHoldingFacts } from '../../../src/market/index/queries/stats.ts';
import { listObservedTokens } from '../../../src/market/index/queries/tokens.ts';
import type { CitusCluster } from '../../support/engines/citus-cluster.ts';
import { startCitus } from '../../support/engines/citus-cluster.ts';
import { citusSkip } from '../../support/engines/citus-node.ts';

/** Tables that stand on the coordinator alone. */
const LOCAL = ['import_change', 'import_log', 'market_change', 'migration'];

function open(url: string): Database & AsyncDisposable {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined);
  const database = createDatabase(pool, { engine: 'postgresql', name: 'indexer' });
  return { ...database, [Symbol.asyncDispose]: () => database.close() };
}

describe('the schema on a cluster', { skip: citusSkip() }, () => {
  let cluster: CitusCluster | null = null;
  before(async () => {
    cluster = await startCitus();
  });
  after(() => cluster?.discard());
  const theCluster = () => {
    assert.ok(cluster);
    return cluster;
  };

  test('every table with a collection in its key is distributed by collection, on the same nodes', async () => {
    await using database = open(await theCluster().createDatabase());
    await migrate(database, 'indexer');
    assert.deepEqual(await migrate(database, 'indexer'), []);
    const tables = await database.query(
      `select relname as name, partmethod as method, colocationid as place,
           case when partmethod = 'h' then column_to_column_name(logicalrelid, partkey) end as key
         from pg_class left join pg_dist_partition on logicalrelid = pg_class.oid
         where relnamespace = 'indexer'::regnamespace and relkind = 'r' order by 1`,
    );
    const namesOf = (method: string | null) =>
      tables.filter((table) => table['method'] === method).map((table) => table['name']);
    assert.deepEqual(namesOf(null), LOCAL);
    assert.deepEqual(namesOf('n'), ['chain_cursor']);
    const distributed = tables.filter((table) => table['method'] === 'h');
    assert.ok(distributed.length > 20);
    assert.deepEqual([...new Set(distributed.map((table) => table['key']))], ['collection_id']);
    assert.equal(new Set(distributed.map((table) => table['place'])).size, 1);
    const found = await findCluster(database, 'indexer');
    assert.deepEqual([found?.nodes.length, found?.inactive, found?.local], [2, [], []]);
  });

  test('the statements of a read of one collection are sent to one shard', async () => {
    await using database = open(await theCluster().createDatabase('migrated'));
    const plans: string[] = [];
    const explaining: Queryable = {
      query: async (sql, params) => {
        const rows = await database.query(`explain ${sql}`, params);
        plans.push(rows.map((row) => String(row['QUERY PLAN'])).join('\n'));
        return [];
      },
    };
    const [ids, now] = [['a'], Date.UTC(2026, 6, 1)];
    const tokens = ['1', '2'].map((asset) => ({ collectionId: 'a', asset: asset as AssetId }));
    await listObservedTokens(explaining, tokens, { now });
    await listHoldingFacts(explaining, ids);
    await listTradeFacts(explaining, ids, now);
    await listVolumeFacts(explaining, ids);
    await listDoubleWindows(explaining, ids, now);
    await listCoverage(explaining, ids, ['listings']);
    await listMirrorRows(explaining, ids, { now, ownSource: 'mercat' });
    const counts = plans.map((plan) => [...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => count));
    assert.deepEqual(
      counts,
      plans.map(() => ['1']),
    );
  });

  test('a later migration may alter, index and fill the distributed tables in its transaction', async () => {
    await using database = open(await theCluster().createDatabase());
    await migrate(database, 'indexer');
    await database.query(`insert into indexer.collection_stats (collection_id, at) values ('a', now()), ('b', now())`);
    const sql = `alter table indexer.collection_stats add column later text;
        create index collection_stats_later on indexer.collection_stats (later);
        -- It's one; statement.
        update indexer.collection_stats set later = collection_id;
        do $$ begin perform ';'; end $$;`;
    await database.transaction(async (tx) => {
      await useOneConnection(tx);
      await applyMigration(tx, 'indexer', { name: '9001-later.sql', sql });
    });
    const rows = await database.query(`select later from indexer.collection_stats order by later`);
    assert.deepEqual(rows, [{ later: 'a' }, { later: 'b' }]);
  });

  // When the first connection to a node is slow, Citus may open further connections. It then refuses later statements of the transaction.
  test('a transaction that has locked figures uses one connection to each node until its end', async () => {
    await using database = open(await theCluster().createDatabase());
    await migrate(database, 'indexer');
    const readMode = (db: Queryable) => db.query(`select current_setting('citus.multi_shard_modify_mode') as mode`);
    const mode = await database.transaction(async (tx) => {
      await lockFigures(tx, ['ethereum_a']);
      return readMode(tx);
    });
    assert.deepEqual([mode, await readMode(database)], [[{ mode: 'sequential' }], [{ mode: 'parallel' }]]);
  });
});
