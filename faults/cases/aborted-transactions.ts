// PostgreSQL aborts transactions, because all transactions are serializable and another client causes deadlocks.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { withClient } from '../../test/support/engines/postgres-locks.ts';
import type { Fault } from '../fault.ts';

const ROUNDS = 60;
const HOLD_MS = 100;
const PAUSE_MS = 50;
const ABORTED_CODES = new Set(['40001', '40P01', '55P03']);

export const fault: Fault = {
  name: 'aborted-transactions',
  promise: 'an aborted transaction is repeated; when that does not help, the response is 503 with Retry-After',
  engines: ['postgresql'],
  run: async ({ start }) => {
    const settings = { default_transaction_isolation: 'serializable', deadlock_timeout: '50ms' };
    const platform = await start({ postgres: { settings } });
    const ids = [...platform.ledger.initialStock.keys()];
    let victims = 0;
    await platform.whileBroken(() =>
      withClient(platform.postgres.url, async (client) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          victims += await lockAgainstOrder(client, ids);
          await sleep(PAUSE_MS);
        }
      }),
    );
    const { deadlocks, rollbacks } = await readStatistics(platform.postgres.url);
    assert.ok(deadlocks > 0, 'there was no deadlock');
    return [
      `${deadlocks} deadlocks, ${victims} transactions of the other client aborted, ${rollbacks} transactions rolled back in all`,
    ];
  },
};

/**
 * Locks the stored responses, then the products. The service locks in the opposite order: it changes a product, and then stores the response.
 * Returns 1 if PostgreSQL aborts the transaction.
 */
async function lockAgainstOrder(client: pg.Client, productIds: readonly string[]): Promise<number> {
  try {
    await client.query('begin isolation level read committed');
    await client.query('lock table main.idempotency in share mode');
    await sleep(HOLD_MS);
    await client.query('select from main.product where id = any($1) order by id for update', [productIds]);
    return 0;
  } catch (error) {
    if (!ABORTED_CODES.has(String((error as { code?: unknown }).code))) throw error;
    return 1;
  } finally {
    await client.query('rollback');
  }
}

function readStatistics(url: string): Promise<{ deadlocks: number; rollbacks: number }> {
  return withClient(url, async (client) => {
    const sql = `select deadlocks::int, xact_rollback::int as rollbacks from pg_stat_database where datname = current_database()`;
    const { rows } = await client.query<{ deadlocks: number; rollbacks: number }>(sql);
    return rows[0] ?? { deadlocks: 0, rollbacks: 0 };
  });
}
