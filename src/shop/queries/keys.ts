// API keys. A secret is never stored: keys are found by its hash.

import type { Queryable, Row } from '../../database/port.ts';
import { queryHot } from '../../database/port.ts';

/** A key without its secret. Times in milliseconds. */
export type ApiKey = {
  id: string;
  /** null: of no shop, for the intake. */
  shopId: string | null;
  name: string | null;
  prefix: string;
  scopes: string[];
  createdAt: number;
  /** The end that it was given when it was made. */
  expiresAt: number | null;
  /** When the key that replaces it goes on alone; null while it was never rotated. */
  replacedAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
};

const COLUMNS = `id, shop_id, name, prefix, scopes, created_at, expires_at, replaced_at, revoked_at, last_used_at`;

export async function insertKey(db: Queryable, key: ApiKey, hash: Buffer): Promise<void> {
  await db.query(
    `insert into main.api_key (id, shop_id, name, prefix, hash, scopes, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      key.id,
      key.shopId,
      key.name,
      key.prefix,
      hash,
      key.scopes,
      new Date(key.createdAt),
      key.expiresAt === null ? null : new Date(key.expiresAt),
    ],
  );
}

/** The key with this hash, whether or not it may still be used. */
export async function findKeyByHash(db: Queryable, hash: Buffer): Promise<ApiKey | null> {
  const [row] = await queryHot(db, `select ${COLUMNS} from main.api_key where hash = $1`, [hash]);
  return row ? toApiKey(row) : null;
}

export async function findKey(db: Queryable, id: string): Promise<ApiKey | null> {
  const [row] = await db.query(`select ${COLUMNS} from main.api_key where id = $1 for update`, [id]);
  return row ? toApiKey(row) : null;
}

/** Keys of a shop, or of all, oldest first. */
export async function listKeys(db: Queryable, shopId: string | null): Promise<ApiKey[]> {
  const rows = await db.query(
    `select ${COLUMNS} from main.api_key where $1::text is null or shop_id = $1 order by created_at, id`,
    [shopId],
  );
  return rows.map(toApiKey);
}

/** Ends a key's life now, or earlier if it had ended already; returns whether the key exists. */
export async function updateKeyRevoked(db: Queryable, id: string, now: number): Promise<boolean> {
  const rows = await db.query(
    `update main.api_key set revoked_at = coalesce(revoked_at, $2) where id = $1 returning id`,
    [id, new Date(now)],
  );
  return rows.length > 0;
}

/** Lets a key live no longer than until the given time, because another one replaces it. */
export async function updateKeyReplaced(db: Queryable, id: string, at: number): Promise<void> {
  await db.query(`update main.api_key set replaced_at = least(replaced_at, $2) where id = $1`, [id, new Date(at)]);
}

/** Notes when keys were last used; never turns the time back. */
export async function updateKeysUsed(db: Queryable, uses: ReadonlyMap<string, number>): Promise<void> {
  await db.query(
    `update main.api_key as key set last_used_at = used.at
     from unnest($1::text[], $2::timestamptz[]) as used (id, at)
     where key.id = used.id and (key.last_used_at is null or key.last_used_at < used.at)`,
    [[...uses.keys()], [...uses.values()].map((at) => new Date(at))],
  );
}

function toApiKey(row: Row): ApiKey {
  const time = (name: string) => (row[name] as Date | null)?.getTime() ?? null;
  return {
    id: row['id'] as string,
    shopId: row['shop_id'] as string | null,
    name: row['name'] as string | null,
    prefix: row['prefix'] as string,
    scopes: row['scopes'] as string[],
    createdAt: time('created_at') ?? 0,
    expiresAt: time('expires_at'),
    replacedAt: time('replaced_at'),
    revokedAt: time('revoked_at'),
    lastUsedAt: time('last_used_at'),
  };
}
