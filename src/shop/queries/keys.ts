// Stores and finds API keys. Secrets are not stored: a key is found by the hash of its secret.

import type { Queryable } from '../../database/port.ts';
import { queryHot } from '../../database/port.ts';
import { column, list, nullable, rowDecoder, text, timestamp } from '../../database/rows.ts';

const decodeKey = rowDecoder('api_key', {
  id: text,
  /** Null for an intake key without a shop. */
  shopId: column('shop_id', nullable(text)),
  name: nullable(text),
  prefix: text,
  scopes: list(text),
  createdAt: column('created_at', timestamp),
  /** The expiry that the operator set. */
  expiresAt: column('expires_at', nullable(timestamp)),
  /** The end of the overlap with the key that replaced this key. Null if this key was never rotated. */
  replacedAt: column('replaced_at', nullable(timestamp)),
  revokedAt: column('revoked_at', nullable(timestamp)),
  lastUsedAt: column('last_used_at', nullable(timestamp)),
});

/** A key without its secret. Times in milliseconds. */
export type ApiKey = ReturnType<typeof decodeKey>;

const COLUMNS = `id, shop_id, name, prefix, scopes, created_at, expires_at, replaced_at, revoked_at, last_used_at`;

/** `hash` is hexadecimal text. */
export async function insertKey(db: Queryable, key: ApiKey, hash: string): Promise<void> {
  await db.query(
    `insert into main.api_key (id, shop_id, name, prefix, hash, scopes, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      key.id,
      key.shopId,
      key.name,
      key.prefix,
      Buffer.from(hash, 'hex'),
      key.scopes,
      new Date(key.createdAt),
      key.expiresAt === null ? null : new Date(key.expiresAt),
    ],
  );
}

const decodeHash = rowDecoder('api_key', { hash: text });

/**
 * Returns the keys with these hashes, by hash. Keys that can no longer be used are included. Hashes are hexadecimal text. Unknown hashes
 * are absent.
 */
export async function findKeysByHash(db: Queryable, hashes: readonly string[]): Promise<Map<string, ApiKey>> {
  const rows = await queryHot(
    db,
    // The subquery hides the number of hashes from the planner, so that one plan suits all calls.
    `select ${COLUMNS}, encode(hash, 'hex') as hash from main.api_key where hash = any ((select $1::bytea[])::bytea[])`,
    [hashes.map((hash) => Buffer.from(hash, 'hex'))],
  );
  return new Map(rows.map((row) => [decodeHash(row).hash, decodeKey(row)]));
}

/** Finds a key, and locks it until the transaction ends. */
export async function findKeyForUpdate(tx: Queryable, id: string): Promise<ApiKey | null> {
  const [row] = await tx.query(`select ${COLUMNS} from main.api_key where id = $1 for update`, [id]);
  return row ? decodeKey(row) : null;
}

/** The keys of a shop, oldest first. If `shopId` is null, all keys. */
export async function listKeys(db: Queryable, shopId: string | null): Promise<ApiKey[]> {
  const rows = await db.query(
    `select ${COLUMNS} from main.api_key where $1::text is null or shop_id = $1 order by created_at, id`,
    [shopId],
  );
  return rows.map(decodeKey);
}

/** Revokes a key. A second revocation keeps the time of the first. Returns whether the key exists. */
export async function updateKeyRevoked(db: Queryable, id: string, now: number): Promise<boolean> {
  const rows = await db.query(
    `update main.api_key set revoked_at = coalesce(revoked_at, $2) where id = $1 returning id`,
    [id, new Date(now)],
  );
  return rows.length > 0;
}

/** Sets the end of the overlap with the key's replacement, unless an earlier end is stored. */
export async function updateKeyReplaced(db: Queryable, id: string, at: number): Promise<void> {
  await db.query(`update main.api_key set replaced_at = least(replaced_at, $2) where id = $1`, [id, new Date(at)]);
}

/** Stores the time at which each key was last used, unless a later time is already stored. `uses`: the times by key id. */
export async function updateKeysUsed(db: Queryable, uses: ReadonlyMap<string, number>): Promise<void> {
  await db.query(
    `update main.api_key as key set last_used_at = used.at
     from unnest($1::text[], $2::timestamptz[]) as used (id, at)
     where key.id = used.id and (key.last_used_at is null or key.last_used_at < used.at)`,
    [[...uses.keys()], [...uses.values()].map((at) => new Date(at))],
  );
}
