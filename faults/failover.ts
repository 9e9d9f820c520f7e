// The steps that all faults with a failover share: starting a primary with a replica, and promoting the replica.

import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../test/support/engines/postgres-locks.ts';
import type { PostgresServer } from '../test/support/engines/postgres-server.ts';
import { startOwnPostgres } from '../test/support/engines/postgres-server.ts';
import type { TcpProxy } from '../test/support/engines/tcp-proxy.ts';
import { startTcpProxy } from '../test/support/engines/tcp-proxy.ts';
import { until } from '../test/support/until.ts';
import type { FaultContext } from './fault.ts';
import type { Platform } from './platform.ts';

/** The longest wait for a replica. It is long enough for a slow machine. */
const LIMIT_MS = 600_000;
/** The time from the moment when the proxy leads to the replica until the promotion of the replica. The replica is read-only until then. */
const READ_ONLY_MS = 3_000;

export type Replicated = { platform: Platform; primary: PostgresServer; replica: PostgresServer; proxy: TcpProxy };

/** Starts a platform whose primary has a replica. The service reaches the primary through a proxy. */
export async function startReplicated(context: FaultContext, isSynchronous: boolean): Promise<Replicated> {
  const primary = await startOwnPostgres({ durable: true });
  context.onEnd(() => primary.discard());
  const replica = await startOwnPostgres({ durable: true, replicaOf: primary.url });
  context.onEnd(() => replica.discard());
  const proxy = await startTcpProxy(primary.url);
  context.onEnd(proxy.close);
  if (isSynchronous) await waitForReplica(primary.url);
  const platform = await context.start({ postgres: primary, via: () => Promise.resolve(proxy.url) });
  return { platform, primary, replica, proxy };
}

/** Replaces a lost primary by its replica. The replica stays read-only for a while, because in practice someone must first decide to promote it. */
export async function replacePrimary({ replica, proxy }: Replicated): Promise<string> {
  proxy.retarget(replica.url);
  proxy.cut();
  await sleep(READ_ONLY_MS);
  await promote(replica);
  return `the replica rejects writes for ${READ_ONLY_MS / 1_000} s, and is then promoted`;
}

export async function promote({ url }: PostgresServer): Promise<void> {
  await withClient(url, (client) => client.query('select pg_promote()'));
  await until(() => isWritable(url), LIMIT_MS, 'the replica was not promoted');
}

/** Makes the primary acknowledge a commit only after the replica has written it. */
async function waitForReplica(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '*'`);
    await client.query('select pg_reload_conf()');
    const isSynchronous = async () =>
      (await client.query(`select from pg_stat_replication where sync_state = 'sync'`)).rowCount === 1;
    await until(isSynchronous, LIMIT_MS, 'the replica is not synchronous');
  });
}

function isWritable(url: string): Promise<boolean> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ replica: boolean }>('select pg_is_in_recovery() as replica');
    return rows[0]?.replica === false;
  });
}
