// Tests public reads on a primary with two streaming replicas. The replicas are paused, killed, frozen and promoted.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import pg from 'pg';
import { CollectionVersions, NO_COLLECTION } from '../../src/core/collection-versions.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { createLog } from '../../src/core/log.ts';
import { ConnectionLane } from '../../src/database/connection-lane.ts';
import type { Database } from '../../src/database/port.ts';
import { createDatabase } from '../../src/database/port.ts';
import { ReplicaSet } from '../../src/database/replicas/replica-set.ts';
import { ReplicatedReads } from '../../src/database/replicas/replicated-reads.ts';
import { currentReadScope, readFromReplicas } from '../../src/database/replicas/read-scope.ts';
import { withMeta } from '../../src/explore/http/offset-meta.ts';
import { SHORT_POLICY, createCachedResponse } from '../../src/http/cached-response.ts';
import { ResponseCache } from '../../src/http/response-cache.ts';
import { withClient } from '../support/engines/postgres-locks.ts';
import type { PostgresServer } from '../support/engines/postgres-server.ts';
import { canStartPostgres, startOwnPostgres } from '../support/engines/postgres-server.ts';
import { startTcpProxy } from '../support/engines/tcp-proxy.ts';
import { until } from '../support/until.ts';

const LIMIT_MS = 60_000;
const READ_TIMEOUT_MS = 10_000;
/** The deadline of a read in tests that wait until reads have missed several deadlines. */
const SLOW_READ_TIMEOUT_MS = 3_000;
/** A lag limit that is longer than any test, so that a replica whose replay is paused is not left out. */
const UNLIMITED_MS = 600_000;
const LAG_MAX_MS = 1_000;

/** A ReplicaSet, and reads that use it in the same way as a service does. The primary has a table with one value. */
type Setup = {
  set: ReplicaSet;
  changes: CollectionVersions;
  logged: string[];
  /** Runs a statement as a part of a public response. Default: the statement that reads the value. */
  read(sql?: string): Promise<number>;
  /** Reads the value inside the public response that is being made. */
  readInScope(sql?: string): Promise<number>;
  /** The value in the response that the response cache returns for the key. The cache computes the response if it has none. */
  cached(key?: string): Promise<number>;
  forget(): void;
  leftOut(): (string | null)[];
  counts(): number[];
  untilUsed(): Promise<void>;
};

const VALUE = 'select value from tested';

function canRun(): boolean {
  return canStartPostgres() || process.env['REQUIRE_POSTGRES'] === '1';
}

describe('public reads on replicas', { skip: canRun() ? false : 'PostgreSQL is not installed' }, () => {
  let primary: PostgresServer;
  const replicas: PostgresServer[] = [];
  let written = 0;
  const opened: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const end of opened.splice(0)) await end();
    // A test that failed may have left the replay paused.
    for (const replica of replicas)
      await runOn(replica, 'select case when pg_is_in_recovery() then pg_wal_replay_resume() end');
  };
  before(async () => {
    primary = await startOwnPostgres();
    await withClient(primary.url, (client) =>
      client.query(
        `create table tested (value int);
         insert into tested values (0);
         create table slowness (seconds float8);
         insert into slowness values (0);
         create function wait_on_replica() returns void language sql volatile as
           $$ select pg_sleep(case when pg_is_in_recovery() then seconds else 0 end) from slowness $$`,
      ),
    );
    const settings = { max_standby_streaming_delay: '0' };
    for (let number = 0; number < 2; number += 1)
      replicas.push(await startOwnPostgres({ replicaOf: primary.url, settings }));
  });
  afterEach(close);
  after(async () => {
    for (const server of [...replicas, primary]) await server.discard();
  });

  /** A proxy that is closed after the test, even if the test fails. */
  async function openProxy(url: string) {
    const proxy = await startTcpProxy(url);
    opened.push(() => proxy.close());
    return proxy;
  }

  /** Writes a new value, and returns it after the commit. */
  async function write(): Promise<number> {
    written += 1;
    await withClient(primary.url, (client) => client.query('update tested set value = $1', [written]));
    return written;
  }

  /** Sets how long `wait_on_replica()` takes on a replica. Resolves when all replicas have replayed the change. */
  async function setSlowness(ms: number): Promise<void> {
    await withClient(primary.url, (client) => client.query('update slowness set seconds = $1', [ms / 1_000]));
    await untilReplayedEverywhere(await write());
  }

  const runOn = (replica: PostgresServer | undefined, sql: string) =>
    withClient(replica?.url ?? '', (client) => client.query(sql));

  const untilReplayed = (replica: PostgresServer | undefined, value: number) =>
    until(async () => (await runOn(replica, VALUE)).rows[0]?.value === value, LIMIT_MS, 'the value was not replayed');

  async function untilReplayedEverywhere(value: number): Promise<void> {
    for (const replica of replicas) await untilReplayed(replica, value);
  }

  async function open(
    servers: readonly Pick<PostgresServer, 'url'>[],
    lagMaxMs: number,
    primaryUrl = primary.url,
    { readTimeoutMs = READ_TIMEOUT_MS, ...options }: { withoutPrimaryMaxMs?: number; readTimeoutMs?: number } = {},
  ): Promise<Setup> {
    const logged: string[] = [];
    const log = createLog('info', (line) => logged.push(line));
    const pool = new pg.Pool({ connectionString: primaryUrl, max: 4 });
    pool.on('error', () => undefined);
    const database: Database = createDatabase(pool, { engine: 'postgresql', name: 'main' });
    const changes = new CollectionVersions();
    const set = new ReplicaSet({
      name: 'main',
      primaryUrl,
      replicaUrls: servers.map(({ url }) => url),
      setting: 'DATABASE_REPLICA_URLS',
      lagMaxMs,
      log,
      ...options,
    });
    opened.push(async () => {
      await set.close();
      await database.close();
    });
    await set.start();
    const reads = new ReplicatedReads({ primary: database, replicas: set, changedAt: () => changes.latestAt() });
    const lane = new ConnectionLane(4);
    const readInScope = async (sql = VALUE) => {
      const scope = currentReadScope();
      assert.ok(scope);
      const [row] = await reads.within(readTimeoutMs, lane, scope).query<{ value: number }>(sql);
      return row?.value ?? Number.NaN;
    };
    let now = 0;
    const cache = new ResponseCache(changes, () => now);
    const compute = async () =>
      createCachedResponse({
        body: { value: await readInScope() },
        cacheTag: NO_COLLECTION,
        policy: SHORT_POLICY,
      });
    const leftOut = () => set.status().map((status) => status.leftOut);
    return {
      set,
      changes,
      logged,
      readInScope,
      read: (sql = VALUE) => readFromReplicas(Number.NEGATIVE_INFINITY, () => readInScope(sql)),
      cached: async (key = '/') => JSON.parse(Buffer.concat((await cache.get(key, compute)).parts).toString()).value,
      forget: () => void (now += 2_000),
      leftOut,
      counts: () => set.status().map((status) => status.reads),
      untilUsed: () => until(() => leftOut().every((reason) => reason === null), LIMIT_MS, 'a replica is not read'),
    };
  }

  test('a public response reads from a replica, and its read scope ends with the response', async () => {
    const { read, counts, untilUsed } = await open(replicas, LAG_MAX_MS);
    await untilUsed();
    await read();
    assert.equal(
      counts().reduce((sum, count) => sum + count),
      1,
    );
    assert.equal(currentReadScope(), undefined);
  });

  test('a replica whose replay is paused is left out before its reads are too old, and is used again later', async () => {
    const [paused] = replicas;
    assert.ok(paused);
    const { read, leftOut, logged, untilUsed } = await open([paused], LAG_MAX_MS);
    await untilUsed();
    await runOn(paused, 'select pg_wal_replay_pause()');
    const value = await write();
    const writtenAt = performance.now();
    await until(
      async () => {
        const beganAt = performance.now();
        const found = await read();
        if (beganAt > writtenAt + LAG_MAX_MS) assert.equal(found, value, 'a read was older than the limit');
        return leftOut()[0] === 'behind' && performance.now() > writtenAt + 2 * LAG_MAX_MS;
      },
      LIMIT_MS,
      'the replica was not left out',
    );
    await runOn(paused, 'select pg_wal_replay_resume()');
    await untilUsed();
    assert.equal(await read(), value);
    const lines = () =>
      logged.map((line) => JSON.parse(line)).map(({ message, reason }) => `${message} ${reason ?? ''}`.trim());
    await until(() => lines().length === 2, LIMIT_MS, 'the exclusion and the return of the replica were not logged');
    assert.deepEqual(lines(), ['a replica is left out behind', 'a replica is read again']);
  });

  test('if the notice of a change arrives before the replica has replayed the change, no response without the change is computed or cached', async () => {
    const [paused] = replicas;
    assert.ok(paused);
    const { cached, forget, changes, counts, read, untilUsed } = await open([paused], UNLIMITED_MS);
    await untilUsed();
    const before = await cached();
    await runOn(paused, 'select pg_wal_replay_pause()');
    const value = await write();
    assert.equal(await cached(), before, 'the response was not cached');
    changes.noteEverything();
    assert.equal(await cached('/never-requested'), value);
    assert.equal(await cached(), value);
    forget();
    assert.equal(await cached(), value, 'an old response has replaced a newer one');
    await runOn(paused, 'select pg_wal_replay_resume()');
    await untilReplayed(paused, value);
    const [earlier] = counts();
    const isUsedAgain = async () => {
      assert.equal(await read(), value);
      return counts()[0] !== earlier;
    };
    await until(isUsedAgain, LIMIT_MS, 'the replica is not used again');
    forget();
    assert.equal(await cached(), value);
  });

  test('a response never replaces a newer one, even if one replica is behind the other', async () => {
    const [ahead, behind] = replicas;
    assert.ok(ahead && behind);
    const proxy = await openProxy(ahead.url);
    const { cached, forget, counts, read, leftOut, untilUsed } = await open(
      [{ ...ahead, url: proxy.url }, behind],
      UNLIMITED_MS,
    );
    await untilUsed();
    await runOn(behind, 'select pg_wal_replay_pause()');
    const value = await write();
    await untilReplayed(ahead, value);
    assert.equal(await cached(), value);
    assert.deepEqual(counts(), [1, 0]);
    await proxy.refuse();
    await until(() => leftOut()[0] === 'unreachable', LIMIT_MS, 'the first replica was not left out');
    assert.notEqual(await read(), value, 'the second replica does not have an older value');
    forget();
    assert.equal(await cached(), value);
    await runOn(behind, 'select pg_wal_replay_resume()');
  });

  for (const [way, breakIt, mend] of [
    ['killed', (server: PostgresServer) => server.kill(), (server: PostgresServer) => server.start()],
    ['frozen', async (server: PostgresServer) => server.freeze(), async (server: PostgresServer) => server.thaw()],
  ] as const) {
    test(`no read fails when a replica is ${way}, and the replica is used again afterwards`, async () => {
      const [broken] = replicas;
      assert.ok(broken);
      const { read, leftOut, counts, untilUsed } = await open([broken], LAG_MAX_MS);
      await untilUsed();
      const value = await write();
      const ended = new AbortController();
      const failures: unknown[] = [];
      const reader = async () => {
        while (!ended.signal.aborted) await read().catch((error: unknown) => failures.push(error));
      };
      const readers = Promise.all([reader(), reader(), reader()]);
      await breakIt(broken);
      await until(() => leftOut()[0] !== null, LIMIT_MS, 'the replica was not left out');
      assert.equal(await read(), value);
      await mend(broken);
      await untilUsed();
      const [earlier] = counts();
      await until(() => counts()[0] !== earlier, LIMIT_MS, 'the replica is not used again');
      ended.abort();
      await readers;
      assert.deepEqual(failures, []);
    });
  }

  test('a statement that the replay cancels is repeated on the primary, and the replica is left out for a moment', async () => {
    const [conflicting] = replicas;
    assert.ok(conflicting);
    const { read, leftOut, untilUsed, set } = await open([conflicting], LAG_MAX_MS);
    await untilUsed();
    const slow = read('select value from tested, pg_sleep(1.5)');
    const isRunning = async () =>
      (await runOn(conflicting, `select from pg_stat_activity where query like '%pg_sleep(1.5)' and state = 'active'`))
        .rowCount === 1;
    await until(isRunning, LIMIT_MS, 'the statement does not run on the replica');
    await withClient(primary.url, (client) =>
      client.query('begin; lock table tested in access exclusive mode; commit'),
    );
    await until(() => leftOut()[0] === 'recovery conflict', LIMIT_MS, 'the replica was not left out');
    assert.equal(await slow, written);
    assert.equal(set.status()[0]?.repeated, 1);
    await untilUsed();
  });

  test('a replica that misses deadlines is left out, is tried by one read at a time, and is used again when it is fast', async () => {
    const [slow] = replicas;
    assert.ok(slow);
    const proxy = await openProxy(primary.url);
    const { read, leftOut, counts, set, untilUsed } = await open([slow], UNLIMITED_MS, proxy.url, {
      readTimeoutMs: SLOW_READ_TIMEOUT_MS,
    });
    const readSlowly = () => read('select value from tested, wait_on_replica()');
    await setSlowness(SLOW_READ_TIMEOUT_MS * 0.7);
    await untilUsed();
    for (const sent of [1, 2, 3]) {
      assert.equal(await readSlowly(), written);
      assert.deepEqual(counts(), [sent]);
    }
    assert.deepEqual(leftOut(), ['too slow']);
    // A successful check does not end the exclusion of a slow replica.
    await set.checkAll();
    assert.deepEqual(leftOut(), ['too slow']);
    const isTried = async () => {
      await Promise.all([readSlowly(), readSlowly(), readSlowly()]);
      return counts()[0] !== 3;
    };
    await until(isTried, LIMIT_MS, 'the replica is not tried again');
    assert.deepEqual(counts(), [4], 'more than one read was sent to try the replica');
    assert.deepEqual(leftOut(), ['too slow']);

    await proxy.refuse();
    assert.equal(await readSlowly(), written, 'without the primary, the slow replica did not respond');
    await proxy.heal();
    await setSlowness(0);
    await until(() => !set.isPrimaryLost, LIMIT_MS, 'the primary is not used again');
    const isUsedAgain = async () => {
      const [before = 0] = counts();
      await Promise.all([readSlowly(), readSlowly(), readSlowly()]);
      return counts()[0] === before + 3;
    };
    await until(isUsedAgain, LIMIT_MS, 'the replica is not used again');
  });

  test('a replica is not left out because of statements that are too slow on the primary as well', async () => {
    const [replica] = replicas;
    assert.ok(replica);
    const { read, counts, leftOut, untilUsed } = await open([replica], UNLIMITED_MS, primary.url, {
      readTimeoutMs: 200,
    });
    await untilUsed();
    for (const sent of [1, 2, 3, 4]) {
      await assert.rejects(read('select value from tested, pg_sleep(60)'));
      assert.deepEqual(counts(), [sent]);
    }
    assert.deepEqual(leftOut(), [null]);
  });

  test('the start fails if the URL of a replica leads to a server that is not a replica of the primary', async () => {
    const other = await startOwnPostgres();
    opened.push(() => other.discard());
    await assert.rejects(
      open([other], LAG_MAX_MS),
      new OperatorError(
        'main-replica-1 of DATABASE_REPLICA_URLS is not a replica of the primary: it has another system identifier',
      ),
    );
  });

  test('if the URL of a replica leads to the primary itself, this replica is left out', async () => {
    const { leftOut } = await open([primary], LAG_MAX_MS);
    assert.deepEqual(leftOut(), ['not in recovery']);
  });

  test('while the primary is unreachable, reads use the replica that is not behind', async () => {
    const [behind, ahead] = replicas;
    assert.ok(behind && ahead);
    const proxy = await openProxy(primary.url);
    const { cached, forget, changes, set, leftOut, untilUsed } = await open([behind, ahead], LAG_MAX_MS, proxy.url);
    await untilUsed();
    await runOn(behind, 'select pg_wal_replay_pause()');
    const value = await write();
    await untilReplayed(ahead, value);
    await until(() => leftOut()[0] === 'behind', LIMIT_MS, 'the replica was not left out');
    await proxy.refuse();
    changes.noteEverything();
    for (let count = 0; count < 3; count += 1) {
      forget();
      assert.equal(await cached(), value);
    }
    assert.equal(set.isPrimaryLost, true);
    await proxy.heal();
    await until(() => !set.isPrimaryLost, LIMIT_MS, 'the primary is not used again');
    await runOn(behind, 'select pg_wal_replay_resume()');
    await untilUsed();
  });

  test('after a switchover the new primary is found, although an open connection leads to the old primary, which is now a standby', async () => {
    const [standby, other] = replicas;
    assert.ok(standby && other);
    const proxy = await openProxy(standby.url);
    const { leftOut, untilUsed } = await open([other], LAG_MAX_MS, proxy.url);
    assert.deepEqual(leftOut(), ['not compared with its primary']);
    proxy.retarget(primary.url);
    await untilUsed();
  });

  test('a read is repeated on the primary if its connection leads to a server that was not checked', async () => {
    const [checked, other] = replicas;
    assert.ok(checked && other);
    const proxy = await openProxy(checked.url);
    const { read, set, logged, untilUsed } = await open([{ ...checked, url: proxy.url }], UNLIMITED_MS);
    await untilUsed();
    await runOn(other, 'select pg_wal_replay_pause()');
    const value = await write();
    proxy.retarget(other.url);
    assert.equal(await read(), value);
    assert.equal(set.status()[0]?.repeated, 1);
    assert.equal(JSON.parse(logged.at(-1) ?? '{}').message, 'the URL of a replica leads to several servers');
  });

  test('after the checks reach another server, no read uses the connections to the earlier server', async () => {
    const [earlier, later] = replicas;
    assert.ok(earlier && later);
    const proxy = await openProxy(earlier.url);
    const { read, set, counts, untilUsed } = await open([{ ...earlier, url: proxy.url }], UNLIMITED_MS);
    await untilUsed();
    await read();
    assert.deepEqual(counts(), [1]);
    await runOn(earlier, 'select pg_wal_replay_pause()');
    const value = await write();
    await untilReplayed(later, value);
    proxy.retarget(later.url);
    const checks = `from pg_stat_activity where query like '%pg_control_system%' and pid <> pg_backend_pid()`;
    const checksOn = async (server: PostgresServer) => (await runOn(server, `select ${checks}`)).rowCount;
    const before = await checksOn(later);
    await runOn(earlier, `select pg_terminate_backend(pid) ${checks}`);
    await until(async () => (await checksOn(later)) !== before, LIMIT_MS, 'the checks do not reach the other server');
    await set.checkAll();
    assert.equal(await read(), value);
    assert.deepEqual(counts(), [2]);
    assert.equal(set.status()[0]?.repeated, 0);
  });

  test('while the primary is lost, a response from a replica has the offset null if this replica lacks changes before the offset of the feed', async () => {
    const [behind] = replicas;
    assert.ok(behind);
    const proxy = await openProxy(primary.url);
    const { read, readInScope, untilUsed } = await open([behind], UNLIMITED_MS, proxy.url);
    await untilUsed();
    const before = await read();
    await runOn(behind, 'select pg_wal_replay_pause()');
    const value = await write();
    const respond = () => {
      const readAt = performance.now();
      const feed = { offsetAt: () => ({ offset: '42', readAt }) };
      const context = { stream: { feed }, market: { hasReplicas: true } };
      return readFromReplicas(Number.NEGATIVE_INFINITY, () => withMeta(context, () => readInScope()));
    };
    assert.deepEqual(await respond(), { content: value, meta: { offset: '42' } });
    await proxy.refuse();
    assert.deepEqual(await respond(), { content: before, meta: { offset: null } });
  });

  test('when the primary has been lost for longer than the limit, a replica that receives no write-ahead log is left out', async () => {
    const { leftOut, set, untilUsed } = await open(replicas, UNLIMITED_MS, primary.url, {
      withoutPrimaryMaxMs: LAG_MAX_MS,
    });
    await untilUsed();
    await primary.stop();
    await until(() => set.isPrimaryLost, LIMIT_MS, 'the primary does not count as lost');
    const isLeftOut = () => leftOut().every((reason) => reason === 'not receiving the log');
    await until(() => set.isPrimaryLost && isLeftOut(), LIMIT_MS, 'the replicas are not left out');
    await primary.start();
    await untilUsed();
  });

  test('the start logs a warning if the role cannot see the timeline of a replica', async () => {
    const [replica] = replicas;
    assert.ok(replica);
    await withClient(primary.url, (client) => client.query('drop role if exists reader; create role reader login'));
    const hasRole = async () => (await runOn(replica, `select from pg_roles where rolname = 'reader'`)).rowCount === 1;
    await until(hasRole, LIMIT_MS, 'the role was not replayed');
    const { logged, set } = await open([{ url: replica.url.replace('postgres@', 'reader@') }], LAG_MAX_MS);
    assert.equal(set.status()[0]?.isTimelineHidden, true);
    assert.match(logged[0] ?? '', /not a member of pg_read_all_stats/);
  });

  test('a replica that was promoted is left out', async () => {
    const [promoted] = replicas;
    assert.ok(promoted);
    const { read, leftOut, untilUsed } = await open([promoted], LAG_MAX_MS);
    await untilUsed();
    await runOn(promoted, 'select pg_promote()');
    await runOn(promoted, 'update tested set value = -1');
    await until(() => leftOut()[0] === 'not in recovery', LIMIT_MS, 'the server was not left out');
    assert.equal(await read(), written);
  });
});
