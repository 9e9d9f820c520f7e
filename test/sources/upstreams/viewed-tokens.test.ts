// Recently viewed tokens and collections. A view of a followed collection is recorded, and is deleted after a day. Viewed tokens are read
// again from the marketplaces. These reads may use a fifth of the request budget.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { before, beforeEach, test } from 'node:test';
import type { Config } from '../../../src/service/config.ts';
import { readConfig } from '../../../src/service/config.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import {
  listViewedCollections,
  updateViewedTokensRefreshed,
  upsertRecentViews,
} from '../../../src/market/reads/queries/recent-views.ts';
import type { Address, AssetId } from '../../../src/platform/core/address.ts';
import { systemRandom } from '../../../src/platform/core/random.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { readCollectionDetail } from '../../../src/market/reads/collection.ts';
import { Market } from '../../../src/market/reads/market.ts';
import { RecentViews } from '../../../src/market/reads/recent-views.ts';
import { readToken } from '../../../src/market/reads/token.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import { createVendorTasks } from '../../../src/sources/upstreams/vendor.ts';
import { runTask } from '../../../src/platform/tasks/run.ts';
import type { Task } from '../../../src/platform/tasks/task.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { emptySyncTables, runImport, toContext, toNdjson } from '../../support/service/intake.ts';
import { APES, makeCollection, openseaRoutes } from '../../support/replay/opensea.ts';
import type { ReplayServer, Route } from '../../support/replay/replay.ts';
import { startReplayServer } from '../../support/replay/replay.ts';
import { addressOf, createMagicEdenBook, magicEdenRoutes } from '../../support/replay/magic-eden.ts';

const APES_ID = `apechain_${APES.contract}`;
const MINT = addressOf('fox', 1);
const NOW = Date.UTC(2026, 8, 1);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const PACE = { timeoutMs: 1_000, retryMs: 1, breakerOpenMs: 0 };

forOneEngine('recent views', (engine) => {
  let db: Database;
  let now = NOW;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    now = NOW;
    await emptySyncTables(db);
  });

  const follow = (collectionId: string, names: Readonly<Record<string, string>> = {}) => {
    const [chain = '', contractAddress = ''] = collectionId.split('_');
    return db.transaction((tx) =>
      upsertFollow(tx, {
        collectionId,
        chain,
        contractAddress: contractAddress as Address,
        standard: null,
        fromBlock: null,
        names: new Map(Object.entries(names)),
        createdAt: NOW,
      }),
    );
  };
  const createViews = () => new RecentViews(db, () => now);
  const view = async (collectionId: string, assets: readonly string[]) => {
    const views = createViews();
    for (const asset of assets) views.note(collectionId, asset as AssetId);
    await views.flush();
  };
  const start = async (t: TestContext, routes: Route[], settings: (url: string) => Record<string, string>) => {
    const replay = await startReplayServer(t, routes);
    const log = createLog('silent');
    const config = readConfig(settings(replay.url));
    const context = { ...toContext(db, { clock: () => now }), config, log, random: () => 0.5 };
    const run = async (task: Task | undefined) => {
      const options = { main: db, log, random: () => 0.5, stop: AbortSignal.timeout(30_000), force: true };
      return runTask(task ?? assert.fail('the task does not exist'), options);
    };
    return { replay, context, run };
  };
  const startOpenSea = async (t: TestContext, budget = '6000') => {
    const market = makeCollection({ tokens: Array.from({ length: 50 }, (_, n) => String(n)) });
    const { replay, context, run } = await start(t, openseaRoutes([market]), (url) => ({
      OPENSEA_API_KEY: 'a-key',
      OPENSEA_URL: url,
      OPENSEA_HOURLY_BUDGET: budget,
    }));
    const task = (await createVendorTasks(context.config.vendors, context, PACE)).find(
      ({ name }) => name === 'opensea-shown-tokens',
    );
    await follow(APES_ID, { opensea: APES.slug });
    return { replay, task, run: () => run(task) };
  };
  const takeRequested = (replay: ReplayServer) => {
    const requested = replay.requests.map((request) => request.split('/').at(-1) ?? '');
    replay.reset();
    return requested;
  };

  test('a view of a followed collection is recorded at most once a minute and deleted after a day', async () => {
    await follow(APES_ID);
    const views = createViews();
    views.note(APES_ID);
    views.note(APES_ID, '7' as AssetId);
    views.note('base_0x00', '7' as AssetId);
    await views.flush();
    const read = () =>
      db.query(`select collection_id, asset, viewed_at from main.recent_view order by asset nulls first`);
    assert.deepEqual(await read(), [
      { collection_id: APES_ID, asset: null, viewed_at: new Date(NOW) },
      { collection_id: APES_ID, asset: '7', viewed_at: new Date(NOW) },
    ]);
    now += MINUTE_MS - 1;
    views.note(APES_ID);
    await views.flush();
    assert.deepEqual((await read())[0]?.['viewed_at'], new Date(NOW));
    now += 1;
    views.note(APES_ID);
    await views.flush();
    assert.deepEqual((await read())[0]?.['viewed_at'], new Date(now));
    assert.deepEqual([...(await listViewedCollections(db, NOW))], [APES_ID]);
    assert.deepEqual([...(await listViewedCollections(db, now))], []);
    await sweepExpired({ main: db, indexer: db, chains: createChains(), clock: () => NOW + 24 * HOUR_MS + 1 });
    assert.deepEqual(
      (await read()).map((row) => row['asset']),
      [null],
    );
  });

  test('a request for a collection, or for a known token, is recorded as a view', async () => {
    const evm = { kind: 'token', chain: 'apechain', contractAddress: APES.contract };
    const collection = { ...evm, kind: 'collection', name: 'Apes', slug: 'apes' };
    await runImport(toContext(db), toNdjson([collection, { ...evm, tokenId: '7' }]));
    await follow(APES_ID);
    const chains = createChains();
    const settings = { serviceName: 'mercat', platformFeeBps: 200, custodyWallets: new Map(), sourceTimeoutMs: 5_000 };
    const log = createLog('silent');
    const market = new Market({
      ...settings,
      main: db,
      indexer: db,
      chains,
      clock: () => now,
      random: systemRandom,
      log,
    });
    const noted = async () => {
      await market.recentViews.flush();
      return (await db.query(`select asset from main.recent_view order by asset nulls first`)).map(
        (row) => row['asset'],
      );
    };
    await readCollectionDetail(market, 'apes');
    assert.deepEqual(await noted(), [null]);
    const chain = chains.get('apechain') ?? assert.fail();
    const subject = { chain, contractAddress: APES.contract as Address };
    await readToken(market, { ...subject, asset: '7' as AssetId });
    await assert.rejects(readToken(market, { ...subject, asset: '8' as AssetId }), { code: 'not_found' });
    assert.deepEqual(await noted(), [null, '7']);
    await market.close();
  });

  test('the number of unwritten views is bounded', async () => {
    await follow(APES_ID);
    const views = createViews();
    for (let n = 0; n < 5_000; n += 1) views.note(APES_ID, String(n) as AssetId);
    await db.query('alter table main.recent_view rename to away');
    await assert.rejects(views.flush(), /main.recent_view/);
    await db.query('alter table main.away rename to recent_view');
    await views.flush();
    const count = async () => (await db.query(`select count(*)::int as count from main.recent_view`))[0]?.['count'];
    assert.equal(await count(), 1_000);
    for (let n = 0; n < 5_000; n += 1) views.note(APES_ID, String(n) as AssetId);
    await views.flush();
    assert.equal(await count(), 2_000, 'views of other tokens were not recorded after the first views were written');
  });

  test('a token that was viewed again is read again an hour after its last read', async (t) => {
    const { replay, run } = await startOpenSea(t);
    await view(APES_ID, ['7', '8']);
    assert.equal((await run()).kind, 'done');
    assert.deepEqual(takeRequested(replay).toSorted(), ['7', '8']);
    const [row] = await db.query(`select name, rarity_rank, owner is not null as owned from indexer.token`);
    assert.deepEqual([row?.['name'] !== null, Number(row?.['rarity_rank']), row?.['owned']], [true, 12, true]);
    now += HOUR_MS - 1;
    await view(APES_ID, ['7']);
    await run();
    assert.deepEqual(takeRequested(replay), []);
    now += 2;
    await run();
    assert.deepEqual(takeRequested(replay), ['7'], 'a token that was not viewed again was requested');
  });

  test('viewed tokens of followed collections are read with a fifth of the budget, the newest view first', async (t) => {
    const { replay, run } = await startOpenSea(t, '600');
    for (const asset of ['1', '2', '3', '4', '5']) {
      now += 1_000;
      await view(APES_ID, [asset]);
    }
    await run();
    assert.deepEqual(
      takeRequested(replay),
      ['5', '4'],
      'the run did not use a fifth of the budget: two requests a minute of 600 an hour',
    );
    await db.query(`delete from main.follow`);
    await run();
    assert.deepEqual(takeRequested(replay), []);
  });

  test('when a fifth of the budget is less than one request a minute, the task runs less often than once a minute', async (t) => {
    const { task } = await startOpenSea(t, '100');
    const { task: usual } = await startOpenSea(t, '600');
    assert.deepEqual(
      [task?.periodMs, usual?.periodMs],
      [3 * MINUTE_MS, MINUTE_MS],
      'the period does not fit the budget',
    );
  });

  test('a stored view or refresh with a time in the future, which a wrong clock has caused, is ignored', async (t) => {
    const { replay, run } = await startOpenSea(t);
    now += 24 * HOUR_MS;
    await view(APES_ID, ['7']);
    await run();
    now -= 24 * HOUR_MS;
    await view(APES_ID, ['7']);
    takeRequested(replay);
    await run();
    assert.deepEqual(takeRequested(replay), ['7']);
  });

  test('concurrent writes of views and refreshes of the same tokens do not deadlock', async () => {
    await follow(APES_ID);
    const assets = Array.from({ length: 600 }, (_, n) => String(n * 7_919));
    // The stored order of the rows differs from their sort order. If one of the statements locked the rows in the stored order, the statements
    // could deadlock.
    for (let start = 0; start < 600; start += 50) await view(APES_ID, assets.slice(start, start + 50).toReversed());
    const both = Array.from({ length: 15 }, async () => {
      await Promise.all([
        upsertRecentViews(
          db,
          assets.map((asset) => ({ collectionId: APES_ID, asset: asset as AssetId, at: now })),
        ),
        updateViewedTokensRefreshed(db, { collectionId: APES_ID, assets: assets as AssetId[], at: now }),
      ]);
    });
    await Promise.all(both);
  });

  test('when the marketplace does not have one of the viewed tokens, the other viewed tokens are still read', async (t) => {
    const { replay, run } = await startOpenSea(t);
    await view(APES_ID, ['7', '999', '8']);
    const end = await run();
    assert.deepEqual(end.kind === 'done' && end.result.problems, [`${APES_ID}: opensea: not-found (404)`]);
    assert.deepEqual(takeRequested(replay).toSorted(), ['7', '8', '999']);
    await run();
    assert.deepEqual(takeRequested(replay), []);
    await view(APES_ID, ['20', '21']);
    replay.fail('hang');
    assert.equal((await run()).kind, 'failed');
    assert.equal(takeRequested(replay).length, 1);
    replay.heal();
    await view(APES_ID, ['22']);
    replay.fail('hang', { skip: 1 });
    assert.equal((await run()).kind, 'done', 'the run failed although one of three tokens was read');
    assert.equal(takeRequested(replay).length, 2);
    replay.heal();
    await run();
    assert.equal(takeRequested(replay).length, 2);
  });

  test('viewed tokens are read from Magic Eden when there is no DAS endpoint', async (t) => {
    const magic = createMagicEdenBook();
    magic.tokens.set(MINT, { mintAddress: MINT, name: 'A fox', owner: addressOf('an', 1), collection: 'foxes' });
    const { replay, context, run } = await start(t, magicEdenRoutes(magic), (url) => ({ MAGICEDEN_URL: url }));
    const collection = addressOf('ce', 1);
    await db.transaction((tx) =>
      upsertFollow(tx, {
        collectionId: `solana_${collection.toLowerCase()}`,
        chain: 'solana',
        contractAddress: collection as Address,
        standard: null,
        fromBlock: null,
        names: new Map([['magic-eden', 'foxes']]),
        createdAt: NOW,
      }),
    );
    await view(`solana_${collection.toLowerCase()}`, [MINT]);
    const findTask = async (config: Config) =>
      (await createVendorTasks(config.vendors, { ...context, config })).find(
        ({ name }) => name === 'magic-eden-shown-tokens',
      );
    await run(await findTask(context.config));
    assert.deepEqual(takeRequested(replay), [MINT]);
    const [row] = await db.query(`select asset, name, owner from indexer.token`);
    assert.deepEqual([row?.['asset'], row?.['name'], row?.['owner']], [MINT, 'A fox', addressOf('an', 1)]);
    assert.equal(await findTask(readConfig({ DAS_URL: 'http://127.0.0.1:1' })), undefined);
  });
});
