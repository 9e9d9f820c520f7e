// Lists the products of a shop that match filters, in pages of any order. Every filter is part of the statement, so that a page is cut after the
// filters.

import { PRODUCT_STATUSES } from '../products/product.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { column, integer, nullable, rowDecoder, safeInteger, text } from '../../platform/database/rows.ts';
import { NEWEST_POSITION } from './newest-position.ts';
import type { ProductVersion } from './products.ts';

export const STATUS_FILTERS = [...PRODUCT_STATUSES, 'any'] as const;
export const PRODUCT_SORTS = ['created', 'updated', 'name', 'price', 'stock'] as const;
export type ProductSort = (typeof PRODUCT_SORTS)[number];

export type ProductFilter = {
  ids?: readonly string[];
  sku?: string;
  barcode?: string;
  externalId?: string;
  slug?: string;
  group?: string;
  /** Without it, archived products are left out unless `ids`, `sku`, `barcode`, `externalId` or `slug` names the products. */
  status?: (typeof STATUS_FILTERS)[number];
  /** Words, or beginnings of words, of the name, the SKU or the barcode. */
  q?: string;
};

/** `relevance`: the best matches of `q` first. `order` is `desc` then. */
export type ProductOrder = { sort: ProductSort | 'relevance'; order: 'asc' | 'desc' };

/** The position of a product in a list: the value by which the list is sorted, as text, and the id. */
export type ListPosition = { key: string; id: string };

/** The values by which lists are sorted, with the types to which the text of a position is cast. Products with the same value are sorted by id. */
const SORT_KEYS: Readonly<Record<ProductSort, { sql: string; type: string }>> = {
  // The ids sort by creation time.
  created: { sql: `''::text`, type: 'text' },
  // A number has the same text in every session, and a time has not.
  updated: { sql: 'extract(epoch from updated_at)', type: 'numeric' },
  name: { sql: 'lower(name collate "C")', type: 'text' },
  price: { sql: 'price::numeric', type: 'numeric' },
  stock: { sql: 'inventory', type: 'integer' },
};

/** The levels of matches that `main.product_query` finds, the best last. */
const MATCH_LEVELS = [0, 1, 2, 3, 4];

/** The condition that a product matches the search text $2. */
const matches = (level: number) =>
  `main.product_words(shop_id, name, sku, barcode) @@ (select main.product_query($1, $2, ${level}))`;

const decodeSequence = rowDecoder('feed', { sequence: nullable(safeInteger) });
const decodeRow = rowDecoder('product', { id: text, version: integer, key: column('sort_key', text) });

/**
 * A page of the products that match the filter. `after`: only products after this position, of which the product need not exist any more.
 * `sequence`: the newest position in the shop's feed of changes at this time. Null if no change of the shop has a position yet.
 */
export async function listMatchingProducts(
  db: Queryable,
  shopId: string,
  filter: ProductFilter,
  { sort, order, after, limit }: ProductOrder & { after: ListPosition | null; limit: number },
): Promise<{ sequence: number | null; found: (ProductVersion & ListPosition)[] }> {
  // Only a search has the second parameter.
  const params: unknown[] = filter.q === undefined ? [shopId] : [shopId, filter.q];
  const bind = (value: unknown, type: string) => `$${params.push(value)}::${type}`;
  const conditions = ['shop_id = $1', ...toConditions(filter, bind)].join(' and ');
  const { from, type } = sort === 'relevance' ? toRanked(conditions) : toSorted(conditions, filter, sort);
  const isAfter = order === 'asc' ? '>' : '<';
  let position = 'true';
  if (after !== null) {
    const id = `${bind(after.id, 'text')} collate "C"`;
    // Without the key, the page begins at this id in the index.
    position =
      sort === 'created' ? `id ${isAfter} ${id}` : `(sort_key, id) ${isAfter} (${bind(after.key, type)}, ${id})`;
  }
  const rows = await db.query(
    `select sequence, id, version, page.sort_key::text as sort_key
     from (select ${NEWEST_POSITION} as sequence) as feed left join (
       select id, version, sort_key from (${from}) as product where ${position}
       order by sort_key ${order}, id ${order} limit ${bind(limit, 'integer')}
     ) as page on true
     order by page.sort_key ${order}, id ${order}`,
    params,
  );
  return {
    sequence: decodeSequence(rows[0] ?? {}).sequence,
    found: rows.filter(({ id }) => id !== null).map(decodeRow),
  };
}

function toSorted(conditions: string, { q }: ProductFilter, sort: ProductSort) {
  const { sql, type } = SORT_KEYS[sort];
  const all = q === undefined ? conditions : `${conditions} and ${matches(0)}`;
  return { from: `select id, version, ${sql} as sort_key from main.product where ${all}`, type };
}

/**
 * Each level is looked up in the index, and a product has the best level of those in which it was found. To compare the words of each found
 * product with the text instead would take a second for 20,000 products.
 */
function toRanked(conditions: string) {
  const levels = MATCH_LEVELS.map(
    (level) => `select id, version, ${level} as level from main.product where ${conditions} and ${matches(level)}`,
  );
  const found = levels.join(' union all ');
  const from = `select id, max(version) as version, max(level) as sort_key from (${found}) as found group by id`;
  return { from, type: 'integer' };
}

function toConditions(filter: ProductFilter, bind: (value: unknown, type: string) => string): string[] {
  const { ids, sku, barcode, externalId, slug, group, status } = filter;
  const named = [
    ...(ids ? [`id = any (${bind(ids, 'text[]')})`] : []),
    ...(sku === undefined ? [] : [`sku = ${bind(sku, 'text')}`]),
    ...(barcode === undefined ? [] : [`barcode = ${bind(barcode, 'text')}`]),
    ...(externalId === undefined ? [] : [`external_id = ${bind(externalId, 'text')}`]),
    ...(slug === undefined ? [] : [`slug = ${bind(slug, 'text')}`]),
  ];
  const hasStatus = status !== undefined && status !== 'any';
  return [
    ...named,
    ...(group === undefined ? [] : [`group_id = ${bind(group, 'text')}`]),
    ...(hasStatus ? [`status = ${bind(status, 'text')}`] : []),
    ...(status === undefined && named.length === 0 ? [`status <> 'archived'`] : []),
  ];
}
