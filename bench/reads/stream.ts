// Measures the stream with 2,000 subscribers: the time from the commit of a change until each subscriber has the event of this change, and the
// memory that the service uses for clients that do not read. The change is committed and merged by another process than the one that serves the stream.

import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { MarketChange } from '../../src/market/activity/market-change.ts';
import { mergeChanges } from '../../src/market/activity/merge.ts';
import { insertMarketChanges } from '../../src/market/activity/queries/market-changes.ts';
import { systemClock } from '../../src/platform/core/clock.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { createDatabase } from '../../src/platform/database/port.ts';
import {
  canRunPostgres,
  createTestDatabase,
  migratedTemplate,
  startPostgres,
} from '../../test/support/engines/postgres-server.ts';
import { sendToSocket } from '../../test/support/service/service-process.ts';
import { startServer } from './hot-listings.ts';
import { median, residentMiB } from '../support/measure.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

const SUBSCRIBERS = 2_000;
const EVENTS = 100;
const PERIOD_MS = 100;
const SLOW_READERS = 200;
/** The bytes of this many events exceed what the sockets of the client and the server can buffer. */
const SLOW_EVENTS = 4_000;
const SLOW_EVENT_BYTES = 2_000;
const WAIT_MS_MAX = 120_000;
const AIM_MS = 500;

export async function benchStream(): Promise<void> {
  if (!canRunPostgres()) return recordUnmeasured('stream', 'needs PostgreSQL on this machine');
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const server = await startPostgres({ durable: true });
  const url = await createTestDatabase(server.url, await migratedTemplate(server.url));
  const pool = new pg.Pool({ connectionString: url });
  pool.on('error', () => undefined);
  const main = createDatabase(pool, { engine: 'postgresql', name: 'main' });
  const limit = String(10 * SUBSCRIBERS);
  const env = { DATABASE_URL: url, DATA_DIR: dir, PORT: '0', STREAM_CONNECTIONS: limit };
  const service = await startServer(['service'], { ...env, STREAM_CONNECTIONS_PER_CLIENT: limit });
  try {
    await measureLatency(main, service.url);
    await measureSlowReaders(main, { ...service, socketPath: path.join(dir, 'mercat.sock') });
  } finally {
    await service.stop();
    await main.close();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function measureLatency(main: Database, url: string): Promise<void> {
  const committedAt = new Map<string, number>();
  const latencies: number[] = [];
  const onText = (text: string) => {
    const now = performance.now();
    for (const [, orderId = ''] of text.matchAll(/"orderId":"(\d+)"/g)) {
      const at = committedAt.get(orderId);
      if (at !== undefined) latencies.push(now - at);
    }
  };
  const sockets = await subscribe(url, SUBSCRIBERS, onText);
  for (let event = 0; event < EVENTS; event += 1) {
    await main.transaction((tx) => insertMarketChanges(tx, 'main', [toChange(event)]));
    committedAt.set(String(event), performance.now());
    await merge(main);
    await delay(PERIOD_MS);
  }
  await until(() => latencies.length === SUBSCRIBERS * EVENTS, 'the events did not arrive');
  for (const socket of sockets) socket.destroy();
  const sorted = latencies.toSorted((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  judge({
    name: `stream, ${SUBSCRIBERS} subscribers, from commit to delivery, p99`,
    figure: p99,
    unit: 'ms',
    rounds: [],
    aim: { atMost: AIM_MS },
    beside: `median ${median(sorted).toFixed(0)} ms, slowest ${sorted.at(-1)?.toFixed(0)} ms of ${sorted.length} deliveries`,
  });
}

async function measureSlowReaders(
  main: Database,
  { url, pid, socketPath }: { url: string; pid: number; socketPath: string },
): Promise<void> {
  const sockets = await subscribe(url, SLOW_READERS, () => undefined);
  for (const socket of sockets) socket.pause();
  const before = residentMiB(pid);
  const reason = 'x'.repeat(SLOW_EVENT_BYTES);
  let [buffered, resident] = [0, 0];
  for (let event = 0; event < SLOW_EVENTS; event += 500) {
    const changes = Array.from({ length: 500 }, (_, index) => toChange(EVENTS + event + index, reason));
    await main.transaction((tx) => insertMarketChanges(tx, 'main', changes));
    await merge(main);
    const { bufferedBytes } = await readStatus(socketPath);
    buffered = Math.max(buffered, bufferedBytes);
    resident = Math.max(resident, residentMiB(pid));
  }
  await until(async () => (await readStatus(socketPath)).subscribers === 0, 'the slow readers are still connected');
  const { slowReaders } = await readStatus(socketPath);
  for (const socket of sockets) socket.destroy();
  judge({
    name: `stream, memory buffered for each of ${SLOW_READERS} clients that read nothing, while ${(SLOW_EVENTS * SLOW_EVENT_BYTES) / 1e6} MB of events are sent`,
    figure: buffered / SLOW_READERS / 1_024,
    unit: 'KiB',
    rounds: [],
    aim: null,
    beside: `${(resident - before).toFixed(0)} MiB more resident in all; ${slowReaders} were disconnected`,
  });
}

/** Connects clients that pass complete events to `onText`. Resolves when every stream has begun. */
async function subscribe(url: string, count: number, onText: (text: string) => void): Promise<net.Socket[]> {
  const sockets: net.Socket[] = [];
  let begun = 0;
  for (let index = 0; index < count; index += 1) {
    const socket = net.connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => undefined).setEncoding('utf8');
    socket.once('data', () => {
      begun += 1;
      let rest = '';
      socket.on('data', (text: string) => {
        const received = rest + text;
        const end = received.lastIndexOf('\n\n') + 2;
        if (end > 1) onText(received.slice(0, end));
        rest = end > 1 ? received.slice(end) : received;
      });
    });
    socket.write('GET /explore/v1/stream HTTP/1.1\r\nHost: bench\r\n\r\n');
    sockets.push(socket);
    // Waits after each 100 connections, because the queue of new connections of a listening socket is limited.
    if (index % 100 === 99) await until(() => begun === index + 1, 'the streams did not begin');
  }
  await until(() => begun === count, 'the streams did not begin');
  return sockets;
}

function toChange(number: number, reason: string | null = null): MarketChange {
  return {
    kind: 'list',
    at: systemClock(),
    chain: 'ethereum',
    collectionId: `ethereum_0x${'c'.repeat(40)}`,
    asset: String(number),
    priceRaw: 10n ** 18n,
    orderId: String(number),
    reason,
  };
}

const merge = (main: Database) =>
  mergeChanges({ main, indexer: main, clock: systemClock }, { timeoutMs: WAIT_MS_MAX, batchesMax: 100 });

async function readStatus(socketPath: string): Promise<Record<string, number> & { bufferedBytes: number }> {
  const { body } = await sendToSocket(socketPath, 'POST', '/operator/v1/status', {});
  return body.result.stream;
}

async function until(isTrue: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(what);
    await delay(20);
  }
}
