// A walk reads a list of a marketplace page by page, and stores which part of the list it has covered. A sum or a count is served as a
// total only if all its rows are covered.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { before, beforeEach, test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { toCollectionId } from '../../../src/platform/core/collection.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import { createVendorTasks } from '../../../src/sources/upstreams/vendor.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { assetOf, createDasStore, dasRoutes } from '../../support/replay/das.ts';
import {
  addressOf,
  createMagicEdenBook,
  LANTERNS,
  LANTERNS_SYMBOL,
  listingRow,
  magicEdenRoutes,
  saleRow,
} from '../../support/replay/magic-eden.ts';
import type { ServedCollection } from '../../support/replay/opensea.ts';
import { APES, makeAddress, makeCollection, makeHash, openseaRoutes } from '../../support/replay/opensea.ts';
import { startReplayServer } from '../../support/replay/replay.ts';
import { emptySyncTables, runImport, toContext, toNdjson } from '../../support/service/intake.ts';
import { range } from '../../support/service/market.ts';

const NOW = Date.UTC(2026, 8, 1);
const NOW_S = NOW / 1_000;
const MINUTE_MS = 60_000;
const PACE = { timeoutMs: 400, retryMs: 1, breakerOpenMs: 0 };
const APES_ID = `apechain_${APES.contract}`;
const LANTERNS_ID = toCollectionId('solana', LANTERNS as Address);

const saleAt = (n: number, soldAt: number) => ({
  tokenId: String(n),
  raw: 10n ** 18n,
  tx: makeHash(70_000 + n),
  soldAt,
});

forOneEngine('coverage', (engine) => {
  let db: Database;
  let now = NOW;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    now = NOW;
    await emptySyncTables(db);
  });

  const follow = (chain: string, contractAddress: string, vendor: string, name: string) =>
    upsertFollow(db, {
      collectionId: toCollectionId(chain, contractAddress as Address),
      chain,
      contractAddress: contractAddress as Address,
      standard: null,
      fromBlock: null,
      names: new Map([[vendor, name]]),
      createdAt: NOW,
    });
  const startTasks = async (settings: Record<string, string>) => {
    const config = readConfig(settings);
    const context = { ...toContext(db, { clock: () => now }), config, log: createLog('silent') };
    const tasks = await createVendorTasks(config.vendors, context, PACE);
    return (name: string) => {
      const task = tasks.find((one) => one.name === name) ?? assert.fail(name);
      return task.run(AbortSignal.timeout(MINUTE_MS), () => undefined, { isFull: true });
    };
  };
  const startOpenSea = async (t: TestContext, market: ServedCollection) => {
    const replay = await startReplayServer(t, openseaRoutes([market]));
    await follow('apechain', APES.contract, 'opensea', APES.slug);
    const url = { OPENSEA_API_KEY: 'key', OPENSEA_URL: replay.url, OPENSEA_HOURLY_BUDGET: '1000000' };
    return { replay, run: await startTasks(url) };
  };
  const covered = async (collectionId: string) => {
    const rows = await db.query(
      `select subject, source, kind, from_time, to_time from indexer.coverage
       where collection_id = $1 and kind = 'scan' order by subject`,
      [collectionId],
    );
    return rows.map((row) => [
      row['subject'],
      row['source'],
      row['kind'],
      row['from_time'] === null ? null : (row['from_time'] as Date).getTime(),
      (row['to_time'] as Date).getTime(),
    ]);
  };

  test('a list of listings is stored as covered only if it was read completely and lacks only few of the stored listings', async (t) => {
    const listings = range(60).map((n) => ({
      tokenId: String(n),
      seller: makeAddress(n % 5),
      total: 10n ** 18n + BigInt(n),
      hash: makeHash(n + 1),
      listedAt: NOW_S - 86_400,
    }));
    const market = makeCollection({ listings });
    const { run, replay } = await startOpenSea(t, market);
    await run('opensea-listings');
    const first = ['listings', 'opensea', 'scan', null, NOW];
    assert.deepEqual(await covered(APES_ID), [first]);
    now += 5 * MINUTE_MS;
    replay.fail('server-error');
    await assert.rejects(run('opensea-listings'));
    replay.heal();
    market.listings = listings.slice(0, 10);
    assert.match(String((await run('opensea-listings')).problems), /not accepted yet/);
    assert.deepEqual(await covered(APES_ID), [first]);
    market.listings = listings;
    await run('opensea-listings');
    assert.deepEqual(await covered(APES_ID), [['listings', 'opensea', 'scan', null, now]]);
  });

  const rejections = [
    { rows: 9, rejected: 1, isCovered: false },
    { rows: 10, rejected: 1, isCovered: true },
    { rows: 60, rejected: 1, isCovered: true },
    { rows: 60, rejected: 2, isCovered: false },
    { rows: 250, rejected: 2, isCovered: true },
    { rows: 250, rejected: 3, isCovered: false },
  ];
  for (const { rows, rejected, isCovered } of rejections) {
    test(`a list of ${rows} listings with ${rejected} rejected rows is ${isCovered ? '' : 'not '}covered`, async (t) => {
      const listings = range(rows).map((n) => ({
        tokenId: String(n),
        seller: makeAddress(n % 5),
        total: 10n ** 18n + BigInt(n),
        hash: n < rejected ? 'none' : makeHash(n + 1),
        listedAt: NOW_S - 86_400,
      }));
      const { run } = await startOpenSea(t, makeCollection({ listings }));
      const result = await run('opensea-listings');
      assert.equal(result.refused, rejected);
      assert.deepEqual(await covered(APES_ID), isCovered ? [['listings', 'opensea', 'scan', null, NOW]] : []);
    });
  }

  test('if the list of sales was read to its end, the sales of all times are covered', async (t) => {
    const market = makeCollection({ sales: range(30).map((n) => saleAt(n, NOW_S - 3_600 + n)) });
    const { run, replay } = await startOpenSea(t, market);
    await run('opensea-sales');
    assert.deepEqual(await covered(APES_ID), [['sales', 'opensea', 'scan', null, NOW]]);
    now += 26 * 60 * MINUTE_MS;
    replay.fail('server-error');
    await assert.rejects(run('opensea-sales'));
    replay.heal();
    assert.deepEqual(await covered(APES_ID), [['sales', 'opensea', 'scan', null, NOW]]);
    market.sales.push(...range(450).map((n) => saleAt(1_000 + n, NOW_S + n)));
    // A newer sale that another process stored must not hide the sales before it.
    const { tokenId, tx } = saleAt(5_000, 0);
    const imported = {
      kind: 'sale',
      source: 'opensea',
      chain: 'apechain',
      contractAddress: APES.contract,
      tokenId,
      tx,
    };
    await runImport(
      toContext(db, { clock: () => now }),
      toNdjson([{ ...imported, price: '1', timestamp: new Date(now - MINUTE_MS).toISOString() }]),
    );
    assert.equal((await run('opensea-sales')).changed, 450);
    assert.deepEqual(await covered(APES_ID), [['sales', 'opensea', 'scan', null, now]]);
    now += 5 * MINUTE_MS;
    market.sales.push(
      ...range(5).map((n) => ({ ...saleAt(9_000 + n, now / 1_000 - n), ...(n === 0 && { tx: 'none' }) })),
    );
    await run('opensea-sales');
    assert.deepEqual(
      await covered(APES_ID),
      [['sales', 'opensea', 'scan', now, now]],
      'the rejected sale was counted as covered',
    );
  });

  test('the first read of sales also stores sales that are older than a sale that was read from the chain', async (t) => {
    const market = makeCollection({ sales: [saleAt(1, NOW_S - 86_400)] });
    const { run } = await startOpenSea(t, market);
    await db.query(
      `insert into indexer.sale (key, source, chain, collection_id, asset, price, price_raw, sold_at, tx, log_index, block_number)
       values (md5('2')::uuid, 'opensea', 'apechain', $1, '2', '1', 1, $2, $3, 0, 7)`,
      [APES_ID, new Date(NOW), makeHash(2)],
    );
    await run('opensea-sales');
    const rows = await db.query(`select asset from indexer.sale order by sold_at`);
    assert.deepEqual(
      rows.map(({ asset }) => asset),
      ['1', '2'],
    );
  });

  test('of a long list of sales only the part that was read is covered', async (t) => {
    const market = makeCollection({ sales: range(1_050).map((n) => saleAt(n, NOW_S - 5_000 + n)) });
    const { run } = await startOpenSea(t, market);
    await run('opensea-sales');
    const from = NOW - 5_000_000 + 51_000;
    assert.deepEqual(await covered(APES_ID), [['sales', 'opensea', 'scan', from, NOW]]);
    now += 5 * MINUTE_MS;
    await run('opensea-sales');
    assert.deepEqual(await covered(APES_ID), [['sales', 'opensea', 'scan', from, now]]);
  });

  test('a list of tokens that was read to its end is covered, unless it lacks a stored token', async (t) => {
    const market = makeCollection({ tokens: range(250).map(String) });
    const { run } = await startOpenSea(t, market);
    await run('opensea-tokens');
    assert.deepEqual(await covered(APES_ID), [['tokens', 'opensea', 'scan', null, NOW]]);
    now += 24 * 60 * MINUTE_MS;
    market.tokens = market.tokens.slice(1);
    await run('opensea-tokens');
    assert.deepEqual(await covered(APES_ID), [['tokens', 'opensea', 'scan', null, NOW]]);
  });

  test('while the owner of a token is not known, a list of tokens covers the tokens, and not the owners', async (t) => {
    const mints = range(3).map((n) => addressOf('mint', n));
    const ownerless = { ownership: { owner: '', ownership_model: 'single' } };
    const store = createDasStore([
      ...mints.map((mint, n) => assetOf(mint, LANTERNS, n === 1 ? ownerless : {})),
      assetOf(LANTERNS, LANTERNS, { grouping: [] }),
    ]);
    const das = await startReplayServer(t, dasRoutes(store));
    await follow('solana', LANTERNS, 'magic-eden', LANTERNS_SYMBOL);
    const run = await startTasks({ DAS_URL: das.url });
    await run('das-tokens');
    assert.deepEqual(await covered(LANTERNS_ID), [['tokens', 'das', 'scan', null, NOW]]);
    const owners = await db.query(`select asset, owner from indexer.token where owner is null`);
    assert.deepEqual(owners, [{ asset: mints[1], owner: null }]);
    store.assets[1] = assetOf(mints[1] ?? '', LANTERNS);
    await run('das-tokens');
    assert.deepEqual(await covered(LANTERNS_ID), [
      ['owners', 'das', 'scan', null, NOW],
      ['tokens', 'das', 'scan', null, NOW],
    ]);
  });

  test('on Solana, walks cover the listings, the tokens, and the sales from the oldest sale that was read', async (t) => {
    const book = createMagicEdenBook();
    const replay = await startReplayServer(t, magicEdenRoutes(book));
    const mints = range(20).map((n) => addressOf('mint', n));
    const asset = assetOf(LANTERNS, LANTERNS, { grouping: [] });
    const store = createDasStore([...mints.map((mint) => assetOf(mint, LANTERNS)), asset]);
    const das = await startReplayServer(t, dasRoutes(store));
    await follow('solana', LANTERNS, 'magic-eden', LANTERNS_SYMBOL);
    const run = await startTasks({ MAGICEDEN_URL: replay.url, DAS_URL: das.url });
    await run('magic-eden-listings');
    assert.deepEqual(await covered(LANTERNS_ID), []);
    book.stats.set(LANTERNS_SYMBOL, {
      symbol: LANTERNS_SYMBOL,
      listedCount: 20,
      floorPrice: 1_000_000_000,
      volumeAll: 12_345e9,
    });
    book.listings.set(
      LANTERNS_SYMBOL,
      range(20).map((n) => listingRow(n)),
    );
    book.activities.set(
      LANTERNS_SYMBOL,
      range(40).map((n) => saleRow(n, NOW_S - 3_600 - n)),
    );
    await run('magic-eden-listings');
    await run('magic-eden-sales');
    await run('das-tokens');
    assert.deepEqual(await covered(LANTERNS_ID), [
      ['listings', 'magic-eden', 'scan', null, NOW],
      ['owners', 'das', 'scan', null, NOW],
      ['sales', 'magic-eden', 'scan', NOW - 3_639_000, NOW],
      ['tokens', 'das', 'scan', null, NOW],
    ]);
    const [record] = await db.query(`select volume_all_time, at from indexer.collection_analytics`);
    assert.deepEqual(record, { volume_all_time: 12_345, at: new Date(NOW) });
  });
});
