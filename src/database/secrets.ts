// Secrets that all processes of a service share. The first process that needs a secret creates it.

import { randomBytes } from 'node:crypto';
import type { Queryable } from './port.ts';
import { bytes, rowDecoder } from './rows.ts';

const SECRET_BYTES = 32;

const decodeSecret = rowDecoder('secret', { value: bytes });

/** Returns the secret called `name`. Creates it if it does not exist. */
export async function findOrInsertSecret(db: Queryable, name: string): Promise<Buffer> {
  await db.query(`insert into main.secret (name, value) values ($1, $2) on conflict (name) do nothing`, [
    name,
    randomBytes(SECRET_BYTES),
  ]);
  const [row] = await db.query(`select value from main.secret where name = $1`, [name]);
  if (!row) throw new Error(`secret ${name} is missing after it was inserted`);
  return Buffer.from(decodeSecret(row).value);
}
