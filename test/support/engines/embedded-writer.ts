// A program that writes to an embedded database until it is killed. After the database has acknowledged a write, the program appends a line
// to the acknowledgement file. Each write in the acknowledgement file must survive the kill. Usage: embedded-writer.ts DATABASE_DIR ACK_FILE

import { openSync, writeSync } from 'node:fs';
import type { Pool } from 'pg';
import { openEmbedded } from '../../../src/platform/database/embedded/embedded.ts';

const BATCH_ROWS = 2_000;
const BATCHES_KEPT = 4;
/** The SQLSTATEs `disk_full` and `undefined_file`: errors that the tests cause on purpose. */
const DISK_ERRORS: readonly unknown[] = ['53100', '58P01'];

const [dir = '', ackFile = ''] = process.argv.slice(2);
const ackFd = openSync(ackFile, 'a');
const acknowledge = (line: string): number => writeSync(ackFd, `${line}\n`);

const { pool } = await openEmbedded({ dir });
await pool.query(`
  create table if not exists single (i bigint primary key, pad text, u text unique);
  create table if not exists bulk (batch bigint, n int, pad text, primary key (batch, n));
  create index if not exists bulk_by_pad on bulk (pad);
  create table if not exists counter (id int primary key, v bigint);
  insert into counter values (1, 0) on conflict do nothing`);
const { rows } = await pool.query<{ i: string; batch: string }>(
  'select (select coalesce(max(i), 0) from single) as i, (select coalesce(max(batch), 0) from bulk) as batch',
);
let i = Number(rows[0]?.i);
let batch = Number(rows[0]?.batch);
acknowledge('ready');

for (let step = 1; ; step++) {
  if (await stored(() => writeSingle(pool, i + 1))) acknowledge(`single ${++i}`);
  if (step % 15 === 0 && (await stored(() => writeBatch(pool, batch + 1)))) acknowledge(`batch ${++batch}`);
  if (step % 40 === 0) await stored(() => pool.query('checkpoint'));
  if (step % 70 === 0) await stored(() => pool.query('vacuum bulk'));
}

/** Returns false if the write failed with one of DISK_ERRORS. The writer then continues, as a service does. */
async function stored(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (!DISK_ERRORS.includes((error as { code?: unknown }).code)) throw error;
    return false;
  }
}

async function writeSingle(pool: Pool, i: number): Promise<void> {
  const client = await pool.connect();
  let failed = true;
  try {
    await client.query('begin');
    await client.query('insert into single values ($1, $2, $3)', [i, 'x'.repeat(200), `u${i}`]);
    await client.query('update counter set v = v + 1 where id = 1');
    await client.query('commit');
    failed = false;
  } finally {
    client.release(failed);
  }
}

async function writeBatch(pool: Pool, batch: number): Promise<void> {
  await pool.query(
    `with deleted as (delete from bulk where batch <= $1::bigint - $2)
     insert into bulk select $1, g, md5(g::text) || $1 from generate_series(1, $3) g`,
    [batch, BATCHES_KEPT, BATCH_ROWS],
  );
}
