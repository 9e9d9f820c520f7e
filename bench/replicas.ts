// Measures how soon a replica that dies, hangs or does not replay the log is left out, while reads go on. The aim is also missed if one of
// these reads fails.

import pg from 'pg';
import { createLog } from '../src/core/log.ts';
import { ConnectionLane } from '../src/database/connection-lane.ts';
import { createDatabase } from '../src/database/port.ts';
import { currentReadScope, readFromReplicas } from '../src/database/replicas/read-scope.ts';
import { ReplicaSet } from '../src/database/replicas/replica-set.ts';
import { ReplicatedReads } from '../src/database/replicas/replicated-reads.ts';
import { withClient } from '../test/support/engines/postgres-locks.ts';
import type { PostgresServer } from '../test/support/engines/postgres-server.ts';
import { canStartPostgres, startOwnPostgres } from '../test/support/engines/postgres-server.ts';
import { until } from '../test/support/until.ts';
import { judge, recordUnmeasured } from './verdict.ts';

const ROUNDS = 5;
const READERS = 4;
const READ_TIMEOUT_MS = 5_000;
const LAG_MAX_MS = 1_000;
/** The longest time until the replica is left out. For a replica that only lags, the time begins when its lag exceeds `LAG_MAX_MS`. */
const LEFT_OUT_AIM_MS = 1_000;
const LIMIT_MS = 60_000;

/** `allowedMs`: how long after the beginning of the fault the replica may still be read. */
type Fault = {
  name: string;
  allowedMs: number;
  begin: (replica: PostgresServer) => unknown;
  end: (replica: PostgresServer) => unknown;
};

const run = ({ url }: PostgresServer, sql: string) => withClient(url, (client) => client.query(sql));

const FAULTS: readonly Fault[] = [
  { name: 'is killed', allowedMs: 0, begin: (replica) => replica.kill(), end: (replica) => replica.start() },
  { name: 'hangs', allowedMs: 0, begin: (replica) => replica.freeze(), end: (replica) => replica.thaw() },
  {
    name: 'does not replay the log',
    allowedMs: LAG_MAX_MS,
    begin: (replica) => run(replica, 'select pg_wal_replay_pause()'),
    end: (replica) => run(replica, 'select pg_wal_replay_resume()'),
  },
];

export async function benchReplicas(): Promise<void> {
  if (!canStartPostgres()) return recordUnmeasured('replicas', 'needs PostgreSQL on this machine');
  const primary = await startOwnPostgres();
  const replica = await startOwnPostgres({ replicaOf: primary.url });
  const pool = new pg.Pool({ connectionString: primary.url });
  // The server stops while the last connections are closing. Without a listener, the `error` event would end the process.
  pool.on('error', () => undefined);
  const database = createDatabase(pool, { engine: 'postgresql', name: 'main' });
  const set = new ReplicaSet({
    name: 'main',
    primaryUrl: primary.url,
    replicaUrls: [replica.url],
    setting: 'DATABASE_REPLICA_URLS',
    lagMaxMs: LAG_MAX_MS,
    log: createLog('silent'),
  });
  try {
    await run(primary, 'create table tested as select 0 as value');
    await set.start();
    const reads = new ReplicatedReads({ primary: database, replicas: set, changedAt: () => Number.NEGATIVE_INFINITY });
    for (const fault of FAULTS) await benchFault(fault, { primary, replica, set, reads });
  } finally {
    await set.close();
    await database.close();
    for (const server of [replica, primary]) await server.discard();
  }
}

type Setup = { primary: PostgresServer; replica: PostgresServer; set: ReplicaSet; reads: ReplicatedReads };

async function benchFault({ name, allowedMs, begin, end }: Fault, setup: Setup): Promise<void> {
  const { primary, replica, set } = setup;
  const ended = new AbortController();
  const reading = readUntil(ended.signal, setup);
  const times: number[] = [];
  while (times.length < ROUNDS) {
    await until(() => set.isUsable, LIMIT_MS, 'the replica is not read');
    const startedAt = performance.now();
    await begin(replica);
    // A replica is behind only if there is something to replay.
    await run(primary, 'update tested set value = value + 1');
    await until(() => !set.isUsable, LIMIT_MS, 'the replica is not left out');
    times.push(Math.max(0, performance.now() - startedAt - allowedMs));
    await end(replica);
  }
  ended.abort();
  const { count, failed } = await reading;
  judge({
    name: `replicas, until a replica that ${name} is left out`,
    figure: Math.max(...times),
    unit: 'ms',
    rounds: times,
    aim: { atMost: LEFT_OUT_AIM_MS },
    failures: failed,
    beside: `the longest of ${ROUNDS}; ${count} reads meanwhile`,
  });
}

/** Reads as a public response does, until the signal aborts. */
async function readUntil(signal: AbortSignal, { reads }: Setup): Promise<{ count: number; failed: number }> {
  const lane = new ConnectionLane(READERS);
  const counts = { count: 0, failed: 0 };
  const read = async () => {
    while (!signal.aborted) {
      counts.count += 1;
      try {
        await readFromReplicas(Number.NEGATIVE_INFINITY, async () => {
          const scope = currentReadScope();
          if (scope) await reads.within(READ_TIMEOUT_MS, lane, scope).query('select value from tested');
        });
      } catch {
        counts.failed += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: READERS }, read));
  return counts;
}
