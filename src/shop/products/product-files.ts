// Writes products to files: as records, or with the columns of Shopify. What is written gives the same products when it is imported. The web
// console uses this file too, so the files that it imports use nothing of Node.js.

import { JsonNumber } from '../../platform/core/json-text.ts';
import { parseNewProduct } from './product-input.ts';
import type { ProductFields } from './product.ts';
import { PRODUCT_FIELDS } from './product.ts';
import type { ProductView } from './product-view.ts';
import {
  KEPT_COLUMNS,
  OWN_COLUMN,
  OWN_TRACKER,
  SHOPIFY_COLUMNS,
  createShopifyTally,
  isOfVariant,
  toShopifyRecords,
  toShopifySuffix,
} from './shopify.ts';
import { toFreeSlug } from './slug.ts';

type Group = readonly ProductView[];

/** One product record in each line. `shop`: null leaves the shop out. */
export async function* toNdjsonLines(groups: AsyncIterable<Group>, shop: string | null): AsyncGenerator<string> {
  const head = { kind: 'product', ...(shop !== null && { shop }) };
  for await (const group of groups) {
    yield group.map((product) => `${JSON.stringify({ ...head, ...fieldsOf(product) })}\n`).join('');
  }
}

function fieldsOf(product: ProductFields): Record<string, unknown> {
  return Object.fromEntries(PRODUCT_FIELDS.map((name) => [name, product[name]]));
}

/**
 * CSV with the columns of Shopify: the variants of a group have one handle. What these columns cannot state, such as the slug of a variant that
 * the service did not derive, is in the last column as JSON.
 */
export async function* toShopifyCsv(groups: AsyncIterable<Group>): AsyncGenerator<string> {
  yield toLine(SHOPIFY_COLUMNS);
  const [handles, slugs] = [new Set<string>(), new Set<string>()];
  for await (const group of groups) {
    const handle = toFreeSlug(group[0]?.groupId ?? group[0]?.slug ?? '', handles);
    handles.add(handle);
    const rows = toRows(group, handle);
    addOwnFields(rows, group, slugs);
    yield rows.map(toText).join('');
  }
}

type Cells = Map<string, string>;

const toText = (row: Cells) => toLine(SHOPIFY_COLUMNS.map((column) => row.get(column) ?? ''));

function toLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`;
}

/** One row for each product, then one for each image for which no row is left. */
function toRows(group: Group, handle: string): Cells[] {
  const [first] = group;
  if (!first) return [];
  const images = toImages(first, group);
  const rows = group.map((product): Cells => {
    const isFirst = product === first;
    const ofProduct = isFirst ? toProductCells(first, group) : [];
    const isStated = (name: string) => isFirst || isOfVariant(name) || product.metadata[name] !== first.metadata[name];
    const kept = KEPT_COLUMNS.filter(isStated).map((name) => [name, product.metadata[name] ?? ''] as const);
    return new Map([...ofProduct, ...kept, ...toVariantCells(product, { isFirst, mainImage: images[0] })]);
  });
  for (const [index, url] of images.entries()) {
    const row = rows[index] ?? new Map<string, string>();
    rows[index] = row.set('Product image URL', url).set('Image position', String(index + 1));
  }
  for (const row of rows) row.set('URL handle', handle);
  return rows;
}

/**
 * The images that all variants have, in the order of the product. A variant begins with its own image, so the place of the first variant's image is
 * taken from a variant that begins with another one.
 */
function toImages(first: ProductView, group: Group): string[] {
  const listed = group.map(({ image, moreImages }) => [...(image ? [image] : []), ...moreImages]);
  const images = (listed[0] ?? []).filter((url) => listed.every((urls) => urls.includes(url)));
  const own = first.image ?? '';
  const other = group.find(({ image, moreImages }) => image !== own && moreImages.includes(own));
  if (!other || !images.includes(own)) return images;
  const rest = images.filter((url) => url !== own);
  const before = other.moreImages.slice(0, other.moreImages.indexOf(own)).findLast((url) => rest.includes(url));
  return rest.toSpliced(before === undefined ? 0 : rest.indexOf(before) + 1, 0, own);
}

function toProductCells(first: ProductView, group: Group): [string, string][] {
  const suffix = group.length > 1 ? ` – ${toShopifySuffix(first.options)}` : '';
  const title = first.name.endsWith(suffix) ? first.name.slice(0, first.name.length - suffix.length) : first.name;
  const tags = first.collections.filter((collection) => collection !== first.metadata['Type']);
  return [
    ['Title', title],
    ['Description', first.description ?? ''],
    ['Tags', tags.join(', ')],
    ['Status', first.status],
  ];
}

function toVariantCells(
  product: ProductView,
  { isFirst, mainImage }: { isFirst: boolean; mainImage: string | undefined },
): [string, string][] {
  const options = product.options.length > 0 ? product.options : [{ name: 'Title', value: 'Default Title' }];
  return [
    ['SKU', product.sku ?? ''],
    ['Barcode', product.barcode ?? ''],
    ...options.flatMap(({ name, value }, index): [string, string][] => [
      [`Option${index + 1} name`, isFirst ? name : ''],
      [`Option${index + 1} value`, value],
    ]),
    ['Price', product.price],
    ['Compare-at price', product.compareAtPrice ?? ''],
    ['Inventory tracker', product.trackInventory ? OWN_TRACKER : ''],
    ['Inventory quantity', String(product.inventory)],
    ['Weight value (grams)', String(product.weightGrams)],
    ['Requires shipping', product.requiresShipping ? 'TRUE' : 'FALSE'],
    ['Variant image URL', product.image === mainImage ? '' : (product.image ?? '')],
  ];
}

/** Reads the rows as an import would, and adds the fields in which the result differs from the products. `slugs`: those of the rows so far. */
function addOwnFields(rows: readonly Cells[], group: Group, slugs: Set<string>): void {
  const tally = createShopifyTally();
  const read = rows.map((row, index) => ({
    line: index + 1,
    cells: new Map(SHOPIFY_COLUMNS.map((column) => [column, (row.get(column) ?? '').trim()])),
  }));
  const own = toShopifyRecords(read, { tally, slugs: new Set(slugs) }).map(({ record }, index) => {
    const product = group[index];
    return product ? toOwnFields(record ?? {}, product) : [];
  });
  // An import numbers the derived slugs by those of the rows before, so no slug of a group is derived if one is not.
  const hasOwnSlug = own.some((names) => names.includes('slug'));
  for (const [index, product] of group.entries()) {
    const names = new Set([...(own[index] ?? []), ...(hasOwnSlug ? (['slug'] as const) : [])]);
    const fields = PRODUCT_FIELDS.filter((name) => names.has(name)).map((name) => [name, product[name]]);
    if (fields.length > 0) rows[index]?.set(OWN_COLUMN, JSON.stringify(Object.fromEntries(fields)));
    slugs.add(product.slug);
  }
}

/** The fields of the product that the record does not state. */
function toOwnFields(record: Readonly<Record<string, unknown>>, product: ProductView): (keyof ProductFields)[] {
  const body = Object.entries(record).map(([name, value]) => [
    name,
    typeof value === 'number' ? new JsonNumber(String(value)) : value,
  ]);
  const parsed = parseNewProduct(Object.fromEntries(body));
  const imported: Partial<ProductFields> = parsed.ok ? { ...parsed.value, slug: String(record['slug']) } : {};
  return PRODUCT_FIELDS.filter((name) => JSON.stringify(imported[name]) !== JSON.stringify(product[name]));
}
