// The indexer database on a Citus cluster under load: a worker that is killed and started again, and shards that are moved to a third worker.
// While the worker is down, responses that need its rows degrade as if the indexer were unavailable, and nothing that an import has
// acknowledged is lost. No request fails because of moved shards. Runs with TEST_CITUS=1, where Citus is installed.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { describeError } from '../../src/platform/core/errors.ts';
import type { CitusCluster } from '../support/engines/citus-cluster.ts';
import { startCitus } from '../support/engines/citus-cluster.ts';
import { citusSkip } from '../support/engines/citus-node.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import type { PostgresServer } from '../support/engines/postgres-server.ts';
import type { TestCollection } from '../support/service/market.ts';
import { BUYER, newCollection, range } from '../support/service/market.ts';
import type { TestResponse, TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

/** Enough collections that every worker holds some. */
const COLLECTIONS = 12;
/** The first assets of a collection, imported before the faults. */
const ASSETS = 20;
const WAIT_MS = 240_000;
/** A response that takes this long has hung. The deadlines of all sources of a response pass much earlier. */
const HANG_MS = 60_000;

describe('an indexer database on Citus under faults', { skip: citusSkip() }, () => {
  let cluster: CitusCluster;
  let indexUrl: string;
  let service: TestService;
  let subjects: TestCollection[];

  before(async () => {
    cluster = await startCitus();
    indexUrl = await cluster.createDatabase('migrated');
    service = await startTestService({
      settings: {
        DATA_DIR: temporaryDirectory(),
        DATABASE_URL: await cluster.createPrimary('migrated'),
        INDEXER_DATABASE_URL: indexUrl,
        // A busy machine must not look like a dead worker.
        SOURCE_TIMEOUT_MS: '10000',
      },
    });
    subjects = range(COLLECTIONS).map(() => newCollection());
    await service.load(
      subjects.flatMap((subject) => [
        subject.collection({ snapshot: { floorRaw: '640', supply: 100, owners: 50 } }),
        ...range(ASSETS).flatMap((asset) => recordsOf(subject, asset)),
      ]),
    );
  });
  after(async () => {
    await service?.close();
    await cleanUp();
    await cluster?.discard();
  });

  /** The ports of the workers that hold shards of the sales. */
  const listShardPorts = async () =>
    (
      await query<{ port: number }>(
        indexUrl,
        `select distinct nodeport as port from citus_shards where table_name = 'indexer.sale'::regclass order by 1`,
      )
    ).map(({ port }) => port);

  test('while a worker is killed and started again, responses degrade as if the indexer were unavailable, and no acknowledged row is lost', async () => {
    const worker = cluster.workers[0] as PostgresServer;
    assert.ok((await listShardPorts()).includes(portOf(worker)), 'the worker holds no shard');
    const readers = startReaders(service, subjects);
    const writer = startWriter(service, subjects);
    await until(() => writer.rounds() >= 1, WAIT_MS, 'nothing was imported');

    await killServer(worker);
    const degraded = await untilSome(
      readers,
      ({ path, body, status }) => isDegraded(path, { status, body }),
      'no response was degraded',
    );
    assert.ok(degraded);
    const failedImports = writer.failures();
    await until(() => writer.failures() > failedImports, WAIT_MS, 'no import reached the dead worker');
    await worker.start();
    const restartedAt = performance.now();
    await until(() => readers.completeSince(restartedAt), WAIT_MS, 'the responses are not complete again');
    const rounds = writer.rounds();
    await until(() => writer.rounds() > rounds, WAIT_MS, 'imports do not succeed again');

    await Promise.all([readers.stop(), writer.stop()]);
    for (const { path, status, body, ms } of readers.responses()) {
      assert.ok(allowedWithoutIndex(path).includes(status), `${path}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
      if (status === 502) assert.equal(body.error.code, 'upstream_error');
      assert.ok(ms < HANG_MS, `${path} took ${ms} ms`);
    }
    await assertRows(writer.rounds());
  });

  test('while shards are moved to a third worker, no request fails', async (t) => {
    const readers = startReaders(service, subjects);
    const before = await countSales();
    const writer = startWriter(service, subjects);
    const third = await cluster.addWorker(indexUrl);
    await query(indexUrl, `select citus_rebalance_start(shard_transfer_mode := 'force_logical')`);
    await query(indexUrl, `select citus_rebalance_wait()`);
    const rounds = writer.rounds();
    await until(() => writer.rounds() > rounds, WAIT_MS, 'nothing is imported after the shards were moved');
    await Promise.all([readers.stop(), writer.stop()]);
    assert.ok((await listShardPorts()).includes(portOf(third)), 'no shard was moved to the third worker');
    const failed = readers.responses().filter(({ status }) => status !== 200);
    assert.deepEqual(failed, []);
    // The last step of a move locks the shard for a moment. On a busy machine a deadline may pass in this time.
    const degraded = readers.responses().filter(({ path, status, body }) => isDegraded(path, { status, body }));
    t.diagnostic(`${degraded.length} of ${readers.responses().length} responses were degraded`);
    assert.deepEqual(writer.messages(), []);
    assert.equal(await countSales(), before + writer.rounds() * COLLECTIONS);
  });

  /** Checks that the records of each import are stored once, even if the import failed and was repeated. */
  async function assertRows(rounds: number): Promise<void> {
    for (const subject of subjects) {
      assert.equal((await service.walk(`${subject.path}/sales?limit=100`)).length, ASSETS + rounds, subject.path);
      assert.equal((await service.walk(`${subject.path}/listings?limit=100`)).length, ASSETS + rounds, subject.path);
    }
  }

  async function countSales(): Promise<number> {
    const [row] = await query<{ count: string }>(indexUrl, `select count(*) from indexer.sale`);
    return Number(row?.count);
  }
});

let imported = ASSETS;

function recordsOf(subject: TestCollection, asset: number): Record<string, unknown>[] {
  return [
    subject.listing(`${asset}`, 1_000 + asset),
    subject.sale(`${asset}`, 10n ** 15n * BigInt(asset + 1), { buyer: BUYER }),
    subject.token(`${asset}`, { name: `Token ${asset}` }),
  ];
}

/**
 * Makes one import after the other. An import has one asset of one collection, and a round has one import for each collection. An import that
 * fails is repeated until it succeeds.
 */
function startWriter(service: TestService, subjects: readonly TestCollection[]) {
  let rounds = 0;
  const stopping = new AbortController();
  const messages: string[] = [];
  const run = async () => {
    while (!stopping.signal.aborted) {
      const asset = imported;
      for (const subject of subjects) await importOnce(() => service.load(recordsOf(subject, asset)));
      imported += 1;
      rounds += 1;
    }
  };
  const importOnce = async (load: () => Promise<unknown>) => {
    for (;;) {
      try {
        await load();
        return;
      } catch (error) {
        messages.push(describeError(error));
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  };
  const running = run();
  return {
    rounds: () => rounds,
    failures: () => messages.length,
    messages: () => messages,
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}

type Read = { path: string; status: number; body: any; at: number; ms: number };

const pathsOf = ({ path, chain, address }: TestCollection) => [
  path,
  `${path}/floor`,
  `${path}/listings`,
  `${path}/sales`,
  `/v1/tokens/${chain}/${address}/1`,
];

/** Requests every path again and again. */
function startReaders(service: TestService, subjects: readonly TestCollection[]) {
  const responses: Read[] = [];
  const stopping = new AbortController();
  const paths = [...subjects.flatMap(pathsOf), '/v1/collections', '/v1/collections?sort=floor'];
  const run = async (first: number) => {
    for (let next = first; !stopping.signal.aborted; next += 1) {
      const path = paths[next % paths.length] ?? '';
      const startedAt = performance.now();
      const { status, body }: TestResponse = await service.get(path);
      responses.push({ path, status, body, at: startedAt, ms: performance.now() - startedAt });
    }
  };
  const running = Promise.all([run(0), run(20), run(40)]);
  return {
    responses: () => responses,
    /** Whether every path was requested after `time`, and the latest response of each path is complete. */
    completeSince: (time: number) => {
      const latest = new Map(responses.filter(({ at }) => at > time).map((one) => [one.path, one]));
      return (
        latest.size === paths.length &&
        [...latest.values()].every((one) => one.status === 200 && !isDegraded(one.path, one))
      );
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

async function untilSome(
  readers: ReturnType<typeof startReaders>,
  isWanted: (read: Read) => boolean,
  what: string,
): Promise<Read | undefined> {
  await until(() => readers.responses().some(isWanted), WAIT_MS, what);
  return readers.responses().find(isWanted);
}

/** The statuses that docs/degradation.md states for an indexer that is unavailable. */
function allowedWithoutIndex(path: string): number[] {
  return path.endsWith('/sales') || path.startsWith('/v1/collections?') || path === '/v1/collections'
    ? [200, 502]
    : [200];
}

function isDegraded(path: string, { status, body }: { status: number; body: any }): boolean {
  if (status !== 200) return true;
  if (path.endsWith('/listings')) return body.meta !== undefined;
  return body.data.stale === true;
}

/** Kills the first process of the server with SIGKILL. The other processes of the server then end by themselves. */
async function killServer(server: PostgresServer): Promise<void> {
  process.kill(server.pid() ?? 0, 'SIGKILL');
  await until(() => !server.isRunning(), WAIT_MS, 'the server does not end');
}

const portOf = ({ url }: PostgresServer) => Number(new URL(url).port);

async function query<R extends pg.QueryResultRow>(url: string, sql: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(sql)).rows;
  } finally {
    await client.end();
  }
}
