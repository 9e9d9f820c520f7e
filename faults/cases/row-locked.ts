// Another client of the database keeps the row of one product locked for a minute.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../../test/support/engines/postgres-locks.ts';
import type { Client } from '../client.ts';
import type { Fault } from '../fault.ts';

const LOCKED_MS = 60_000;
const PAUSE_MS = 20;

export const fault: Fault = {
  name: 'row-locked',
  promise: 'changes of the locked product are 503 with Retry-After; every other request succeeds',
  engines: ['postgresql'],
  run: async ({ start }) => {
    const platform = await start();
    const [locked = '', free = ''] = platform.ledger.initialStock.keys();
    const others = platform.newClient();
    await platform.whileBroken(() =>
      withClient(platform.postgres.url, async (client) => {
        await client.query('begin');
        await client.query('select from main.product where id = $1 for update', [locked]);
        const until = performance.now() + LOCKED_MS;
        while (performance.now() < until) {
          await sendOthers(others, { locked, free });
          await sleep(PAUSE_MS);
        }
        await client.query('rollback');
      }),
    );
    const tally = others.takeTally();
    assert.deepEqual([...tally.statuses.keys()], [200], `other requests: ${tally.describe()}`);
    return [`locked for ${LOCKED_MS / 1_000} s`, `other requests: ${tally.describe()}`];
  },
};

/** Requests that need no lock on the locked row. The adjustment of 0 changes no stock. */
async function sendOthers(client: Client, { locked, free }: { locked: string; free: string }): Promise<void> {
  const body = { product_id: free, adjustment: 0 };
  await client.send({ method: 'POST', path: '/api/v1/inventory', body, idempotencyKey: randomUUID() });
  await client.send({ method: 'GET', path: `/api/v1/products/${locked}` });
  await client.send({ method: 'GET', path: '/v1/collections?limit=5' });
}
