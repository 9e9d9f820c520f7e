// Tests the responses of the service while the primary database, or one of its tables, fails.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HANG_MS, SOURCE_TIMEOUT_MS, startOnTwoDatabases, withTwoServers } from './two-databases.ts';
import {
  VOLUME,
  assertDegraded,
  assertErrorResponse,
  ethereum,
  exploredPath,
  solana,
  token,
  untilComplete,
  untilFloorsAreStored,
} from './small-market.ts';
import { MINUTE_MS, START } from '../support/service/market.ts';
import { lockTable } from '../support/engines/postgres-locks.ts';

const PATHS = [
  '/v1/collections',
  ethereum.path,
  ...['floor', 'listings', 'sales'].map((one) => `${ethereum.path}/${one}`),
  '/explore/v1/collections',
  exploredPath(ethereum),
  exploredPath(ethereum, '/history'),
];
/** The resources of PATHS under other paths. These paths were not requested before, so no response is cached for them. */
const UNCACHED = PATHS.map((path) =>
  path.endsWith('/collections') ? `${path}?limit=9` : path.replace(ethereum.slug, ethereum.id),
);

withTwoServers('the primary is broken', (servers) => {
  test('while the primary is stopped, cached responses are served until they are too old, and requests for other paths get a 503', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    await untilComplete(service);
    const cached = await Promise.all(PATHS.map((path) => service.fresh(path)));
    await servers.primary.stop();
    try {
      for (const path of PATHS) {
        const response = await service.fresh(path);
        assertDegraded(response);
        const isCached = cached.some((one) => one.headers.get('etag') === response.headers.get('etag'));
        assert.ok(isCached, `${path} is not the cached response`);
        assert.match(response.headers.get('age') ?? '', /^[1-9]\d*$/, `${path} does not say how old it is`);
      }
      service.advance(10 * MINUTE_MS);
      const later = await service.fresh(ethereum.path);
      assert.ok(Number(later.headers.get('age')) >= 600, 'the age does not count from the time of the data');
      for (const path of UNCACHED) assertErrorResponse(await service.fresh(path), 503, 'unavailable');
      // The cached responses are now half an hour old, which is too old to be served.
      service.advance(20 * MINUTE_MS);
      for (const path of PATHS) assertErrorResponse(await service.fresh(path), 503, 'unavailable');
    } finally {
      await servers.primary.start();
    }
    await untilComplete(service);
  });

  test('while the primary is frozen, the first responses come within the deadline, and later responses come immediately', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    await untilComplete(service);
    servers.primary.freeze();
    try {
      const times = await Promise.all(
        PATHS.map(async (path) => {
          const response = await service.fresh(path);
          assertDegraded(response);
          return response.ms;
        }),
      );
      const slowest = Math.max(...times);
      assert.ok(slowest < HANG_MS, `a response took ${slowest} ms`);
      for (const path of UNCACHED) assertErrorResponse(await service.fresh(path), 503, 'unavailable');
      const next = Math.min(...(await Promise.all(PATHS.map(async (path) => (await service.fresh(path)).ms))));
      assert.ok(next < SOURCE_TIMEOUT_MS, `with the breaker open a response took ${next} ms`);
    } finally {
      servers.primary.thaw();
    }
    await untilComplete(service);
  });

  for (const way of ['stopped', 'frozen'] as const) {
    test(`while the primary is ${way}, a token is served from the indexer alone`, async (t) => {
      const service = await startOnTwoDatabases(t, servers);
      if (way === 'stopped') await servers.primary.stop();
      else servers.primary.freeze();
      try {
        const listed = await service.fresh(token.listed);
        assertDegraded(listed);
        assert.ok(listed.ms < HANG_MS, `a token took ${listed.ms} ms`);
        // Only the order in the own order book is unreadable. The mirrored row of the same asset is served.
        assert.deepEqual([listed.body.data.name, listed.body.data.listing.price.raw], ['First', '900']);
        const onSolana = await service.fresh(token.solana);
        assert.equal(onSolana.body.data.name, 'First');
        assertErrorResponse(await service.fresh(`/v1/tokens/ethereum/${ethereum.address}/99`), 404, 'not_found');
      } finally {
        if (way === 'stopped') await servers.primary.start();
        else servers.primary.thaw();
      }
    });
  }

  test('while the order book hangs, the listings come from the mirror, and the response has no `meta`', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    await untilFloorsAreStored(service);
    const release = await lockTable(t, service.settings['DATABASE_URL'], 'main.book_order');
    for (let round = 0; round < 4; round += 1) {
      const listings = await service.fresh(`${ethereum.path}/listings`);
      assertDegraded(listings);
      assert.ok(listings.ms < HANG_MS, `listings took ${listings.ms} ms`);
      assert.equal(listings.body.meta, undefined);
      assert.deepEqual(
        listings.body.data.map((row: any) => row.price.raw),
        ['800', '900'],
      );
      const floor = await service.fresh(`${ethereum.path}/floor`);
      assertDegraded(floor);
      const { askFloor, buyerFloor, stale } = floor.body.data;
      assert.deepEqual([askFloor.raw, buyerFloor.raw, stale], ['800', '880', true]);
      const detail = await service.fresh(ethereum.path);
      assertDegraded(detail);
      assert.deepEqual([detail.body.data.stats.volume, detail.body.data.stale], [VOLUME, false]);
      const listed = await service.fresh(token.listed);
      assertDegraded(listed);
      assert.equal(listed.body.data.listing.price.raw, '900');
    }
    assert.ok(service.logged.some((line) => line.includes('a source failed') && line.includes('order-book')));
    assert.ok(!service.logged.some((line) => line.includes('indexer-mirror')), 'the mirror was reported as failed');
    // The service keeps no order book for Solana. These listings are therefore complete.
    assert.match((await service.fresh(`${solana.path}/listings`)).headers.get('cache-control') ?? '', /s-maxage=5\b/);
    await release();
    await untilComplete(service);
  });

  test('every response is a 200 while reads of the dollar rates and of the last buyer floors hang', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    await untilFloorsAreStored(service);
    const url = service.settings['DATABASE_URL'];
    const releases = [await lockTable(t, url, 'main.rate'), await lockTable(t, url, 'main.last_buyer_floor')];
    service.advance(MINUTE_MS);
    for (let round = 0; round < 5; round += 1) {
      for (const path of [...PATHS, token.listed]) {
        const response = await service.fresh(path);
        assert.equal(response.status, 200, response.text);
        assert.ok(response.ms < HANG_MS, `${path} took ${response.ms} ms`);
      }
    }
    for (const release of releases) await release();
    await untilComplete(service);
  });

  test('a cached response is not served after one of its listings has expired', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    const path = `${ethereum.path}/listings`;
    await service.load([ethereum.order('7', 10, { expiresAt: new Date(START + 10 * MINUTE_MS).toISOString() })]);
    assert.equal((await service.ok(path)).data.length, 3);
    assert.equal((await service.get(ethereum.path)).status, 200);
    await servers.primary.stop();
    try {
      assert.equal((await service.fresh(path)).status, 200);
      service.advance(10 * MINUTE_MS);
      assertErrorResponse(await service.fresh(path), 503, 'unavailable');
      assertDegraded(await service.fresh(ethereum.path));
    } finally {
      await servers.primary.start();
    }
  });
});
