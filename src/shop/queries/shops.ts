// Statements on shops, to which products, keys and webhooks belong.

import type { Queryable } from '../../platform/database/port.ts';
import { column, rowDecoder, text, timestamp } from '../../platform/database/rows.ts';

export type Shop = { id: string; name: string; createdAt: number };

const decodeShop = rowDecoder('shop', { id: text, name: text, createdAt: column('created_at', timestamp) });

/** Returns false when another shop has the name. */
export async function insertShop(db: Queryable, shop: Shop): Promise<boolean> {
  const rows = await db.query(
    `insert into main.shop (id, name, created_at) values ($1, $2, $3) on conflict (name) do nothing returning id`,
    [shop.id, shop.name, new Date(shop.createdAt)],
  );
  return rows.length > 0;
}

/** All shops, oldest first. */
export async function listShops(db: Queryable): Promise<Shop[]> {
  const rows = await db.query(`select id, name, created_at from main.shop order by id`);
  return rows.map(decodeShop);
}

const decodeShopReference = rowDecoder('shop', { reference: text, id: text });

/** The ids of shops by reference. A reference is a name or an id. Names have precedence. Unknown references are left out. */
export async function listShopIds(db: Queryable, references: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.query(
    `select distinct on (reference) reference, id
     from unnest($1::text[]) as reference join main.shop on name = reference or id = reference
     order by reference, name <> reference`,
    [references],
  );
  return new Map(rows.map(decodeShopReference).map(({ reference, id }) => [reference, id]));
}

/** Finds a shop by its name or its id. A shop with this name has precedence over a shop with this id. */
export async function findShop(db: Queryable, nameOrId: string): Promise<Shop | null> {
  const [row] = await db.query(
    `select id, name, created_at from main.shop where name = $1 or id = $1 order by name <> $1 limit 1`,
    [nameOrId],
  );
  return row ? decodeShop(row) : null;
}
