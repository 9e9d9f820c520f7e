// Stores and finds API keys. Secrets are not stored: a key is found by the hash of its secret.

import type { Queryable } from '../../platform/database/port.ts';
import { queryHot } from '../../platform/database/port.ts';
import {
  column,
  integer,
  list,
  nullable,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../platform/database/rows.ts';

const decodeKey = rowDecoder('api_key', {
  id: text,
  /** Null for a key without a shop. */
  shopId: column('shop_id', nullable(text)),
  name: nullable(text),
  prefix: text,
  scopes: list(text),
  /** Requests a minute to lists of the public interfaces. Null: the limit of every key. Only for the scope `market:read`. */
  listLimit: column('list_limit', nullable(integer)),
  /** Likewise for all other requests. */
  itemLimit: column('item_limit', nullable(integer)),
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

const COLUMNS = `id, shop_id, name, prefix, scopes, list_limit, item_limit, created_at, expires_at, replaced_at, revoked_at, last_used_at`;

/** `hash` is hexadecimal text. */
export async function insertKey(db: Queryable, key: ApiKey, hash: string): Promise<void> {
  await db.query(
    `insert into main.api_key (id, shop_id, name, prefix, hash, scopes, list_limit, item_limit, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      key.id,
      key.shopId,
      key.name,
      key.prefix,
      Buffer.from(hash, 'hex'),
      key.scopes,
      key.listLimit,
      key.itemLimit,
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

/** The use of a key since it was last written: the time of the last request in milliseconds, and the number of requests. */
export type KeyUse = { at: number; requests: number };

/**
 * Stores the time at which each key was last used, unless a later time is already stored, and adds its requests to the day of that time.
 * `uses`: by key id.
 */
export async function updateKeysUsed(db: Queryable, uses: ReadonlyMap<string, KeyUse>): Promise<void> {
  const all = [...uses.values()];
  await db.query(
    `with used as (
       select * from unnest($1::text[], $2::timestamptz[], $3::bigint[]) as used (id, at, requests)
     ), counted as (
       insert into main.key_usage as usage (key_id, day, requests)
       select key.id, (used.at at time zone 'utc')::date, used.requests from used join main.api_key as key on key.id = used.id
       order by key.id
       on conflict (key_id, day) do update set requests = usage.requests + excluded.requests
     )
     update main.api_key as key set last_used_at = used.at
     from used where key.id = used.id and (key.last_used_at is null or key.last_used_at < used.at)`,
    [[...uses.keys()], all.map(({ at }) => new Date(at)), all.map(({ requests }) => requests)],
  );
}

/** Deletes the counts of days before the day of `before`. */
export async function deleteOldKeyUsage(db: Queryable, before: number): Promise<void> {
  await db.query(`delete from main.key_usage where day < ($1::timestamptz at time zone 'utc')::date`, [
    new Date(before),
  ]);
}

const decodeUsage = rowDecoder('key_usage', {
  keyId: column('key_id', text),
  /** Such as `2026-11-23`, in UTC. */
  day: text,
  requests: safeInteger,
});

/** The requests of each key of a shop on each day since `since`, in milliseconds. If `shopId` is null, of all keys. Days without requests are absent. */
export async function listKeyUsage(
  db: Queryable,
  { shopId, since }: { shopId: string | null; since: number },
): Promise<ReturnType<typeof decodeUsage>[]> {
  const rows = await db.query(
    `select usage.key_id, usage.day::text as day, usage.requests
     from main.key_usage as usage join main.api_key as key on key.id = usage.key_id
     where usage.day >= ($2::timestamptz at time zone 'utc')::date and ($1::text is null or key.shop_id = $1)
     order by usage.key_id, usage.day`,
    [shopId, new Date(since)],
  );
  return rows.map(decodeUsage);
}
