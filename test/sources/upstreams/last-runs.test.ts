// What is stored of a collection that is removed or added again: its last runs, its follow, and its mark `launched`.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { listLastRuns, upsertLastRun } from '../../../src/market/follows/queries/last-runs.ts';
import { deleteFollow, listFollows, insertFollowName } from '../../../src/market/follows/queries/follows.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { createCollectionOperations } from '../../../src/service/workers/follow-operations.ts';
import { createVendorTasks } from '../../../src/sources/upstreams/vendor.ts';
import { runTask } from '../../../src/platform/tasks/run.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { until } from '../../support/until.ts';
import { NOW, emptyTables, toContext } from '../../support/service/intake.ts';
import { APES, makeCollection, openseaRoutes } from '../../support/replay/opensea.ts';
import { startReplayServer } from '../../support/replay/replay.ts';

const ID = `apechain_${APES.contract}`;
const TASK = 'opensea-tokens';
const LIMIT_MS = 60_000;

forEachEngine('last runs', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    await emptyTables(db);
    for (const table of ['main.follow', 'main.sync_task']) await db.query(`delete from ${table}`);
  });

  const toServiceContext = (url: string) => {
    const settings = { OPENSEA_API_KEY: 'a-key', OPENSEA_URL: url, OPENSEA_HOURLY_BUDGET: '1000000' };
    const log = createLog('silent');
    return { ...toContext(db), config: readConfig(settings), log, random: () => 0.5 };
  };
  const operationsOf = (context: ReturnType<typeof toServiceContext>) =>
    createCollectionOperations({ ...context, onFollowed: async () => undefined });
  const add = (context: ReturnType<typeof toServiceContext>, opensea?: string) =>
    operationsOf(context)['collections.add']({ chain: 'apechain', address: APES.contract, opensea });

  test('a collection that is added again under another name is read in the next run', async (t) => {
    const market = makeCollection({ tokens: ['1', '2'], chain: 'elsewhere' });
    const replay = await startReplayServer(t, openseaRoutes([market]));
    const context = toServiceContext(replay.url);
    const tasks = await createVendorTasks(context.config.vendors, context);
    const task = tasks.find(({ name }) => name === TASK) ?? assert.fail();
    const run = async () => {
      replay.reset();
      const options = {
        main: db,
        log: context.log,
        random: () => 0.5,
        stop: AbortSignal.timeout(LIMIT_MS),
        force: true,
        isFull: false,
      };
      assert.equal((await runTask(task, options)).kind, 'done');
      return replay.count();
    };
    await add(context);
    assert.deepEqual(
      [await run(), await run()],
      [1, 0],
      'a collection that OpenSea does not have was requested again on the same day',
    );
    market.chain = 'ape_chain';
    await add(context, APES.slug);
    assert.equal(await run(), 1);
    const [row] = await db.query('select count(*)::int as count from indexer.token');
    assert.equal(row?.['count'], 2);
  });

  test('a collection stays marked as launched until the operator removes the mark', async () => {
    const { 'collections.add': call } = operationsOf(toServiceContext('http://127.0.0.1:1'));
    const launched = async (input: { launched?: boolean }) => {
      await call({ chain: 'apechain', address: APES.contract, ...input });
      return (await db.query(`select launched from main.collection`)).map((row) => row['launched']);
    };
    assert.deepEqual(
      [await launched({}), await launched({ launched: true }), await launched({}), await launched({ launched: false })],
      [[false], [true], [true], [false]],
    );
  });

  test('a collection that is removed while it is processed stays removed', async () => {
    const context = toServiceContext('http://127.0.0.1:1');
    for (const isFirst of [true, false]) {
      await add(context);
      const saveRun = () => upsertLastRun(db, { task: TASK, collectionId: ID, at: NOW, isDone: true });
      if (!isFirst) await saveRun();
      const writes: Promise<void>[] = [];
      const writeAtEnd = () =>
        writes.push(saveRun(), insertFollowName(db, { collectionId: ID, vendor: 'opensea', name: 'another' }));
      await db.transaction(async (tx) => {
        await deleteFollow(tx, ID);
        // The embedded engine has one connection. No write can wait for the removal there.
        if (engine.name === 'embedded') return;
        writeAtEnd();
        await until(
          async () => (await countWaiting()) === writes.length,
          LIMIT_MS,
          'no statement waits for the removal',
        );
      });
      if (engine.name === 'embedded') writeAtEnd();
      await Promise.all(writes);
      assert.equal((await listLastRuns(db, TASK)).size, 0);
      assert.equal((await listFollows(db)).length, 0);
    }
  });

  const countWaiting = async () => {
    const [row] = await db.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return row?.count ?? 0;
  };
});
