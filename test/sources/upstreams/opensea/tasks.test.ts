// The tasks that mirror OpenSea. They store the data of followed collections, keep the data up to date, and do not change it while OpenSea
// fails.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { before, beforeEach, test } from 'node:test';
import { readConfig } from '../../../../src/service/config.ts';
import type { Database } from '../../../../src/platform/database/port.ts';
import { findFollow, upsertFollow } from '../../../../src/market/follows/queries/follows.ts';
import type { Address } from '../../../../src/platform/core/address.ts';
import { createLog } from '../../../../src/platform/core/log.ts';
import { toBudgetRule, toNeeded } from '../../../../src/sources/upstreams/budget.ts';
import { createVendorTasks } from '../../../../src/sources/upstreams/vendor.ts';
import { runTask } from '../../../../src/platform/tasks/run.ts';
import type { TaskResult } from '../../../../src/platform/tasks/task.ts';
import { forOneEngine } from '../../../support/engines/each-engine.ts';
import { emptySyncTables, runImport, toContext, toNdjson } from '../../../support/service/intake.ts';
import { APES, makeAddress, makeCollection, makeHash, openseaRoutes } from '../../../support/replay/opensea.ts';
import type { ServedCollection } from '../../../support/replay/opensea.ts';
import { REPLAY_FAULTS, startReplayServer } from '../../../support/replay/replay.ts';

const ID = `apechain_${APES.contract}`;
const LIMIT_MS = 60_000;
const PACE = { timeoutMs: 400, retryMs: 1, breakerOpenMs: 0 };
/** All listings of the test market were listed before this time. */
const NOW = Date.UTC(2026, 8, 1);
/** The options of a scheduled run. A run that the operator requests has `isFull: true`. */
const DUE = { isFull: false };
const LISTED_AT = NOW / 1_000 - 86_400;

function makeMarket(count: number): ServedCollection {
  const range = Array.from({ length: count }, (_, index) => index);
  return makeCollection({
    tokens: range.map(String),
    listings: range.map((n) => ({
      tokenId: String(n),
      seller: makeAddress(n % 5),
      total: 10n ** 18n + BigInt(n),
      hash: makeHash(n + 1),
      listedAt: LISTED_AT,
    })),
    sales: range.slice(0, 30).map((n) => ({
      tokenId: String(n),
      raw: 2n * 10n ** 18n,
      tx: makeHash(70_000 + n),
      soldAt: LISTED_AT + n,
    })),
  });
}

forOneEngine('OpenSea', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    await emptySyncTables(db);
  });

  const start = async (t: TestContext, market: ServedCollection, settings: Record<string, string> = {}) => {
    const replay = await startReplayServer(t, openseaRoutes([market]));
    const log = createLog('silent');
    const config = readConfig({
      OPENSEA_API_KEY: 'a-key',
      OPENSEA_URL: replay.url,
      OPENSEA_HOURLY_BUDGET: '1000000',
      ...settings,
    });
    let now = NOW;
    const context = { ...toContext(db, { clock: () => now }), config, log, random: () => 0.5 };
    const openSea = config.vendors.filter(({ name }) => name === 'opensea');
    const tasks = await createVendorTasks(openSea, context, PACE);
    const run = async (name: string, { isFull = true } = {}) => {
      const task = tasks.find((one) => one.name === `opensea-${name}`) ?? assert.fail(name);
      return runTask(task, {
        main: db,
        log,
        random: () => 0.5,
        stop: AbortSignal.timeout(LIMIT_MS),
        force: true,
        isFull,
      });
    };
    const done = async (name: string, options: { isFull?: boolean } = {}): Promise<TaskResult> => {
      const end = await run(name, options);
      return end.kind === 'done' ? end.result : assert.fail(JSON.stringify(end));
    };
    return { replay, run, done, tasks, pass: (ms: number) => (now += ms) };
  };
  const follow = ({ slug, fromBlock = null }: { slug?: string; fromBlock?: number | null } = {}) =>
    db.transaction((tx) =>
      upsertFollow(tx, {
        collectionId: ID,
        chain: 'apechain',
        contractAddress: APES.contract as Address,
        standard: null,
        fromBlock,
        names: new Map(slug === undefined ? [] : [['opensea', slug]]),
        createdAt: NOW,
      }),
    );
  const collect = (name: string) =>
    runImport(
      toContext(db),
      toNdjson([{ kind: 'collection', chain: 'apechain', contractAddress: APES.contract, name, royaltyBps: 300 }]),
    );
  const listed = async () => {
    const rows = await db.query(
      `select order_hash, asset, price_raw, buyer_total_raw, seller, status from indexer.listing order by price_raw, order_hash`,
    );
    return rows.map((row) => [
      row['order_hash'],
      row['asset'],
      row['price_raw'],
      row['buyer_total_raw'],
      row['seller'],
      row['status'],
    ]);
  };
  const expected = ({ listings }: ServedCollection) =>
    listings
      .toSorted((a, b) => (a.total < b.total ? -1 : 1))
      .map(({ hash, tokenId, total, seller }) => [hash, tokenId, `${total}`, `${total}`, seller, 'active']);

  test('the offers of a followed collection are stored as reported bids, and an offer that OpenSea lists no more is retired', async (t) => {
    const market = makeMarket(1);
    const offer = (n: number) => ({
      bidder: makeAddress(n),
      total: 10n ** 17n + BigInt(n),
      hash: makeHash(n),
      madeAt: LISTED_AT,
    });
    market.offers = [1, 2, 3].map(offer);
    const { done, run, replay } = await start(t, market);
    await collect(APES.contract);
    await follow({ slug: APES.slug });
    const bids = async () =>
      (await db.query(`select reported_hash, source, status, price_raw from main.book_order order by price_raw`)).map(
        (row) => [row['reported_hash'], row['source'], row['status']],
      );
    assert.deepEqual([(await done('offers')).changed, (await done('offers')).changed], [3, 0]);
    assert.deepEqual(
      await bids(),
      [1, 2, 3].map((n) => [makeHash(n), 'opensea', 'active']),
    );
    market.offers = [offer(1), offer(3)];
    assert.equal((await done('offers')).retired, 1);
    assert.deepEqual((await bids())[1], [makeHash(2), 'opensea', 'cancelled']);
    replay.fail('server-error');
    market.offers = [];
    assert.notEqual((await run('offers')).kind, 'done');
    assert.equal((await bids()).filter(([, , status]) => status === 'active').length, 2, 'a failure retired offers');
  });

  test('the slug of a followed contract is found, and all data of the collection is stored', async (t) => {
    const market = makeMarket(450);
    const { done, replay } = await start(t, market);
    await collect(APES.contract);
    await follow();
    for (const name of ['collections', 'listings', 'sales', 'tokens']) {
      const { refused, problems } = await done(name);
      assert.deepEqual([refused, problems], [0, []], name);
    }
    assert.equal((await findFollow(db, ID))?.names.get('opensea'), APES.slug);
    const [row] = await db.query(
      `select name, slug, image, royalty_bps, snapshot_supply, token_standard from main.collection`,
    );
    assert.deepEqual(
      [row?.['name'], row?.['slug'], row?.['royalty_bps'], Number(row?.['snapshot_supply']), row?.['token_standard']],
      ['Ape Things', APES.slug, 300, 450, 'ERC-721'],
      'a known field was changed, or a missing field was not filled in',
    );
    assert.deepEqual(await listed(), expected(market));
    const [sales] = await db.query(`select count(*)::int as count, sum(price_raw)::text as sum from indexer.sale`);
    assert.deepEqual([sales?.['count'], sales?.['sum']], [30, `${60n * 10n ** 18n}`]);
    const [tokens] = await db.query(`select count(*)::int as count from indexer.token where name is not null`);
    assert.equal(tokens?.['count'], 450);
    const [stats] = await db.query(
      `select owners::int as owners, supply::int as supply, floor_raw from indexer.collection_stats`,
    );
    assert.deepEqual([stats?.['owners'], stats?.['supply'], stats?.['floor_raw']], [5, 450, '15690000000000000']);
    assert.equal(
      replay.count(/contract\/0xa9[^/]*$/),
      2,
      'the task did not send one request for the slug and one for the token standard',
    );
    for (const name of ['collections', 'listings', 'sales', 'tokens'])
      assert.equal((await done(name)).changed, 0, name);
  });

  test('a collection keeps the name that the operator gave it, and does not get a slug that another collection has', async (t) => {
    const { done } = await start(t, makeMarket(3));
    await collect('My Apes');
    const other = {
      kind: 'collection',
      chain: 'base',
      contractAddress: makeAddress(1),
      slug: APES.slug,
      name: 'First',
    };
    await runImport(toContext(db), toNdjson([other]));
    await follow();
    assert.equal((await done('collections')).refused, 0);
    const rows = await db.query(`select name, slug, image from main.collection order by name`);
    assert.deepEqual(
      rows.map((row) => [row['name'], row['slug'], row['image'] !== null]),
      [
        ['First', APES.slug, false],
        ['My Apes', null, true],
      ],
    );
  });

  test('a listing that is missing from a complete list of the marketplace is retired', async (t) => {
    const market = makeMarket(250);
    const { run, done, replay } = await start(t, market);
    await follow({ slug: APES.slug });
    await done('listings');
    const all = market.listings;
    market.listings = all.slice(10);
    replay.fail('server-error', { skip: 1 });
    assert.equal((await run('listings')).kind, 'failed');
    replay.heal();
    assert.equal(
      (await listed()).filter((row) => row[5] === 'active').length,
      250,
      'an incomplete list retired a listing',
    );
    assert.equal((await done('listings')).retired, 10);
    assert.deepEqual(
      (await listed()).filter((row) => row[5] === 'active'),
      expected(market),
    );
    market.listings = all;
    await done('listings');
    assert.deepEqual(await listed(), expected(market));
    market.listings = [];
    const short = await done('listings');
    assert.deepEqual([short.retired, short.problems?.length], [0, 1], 'the first list without listings was accepted');
  });

  test('all listings of a large collection are read once an hour, and other runs read only the two pages with the cheapest listings', async (t) => {
    const market = makeMarket(900);
    const { done, replay, pass } = await start(t, market);
    await follow({ slug: APES.slug });
    assert.deepEqual([(await done('listings', DUE)).changed, replay.count()], [900, 5]);
    const statusOf = async (n: number) =>
      (await db.query(`select status from indexer.listing where asset = $1 order by status`, [String(n)])).map(
        (row) => row['status'],
      );
    // Two tokens are bought, one of them among the cheapest. Then both are listed again: token 3 below all other prices, and token
    // 700 above them.
    const bought = new Set([3, 700]);
    const relist = (n: number, total: bigint) => ({ ...(all[n] ?? assert.fail()), hash: makeHash(60_000 + n), total });
    const all = market.listings;
    market.listings = [...all.filter((_, n) => !bought.has(n)), relist(3, 5n), relist(700, 3n * 10n ** 18n)];
    pass(5 * 60_000);
    replay.reset();
    const { changed, retired } = await done('listings', DUE);
    assert.deepEqual([changed, retired, replay.count(/best/), replay.count(/all/)], [1, 1, 2, 0]);
    assert.deepEqual([await statusOf(3), await statusOf(700)], [['active', 'cancelled'], ['active']]);
    pass(55 * 60_000);
    replay.reset();
    assert.deepEqual([(await done('listings', DUE)).retired, replay.count(/all/)], [1, 5]);
    assert.deepEqual(
      (await listed()).filter((row) => row[5] === 'active'),
      expected(market),
    );
    // If a list of the cheapest listings is not accepted, the next run reads all listings.
    market.listings = market.listings.slice(500);
    pass(5 * 60_000);
    replay.reset();
    const doubted = await done('listings', DUE);
    assert.deepEqual([doubted.retired, doubted.problems?.length, replay.count(/best/)], [0, 1, 2]);
    pass(5 * 60_000);
    await done('listings', DUE);
    assert.equal(replay.count(/all/), 2);
  });

  test('for an hour after a run that the operator requested, another process reads only the cheapest listings', async (t) => {
    const market = makeMarket(900);
    const { done, replay } = await start(t, market);
    await follow({ slug: APES.slug });
    await done('listings', DUE);
    replay.reset();
    await done('listings');
    assert.equal(replay.count(/all/), 5);
    const other = await start(t, market);
    other.pass(5 * 60_000);
    await other.done('listings', DUE);
    assert.deepEqual([other.replay.count(/best/), other.replay.count(/all/)], [2, 0]);
    other.pass(60 * 60_000);
    await other.done('listings', DUE);
    assert.equal(other.replay.count(/all/), 5);
    const setBack = await start(t, market);
    setBack.pass(-24 * 60 * 60_000);
    await setBack.done('listings', DUE);
    assert.equal(
      setBack.replay.count(/all/),
      5,
      'a clock that was set back by a day delayed the next read of all listings',
    );
  });

  test('reading only the cheapest listings of an ERC-1155 collection retires no listing', async (t) => {
    const market = makeMarket(900);
    market.standard = 'erc1155';
    const [first = assert.fail()] = market.listings;
    // This order has the lowest unit price, but a higher total price than the other orders.
    market.listings.push({ ...first, hash: makeHash(80_000), tokenId: '0', quantity: 10, total: 9n * 10n ** 18n });
    const { done, replay, pass } = await start(t, market);
    await follow({ slug: APES.slug });
    assert.equal((await done('listings', DUE)).changed, 901);
    pass(5 * 60_000);
    replay.reset();
    const { problems, retired } = await done('listings', DUE);
    assert.deepEqual([problems, retired, replay.count(/best/)], [[], 0, 2]);
    const rows = await db.query(`select price_raw, status from indexer.listing where order_hash = $1`, [
      makeHash(80_000),
    ]);
    assert.deepEqual(rows, [{ price_raw: `${9n * 10n ** 17n}`, status: 'active' }]);
    // The list is sorted by total price, so the unit prices are not in order. The task must not report this as a wrong sort order.
    market.listings.push({ ...first, hash: makeHash(80_001), tokenId: '0', quantity: 2, total: 10n ** 18n + 7n });
    pass(5 * 60_000);
    assert.deepEqual((await done('listings', DUE)).problems, []);
    market.listings = market.listings.slice(5);
    pass(60 * 60_000);
    assert.equal((await done('listings', DUE)).retired, 5, 'reading all listings did not retire the missing listings');
  });

  test('with a budget of 100 requests an hour or more, 500 pages of tokens are read within the deadline of the task', async () => {
    const config = readConfig({ OPENSEA_API_KEY: 'a-key' });
    const context = { ...toContext(db), config, log: createLog('silent'), random: () => 0.5 };
    const tasks = await createVendorTasks(config.vendors, context);
    const { deadlineMs } = tasks.find(({ name }) => name === 'opensea-tokens') ?? assert.fail();
    for (const perHour of [100, 600, 6_000]) {
      const rule = toBudgetRule(perHour);
      const pageMs = toNeeded(rule, { patienceMs: 0, isBulk: true }) / rule.perMs;
      assert.ok(
        500 * pageMs < deadlineMs,
        `reading 500 pages takes longer than the deadline with ${perHour} requests an hour`,
      );
    }
  });

  test('later runs request only the sales from 15 minutes before the newest stored sale onward', async (t) => {
    const market = makeMarket(40);
    const { done, replay } = await start(t, market);
    await follow({ slug: APES.slug });
    assert.equal((await done('sales')).changed, 30);
    market.sales.push({ tokenId: '7', raw: 5n, tx: makeHash(99_999), soldAt: LISTED_AT + 90 });
    replay.reset();
    assert.equal((await done('sales')).changed, 1);
    assert.equal(replay.count(new RegExp(`after=${LISTED_AT + 29 - 15 * 60}&`)), 1);
  });

  test('a first read of sales that is incomplete for another reason than a limit is a problem', async (t) => {
    const { done, replay } = await start(t, makeMarket(120));
    await follow({ slug: APES.slug });
    replay.fail('repeated-page');
    assert.deepEqual((await done('sales')).problems, [`${ID}: sales are incomplete: repeated page`]);
  });

  test('a collection whose chain is followed is still read from OpenSea', async (t) => {
    const { done } = await start(t, makeMarket(5), { RPC_URL_APECHAIN: 'http://127.0.0.1:1' });
    await follow({ slug: APES.slug, fromBlock: 1 });
    assert.equal((await done('sales')).changed, 5);
    await done('collections');
    const floors = await db.query(`select floor_raw, at from indexer.collection_stats`);
    assert.deepEqual(floors, [{ floor_raw: '15690000000000000', at: new Date(NOW) }]);
    await done('listings');
    assert.equal((await listed()).length, 5);
  });

  test('without a key there is no task and no request', async (t) => {
    const { tasks } = await start(t, makeMarket(1), { OPENSEA_API_KEY: '' });
    assert.deepEqual(tasks, []);
  });

  test('no fault of OpenSea changes the stored listings', async (t) => {
    const market = makeMarket(250);
    const { run, done, replay, pass } = await start(t, market);
    await follow({ slug: APES.slug });
    await done('listings');
    for (const fault of REPLAY_FAULTS) {
      for (const skip of [0, 1]) {
        replay.fail(fault, { skip, ms: 50 });
        await run('listings');
        assert.deepEqual(
          await listed(),
          expected(market),
          `the listings are wrong with ${fault} after ${skip} requests`,
        );
      }
      replay.heal();
      pass(60_000);
      const [first] = market.listings.splice(0, 1);
      market.listings.push({ ...(first ?? assert.fail()), hash: makeHash(50_000 + market.listings.length), total: 7n });
      await db.query(`delete from indexer.listing where status <> 'active'`);
      await done('listings');
      assert.deepEqual(
        (await listed()).filter((row) => row[5] === 'active').length,
        market.listings.length,
        `after ${fault}`,
      );
      market.listings.pop();
      market.listings.unshift(first ?? assert.fail());
      await done('listings');
      await db.query(`delete from indexer.listing where status <> 'active'`);
    }
  });
});
