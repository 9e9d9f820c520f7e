// Shops: whom products, keys and webhooks belong to.

import type { Queryable } from '../../database/port.ts';

export type Shop = { id: string; name: string; createdAt: number };

/** The new shop, or null when the name is taken. */
export async function insertShop(db: Queryable, shop: Shop): Promise<Shop | null> {
  const rows = await db.query(
    `insert into main.shop (id, name, created_at) values ($1, $2, $3) on conflict (name) do nothing returning id`,
    [shop.id, shop.name, new Date(shop.createdAt)],
  );
  return rows.length > 0 ? shop : null;
}

/** All shops, oldest first. */
export async function listShops(db: Queryable): Promise<Shop[]> {
  const rows = await db.query<{ id: string; name: string; created_at: Date }>(
    `select id, name, created_at from main.shop order by id`,
  );
  return rows.map((row) => ({ id: row.id, name: row.name, createdAt: row.created_at.getTime() }));
}

/** Ids of shops by what they are called: a name, or the id itself. */
export async function listShopIds(db: Queryable, namesOrIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.query<{ called: string; id: string }>(
    `select distinct on (called) called, id from unnest($1::text[]) as called join main.shop on name = called or id = called
     order by called, name <> called`,
    [namesOrIds],
  );
  return new Map(rows.map(({ called, id }) => [called, id]));
}

/** A shop by its name or its id. */
export async function findShop(db: Queryable, nameOrId: string): Promise<Shop | null> {
  const [row] = await db.query<{ id: string; name: string; created_at: Date }>(
    `select id, name, created_at from main.shop where name = $1 or id = $1 order by name <> $1 limit 1`,
    [nameOrId],
  );
  return row ? { id: row.id, name: row.name, createdAt: row.created_at.getTime() } : null;
}
