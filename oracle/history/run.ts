// A run of the workload against a service of its own, whose process and whose database are killed meanwhile.

import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { copyDatabase } from '../../test/support/engines/embedded-template.ts';
import type { PostgresServer } from '../../test/support/engines/postgres-server.ts';
import { createTestDatabase, migratedTemplate, startOwnPostgres } from '../../test/support/engines/postgres-server.ts';
import { freePort } from '../../test/support/free-port.ts';
import type { ServiceProcess } from '../../test/support/service/service-process.ts';
import { sendToSocket, startServiceProcess } from '../../test/support/service/service-process.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import type { History } from './history.ts';
import { Workload } from './workload.ts';

const SCOPES = ['products:read', 'products:write', 'inventory:read', 'inventory:write'];
/** How early reservations expire that the run makes expire early. */
const SHORT_MS = 700;
const POLL_MS = 20;

export type HistoryRun = {
  engine: 'embedded' | 'postgresql';
  operations: number;
  writers: number;
  seed: number;
  /** How often the service is killed, and how often the database. The embedded database is killed with its service. */
  serviceKills: number;
  databaseKills: number;
  lateMs: number;
  /**
   * Whether the run does not wait for the expiry of the reservations that are left in the end, but releases them. On PostgreSQL, some of the others
   * then expire after SHORT_MS.
   */
  isShort?: boolean;
  onProgress?: (line: string) => void;
};

/** `seconds`: how long the operations took, without the wait for the last expiry. */
export async function recordHistory(run: HistoryRun): Promise<History & { seconds: number }> {
  const dir = temporaryDirectory();
  const server = run.engine === 'postgresql' ? await startOwnPostgres() : null;
  try {
    const database = server ? await createTestDatabase(server.url, await migratedTemplate(server.url)) : null;
    if (!database) await copyDatabase(path.join(dir, 'db'), 'migrated');
    const settings = {
      DATA_DIR: dir,
      PORT: String(await freePort()),
      STORE_RATE_LIMIT: '100000000',
      LOG_LEVEL: 'silent',
      ...(database && { DATABASE_URL: database }),
    };
    return await recordOn(settings, server, run);
  } finally {
    await server?.discard();
  }
}

type Settings = Record<string, string> & { DATA_DIR: string; DATABASE_URL?: string };

async function recordOn(
  settings: Settings,
  server: PostgresServer | null,
  run: HistoryRun,
): Promise<History & { seconds: number }> {
  let service: ServiceProcess = await startServiceProcess(settings);
  const { DATABASE_URL: database } = settings;
  const pool = database !== undefined && run.isShort ? new pg.Pool({ connectionString: database, max: 4 }) : null;
  pool?.on('error', () => undefined);
  const keys = await createKeys(service.socketPath, run.writers);
  const workload = new Workload({
    url: () => service.url,
    keys,
    operations: run.operations,
    seed: run.seed,
    releasesRest: run.isShort === true,
    ...(pool && { shorten: (id) => shorten(pool, id) }),
  });
  const downtimes: History['downtimes'] = [];
  const whileDown = async (restart: () => Promise<void>) => {
    const from = Date.now();
    await restart();
    downtimes.push({ from, until: Date.now() });
  };
  const kills = [
    ...Array.from({ length: run.serviceKills }, () => async () => {
      await service.kill();
      service = await startServiceProcess(settings);
    }),
    ...Array.from({ length: run.databaseKills }, () => async () => {
      await server?.kill();
      await server?.start();
      await untilServed(service, keys[0] ?? '');
    }),
  ];
  try {
    await workload.prepare();
    const startedAt = performance.now();
    const running = workload.run();
    const killing = (async () => {
      // The kills are spread over the run, services and databases alternating.
      const order = kills
        .map((kill, index) => ({ kill, place: (index * 7) % kills.length }))
        .toSorted((a, b) => a.place - b.place);
      for (const [index, { kill }] of order.entries()) {
        const due = ((index + 1) / (order.length + 1)) * run.operations;
        while (workload.begun < due) await delay(POLL_MS);
        await whileDown(kill);
        run.onProgress?.(`${workload.begun} operations, ${index + 1} kills`);
      }
    })();
    await Promise.all([running, killing]);
    const seconds = (performance.now() - startedAt) / 1_000;
    run.onProgress?.(`${workload.begun} operations in ${seconds.toFixed(0)} s`);
    const end = await workload.readEnd();
    return { ...workload.history, ...end, downtimes, lateMs: run.lateMs, seconds };
  } finally {
    workload.close();
    await pool?.end();
    await service.kill();
  }
}

async function createKeys(socketPath: string, count: number): Promise<string[]> {
  const operate = async (operation: string, input: object) =>
    (await sendToSocket(socketPath, 'POST', `/operator/v1/${operation}`, input)).body.result;
  await operate('shops.create', { name: 'shop' });
  const keys: string[] = [];
  while (keys.length < count) keys.push((await operate('keys.create', { shop: 'shop', scopes: SCOPES })).secret);
  return keys;
}

/** Waits until the service uses the database again. */
async function untilServed({ url }: ServiceProcess, key: string): Promise<void> {
  for (;;) {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${url}/api/v1/reservations?limit=1`, { headers }).catch(() => null);
    if (response?.ok) return;
    await delay(POLL_MS);
  }
}

/** Makes a reservation expire soon, as if its time had passed. Returns when it expires. */
async function shorten(pool: pg.Pool, id: string): Promise<number> {
  for (;;) {
    try {
      await pool.query(
        `update main.reservation set expires_at = date_trunc('milliseconds', clock_timestamp()) + $2 * interval '1 ms'
         where id = $1 and state = 'held' and expires_at > clock_timestamp() + interval '10 s'`,
        [id, SHORT_MS],
      );
      const { rows } = await pool.query<{ expires: number }>(
        'select (extract(epoch from expires_at) * 1000)::float8 as expires from main.reservation where id = $1',
        [id],
      );
      return rows[0]?.expires ?? 0;
    } catch {
      // The database is down.
      await delay(POLL_MS);
    }
  }
}
