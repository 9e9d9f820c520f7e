// Two processes serve the change stream from one PostgreSQL database. The test stops and starts one of them, and later kills it. One client
// is the EventSource of Node.js, which reconnects automatically.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { after, test } from 'node:test';
import pg from 'pg';
import { insertMarketChanges } from '../../../../src/market/activity/queries/market-changes.ts';
import type { Database } from '../../../../src/platform/database/port.ts';
import { createDatabase } from '../../../../src/platform/database/port.ts';
import { RETRY_MS } from '../../../../src/market/explore/http/stream/event-stream.ts';
import { listed } from '../../../support/activity-log.ts';
import { cleanUp } from '../../../support/engines/cleanup.ts';
import {
  canRunPostgres,
  createTestDatabase,
  migratedTemplate,
  startPostgres,
} from '../../../support/engines/postgres-server.ts';
import { lockTable } from '../../../support/engines/postgres-locks.ts';
import { freePort } from '../../../support/free-port.ts';
import { EventStream } from '../../../support/http/event-stream.ts';
import { startServiceProcess } from '../../../support/service/service-process.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { until } from '../../../support/until.ts';

const LIMIT_MS = 120_000;
const GRACE_MS = 2_000;

/** Starts an EventSource in a process of its own. The id of each order that it receives is appended to the returned array. */
function startEventSource(t: TestContext, url: string): string[] {
  const received: string[] = [];
  const script = `
    // This timer keeps the process alive. The reconnect timer of the EventSource does not.
    setInterval(() => undefined, 1_000);
    const source = new EventSource(process.argv[1]);
    source.addEventListener('list', ({ data }) => console.log(JSON.parse(data).orderId));`;
  const child = spawn(process.execPath, ['--experimental-eventsource', '-e', script, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => received.push(...text.trim().split('\n')));
  t.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  return received;
}

after(cleanUp);

test('while a process cannot read the log, a client gets an empty stream, and an EventSource connects again by itself', async (t) => {
  if (!canRunPostgres() && process.env['REQUIRE_POSTGRES'] !== '1') return t.skip('PostgreSQL is not on this machine');
  const server = await startPostgres();
  t.after(() => server.discard());
  const url = await createTestDatabase(server.url, await migratedTemplate(server.url));
  const release = await lockTable(t, url, 'main.activity_head');
  const node = await startServiceProcess({ DATABASE_URL: url, DATA_DIR: temporaryDirectory() });
  t.after(() => node.kill());
  const address = `${node.url}/explore/v1/stream?from=0`;
  const empty = await EventStream.open(address);
  assert.equal(await empty.ended, true, 'the response was cut off');
  assert.deepEqual([empty.events, empty.retryMs], [[], RETRY_MS]);
  const received = startEventSource(t, address);
  await release();
  const pool = new pg.Pool({ connectionString: url });
  pool.on('error', () => undefined);
  const main = createDatabase(pool, { engine: 'postgresql', name: 'main' });
  t.after(() => main.close());
  await main.transaction((tx) => insertMarketChanges(tx, 'main', [listed(1)]));
  await until(() => received.length > 0, LIMIT_MS, 'the event did not arrive');
  assert.deepEqual(received, ['1']);
});

test('clients receive every event once when their node is stopped, restarted or killed, and when they change to another node', async (t) => {
  if (!canRunPostgres() && process.env['REQUIRE_POSTGRES'] !== '1') return t.skip('PostgreSQL is not on this machine');
  const server = await startPostgres();
  t.after(() => server.discard());
  const url = await createTestDatabase(server.url, await migratedTemplate(server.url));
  const pool = new pg.Pool({ connectionString: url });
  pool.on('error', () => undefined);
  const main: Database = createDatabase(pool, { engine: 'postgresql', name: 'main' });
  t.after(() => main.close());
  /** Records changes. The task `activity`, which one of the processes runs, merges them into the activity log. */
  const record = (...numbers: number[]) =>
    main.transaction((tx) =>
      insertMarketChanges(
        tx,
        'main',
        numbers.map((number) => listed(number)),
      ),
    );
  const settings = { DATABASE_URL: url, SHUTDOWN_GRACE_MS: String(GRACE_MS) };
  const startNode = async (port: number) => {
    const node = await startServiceProcess({ ...settings, DATA_DIR: temporaryDirectory(), PORT: String(port) });
    t.after(() => node.kill());
    return node;
  };
  const port = await freePort();
  const [other, first] = [await startNode(await freePort()), await startNode(port)];
  const received = startEventSource(t, `${first.url}/explore/v1/stream?from=0`);
  const expectReceived = async (...orders: string[]) => {
    await until(() => received.length >= orders.length, LIMIT_MS, `${orders.length} events did not arrive`).catch(
      (error: unknown) => assert.deepEqual(received, orders, String(error)),
    );
    assert.deepEqual(received, orders);
  };

  await record(1, 2, 3);
  await expectReceived('1', '2', '3');
  const stopped = await EventStream.open(`${first.url}/explore/v1/stream?from=0`);
  await stopped.received(3);
  const stop = first.stop();
  assert.equal(await stopped.ended, true, 'the response was cut off');
  await stop;
  await record(4, 5);
  const again = await startNode(port);
  await record(6);
  await expectReceived('1', '2', '3', '4', '5', '6');

  const killed = await EventStream.open(`${again.url}/explore/v1/stream`, { lastEventId: stopped.lastEventId });
  await killed.received(3);
  await again.kill();
  await killed.ended;
  await record(7);
  const resumed = await EventStream.open(`${other.url}/explore/v1/stream`, { lastEventId: killed.lastEventId });
  assert.deepEqual(
    (await resumed.received(1)).map(({ data }) => data.orderId),
    ['7'],
  );
});
