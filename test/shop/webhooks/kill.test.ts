// Starts a real process for each point between a change and the record of its delivery, and kills the process at this point.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../../src/service/config.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { DELIVERY_LEASE_MS } from '../../../src/shop/webhooks/dispatcher.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import type { Receiver } from './fixtures.ts';
import { NOW, createTestClock, makeShop, makeDispatcher, quiet, startReceiver, subscribe } from './fixtures.ts';
import { programEnvironment } from '../../support/program-environment.ts';

const KILLED_PROCESS = fileURLToPath(new URL('./killed-process.ts', import.meta.url));
const KILLED_PROCESS_LIMIT_MS = 60_000;

/**
 * The points at which a process is killed, in the order in which it reaches them. At the first point the change is not committed.
 */
const POINTS = [
  'before the commit',
  'after the commit',
  'after the fan-out',
  'after the claim',
  'after the send, before the record',
  'after the record of the attempt',
];

forEachEngine('kill -9 of a process that delivers', (engine) => {
  let receiver: Receiver;

  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  test('after a kill at any point, exactly the committed changes are delivered, with one webhook-id each', async () => {
    const settings = await engine.settings();
    const withDatabase = async <T>(work: (main: Database) => Promise<T>): Promise<T> => {
      const { main, close } = await openDatabases(readConfig({ ...settings }), quiet);
      try {
        return await work(main);
      } finally {
        await close();
      }
    };
    const shops = await withDatabase(async (main) => {
      await migrate(main, 'main');
      const made: { point: string; shopId: string; path: string }[] = [];
      for (const [n, point] of POINTS.entries()) {
        const shopId = await makeShop(main);
        await subscribe(main, { shopId, url: `${receiver.url}/${n}` });
        made.push({ point, shopId, path: `/hook/${n}` });
      }
      return made;
    });
    const receivedAt = (path: string) => receiver.received.filter((request) => request.path === path);
    // Each process also sends deliveries that a killed process has left. The path of a request shows to which process the delivery belongs.
    for (const { point, shopId, path } of shops) {
      await killAt([point, shopId, `${new URL(receiver.url).origin}${path}`, String(NOW)], settings);
      if (point === 'after the claim') assert.equal(receivedAt(path).length, 0);
      if (point.startsWith('after the send')) assert.equal(receivedAt(path).length, 1);
    }

    await withDatabase(async (main) => {
      await makeDispatcher(main, { time: createTestClock(NOW + DELIVERY_LEASE_MS) }).run();
      for (const { point, shopId, path } of shops) {
        const rows = await main.query<{ id: string }>('select id from main.product where shop_id = $1', [shopId]);
        assert.equal(rows.length, point === 'before the commit' ? 0 : 1, point);
        const sent = receivedAt(path).map(({ body }) => JSON.parse(body).data.id);
        assert.deepEqual(new Set(sent), new Set(rows.map(({ id }) => id)), point);
        assert.equal(new Set(receivedAt(path).map(({ headers }) => headers['webhook-id'])).size, rows.length, point);
        if (point === 'after the record of the attempt')
          assert.equal(sent.length, 1, 'a recorded delivery was sent again');
      }
    });
  });
});

async function killAt(args: string[], settings: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [KILLED_PROCESS, ...args], {
    env: { ...programEnvironment(), ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), KILLED_PROCESS_LIMIT_MS);
  child.stdout.setEncoding('utf8');
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.endsWith('\n')) break;
  }
  clearTimeout(timer);
  child.kill('SIGKILL');
  await exited;
  assert.equal(output, `${args[0]}\n`, 'the process did not reach the point');
}
