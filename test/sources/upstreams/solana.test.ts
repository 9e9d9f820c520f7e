// Tests the tasks that mirror Solana collections: which rows they add and retire, which lists they accept as complete, and how many
// requests they send if the data has not changed. Local servers take the place of Magic Eden, a DAS endpoint and an operator's feed.

import { createVendorTasks } from '../../../src/sources/upstreams/vendor.ts';
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { before, beforeEach, test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { toCollectionId } from '../../../src/platform/core/collection.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { ServiceContext } from '../../../src/service/context.ts';
import type { Task, TaskResult } from '../../../src/platform/tasks/task.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { ASSET, NOW, emptySyncTables, toContext } from '../../support/service/intake.ts';
import { startReplayServer } from '../../support/replay/replay.ts';
import { assetOf, createDasStore, dasRoutes, readDasFixtures } from '../../support/replay/das.ts';
import { createFeedStore, feedRoutes } from '../../support/replay/feed.ts';
import {
  addressOf,
  askRow,
  createMagicEdenBook,
  LANTERNS,
  LANTERNS_SYMBOL,
  listingRow,
  magicEdenRoutes,
  saleRow,
} from '../../support/replay/magic-eden.ts';

const MINUTE_MS = 60_000;
const ID = toCollectionId('solana', LANTERNS as Address);
const EVM_CONTRACT = '0x8132176f60e9db5288d84feeefae455c8caa3f95';
const OPENING = { kind: 'feed', snapshot: ['listing'] };
const ENDING = { kind: 'feed', end: true };

const rows = (count: number, from = 0) => Array.from({ length: count }, (_, index) => listingRow(from + index));

forOneEngine('the tasks that mirror Solana', (engine) => {
  let db: Database;
  let now = NOW;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    now = NOW;
    await emptySyncTables(db);
  });

  const follow = (chain: string, contractAddress: string, symbol: string | null) =>
    upsertFollow(db, {
      collectionId: toCollectionId(chain, contractAddress as Address),
      chain,
      contractAddress: contractAddress as Address,
      standard: null,
      fromBlock: null,
      names: new Map(symbol === null ? [] : [['magic-eden', symbol]]),
      createdAt: NOW,
    });
  const toServiceContext = (settings: Record<string, string>): ServiceContext => ({
    ...toContext(db, { clock: () => now }),
    config: readConfig(settings),
    log: createLog('error', () => undefined),
    random: () => 0.5,
  });
  const run = (task: Task | undefined): Promise<TaskResult> =>
    task?.run(AbortSignal.timeout(60_000), () => undefined, { isFull: true }) ?? assert.fail('the task does not exist');
  const statuses = async () => {
    const found = await db.query(`select status, count(*)::int as count from indexer.listing group by status`);
    return Object.fromEntries(found.map((row) => [row['status'], row['count']]));
  };

  const startMagicEden = async (t: TestContext) => {
    const book = createMagicEdenBook();
    const replay = await startReplayServer(t, magicEdenRoutes(book));
    await follow('solana', LANTERNS, LANTERNS_SYMBOL);
    const context = toServiceContext({ MAGICEDEN_URL: replay.url, MAGICEDEN_EVM_URL: replay.url });
    const tasks = await createVendorTasks(context.config.vendors, context);
    const taskOf = (name: string) => tasks.find((task) => task.name === `magic-eden-${name}`);
    return {
      book,
      replay,
      setListings: (all: Record<string, unknown>[]) => {
        book.listings.set(LANTERNS_SYMBOL, all);
        book.stats.set(LANTERNS_SYMBOL, {
          symbol: LANTERNS_SYMBOL,
          listedCount: all.length,
          floorPrice: 1_000_000_000,
        });
      },
      listings: () => run(taskOf('listings')),
      sales: () => run(taskOf('sales')),
      asks: () => run(taskOf('asks')),
    };
  };

  test('a listing keeps the time at which its price and seller were first read', async (t) => {
    const { setListings, listings } = await startMagicEden(t);
    setListings(rows(150));
    const first = await listings();
    // The pages overlap, so some rows come twice.
    assert.equal(first.changed, 150 + 150 + 1, 'a listing, a token or the statistics were not stored');
    now += 5 * MINUTE_MS;
    assert.deepEqual(
      await listings().then(({ changed, retired, problems }) => [changed, retired, problems]),
      [1, 0, []],
      'a value other than the time of the statistics changed',
    );
    const [time] = await db.query(`select min(listed_at) as oldest, max(listed_at) as newest from indexer.listing`);
    assert.deepEqual([time?.['oldest'], time?.['newest']], [new Date(NOW), new Date(NOW)]);
    assert.deepEqual(await db.query('select floor_raw, listed_count, at from indexer.collection_stats'), [
      { floor_raw: '1000000000', listed_count: null, at: new Date(now) },
    ]);
    setListings([listingRow(0, { price: 0.9, priceInfo: undefined }), ...rows(149, 1)]);
    assert.equal((await listings()).changed, 1);
    const [cheaper] = await db.query(`select price_raw, listed_at from indexer.listing order by price_raw limit 1`);
    assert.deepEqual(cheaper, { price_raw: '900000000', listed_at: new Date(now) });
  });

  test('when a token is listed again after its listing has expired, the listing has the new time', async (t) => {
    const { setListings, listings } = await startMagicEden(t);
    const expiry = (time: number) => ({ expiry: time / 1_000 });
    setListings([listingRow(0, expiry(NOW + 10 * MINUTE_MS))]);
    await listings();
    now += 20 * MINUTE_MS;
    setListings([listingRow(0, expiry(NOW + 60 * MINUTE_MS))]);
    await listings();
    const rows = await db.query(
      `select listed_at, expires_at from indexer.listing where status = 'active' and expires_at > $1`,
      [new Date(now)],
    );
    assert.deepEqual(rows, [{ listed_at: new Date(now), expires_at: new Date(NOW + 60 * MINUTE_MS) }]);
  });

  test('a listing that is missing from a complete list of the marketplace is retired', async (t) => {
    const { setListings, listings, replay } = await startMagicEden(t);
    setListings(rows(150));
    await listings();
    now += 5 * MINUTE_MS;
    setListings(rows(140));
    assert.equal((await listings()).retired, 10);
    assert.deepEqual(await statuses(), { active: 140, cancelled: 10 });
    setListings(rows(150));
    assert.equal((await listings()).retired, 0);
    assert.deepEqual(await statuses(), { active: 150 });
    now += 5 * MINUTE_MS;
    setListings(rows(100));
    replay.fail('server-error', { path: /listings$/, skip: 1 });
    await assert.rejects(listings());
    replay.heal();
    replay.fail('wrong-types', { path: /listings$/, skip: 1 });
    assert.match(String((await listings()).problems), /incomplete: too many rejected/);
    assert.deepEqual(await statuses(), { active: 150 }, 'an incomplete list retired a listing');
    replay.heal();
    await listings();
    assert.deepEqual(await statuses(), { active: 100, cancelled: 50 });
  });

  test('no listing is retired when the list of the marketplace has fewer listings than its statistics count, or far fewer than before', async (t) => {
    const { book, setListings, listings } = await startMagicEden(t);
    setListings(rows(80));
    await listings();
    now += 5 * MINUTE_MS;
    book.listings.set(LANTERNS_SYMBOL, rows(60));
    assert.match(String((await listings()).problems), /fewer listings than counted/);
    setListings(rows(3));
    assert.match(String((await listings()).problems), /not accepted yet/);
    assert.deepEqual(await statuses(), { active: 80 });
  });

  test('a symbol that Magic Eden does not know is reported and retires no listing', async (t) => {
    const { book, setListings, listings } = await startMagicEden(t);
    setListings(rows(3));
    await listings();
    now += 5 * MINUTE_MS;
    book.listings.clear();
    book.stats.clear();
    assert.deepEqual(await listings().then(({ retired, problems }) => [retired, problems]), [
      0,
      [`${ID}: magic-eden has no statistics of the symbol ${LANTERNS_SYMBOL}`],
    ]);
    book.stats.set(LANTERNS_SYMBOL, { symbol: LANTERNS_SYMBOL, listedCount: -1 });
    assert.match(String((await listings()).problems), /incomplete: no listings, and the statistics were rejected$/);
    assert.deepEqual(await statuses(), { active: 3 });
    book.listings.set(LANTERNS_SYMBOL, rows(2));
    assert.equal(
      (await listings()).retired,
      1,
      'a list with rows retired nothing, because the statistics were rejected',
    );
    setListings([]);
    assert.equal((await listings()).retired, 2, 'an empty list retired nothing, although the symbol is known');
  });

  test('when a read of sales fails part-way, no sale of this read is stored, so that there is no gap between stored sales', async (t) => {
    const { book, sales, replay } = await startMagicEden(t);
    const newest = NOW / 1_000 - 3_600;
    const all = Array.from({ length: 1_300 }, (_, index) => saleRow(index, newest - index));
    book.activities.set(LANTERNS_SYMBOL, all.slice(1_000));
    assert.deepEqual(await sales().then(({ changed, problems }) => [changed, problems]), [300, []]);
    book.activities.set(LANTERNS_SYMBOL, all);
    replay.fail('server-error', { skip: 1, path: /activities$/ });
    await assert.rejects(sales(), /server-error/);
    const count = async () => (await db.query(`select count(*)::int as count from indexer.sale`))[0]?.['count'];
    assert.equal(await count(), 300);
    replay.heal();
    replay.reset();
    assert.equal((await sales()).changed, 1_000);
    assert.equal(await count(), 1_300);
    replay.reset();
    assert.equal((await sales()).changed, 0);
    assert.equal(replay.count(), 2, 'the read went back more than a quarter of an hour before the newest stored sale');
  });

  test('a sale has the id of the stored listing of the same token by the same seller', async (t) => {
    const { book, setListings, listings, sales } = await startMagicEden(t);
    const seller = addressOf('se', 0);
    const [low, high] = [45_000_000, 60_000_000].map((lamports) => ({
      price: lamports / 1e9,
      priceInfo: { solPrice: { rawAmount: String(lamports), decimals: 9 } },
    }));
    const inPool = (n: number) => ({ seller, listingSource: 'MMM', pdaAddress: addressOf('pool', n) });
    setListings([
      ...[0, 1].map((n) => listingRow(n, { seller })),
      // These two tokens are listed both in a pool and outside of it.
      listingRow(2, { seller, ...high }),
      listingRow(2, { ...inPool(2), ...low }),
      listingRow(3, { seller, ...high }),
      listingRow(3, { ...inPool(3), ...low }),
    ]);
    await listings();
    setListings([listingRow(1, { seller })]);
    now += 5 * MINUTE_MS;
    await listings();
    const sold = [0, 1, 2, 3, 4].map((n) =>
      saleRow(n, now / 1_000 - n, { ...(n === 3 ? high : low), seller: n === 1 ? addressOf('se', 9) : seller }),
    );
    book.activities.set(LANTERNS_SYMBOL, sold);
    assert.equal((await sales()).changed, 5);
    const stored = await db.query(`select listing_id from indexer.sale order by sold_at desc`);
    const poolListing = `${addressOf('pool', 2)}:${addressOf('mint', 2)}`;
    assert.deepEqual(
      stored.map((row) => row['listing_id']),
      [addressOf('pda', 0), null, poolListing, addressOf('pda', 3), null],
    );
  });

  test('when one collection cannot be read, the other collections are still read', async (t) => {
    const { book, replay, setListings, listings } = await startMagicEden(t);
    const other = addressOf('other', 1);
    await follow('solana', other, 'other');
    setListings(rows(5));
    book.listings.set('other', [listingRow(900, { token: undefined })]);
    book.stats.set('other', { symbol: 'other', listedCount: 1, floorPrice: 1_000_000_000 });
    replay.fail('not-found', { path: /paper_lanterns/ });
    const { problems } = await listings();
    assert.deepEqual(problems, [`${ID}: magic-eden: not-found (404)`]);
    assert.deepEqual(await statuses(), { active: 1 });
    replay.fail('not-found');
    await assert.rejects(listings(), /not-found/);
  });

  test('Magic Eden’s listings on an EVM chain are mirrored with their order hashes', async (t) => {
    const { book, asks } = await startMagicEden(t);
    await follow('ethereum', EVM_CONTRACT, 'some-symbol');
    await follow('ethereum', `0x${'9'.repeat(40)}`, null);
    const all = Array.from({ length: 130 }, (_, index) => askRow(index, EVM_CONTRACT));
    book.asks.set(EVM_CONTRACT, all);
    assert.deepEqual(await asks().then(({ changed, problems }) => [changed, problems]), [130, []]);
    assert.equal((await asks()).changed, 0);
    now += 5 * MINUTE_MS;
    book.asks.set(EVM_CONTRACT, all.slice(1));
    assert.equal((await asks()).retired, 1);
    const [found] = await db.query(`select order_hash, source from indexer.listing where asset = '7'`);
    assert.deepEqual(found, { order_hash: `0x${'7'.padStart(64, '0')}`, source: 'magic-eden' });
  });

  /** Follows the collection, and makes the task that reads its tokens from a DAS server with the assets of `store`. */
  const followWithDas = async (t: TestContext, store: ReturnType<typeof createDasStore>) => {
    const replay = await startReplayServer(t, dasRoutes(store));
    await follow('solana', LANTERNS, null);
    const context = toServiceContext({ DAS_URL: replay.url });
    const [task] = await createVendorTasks(
      context.config.vendors.filter(({ name }) => name === 'das'),
      context,
    );
    return task;
  };

  test('all 2,525 mints of a collection are read from a DAS endpoint, with their upper and lower case letters', async (t) => {
    const mints = Array.from({ length: 2_525 }, (_, index) => addressOf('mt', index));
    const collection = assetOf(LANTERNS, LANTERNS, {
      grouping: [],
      content: { metadata: { name: 'Paper Lanterns' }, links: {} },
    });
    const store = createDasStore([...mints.map((mint) => assetOf(mint, LANTERNS)), collection]);
    const task = await followWithDas(t, store);
    assert.deepEqual(await run(task).then(({ changed, refused, problems }) => [changed, refused, problems]), [
      2_526,
      0,
      [],
    ]);
    const found = await db.query(`select asset, collection_id from indexer.token`);
    assert.deepEqual(new Set(found.map((row) => row['asset'])), new Set(mints));
    assert.deepEqual([...new Set(found.map((row) => row['collection_id']))], [ID]);
    assert.equal(ID, ID.toLowerCase());
    assert.equal((await run(task)).changed, 0, 'a second run changed a row');
    await db.query(`update main.collection set name = 'A name of the operator'`);
    await run(task);
    const [named] = await db.query(`select name, contract_address from main.collection`);
    assert.deepEqual(named, { name: 'A name of the operator', contract_address: LANTERNS });
  });

  test('the traits and descriptions of tokens are stored, and unchanged traits and descriptions are not written again', async (t) => {
    const attributes: { trait_type: string; value: string | number }[] = [
      { trait_type: 'Paper', value: 'Rice' },
      { trait_type: 'Folds', value: 12 },
    ];
    const content = { metadata: { name: 'One', description: 'Folded', attributes }, links: {} };
    const collection = assetOf(LANTERNS, LANTERNS, { grouping: [] });
    const store = createDasStore([assetOf(ASSET, LANTERNS, { content }), collection]);
    const task = await followWithDas(t, store);
    const stored = async () => ({
      traits: await db.query(`select asset, name, value, kind from indexer.token_trait order by position`),
      metadata: await db.query(
        `select source, description, due_at, fetched_at, xmin::text from indexer.token_metadata`,
      ),
    });
    await run(task);
    const first = await stored();
    assert.deepEqual(first.traits, [
      { asset: ASSET, name: 'Paper', value: 'Rice', kind: 'text' },
      { asset: ASSET, name: 'Folds', value: '12', kind: 'number' },
    ]);
    assert.deepEqual(
      first.metadata.map((row) => [row['source'], row['description'], row['due_at']]),
      [['das', 'Folded', null]],
    );
    now += MINUTE_MS;
    await run(task);
    assert.deepEqual(await stored(), first);
    attributes.splice(0, 2, { trait_type: 'Paper', value: 'Silk' });
    await run(task);
    assert.deepEqual((await stored()).traits, [{ asset: ASSET, name: 'Paper', value: 'Silk', kind: 'text' }]);
  });

  test('the traits of the assets in the fixtures are stored, whatever the `interface` of the asset', async (t) => {
    const { group, collection } = readDasFixtures();
    const task = await followWithDas(t, createDasStore([...group, collection]));
    await run(task);
    assert.deepEqual(
      await db.query(`select asset, name, value, kind, position from indexer.token_trait order by asset collate "C"`),
      group
        .map(({ id }) => ({ asset: id, name: 'Paper', value: 'Rice', kind: 'text', position: 0 }))
        .toSorted((a, b) => (a.asset < b.asset ? -1 : 1)),
    );
  });

  test('a collection gets the token standard and the royalty of its tokens', async (t) => {
    const minted = { interface: 'ProgrammableNFT', royalty: { basis_points: 750 } };
    const store = createDasStore([assetOf(LANTERNS, LANTERNS, { grouping: [] }), assetOf(ASSET, LANTERNS, minted)]);
    const task = await followWithDas(t, store);
    const stored = async () => (await db.query(`select token_standard, royalty_bps from main.collection`))[0];
    await run(task);
    assert.deepEqual(await stored(), { token_standard: 'ProgrammableNonFungible', royalty_bps: 750 });
    await db.query(`update main.collection set royalty_bps = 200`);
    await run(task);
    assert.deepEqual(await stored(), { token_standard: 'ProgrammableNonFungible', royalty_bps: 200 });
  });

  const ownListing = (number: number, more: object = {}) => ({
    kind: 'listing',
    source: 'mercat',
    chain: 'solana',
    contractAddress: LANTERNS,
    mint: addressOf('mint', number),
    id: `place-${number}`,
    priceRaw: String(1_000_000_000 + number),
    seller: addressOf('se', 1),
    timestamp: new Date(NOW - 60 * MINUTE_MS).toISOString(),
    ...more,
  });
  const startFeed = async (t: TestContext) => {
    const store = createFeedStore();
    store.token = 'secret';
    const replay = await startReplayServer(t, feedRoutes(store));
    const context = toServiceContext({ FEED_URL: `${replay.url}/feed`, FEED_TOKEN: 'secret' });
    const [task] = await createVendorTasks(
      context.config.vendors.filter(({ name }) => name === 'feed'),
      context,
    );
    const own = (count: number) => Array.from({ length: count }, (_, index) => ownListing(index));
    return { store, replay, own, feed: () => run(task) };
  };

  test('an unchanged feed of own Solana listings is not read again for an hour', async (t) => {
    const { store, own, feed } = await startFeed(t);
    store.lines = own(40);
    assert.equal((await feed()).changed, 40);
    const [found] = await db.query(`select id, source from indexer.listing order by price_raw limit 1`);
    assert.deepEqual(found, { id: 'mercat_place-0', source: 'mercat' });
    assert.deepEqual(await feed().then(({ read, changed }) => [read, changed]), [0, 0]);
    assert.equal(store.unchanged, 1);
    now += 61 * MINUTE_MS;
    assert.deepEqual(
      await feed().then(({ read, changed }) => [read, changed]),
      [40, 0],
      'an unchanged feed was not read again after an hour',
    );
    assert.equal(store.unchanged, 1);
  });

  test('only a complete snapshot of a feed retires listings', async (t) => {
    const { store, own, feed } = await startFeed(t);
    store.lines = own(40);
    await feed();
    store.lines = own(30);
    await feed();
    assert.deepEqual(await statuses(), { active: 40 });
    store.lines = [OPENING, ...own(30)];
    assert.match(String((await feed()).problems), /cut off/);
    assert.deepEqual(await statuses(), { active: 40 });
    store.lines = [OPENING, ...own(30), ENDING];
    assert.equal((await feed()).retired, 10);
    assert.deepEqual(await statuses(), { active: 30, cancelled: 10 });
    store.lines = [OPENING, ...own(30).map((row) => ({ ...row, priceRaw: 'much' })), ENDING];
    assert.match(String((await feed()).problems), /rejected/);
    assert.deepEqual(await statuses(), { active: 30, cancelled: 10 });
  });

  test('a feed whose snapshot lacks nearly all listings is read in full until the snapshot is accepted', async (t) => {
    const { store, own, feed } = await startFeed(t);
    store.lines = [OPENING, ...own(40), ENDING];
    await feed();
    store.lines = [OPENING, ENDING];
    for (let count = 0; count < 3; count += 1) {
      assert.deepEqual(await statuses(), { active: 40 });
      now += 3 * MINUTE_MS;
      await feed();
    }
    assert.deepEqual(await statuses(), { cancelled: 40 });
    assert.equal(store.unchanged, 0);
    assert.deepEqual(await feed().then(({ read }) => read), 0);
    assert.equal(store.unchanged, 1);
  });

  test('a feed that cannot be read fails its task and changes nothing', async (t) => {
    const { store, own, feed } = await startFeed(t);
    store.lines = [OPENING, ...own(40), ENDING];
    await feed();
    store.token = 'another';
    await assert.rejects(feed(), /unauthorized/);
    assert.deepEqual(await statuses(), { active: 40 });
  });
});
