// Finds out whether a database accepts writes, with a write that leaves nothing behind.

import { randomUUID } from 'node:crypto';
import type { Schema } from './migrate.ts';
import type { Database } from './port.ts';

const TIMEOUT_MS = 5_000;

/**
 * Writes about 80 KiB to a new table and rolls back, so that nothing remains and no other statement waits. A new table needs space on the disk,
 * which a change of an existing row may not need. Rejects with the error of the database if it cannot write.
 */
export async function tryWrite(db: Database, schema: Schema): Promise<void> {
  const table = `${schema}.write_check_${randomUUID().replaceAll('-', '')}`;
  try {
    await db.within(TIMEOUT_MS).transaction(async (tx) => {
      await tx.query(`create table ${table} as select n, repeat('x', 60) as pad from generate_series(1, 800) n`);
      throw new Undone();
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
}

/** Thrown to roll back. */
class Undone extends Error {}
