// The databases stop and start under load. Without the indexer, a response is complete, degraded or a 502. Without the primary, a response
// is a 200 or a 503. At the end, no abandoned connection or statement remains.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { TwoDatabaseService } from './two-databases.ts';
import { HANG_MS, startOnTwoDatabases, withTwoServers } from './two-databases.ts';
import { RECOVERY_MAX_MS, assertComplete, base, ethereum, solana, token, untilComplete } from './small-market.ts';
import { newCollection, range } from '../support/service/market.ts';
import { countConnections, countWaiting, lockTable, withClient } from '../support/engines/postgres-locks.ts';
import { until } from '../support/until.ts';

/** The most connections that a service may have to one database: those of the pool, and the one that waits for notices of the activity log. */
const CONNECTIONS_MAX = 11;
const CALLERS = 4;
const DEADLINE_MS = 5_000;
/** The server ends an abandoned statement at the next check of its connection. This limit only ends a test in which it does not. */
const CONNECTION_CHECK_MAX_MS = 60_000;

const NEVER_FAIL = [ethereum, solana, base].flatMap(({ path }) => [path, `${path}/floor`, `${path}/listings`]);
NEVER_FAIL.push(...Object.values(token));
const MAY_FAIL = ['/v1/collections', `${ethereum.path}/sales`];

type Load = { stop(): Promise<{ statuses: Map<number, number>; slowestMs: number }> };

/** Clients that request the paths one after the other. No request is served from the cache. */
function startLoad(service: TwoDatabaseService, paths: readonly string[]): Load {
  const statuses = new Map<number, number>();
  let slowestMs = 0;
  const stopping = new AbortController();
  const callers = range(CALLERS).map(async (caller) => {
    for (let turn = caller; !stopping.signal.aborted; turn += 1) {
      const response = await service.fresh(paths[turn % paths.length] ?? '');
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      slowestMs = Math.max(slowestMs, response.ms);
    }
  });
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(callers);
      return { statuses, slowestMs };
    },
  };
}

withTwoServers('databases stop and start under load', (servers) => {
  /**
   * Starts a service whose reported figures never become too old. Each request of the load advances the clock. On a fast machine, the load
   * would otherwise make the figures too old before the end of the test.
   */
  const startForLoad = async (t: TestContext) => {
    const service = await startOnTwoDatabases(t, servers);
    await withClient(service.settings['INDEXER_DATABASE_URL'] ?? '', async (client) => {
      for (const table of ['collection_stats', 'collection_analytics'])
        await client.query(`update indexer.${table} set at = '9999-01-01'`);
    });
    return service;
  };

  /** Makes `responses` requests, one after the other, while the load runs. */
  const forAWhile = async (service: TwoDatabaseService, responses: number) => {
    for (let count = 0; count < responses; count += 1) await service.get('/v1');
  };

  test('while the indexer is stopped, frozen and killed, requests for details, floors, listings and tokens get 200', async (t) => {
    const service = await startForLoad(t);
    const load = startLoad(service, NEVER_FAIL);
    const others = startLoad(service, MAY_FAIL);
    for (const way of ['stop', 'freeze', 'kill'] as const) {
      await forAWhile(service, 50);
      if (way === 'freeze') servers.indexer.freeze();
      else await servers.indexer[way]();
      await forAWhile(service, 50);
      if (way === 'freeze') servers.indexer.thaw();
      else await servers.indexer.start();
    }
    await untilComplete(service);
    const result = await load.stop();
    assert.deepEqual([...result.statuses.keys()], [200]);
    const rest = await others.stop();
    assert.deepEqual(
      [...rest.statuses.keys()].filter((status) => status !== 200 && status !== 502),
      [],
    );
    t.diagnostic(`${result.statuses.get(200)} responses, the slowest after ${Math.round(result.slowestMs)} ms`);
    assert.ok(result.slowestMs < HANG_MS, `a response took ${result.slowestMs} ms`);
    await assertNoLeak(t, servers.indexer.url);
    await assertNoLeak(t, servers.primary.url);
  });

  test('while the primary restarts under load, every response is 200 or 503', async (t) => {
    const service = await startForLoad(t);
    const load = startLoad(service, [...NEVER_FAIL, ...MAY_FAIL]);
    for (const way of ['stop', 'kill'] as const) {
      await forAWhile(service, 50);
      await servers.primary[way]();
      await forAWhile(service, 50);
      await servers.primary.start();
      await untilComplete(service);
    }
    const { statuses } = await load.stop();
    assert.deepEqual(
      [...statuses.keys()].filter((status) => status !== 200 && status !== 503),
      [],
    );
    await assertNoLeak(t, servers.primary.url);
  });

  async function assertNoLeak(t: TestContext, serverUrl: string): Promise<void> {
    let count = 0;
    await until(
      async () => {
        count = await countConnections(serverUrl);
        return count <= CONNECTIONS_MAX;
      },
      CONNECTION_CHECK_MAX_MS,
      'abandoned connections are still open',
    );
    t.diagnostic(`${count} connections`);
  }

  test('after an import has failed because its database was killed, the next import succeeds', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    const records = range(20_000).map((index) => ethereum.listing(String(index + 10), 5_000 + index));
    const importing = assert.rejects(service.load(records));
    await forAWhile(service, 5);
    await servers.indexer.kill();
    await importing;
    await servers.indexer.start();
    await untilLoaded(service);
  });

  async function untilLoaded(service: TwoDatabaseService): Promise<void> {
    await until(
      async () => (await service.fresh(`${base.path}/listings`)).body.meta === undefined,
      RECOVERY_MAX_MS,
      'the mirror did not recover',
    );
    await service.load([base.listing('5', 700)]);
    const { data } = await service.ok(`${base.path}/listings?limit=9`);
    assert.equal(data[0].price.raw, '700');
  }

  test('a source that hangs leaves connections for the other sources', async (t) => {
    // The deadline is long enough for a slow machine to respond to all concurrent requests of this test.
    const service = await startOnTwoDatabases(t, servers, { settings: { SOURCE_TIMEOUT_MS: String(DEADLINE_MS) } });
    const many = range(40).map(() => newCollection({ snapshot: { floorRaw: '1' } }));
    await service.load(many.flatMap((one) => [one.collection(), one.listing('1', 5), one.stats({ owners: 3 })]));
    const release = await lockTable(t, service.settings['INDEXER_DATABASE_URL'], 'indexer.collection_stats');
    // There are more detail requests than connections. Each detail request makes two reads that hang.
    const details = Promise.all(many.map((one) => service.get(one.path)));
    const listings = await Promise.all(many.map((one) => service.fresh(`${one.path}/listings`)));
    for (const { status, body } of listings) {
      assert.equal(status, 200);
      assert.equal(body.meta, undefined, 'a healthy source got no connection');
    }
    for (const { body } of await details) {
      assert.equal(body.data.stats.owners, null);
      assert.equal(body.data.stale, false, 'a healthy source got no connection');
    }
    // A connection whose statement hangs must not be used for another read.
    for (const one of many) {
      const { body } = await service.fresh(`${one.path}/listings`);
      assert.equal(body.meta, undefined, 'a healthy source got a connection that hangs');
    }
    // Now at most two statements may wait for the lock: the trial of the breaker, and the sweep that computes the ranking keys.
    await until(
      async () => (await countWaiting(servers.indexer.url)) <= 2,
      CONNECTION_CHECK_MAX_MS,
      'abandoned statements are still running',
    );
    await assertNoLeak(t, servers.indexer.url);
    await release();
    await until(
      async () => (await service.fresh(ethereum.path)).body.data.stats.owners === 42,
      RECOVERY_MAX_MS,
      'the source did not recover',
    );
    await assertComplete(service);
  });
});
