// Statements on products. Every statement for a request names the shop of the API key, so that products of other shops are not found.

import type { Identifier, Product, ProductFields, ProductSummary } from '../products/product.ts';
import { IDENTIFIERS, PRODUCT_STATUSES, PRODUCT_TYPES, mergeMetadata } from '../products/product.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { queryHot } from '../../platform/database/port.ts';
import {
  anyJson,
  boolean,
  column,
  double,
  integer,
  list,
  nullable,
  object,
  oneOf,
  rowDecoder,
  text,
  timestamp,
} from '../../platform/database/rows.ts';
import { NEWEST_POSITION } from './newest-position.ts';

export const PRODUCT_COLUMNS = `id, name, slug, price, type, description, image, more_images, inventory, track_inventory,
  requires_shipping, weight_grams, collections, sku, barcode, external_id, status, compare_at_price, group_id, options, metadata,
  version, created_at, updated_at`;

const SUMMARY_COLUMNS = `id, name, slug, price, type, image, inventory, track_inventory, requires_shipping, weight_grams,
  collections, sku, barcode, external_id, status, compare_at_price, group_id, options, metadata, version, created_at, updated_at`;

/** The fields with which a shop finds its products again, and which describe variants. */
const moreFields = {
  sku: nullable(text),
  barcode: nullable(text),
  externalId: column('external_id', nullable(text)),
  status: oneOf(PRODUCT_STATUSES),
  compareAtPrice: column('compare_at_price', nullable(text)),
  groupId: column('group_id', nullable(text)),
  options: list(object({ name: text, value: text })),
  // The database does not keep the order of the keys.
  metadata: { ...anyJson, decode: (value: unknown) => mergeMetadata({}, value as Record<string, string>) },
} as const;

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
  ...moreFields,
  version: integer,
  createdAt: column('created_at', timestamp),
  updatedAt: column('updated_at', timestamp),
} as const;

const decodeSummary = rowDecoder('product', summaryFields);

export const decodeProduct = rowDecoder('product', {
  ...summaryFields,
  description: nullable(text),
  moreImages: column('more_images', list(text)),
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
 * `versions`: in the format of `listProductVersions`. `sequence`: the newest position in the shop's feed of changes at this time. Null if no change of
 * the shop has a position yet.
 */
export type PageVersions = { versions: string; sequence: number | null };

/**
 * Pages of a shop's products, in the order of `pages`. Each page has the ids and versions of its products, with the
 * newest product first, without archived products. `before`: only products whose id is smaller than `before`, which need not be the id of
 * a product.
 */
export async function listProductPages(
  db: Queryable,
  shopId: string,
  pages: readonly { before: string | null; limit: number }[],
): Promise<PageVersions[]> {
  const rows = await queryHot<{ versions: string | null; sequence: string | null }>(
    db,
    `select (
       select string_agg(id || ' ' || version, ',' order by id desc) from (
         select id, version from main.product
         where shop_id = $1 and status <> 'archived' and id < coalesce(wanted.before, '~') order by id desc limit wanted.size
       ) as page
     ) as versions, (${NEWEST_POSITION})::text as sequence
     from unnest((select $2::text[]), (select $3::integer[])) with ordinality as wanted (before, size, number) order by wanted.number`,
    [shopId, pages.map(({ before }) => before), pages.map(({ limit }) => limit)],
  );
  return rows.map(({ versions, sequence }) => ({
    versions: versions ?? '',
    sequence: sequence === null ? null : Number(sequence),
  }));
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
  const rows = await queryHot(
    db,
    `select ${PRODUCT_COLUMNS} from main.product where shop_id = $1 and id = any (${IDS})`,
    [shopId, ids],
  );
  return rows.map(decodeProduct);
}

export async function findProduct(db: Queryable, shopId: string, id: string): Promise<Product | null> {
  const sql = `select ${PRODUCT_COLUMNS} from main.product where shop_id = $1 and id = $2`;
  const [row] = await queryHot(db, sql, [shopId, id]);
  return row ? decodeProduct(row) : null;
}

/** The product, locked until the transaction ends. */
export async function findProductForUpdate(tx: Queryable, shopId: string, id: string): Promise<Product | null> {
  const [row] = await tx.query(
    `select ${PRODUCT_COLUMNS} from main.product where shop_id = $1 and id = $2 for update`,
    [shopId, id],
  );
  return row ? decodeProduct(row) : null;
}

/** What names a product of the shop. */
export type ProductKey = { by: 'id' | 'slug' | 'sku' | 'externalId'; value: string };

/** The products with these keys, locked until the transaction ends. They are locked in the order of their ids. */
export async function listProductsByKey(
  tx: Queryable,
  shopId: string,
  keys: readonly ProductKey[],
): Promise<Product[]> {
  const valuesOf = (by: ProductKey['by']) => keys.flatMap((key) => (key.by === by ? [key.value] : []));
  const rows = await tx.query(
    `select ${PRODUCT_COLUMNS} from main.product
     where shop_id = $1 and (id = any ($2) or slug = any ($3) or sku = any ($4) or external_id = any ($5)) order by id for update`,
    [shopId, valuesOf('id'), valuesOf('slug'), valuesOf('sku'), valuesOf('externalId')],
  );
  return rows.map(decodeProduct);
}

/** The fields that no other product of the shop may have, with the id. */
export type ProductIdentity = Pick<Product, 'id' | 'slug' | 'sku' | 'externalId' | 'groupId' | 'options'>;
export type WantedIdentifiers = Readonly<Record<'slugs' | 'skus' | 'externalIds' | 'groupIds', readonly string[]>>;

const decodeIdentity = rowDecoder('product', {
  id: text,
  slug: text,
  sku: moreFields.sku,
  externalId: moreFields.externalId,
  groupId: moreFields.groupId,
  options: moreFields.options,
});

/** The products of the shop that have one of these identifiers, or are in one of these groups. */
export async function listIdentifierOwners(
  tx: Queryable,
  shopId: string,
  { slugs, skus, externalIds, groupIds }: WantedIdentifiers,
): Promise<ProductIdentity[]> {
  const rows = await tx.query(
    `select id, slug, sku, external_id, group_id, options from main.product
     where shop_id = $1 and (slug = any ($2) or sku = any ($3) or external_id = any ($4) or group_id = any ($5))`,
    [shopId, slugs, skus, externalIds, groupIds],
  );
  return rows.map(decodeIdentity);
}

/** Takes the identifiers from locked products, before other products get them in the same transaction. The slugs become the ids. */
export async function deleteIdentifiers(tx: Queryable, shopId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `update main.product set slug = id, sku = null, external_id = null, group_id = null where shop_id = $1 and id = any ($2)`,
    [shopId, ids],
  );
}

/** The products with these slugs, locked until the transaction ends. They are locked in the order of their ids. */
export async function listProductsForUpdate(
  tx: Queryable,
  slugs: readonly { shopId: string; slug: string }[],
): Promise<{ shopId: string; product: Product }[]> {
  const rows = await tx.query(
    `select shop_id, ${PRODUCT_COLUMNS} from main.product
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

/** The slugs of a shop that equal one of these slugs, or begin with one of them and a hyphen. */
export async function listSlugsLike(db: Queryable, shopId: string, slugs: readonly string[]): Promise<Set<string>> {
  // A dot is the next character after a hyphen. Each range is looked up in the index by itself (`offset 0`); otherwise the statement would
  // read all slugs of the shop once for each of `slugs`.
  const rows = await db.query<{ slug: string }>(
    `select slug from main.product where shop_id = $1 and slug = any ($2)
     union all
     select numbered.slug from unnest($2::text[]) as derived (slug) cross join lateral (
       select slug from main.product
       where shop_id = $1 and slug >= derived.slug || '-' and slug < derived.slug || '.' offset 0
     ) as numbered`,
    [shopId, slugs],
  );
  return new Set(rows.map((row) => row.slug));
}

/**
 * If a slug that is derived from a name is taken, a number is appended to it. Only one transaction at a time may choose this number: the call waits
 * for a lock for each of the slugs, which the transaction holds until its end.
 */
export async function claimSlugNumbers(tx: Queryable, shopId: string, slugs: readonly string[]): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(key) from (
       select distinct hashtextextended($1 || ' ' || slug, 2) as key from unnest($2::text[]) as slug order by key) as claimed`,
    [shopId, slugs],
  );
}

/** Another product of the shop has the value of this field. In the field `options`, it is a product of the same group. */
export type Clash = { path: Identifier; productId: string };

const decodeClash = rowDecoder('product', {
  index: integer,
  path: oneOf(IDENTIFIERS),
  productId: column('id', text),
});

/** For each product, the other stored products of the shop that have its identifiers. */
export async function listClashes(
  db: Queryable,
  shopId: string,
  products: readonly (ProductFields & { id: string })[],
): Promise<Clash[][]> {
  const rows = await db.query(
    `select wanted.index, other.path, other.id
     from json_to_recordset($2) as wanted (index integer, id text, slug text, sku text, external_id text, group_id text, options jsonb)
     cross join lateral (
       select 'slug' as path, id from main.product where shop_id = $1 and slug = wanted.slug
       union all select 'sku', id from main.product where shop_id = $1 and sku = wanted.sku
       union all select 'externalId', id from main.product where shop_id = $1 and external_id = wanted.external_id
       union all select 'options', id from main.product where shop_id = $1 and group_id = wanted.group_id
         and main.variant_digest(options) = main.variant_digest(wanted.options)
     ) as other
     where other.id <> wanted.id`,
    [shopId, JSON.stringify(products.map((product, index) => ({ index, id: product.id, ...toColumns(product) })))],
  );
  const clashes = rows.map(decodeClash);
  return products.map((_, index) => clashes.filter((clash) => clash.index === index));
}

/** The columns that a shop sets, except the stock, with their types. */
const FIELD_COLUMNS = {
  name: 'text',
  slug: 'text',
  price: 'text',
  type: 'text',
  description: 'text',
  image: 'text',
  more_images: 'text[]',
  track_inventory: 'boolean',
  requires_shipping: 'boolean',
  weight_grams: 'double precision',
  collections: 'text[]',
  sku: 'text',
  barcode: 'text',
  external_id: 'text',
  status: 'text',
  compare_at_price: 'text',
  group_id: 'text',
  options: 'jsonb',
  metadata: 'jsonb',
} as const;
const FIELD_NAMES = Object.keys(FIELD_COLUMNS);
const FIELD_TYPES = Object.entries(FIELD_COLUMNS)
  .map((entry) => entry.join(' '))
  .join(', ');

/**
 * Inserts products of a shop in one statement. Returns the ids of the products that were stored. A product is not stored if another product of
 * the shop has one of its identifiers.
 */
export async function insertProducts(
  tx: Queryable,
  shopId: string,
  products: readonly Product[],
): Promise<Set<string>> {
  if (products.length === 0) return new Set();
  const rows = await tx.query<{ id: string }>(
    `insert into main.product (shop_id, id, inventory, version, created_at, updated_at, ${FIELD_NAMES.join(', ')})
     select $1, id, inventory, version, created_at, updated_at, ${FIELD_NAMES.join(', ')}
     from json_to_recordset($2) as given
       (id text, inventory integer, version integer, created_at timestamptz, updated_at timestamptz, ${FIELD_TYPES})
     on conflict do nothing returning id`,
    [shopId, JSON.stringify(products.map((product) => ({ ...toColumns(product), ...toStoredColumns(product) })))],
  );
  return new Set(rows.map(({ id }) => id));
}

const UNIQUE_VIOLATION = '23505';
const SERIALIZATION_FAILURE = '40001';

/** Another transaction has stored an identifier since this one looked for it. The transaction must be repeated (`repeatAborted`). */
export class IdentifierTaken extends Error {
  override readonly name = 'IdentifierTaken';
  readonly code = SERIALIZATION_FAILURE;
}

/**
 * Stores the fields of locked products except their stock, which `updateStocks` changes, in one statement. The caller has looked for clashes.
 * Returns the products as they are stored now, in no particular order. Throws an error with which the transaction is repeated if another
 * transaction has stored an identifier of one of the products meanwhile.
 */
export async function updateProducts(
  tx: Queryable,
  shopId: string,
  products: readonly (ProductFields & { id: string })[],
  now: number,
): Promise<Product[]> {
  if (products.length === 0) return [];
  const rows = await tx
    .query(
      `update main.product as product set ${FIELD_NAMES.map((name) => `${name} = given.${name}`).join(', ')},
         version = version + 1, updated_at = $3
       from json_to_recordset($2) as given (id text, ${FIELD_TYPES})
       where product.shop_id = $1 and product.id = given.id
       returning ${PRODUCT_COLUMNS.split(/,\s*/)
         .map((name) => `product.${name}`)
         .join(', ')}`,
      [shopId, JSON.stringify(products.map((product) => ({ id: product.id, ...toColumns(product) }))), new Date(now)],
    )
    .catch((cause: unknown) => {
      const { code } = cause as { code?: unknown };
      throw code === UNIQUE_VIOLATION ? new IdentifierTaken('an identifier was taken meanwhile', { cause }) : cause;
    });
  return rows.map(decodeProduct);
}

export async function deleteProduct(tx: Queryable, shopId: string, id: string): Promise<void> {
  await tx.query(`delete from main.product where shop_id = $1 and id = $2`, [shopId, id]);
}

/** The columns of `FIELD_COLUMNS`. */
function toColumns(fields: ProductFields): Record<keyof typeof FIELD_COLUMNS, unknown> {
  return {
    name: fields.name,
    slug: fields.slug,
    price: fields.price,
    type: fields.type,
    description: fields.description,
    image: fields.image,
    more_images: fields.moreImages,
    track_inventory: fields.trackInventory,
    requires_shipping: fields.requiresShipping,
    weight_grams: fields.weightGrams,
    collections: fields.collections,
    sku: fields.sku,
    barcode: fields.barcode,
    external_id: fields.externalId,
    status: fields.status,
    compare_at_price: fields.compareAtPrice,
    group_id: fields.groupId,
    options: fields.options,
    metadata: fields.metadata,
  };
}

function toStoredColumns({ id, inventory, version, createdAt, updatedAt }: Product) {
  const at = { created_at: new Date(createdAt).toISOString(), updated_at: new Date(updatedAt).toISOString() };
  return { id, inventory, version, ...at };
}
