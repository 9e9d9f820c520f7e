// Secrets that all processes of a service share. The first process that needs a secret creates it.

import { randomBytes } from 'node:crypto';
import type { SecretKeys } from '../core/secret-keys.ts';
import { readKeyId } from '../core/secret-keys.ts';
import type { Queryable } from './port.ts';
import { bytes, rowDecoder } from './rows.ts';

/** A stored value of this length is a secret without encryption. An encrypted value is longer. */
export const SHARED_SECRET_BYTES = 32;

const decodeSecret = rowDecoder('secret', { value: bytes });

/** Returns the secret called `name`, and creates it if it does not exist. Throws OperatorError if the key that encrypted it is missing. */
export async function findOrInsertSecret(db: Queryable, name: string, keys: SecretKeys): Promise<Buffer> {
  // The insert is left out if there is a secret, so that a service also starts on a database that accepts no writes.
  const stored = (await findSecret(db, name)) ?? (await insertSecret(db, name, keys)) ?? (await findSecret(db, name));
  if (!stored) throw new Error(`secret ${name} is missing after it was inserted`);
  return decryptSharedSecret(keys, name, stored);
}

async function findSecret(db: Queryable, name: string): Promise<Buffer | null> {
  const [row] = await db.query(`select value from main.secret where name = $1`, [name]);
  return row ? decodeSecret(row).value : null;
}

/** Returns null if another process has created the secret meanwhile. */
async function insertSecret(db: Queryable, name: string, keys: SecretKeys): Promise<Buffer | null> {
  const [row] = await db.query(
    `insert into main.secret (name, value) values ($1, $2) on conflict (name) do nothing returning value`,
    [name, encryptSharedSecret(keys, name, randomBytes(SHARED_SECRET_BYTES))],
  );
  return row ? decodeSecret(row).value : null;
}

/** The stored form of a secret: its bytes if there is no key, otherwise the text that `SecretKeys` returns. */
export function encryptSharedSecret(keys: SecretKeys, name: string, secret: Buffer): Buffer {
  return keys.currentId === null ? secret : Buffer.from(keys.encrypt(secret.toString('base64'), placeOf(name)));
}

export function decryptSharedSecret(keys: SecretKeys, name: string, stored: Buffer): Buffer {
  if (stored.length === SHARED_SECRET_BYTES) return Buffer.from(stored);
  return Buffer.from(keys.decrypt(stored.toString('utf8'), placeOf(name)), 'base64');
}

/** The id of the key that encrypted a stored secret. Null for a secret without encryption. */
export function readSharedKeyId(stored: Buffer): string | null {
  return stored.length === SHARED_SECRET_BYTES ? null : readKeyId(stored.toString('utf8'));
}

const placeOf = (name: string) => `secret ${name}`;
