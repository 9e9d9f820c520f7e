// Secrets that all nodes of a service share. Made by whichever process needs one first.

import { randomBytes } from 'node:crypto';
import type { Queryable } from './port.ts';

const SECRET_BYTES = 32;

/** The secret of that name, made now if nobody has made it before. */
export async function findOrInsertSecret(db: Queryable, name: string): Promise<Buffer> {
  await db.query(`insert into main.secret (name, value) values ($1, $2) on conflict (name) do nothing`, [
    name,
    randomBytes(SECRET_BYTES),
  ]);
  const [row] = await db.query<{ value: Buffer }>(`select value from main.secret where name = $1`, [name]);
  if (!row) throw new Error(`secret ${name} is missing after it was made`);
  return Buffer.from(row.value);
}
