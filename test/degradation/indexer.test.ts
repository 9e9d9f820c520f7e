// What callers see while the indexer database is broken, in each way that it can be.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import {
  MARKET,
  NO_WINDOWS,
  SALES,
  SOURCE_TIMEOUT_MS,
  VOLUME,
  assertDegraded,
  assertFloor,
  assertRefused,
  assertWhole,
  assertWithoutIndexer,
  base,
  ethereum,
  lockMigrations,
  lockTable,
  solana,
  startBreakable,
  untilFloorsAreKept,
  withTwoServers,
} from '../support/breakable.ts';
import type { Breakable } from '../support/breakable.ts';
import { freePort, temporaryDirectory, until } from '../support/engines.ts';
import type { FlakyProxy } from '../support/flaky-proxy.ts';
import { startFlakyProxy } from '../support/flaky-proxy.ts';
import { startTestService } from '../support/service.ts';

const MINUTE_MS = 60_000;
/** From the return of the indexer to full answers: a retry, its jitter, and a connection that hangs while it is made. */
const RECOVERY_MAX_MS = 3_500;
/** The start waits three seconds for an indexer that hangs. */
const START_MAX_MS = 15_000;

withTwoServers('the indexer is broken', (servers) => {
  /** Polls until answers are whole again; no caller may wait for it. */
  async function untilWhole(service: Breakable): Promise<number> {
    const startedAt = performance.now();
    let slowest = 0;
    await until(
      async () => {
        const [detail, listings] = [
          await service.fresh(ethereum.path),
          await service.fresh(`${ethereum.path}/listings`),
        ];
        slowest = Math.max(slowest, detail.ms, listings.ms);
        return !detail.body.data.stale && listings.body.meta === undefined;
      },
      RECOVERY_MAX_MS,
      'answers are not whole again',
    );
    assert.ok(slowest < SOURCE_TIMEOUT_MS, `a caller waited ${slowest} ms while the indexer came back`);
    const tookMs = performance.now() - startedAt;
    await until(
      () =>
        assertWhole(service).then(
          () => true,
          () => false,
        ),
      RECOVERY_MAX_MS,
      'a source did not come back',
    );
    await assertWhole(service);
    return tookMs;
  }

  test('stopped: the contract’s fields are null, own rows are served, and full answers return with the server', async (t) => {
    const service = await startBreakable(t, servers);
    await untilFloorsAreKept(service);
    await assertWhole(service);
    await servers.indexer.stop();
    try {
      await assertWithoutIndexer(service);
    } finally {
      await servers.indexer.start();
    }
    t.diagnostic(`whole again after ${Math.round(await untilWhole(service))} ms`);
  });

  test('frozen, open connections and new ones: the same, and at once after a few failures', async (t) => {
    const service = await startBreakable(t, servers);
    await untilFloorsAreKept(service);
    servers.indexer.freeze();
    try {
      const first = await service.fresh(ethereum.path);
      assert.equal(first.body.data.stale, true);
      assert.ok(first.ms < 2 * SOURCE_TIMEOUT_MS, `the first answer took ${first.ms} ms`);
      await assertWithoutIndexer(service);
      await assertWithoutIndexer(service);
      for (const path of [ethereum.path, `${base.path}/floor`, `${solana.path}/listings`, '/v1/collections']) {
        const times: number[] = [];
        for (let round = 0; round < 5; round += 1) times.push((await service.fresh(path)).ms);
        const best = Math.min(...times);
        assert.ok(best < 10, `${path} took ${best} ms with the breaker open`);
        t.diagnostic(`${path}: ${best.toFixed(1)} ms with the breaker open`);
      }
    } finally {
      servers.indexer.thaw();
    }
    t.diagnostic(`whole again after ${Math.round(await untilWhole(service))} ms`);
  });

  test('killed and started again: the same', async (t) => {
    const service = await startBreakable(t, servers);
    await untilFloorsAreKept(service);
    await servers.indexer.kill();
    try {
      await assertWithoutIndexer(service);
    } finally {
      await servers.indexer.start();
    }
    await untilWhole(service);
  });

  test('slow: within the deadline answers are whole, beyond it they are degraded', async (t) => {
    const { service, proxy } = await startBehindProxy(t);
    await untilFloorsAreKept(service);
    proxy.delay(SOURCE_TIMEOUT_MS / 15);
    await assertWhole(service);
    proxy.delay(2 * SOURCE_TIMEOUT_MS);
    await assertWithoutIndexer(service);
    await proxy.heal();
    await untilWhole(service);
  });

  test('refusing, cut off, or gone silent for good: the same, and new connections are made when it is back', async (t) => {
    const { service, proxy } = await startBehindProxy(t);
    await untilFloorsAreKept(service);
    await proxy.refuse();
    await assertWithoutIndexer(service);
    await proxy.heal();
    t.diagnostic(`refused: whole again after ${Math.round(await untilWhole(service))} ms`);
    proxy.cut();
    await untilWhole(service);
    proxy.hang();
    await assertWithoutIndexer(service);
    await proxy.heal();
    t.diagnostic(`silent: whole again after ${Math.round(await untilWhole(service))} ms`);
  });

  test('gone silent while only one source is asked: not every open connection costs a deadline', async (t) => {
    const { service, proxy } = await startBehindProxy(t);
    for (let round = 0; round < 3; round += 1) await assertWhole(service);
    const open = proxy.connections();
    assert.ok(open > 5, `only ${open} connections are open`);
    proxy.hang();
    const sales = `${ethereum.path}/sales`;
    for (let failures = 0; failures < 4; failures += 1)
      assertRefused(await service.fresh(sales), 502, 'upstream_error');
    await proxy.heal();
    await until(async () => (await service.fresh(sales)).status === 200, RECOVERY_MAX_MS, 'sales did not come back');
  });

  async function startBehindProxy(
    t: TestContext,
    broken?: { way: 'refuse' | 'hang' },
  ): Promise<{ service: Breakable; proxy: FlakyProxy }> {
    const proxies: FlakyProxy[] = [];
    t.after(async () => {
      for (const proxy of proxies) await proxy.close();
    });
    const service = await startBreakable(t, servers, {
      empty: broken !== undefined,
      via: {
        indexer: async (url) => {
          const proxy = await startFlakyProxy(url);
          proxies.push(proxy);
          if (broken) await proxy[broken.way]();
          return proxy.url;
        },
      },
    });
    const [proxy] = proxies;
    assert.ok(proxy);
    return { service, proxy };
  }

  test('one stats source hangs: its fields are null, the others stay, and only both together are stale', async (t) => {
    const service = await startBreakable(t, servers);
    const url = service.settings['INDEXER_DATABASE_URL'];
    const read = async () => {
      const answer = await service.fresh(ethereum.path);
      assertDegraded(answer);
      assert.ok(answer.ms < 2 * SOURCE_TIMEOUT_MS, `two sources in a row: ${answer.ms} ms`);
      const { stats, stale } = answer.body.data;
      return { ...stats, floor: stats.floor.raw, stale };
    };
    const whole = { volume: VOLUME, sales: SALES, supply: 90, owners: 42, listedCount: 7, floor: '700', stale: false };
    const releaseStats = await lockTable(t, url, 'indexer.collection_stats');
    assert.deepEqual(await read(), { ...whole, supply: 100, owners: null, listedCount: null });

    const releaseAnalytics = await lockTable(t, url, 'indexer.collection_analytics');
    const unknown = { volume: NO_WINDOWS, sales: NO_WINDOWS, owners: null, listedCount: null };
    const neither = { ...unknown, supply: 100, floor: '640', stale: true };
    assert.deepEqual(await read(), neither);

    await releaseStats();
    const onlyStats = { ...whole, volume: NO_WINDOWS, sales: NO_WINDOWS, floor: '750' };
    await until(async () => (await read()).owners === 42, RECOVERY_MAX_MS, 'the stats source did not come back');
    assert.deepEqual(await read(), onlyStats);
    // The other sources never knew.
    const listings = await service.fresh(`${ethereum.path}/listings`);
    assert.equal(listings.body.meta, undefined);
    assert.equal((await service.fresh('/v1/collections')).status, 502);
    await releaseAnalytics();
    await untilWhole(service);
  });

  test('the mirror’s table hangs: listings and floor are degraded, the stats are not', async (t) => {
    const service = await startBreakable(t, servers);
    await untilFloorsAreKept(service);
    const release = await lockTable(t, service.settings['INDEXER_DATABASE_URL'], 'indexer.listing');
    for (let round = 0; round < 4; round += 1) {
      const listings = await service.fresh(`${ethereum.path}/listings`);
      assertDegraded(listings);
      assert.deepEqual(listings.body.meta, { stale: true, staleSources: ['indexer-mirror'] });
      const floor = await service.fresh(`${ethereum.path}/floor`);
      assert.equal(floor.body.data.buyerFloor.raw, '880');
      assert.equal(floor.body.data.stale, true);
      const detail = await service.fresh(ethereum.path);
      assert.deepEqual(detail.body.data.stats.volume, VOLUME);
      assert.equal(detail.body.data.stats.owners, 42);
      assert.equal(detail.body.data.stale, false);
    }
    // No source may hide its hanging reads behind others that answer.
    const best = Math.min((await service.fresh(ethereum.path)).ms, (await service.fresh(ethereum.path)).ms);
    assert.ok(best < SOURCE_TIMEOUT_MS / 2, `a detail still takes ${best} ms`);
    // No window that misses the mirror is kept: the clock stands still here, and every page is another answer.
    let limit = 1;
    assert.ok((await service.ok(`${ethereum.path}/listings?limit=${limit}`)).meta);
    await release();
    await until(
      async () => (await service.ok(`${ethereum.path}/listings?limit=${(limit += 1)}`)).meta === undefined,
      RECOVERY_MAX_MS,
      'a window without the mirror was kept',
    );
    await untilWhole(service);
  });

  test('last-good buyer floors are told for 30 minutes, outlive a restart, and are those of Solana and Ethereum', async (t) => {
    const service = await startBreakable(t, servers);
    await untilFloorsAreKept(service);
    await servers.indexer.stop();
    try {
      await service.restart();
      assertFloor(await service.fresh(`${ethereum.path}/floor`), '880');
      assertFloor(await service.fresh(`${solana.path}/floor`), '880');
      assertFloor(await service.fresh(`${base.path}/floor`), null);
      service.advance(29 * MINUTE_MS);
      assertFloor(await service.fresh(`${ethereum.path}/floor`), '880');
      service.advance(MINUTE_MS);
      assertFloor(await service.fresh(`${ethereum.path}/floor`), null);
      assertFloor(await service.fresh(`${solana.path}/floor`), null);
    } finally {
      await servers.indexer.start();
    }
  });

  for (const way of ['refuse', 'hang'] as const) {
    test(`down when the service starts (${way}): it starts, and picks the indexer up later, migrations included`, async (t) => {
      const { service, proxy } = await startBehindProxy(t, { way });
      assertRefused(await service.fresh('/v1/collections'), 502, 'upstream_error');
      await proxy.heal();
      await untilPickedUp(service);
    });
  }

  test('hanging when the service starts, in the middle of a migration: it starts all the same', async (t) => {
    let release = () => Promise.resolve();
    const startedAt = performance.now();
    const service = await startBreakable(t, servers, {
      empty: true,
      via: {
        indexer: async (url) => {
          release = await lockMigrations(t, url);
          return url;
        },
      },
    });
    assert.ok(performance.now() - startedAt < START_MAX_MS, 'it waited for the indexer');
    assertRefused(await service.fresh('/v1/collections'), 502, 'upstream_error');
    await release();
    await untilPickedUp(service);
  });

  async function untilPickedUp(service: Breakable): Promise<void> {
    await until(
      async () => (await service.fresh('/v1/collections')).status === 200,
      2 * RECOVERY_MAX_MS,
      'the indexer was not picked up',
    );
    await service.load(MARKET);
    await untilWhole(service);
  }

  test('an embedded primary starts without its indexer too, and is not given a sample that has no place to go', async (t) => {
    const [dir, port] = [temporaryDirectory(), await freePort()];
    const settings = { DATA_DIR: dir, INDEXER_DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/none` };
    const service = await startTestService({ settings, sample: true });
    t.after(async () => {
      await service.close();
      rmSync(dir, { recursive: true, force: true });
    });
    assertRefused(await service.get('/v1/collections'), 502, 'upstream_error');
    assert.equal((await service.get(ethereum.path)).status, 404);
  });
});
