// Responses while the indexer database is stopped, frozen, killed, slow or unreachable, or hangs on single tables.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TwoDatabaseService } from './two-databases.ts';
import { HANG_MS, SOURCE_TIMEOUT_MS, startBehindProxy, startOnTwoDatabases, withTwoServers } from './two-databases.ts';
import {
  NO_WINDOWS,
  RECOVERY_MAX_MS,
  SALES,
  VOLUME,
  assertComplete,
  assertDegraded,
  assertErrorResponse,
  assertFloor,
  askWithoutIndexer,
  assertWithoutIndexer,
  base,
  ethereum,
  solana,
  untilComplete,
  untilFloorsAreStored,
} from './small-market.ts';
import { MINUTE_MS } from '../support/service/market.ts';
import { until } from '../support/until.ts';
import { lockTable } from '../support/engines/postgres-locks.ts';

withTwoServers('the indexer is broken', (servers) => {
  /**
   * Polls until responses are complete again. Returns the milliseconds that this took. Fails if half of the requests took as long as the
   * deadline of a source, as they do if each of them waits for the indexer. On a busy machine a single request may.
   */
  async function untilBack(service: TwoDatabaseService): Promise<number> {
    const startedAt = performance.now();
    const times: number[] = [];
    const isComplete = async () => {
      const [detail, listings] = [await service.fresh(ethereum.path), await service.fresh(`${ethereum.path}/listings`)];
      times.push(detail.ms, listings.ms);
      return !detail.body.data.stale && listings.body.meta === undefined;
    };
    await until(isComplete, RECOVERY_MAX_MS, 'responses are not complete again');
    const tookMs = performance.now() - startedAt;
    const usual = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Infinity;
    assert.ok(usual < SOURCE_TIMEOUT_MS, `half of the requests took ${usual} ms or more while the indexer recovered`);
    await untilComplete(service);
    return tookMs;
  }

  test('while the indexer is stopped, responses are degraded or a 502, and they are complete again after the indexer is started', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    await untilFloorsAreStored(service);
    await assertComplete(service);
    await servers.indexer.stop();
    try {
      await assertWithoutIndexer(service);
    } finally {
      await servers.indexer.start();
    }
    t.diagnostic(`complete again after ${Math.round(await untilBack(service))} ms`);
  });

  test('while the indexer is frozen, responses are degraded, and come without delay after a few failures', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    await untilFloorsAreStored(service);
    servers.indexer.freeze();
    try {
      const first = await service.fresh(ethereum.path);
      assert.equal(first.body.data.stale, true);
      assert.ok(first.ms < HANG_MS, `the first response took ${first.ms} ms`);
      await assertWithoutIndexer(service);
      await assertWithoutIndexer(service);
      for (const path of [ethereum.path, `${base.path}/floor`, `${solana.path}/listings`, '/v1/collections']) {
        const times: number[] = [];
        for (let round = 0; round < 5; round += 1) times.push((await service.fresh(path)).ms);
        const best = Math.min(...times);
        // If the breaker were closed, each response would wait for the timeout.
        assert.ok(best < SOURCE_TIMEOUT_MS, `${path} took ${best} ms with the breaker open`);
        t.diagnostic(`${path}: ${best.toFixed(1)} ms with the breaker open`);
      }
    } finally {
      servers.indexer.thaw();
    }
    t.diagnostic(`complete again after ${Math.round(await untilBack(service))} ms`);
  });

  test('after the indexer is killed, responses are degraded until the indexer is started again', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    await untilFloorsAreStored(service);
    await servers.indexer.kill();
    try {
      await assertWithoutIndexer(service);
    } finally {
      await servers.indexer.start();
    }
    await untilBack(service);
  });

  test('while the indexer is slow, responses are complete if reads take less than the deadline, and degraded if they take longer', async (t) => {
    const { service, proxy } = await startBehindProxy(t, servers);
    await untilFloorsAreStored(service);
    proxy.delay(SOURCE_TIMEOUT_MS / 15);
    await assertComplete(service);
    proxy.delay(2 * SOURCE_TIMEOUT_MS);
    await assertWithoutIndexer(service);
    await proxy.heal();
    await untilBack(service);
  });

  test('after the indexer refused connections, was cut off or was silent, the service connects again when the indexer is back', async (t) => {
    const { service, proxy } = await startBehindProxy(t, servers);
    await untilFloorsAreStored(service);
    await proxy.refuse();
    await assertWithoutIndexer(service);
    await proxy.heal();
    t.diagnostic(`refused: complete again after ${Math.round(await untilBack(service))} ms`);
    proxy.cut();
    await untilBack(service);
    proxy.hang();
    await assertWithoutIndexer(service);
    await proxy.heal();
    t.diagnostic(`silent: complete again after ${Math.round(await untilBack(service))} ms`);
  });

  test('after the indexer was silent on many open connections, the service recovers without waiting for one connection after another', async (t) => {
    const { service, proxy } = await startBehindProxy(t, servers);
    await untilComplete(service);
    const open = proxy.connections();
    assert.ok(open > 5, `only ${open} connections are open`);
    proxy.hang();
    const sales = `${ethereum.path}/sales`;
    for (let failures = 0; failures < 4; failures += 1)
      assertErrorResponse(await service.fresh(sales), 502, 'upstream_error');
    await proxy.heal();
    await until(async () => (await service.fresh(sales)).status === 200, RECOVERY_MAX_MS, 'sales did not recover');
  });

  test('while one stats source hangs, only its fields are unknown or from the snapshot', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    const url = service.settings['INDEXER_DATABASE_URL'];
    const read = async () => {
      const response = await service.fresh(ethereum.path);
      assertDegraded(response);
      const { stats, stale } = response.body.data;
      return { ...stats, floor: stats.floor.raw, stale };
    };
    const complete = {
      volume: VOLUME,
      sales: SALES,
      supply: 90,
      owners: 42,
      listedCount: 7,
      floor: '800',
      stale: false,
    };
    const releaseStats = await lockTable(t, url, 'indexer.collection_stats');
    assert.deepEqual(await read(), { ...complete, supply: 100, owners: null, listedCount: null });

    const releaseAnalytics = await lockTable(t, url, 'indexer.collection_analytics');
    const unknown = { volume: NO_WINDOWS, sales: NO_WINDOWS, owners: null, listedCount: null };
    const neither = { ...unknown, supply: 100, floor: '800', stale: true };
    assert.deepEqual(await read(), neither);

    await releaseStats();
    const onlyStats = { ...complete, volume: NO_WINDOWS, sales: NO_WINDOWS };
    await until(async () => (await read()).owners === 42, RECOVERY_MAX_MS, 'the stats source did not recover');
    assert.deepEqual(await read(), onlyStats);
    // Listings need neither stats table. The list of collections needs the analytics table, which still hangs.
    const listings = await service.fresh(`${ethereum.path}/listings`);
    assert.equal(listings.body.meta, undefined);
    assert.equal((await service.fresh('/v1/collections')).status, 502);
    await releaseAnalytics();
    await untilBack(service);
  });

  test('while the table of the mirror hangs, only listings and floor are degraded', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    await untilFloorsAreStored(service);
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
    // Each source has its own breaker. Reads of other sources therefore do not close the breaker of a hanging source.
    const best = Math.min((await service.fresh(ethereum.path)).ms, (await service.fresh(ethereum.path)).ms);
    assert.ok(best < SOURCE_TIMEOUT_MS, `a detail still takes ${best} ms`);
    // A listing window without the mirror is not used again. The clock does not move here, so a kept window would still be fresh. Each request
    // has another `limit` than the ones shortly before, so that no page comes from the response cache.
    let limit = 1;
    assert.ok((await service.ok(`${ethereum.path}/listings?limit=${limit}`)).meta);
    await release();
    await until(
      async () =>
        (await service.ok(`${ethereum.path}/listings?limit=${(limit = (limit % 100) + 1)}`)).meta === undefined,
      RECOVERY_MAX_MS,
      'a window without the mirror was used again',
    );
    await untilBack(service);
  });

  test('last buyer floors are served for 30 minutes, even after a restart', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    await untilFloorsAreStored(service);
    await servers.indexer.stop();
    try {
      await service.restart();
      assertFloor(await service.fresh(`${ethereum.path}/floor`), { ask: askWithoutIndexer(ethereum), buyer: '880' });
      assertFloor(await service.fresh(`${solana.path}/floor`), { ask: askWithoutIndexer(solana), buyer: '880' });
      assertFloor(await service.fresh(`${base.path}/floor`), { ask: askWithoutIndexer(base), buyer: null });
      service.advance(29 * MINUTE_MS);
      assertFloor(await service.fresh(`${ethereum.path}/floor`), { ask: askWithoutIndexer(ethereum), buyer: '880' });
      service.advance(MINUTE_MS);
      const old = { ask: askWithoutIndexer(ethereum, { last: false }), buyer: null };
      assertFloor(await service.fresh(`${ethereum.path}/floor`), old);
      assertFloor(await service.fresh(`${solana.path}/floor`), { ask: askWithoutIndexer(solana), buyer: null });
    } finally {
      await servers.indexer.start();
    }
  });
});
