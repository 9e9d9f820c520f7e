// Statements on products. Every statement for a request names the shop of the API key, so that products of other shops are not found.

import type { Product, ProductFields, ProductSummary } from '../products/product.ts';
import { PRODUCT_TYPES } from '../products/product.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { queryHot } from '../../platform/database/port.ts';
import {
  boolean,
  column,
  double,
  integer,
  list,
  nullable,
  oneOf,
  rowDecoder,
  text,
  timestamp,
} from '../../platform/database/rows.ts';

const COLUMNS = `id, name, slug, price, type, description, image, more_images, inventory, track_inventory,
  requires_shipping, weight_grams, collections, version, created_at, updated_at`;

const SUMMARY_COLUMNS = `id, name, slug, price, type, image, inventory, track_inventory, requires_shipping, weight_grams,
  collections, version, created_at`;

const summaryFields = {
  id: text,
  name: text,
  slug: text,
  price: text,
  type: oneOf(PRODUCT_TYPES),
  image: nullable(text),
  inventory: integer,
  trackInventory: column('track_inventory', boolean),
  requiresShipping: column('requires_shipping', boolean),
  weightGrams: column('weight_grams', double),
  collections: list(text),
  version: integer,
  createdAt: column('created_at', timestamp),
} as const;

const decodeSummary = rowDecoder('product', summaryFields);

const decodeProduct = rowDecoder('product', {
  ...summaryFields,
  description: nullable(text),
  moreImages: column('more_images', list(text)),
  updatedAt: column('updated_at', timestamp),
});

const decodeShopId = rowDecoder('product', { shopId: column('shop_id', text) });

export type ProductVersion = { id: string; version: number };

/**
 * The ids in $2, read through a subquery. The planner then does not know the number of ids, so the server makes one plan and keeps it for all
 * calls. If the statement used $2 directly, a plan for one id would look cheaper than the general plan. The server would then plan the statement
 * in every call, and planning takes longer than execution.
 */
const IDS = `(select $2::text[])::text[]`;

/**
 * The ids and versions of products of the shop, as `id version` separated by commas. Unknown ids are left out. The result is one text,
 * because the driver needs more time to decode rows than the database needs to find them.
 */
export async function listProductVersions(db: Queryable, shopId: string, ids: readonly string[]): Promise<string> {
  const [row] = await queryHot<{ versions: string | null }>(
    db,
    `select string_agg(id || ' ' || version, ',') as versions from main.product where shop_id = $1 and id = any (${IDS})`,
    [shopId, ids],
  );
  return row?.versions ?? '';
}

/**
 * Pages of a shop's products, in the order of `pages`. Each page is a text of ids and versions in the format of `listProductVersions`, with the
 * newest product first. `before`: only products whose id is smaller than `before`, which need not be the id of a product.
 */
export async function listProductPages(
  db: Queryable,
  shopId: string,
  pages: readonly { before: string | null; limit: number }[],
): Promise<string[]> {
  const rows = await queryHot<{ versions: string | null }>(
    db,
    `select (
       select string_agg(id || ' ' || version, ',' order by id desc) from (
         select id, version from main.product
         where shop_id = $1 and id < coalesce(wanted.before, '~') order by id desc limit wanted.size
       ) as page
     ) as versions
     from unnest((select $2::text[]), (select $3::integer[])) with ordinality as wanted (before, size, number) order by wanted.number`,
    [shopId, pages.map(({ before }) => before), pages.map(({ limit }) => limit)],
  );
  return rows.map(({ versions }) => versions ?? '');
}

/** The products of the shop with these ids, in no particular order. Unknown ids are left out. */
export async function listProductSummaries(
  db: Queryable,
  shopId: string,
  ids: readonly string[],
): Promise<ProductSummary[]> {
  const sql = `select ${SUMMARY_COLUMNS} from main.product where shop_id = $1 and id = any (${IDS})`;
  const rows = await queryHot(db, sql, [shopId, ids]);
  return rows.map(decodeSummary);
}

/** Like `listProductSummaries`, with all fields. */
export async function listProducts(db: Queryable, shopId: string, ids: readonly string[]): Promise<Product[]> {
  const rows = await queryHot(db, `select ${COLUMNS} from main.product where shop_id = $1 and id = any (${IDS})`, [
    shopId,
    ids,
  ]);
  return rows.map(decodeProduct);
}

export async function findProduct(db: Queryable, shopId: string, id: string): Promise<Product | null> {
  const sql = `select ${COLUMNS} from main.product where shop_id = $1 and id = $2`;
  const [row] = await queryHot(db, sql, [shopId, id]);
  return row ? decodeProduct(row) : null;
}

/** The product, locked until the transaction ends. */
export async function findProductForUpdate(tx: Queryable, shopId: string, id: string): Promise<Product | null> {
  const [row] = await tx.query(`select ${COLUMNS} from main.product where shop_id = $1 and id = $2 for update`, [
    shopId,
    id,
  ]);
  return row ? decodeProduct(row) : null;
}

/** The products with these slugs, locked until the transaction ends. They are locked in the order of their ids. */
export async function listProductsForUpdate(
  tx: Queryable,
  slugs: readonly { shopId: string; slug: string }[],
): Promise<{ shopId: string; product: Product }[]> {
  const rows = await tx.query(
    `select shop_id, ${COLUMNS} from main.product
     where (shop_id, slug) in (select * from unnest($1::text[], $2::text[])) order by id for update`,
    [slugs.map(({ shopId }) => shopId), slugs.map(({ slug }) => slug)],
  );
  return rows.map((row) => ({ ...decodeShopId(row), product: decodeProduct(row) }));
}

/** Makes other imports of products of these shops wait until the transaction ends. */
export async function claimProductImports(tx: Queryable, shopIds: Iterable<string>): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended(id, 4)) from (
       select unnest($1::text[]) as id) as shop order by id collate "C"`,
    [[...new Set(shopIds)]],
  );
}

/** The slugs of a shop that equal `slug`, or begin with `slug` and a hyphen. */
export async function listSlugsLike(db: Queryable, shopId: string, slug: string): Promise<Set<string>> {
  const rows = await db.query<{ slug: string }>(
    `select slug from main.product where shop_id = $1 and (slug = $2 or starts_with(slug, $2 || '-'))`,
    [shopId, slug],
  );
  return new Set(rows.map((row) => row.slug));
}

/**
 * If a slug that is derived from a name is taken, a number is appended to it. Only one transaction at a time may choose this number: the call waits
 * for a lock, which the transaction holds until its end.
 */
export async function claimSlugNumbers(tx: Queryable, shopId: string, slug: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 2))`, [shopId, slug]);
}

/** Returns false if another product of the shop has the slug. Nothing is then stored. */
export async function insertProduct(tx: Queryable, shopId: string, product: Product): Promise<boolean> {
  const rows = await tx.query(
    `insert into main.product (shop_id, ${COLUMNS})
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
     on conflict (shop_id, slug) do nothing returning id`,
    [
      shopId,
      product.id,
      ...toValues(product),
      product.version,
      new Date(product.createdAt),
      new Date(product.updatedAt),
    ],
  );
  return rows.length > 0;
}

const UNIQUE_VIOLATION = '23505';

/**
 * Stores the fields of a locked product except its stock, which `updateStocks` changes. Returns null if the shop has no such product. After
 * `slug-taken` the transaction can only be rolled back.
 */
export async function updateProduct(
  tx: Queryable,
  shopId: string,
  id: string,
  change: { fields: ProductFields; now: number },
): Promise<Product | null | 'slug-taken'> {
  const [name, slug, price, type, description, image, moreImages, , ...rest] = toValues(change.fields);
  const rows = await tx
    .query(
      `update main.product set name = $3, slug = $4, price = $5, type = $6, description = $7, image = $8, more_images = $9,
       track_inventory = $10, requires_shipping = $11, weight_grams = $12, collections = $13,
       version = version + 1, updated_at = $14
     where shop_id = $1 and id = $2 returning ${COLUMNS}`,
      [shopId, id, name, slug, price, type, description, image, moreImages, ...rest, new Date(change.now)],
    )
    .catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION) return 'slug-taken' as const;
      throw error;
    });
  if (rows === 'slug-taken') return rows;
  return rows[0] ? decodeProduct(rows[0]) : null;
}

export async function deleteProduct(tx: Queryable, shopId: string, id: string): Promise<void> {
  await tx.query(`delete from main.product where shop_id = $1 and id = $2`, [shopId, id]);
}

/** The values of the columns from `name` to `collections`, in the order of `COLUMNS`. */
function toValues(fields: ProductFields): unknown[] {
  return [
    fields.name,
    fields.slug,
    fields.price,
    fields.type,
    fields.description,
    fields.image,
    fields.moreImages,
    fields.inventory,
    fields.trackInventory,
    fields.requiresShipping,
    fields.weightGrams,
    fields.collections,
  ];
}
