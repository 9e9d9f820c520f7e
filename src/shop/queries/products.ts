// Products. Every statement names the shop: another shop's product is not there.

import type { Product, ProductFields, ProductSummary, ProductType } from '../products/product.ts';
import type { Queryable, Row } from '../../database/port.ts';
import { queryHot } from '../../database/port.ts';

const COLUMNS = `id, name, slug, price, type, description, image, more_images, inventory, track_inventory,
  requires_shipping, weight_grams, collections, version, created_at, updated_at`;

const SUMMARY_COLUMNS = `id, name, slug, price, type, image, inventory, track_inventory, requires_shipping, weight_grams,
  collections, version, created_at`;

export type ProductVersion = { id: string; version: number };

/**
 * Which products a shop has, in which version, newest first, older than the given id, which need not exist any more. In one
 * row, because reading rows costs more than finding them.
 */
export async function listProductVersions(
  db: Queryable,
  shopId: string,
  options: { before: string | null; limit: number },
): Promise<ProductVersion[]> {
  const [row] = await queryHot<{ page: string | null }>(
    db,
    `select string_agg(id || ' ' || version, ',' order by id desc) as page from (
       select id, version from main.product where shop_id = $1 and ($2::text is null or id < $2) order by id desc limit $3
     ) page`,
    [shopId, options.before, options.limit],
  );
  if (!row?.page) return [];
  return row.page.split(',').map((entry) => {
    const [id = '', version = ''] = entry.split(' ');
    return { id, version: Number(version) };
  });
}

/** Those of the products that the shop has, in no order. */
export async function listProductSummaries(
  db: Queryable,
  shopId: string,
  ids: readonly string[],
): Promise<ProductSummary[]> {
  const sql = `select ${SUMMARY_COLUMNS} from main.product where shop_id = $1 and id = any ($2)`;
  const rows = await queryHot(db, sql, [shopId, ids]);
  return rows.map(toSummary);
}

export async function findProduct(db: Queryable, shopId: string, id: string): Promise<Product | null> {
  const sql = `select ${COLUMNS} from main.product where shop_id = $1 and id = $2`;
  const [row] = await queryHot(db, sql, [shopId, id]);
  return row ? toProduct(row) : null;
}

/** The product, locked until the transaction ends. */
export async function findProductForUpdate(tx: Queryable, shopId: string, id: string): Promise<Product | null> {
  const [row] = await tx.query(`select ${COLUMNS} from main.product where shop_id = $1 and id = $2 for update`, [
    shopId,
    id,
  ]);
  return row ? toProduct(row) : null;
}

/** The products with these slugs that there are, locked until the transaction ends, in the order in which all lock them. */
export async function listProductsForUpdate(
  tx: Queryable,
  names: readonly { shopId: string; slug: string }[],
): Promise<{ shopId: string; product: Product }[]> {
  const rows = await tx.query(
    `select shop_id, ${COLUMNS} from main.product
     where (shop_id, slug) in (select * from unnest($1::text[], $2::text[])) order by id for update`,
    [names.map(({ shopId }) => shopId), names.map(({ slug }) => slug)],
  );
  return rows.map((row) => ({ shopId: row['shop_id'] as string, product: toProduct(row) }));
}

/** The slugs of a shop that are this one, or this one with a number. */
export async function listSlugsLike(db: Queryable, shopId: string, slug: string): Promise<Set<string>> {
  const rows = await db.query<{ slug: string }>(
    `select slug from main.product where shop_id = $1 and (slug = $2 or starts_with(slug, $2 || '-'))`,
    [shopId, slug],
  );
  return new Set(rows.map((row) => row.slug));
}

/** Lets one transaction at a time look for a number for this slug; waits for the others. */
export async function claimSlugNumbers(tx: Queryable, shopId: string, slug: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 2))`, [shopId, slug]);
}

/** False when the slug is taken: nothing is stored then. */
export async function insertProduct(tx: Queryable, shopId: string, product: Product): Promise<boolean> {
  const rows = await tx.query(
    `insert into main.product (shop_id, ${COLUMNS})
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
     on conflict (shop_id, slug) do nothing returning id`,
    [
      shopId,
      product.id,
      ...fieldValues(product),
      product.version,
      new Date(product.createdAt),
      new Date(product.updatedAt),
    ],
  );
  return rows.length > 0;
}

const UNIQUE_VIOLATION = '23505';

/**
 * Stores the fields of a product that is locked, but not its stock, which has a statement of its own. Where somebody else has
 * just taken the slug, the transaction can only be rolled back.
 */
export async function updateProduct(
  tx: Queryable,
  shopId: string,
  id: string,
  change: { fields: ProductFields; now: number },
): Promise<Product | null | 'slug-taken'> {
  const [name, slug, price, type, description, image, moreImages, , ...rest] = fieldValues(change.fields);
  const rows = await tx
    .query(
      `update main.product set name = $3, slug = $4, price = $5, type = $6, description = $7, image = $8, more_images = $9,
       track_inventory = $10, requires_shipping = $11, weight_grams = $12, collections = $13,
       version = version + 1, updated_at = $14
     where shop_id = $1 and id = $2 returning ${COLUMNS}`,
      [shopId, id, name, slug, price, type, description, image, moreImages, ...rest, new Date(change.now)],
    )
    .catch((error: unknown) => {
      if ((error as { code?: string }).code === UNIQUE_VIOLATION) return 'slug-taken' as const;
      throw error;
    });
  if (rows === 'slug-taken') return rows;
  return rows[0] ? toProduct(rows[0]) : null;
}

export async function deleteProduct(tx: Queryable, shopId: string, id: string): Promise<void> {
  await tx.query(`delete from main.product where shop_id = $1 and id = $2`, [shopId, id]);
}

/** In the order of the columns above, from `name` to `collections`. */
function fieldValues(fields: ProductFields): unknown[] {
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

function toProduct(row: Row): Product {
  return {
    ...toSummary(row),
    description: row['description'] as string | null,
    moreImages: row['more_images'] as string[],
    updatedAt: (row['updated_at'] as Date).getTime(),
  };
}

function toSummary(row: Row): ProductSummary {
  return {
    id: row['id'] as string,
    name: row['name'] as string,
    slug: row['slug'] as string,
    price: row['price'] as string,
    type: row['type'] as ProductType,
    image: row['image'] as string | null,
    inventory: row['inventory'] as number,
    trackInventory: row['track_inventory'] as boolean,
    requiresShipping: row['requires_shipping'] as boolean,
    weightGrams: row['weight_grams'] as number,
    collections: row['collections'] as string[],
    version: row['version'] as number,
    createdAt: (row['created_at'] as Date).getTime(),
  };
}
