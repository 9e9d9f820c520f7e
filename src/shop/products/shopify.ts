// Converts between product exports of Shopify and product records. The CSV file has one row for each variant, and one for each further image of
// a product. The rows of a product are consecutive and have the same handle, or none after the first. A product of a shop has only one price and
// one stock, so each variant becomes a product, and the variants of a handle are one group. The web console uses this file too, so the files
// that it imports use nothing of Node.js.

import { OperatorError } from '../../platform/core/errors.ts';
import { countCharacters } from '../../platform/core/text.ts';
import {
  COLLECTIONS_MAX,
  METADATA_KEYS_MAX,
  METADATA_KEY_LENGTH_MAX,
  METADATA_VALUE_LENGTH_MAX,
  MORE_IMAGES_MAX,
  PRODUCT_STATUSES,
} from './product.ts';
import { toFreeSlug, toSlug } from './slug.ts';

/**
 * The columns of Shopify by their present names, in the order of an export, with their earlier names. `field`: a field of a product has the
 * value. `kept`: the metadata has it, under the present name, of every variant. `variant`: only the metadata of the variant on whose row it is.
 * `none`: a product has no place for it.
 */
const COLUMNS = [
  ['Title', 'Title', 'field'],
  ['URL handle', 'Handle', 'field'],
  ['Description', 'Body (HTML)', 'field'],
  ['Vendor', 'Vendor', 'kept'],
  ['Product category', 'Product Category', 'kept'],
  ['Type', 'Type', 'kept'],
  ['Tags', 'Tags', 'field'],
  ['Published on online store', 'Published', 'kept'],
  ['Status', 'Status', 'field'],
  ['SKU', 'Variant SKU', 'field'],
  ['Barcode', 'Variant Barcode', 'field'],
  ['Option1 name', 'Option1 Name', 'field'],
  ['Option1 value', 'Option1 Value', 'field'],
  ['Option1 Linked To', 'Option1 Linked To', 'kept'],
  ['Option2 name', 'Option2 Name', 'field'],
  ['Option2 value', 'Option2 Value', 'field'],
  ['Option2 Linked To', 'Option2 Linked To', 'kept'],
  ['Option3 name', 'Option3 Name', 'field'],
  ['Option3 value', 'Option3 Value', 'field'],
  ['Option3 Linked To', 'Option3 Linked To', 'kept'],
  ['Price', 'Variant Price', 'field'],
  ['Compare-at price', 'Variant Compare At Price', 'field'],
  ['Cost per item', 'Cost per item', 'variant'],
  ['Charge tax', 'Variant Taxable', 'variant'],
  ['Tax code', 'Variant Tax Code', 'variant'],
  ['Unit price total measure', 'Unit Price Total Measure', 'variant'],
  ['Unit price total measure unit', 'Unit Price Total Measure Unit', 'variant'],
  ['Unit price base measure', 'Unit Price Base Measure', 'variant'],
  ['Unit price base measure unit', 'Unit Price Base Measure Unit', 'variant'],
  ['Inventory tracker', 'Variant Inventory Tracker', 'field'],
  ['Inventory quantity', 'Variant Inventory Qty', 'field'],
  ['Continue selling when out of stock', 'Variant Inventory Policy', 'variant'],
  ['Weight value (grams)', 'Variant Grams', 'field'],
  ['Weight unit for display', 'Variant Weight Unit', 'variant'],
  ['Requires shipping', 'Variant Requires Shipping', 'field'],
  ['Fulfillment service', 'Variant Fulfillment Service', 'variant'],
  ['Product image URL', 'Image Src', 'field'],
  ['Image position', 'Image Position', 'field'],
  ['Image alt text', 'Image Alt Text', 'none'],
  ['Variant image URL', 'Variant Image', 'field'],
  ['Gift card', 'Gift Card', 'kept'],
  ['SEO title', 'SEO Title', 'kept'],
  ['SEO description', 'SEO Description', 'kept'],
] as const;
type Column = (typeof COLUMNS)[number][0];

/** In files of `mercat export`: the fields of the product that the other columns do not state, as JSON. */
export const OWN_COLUMN = 'Mercat fields';

export const SHOPIFY_COLUMNS: readonly string[] = [...COLUMNS.map(([name]) => name), OWN_COLUMN];

/** The columns whose values are in the metadata of a product. */
export const KEPT_COLUMNS: readonly string[] = COLUMNS.flatMap(([name, , use]) =>
  use === 'kept' || use === 'variant' ? [name] : [],
);

/** Whether only the variant on whose row a value is has it. A market has prices of its own. */
export function isOfVariant(column: string): boolean {
  return USES.get(column) === 'variant' || /^(?:compare[- ]at )?price \//i.test(column);
}

const REQUIRED_COLUMNS: readonly Column[] = ['URL handle', 'Title', 'Price'];

const CANONICAL = new Map(
  COLUMNS.flatMap(([name, earlier]) => [name, earlier].map((one) => [one.toLowerCase(), name])),
);
const USES: ReadonlyMap<string, (typeof COLUMNS)[number][2]> = new Map(COLUMNS.map(([name, , use]) => [name, use]));
const EARLIER: ReadonlyMap<string, string> = new Map(COLUMNS.map(([name, earlier]) => [name, earlier]));

/** The stock at one of several locations. */
const LOCATION = /^(?:variant )?inventory (?:available|quantity|qty)\s*[:/]\s*(.+)$/i;

/**
 * Counts what was read: rows (including rejected rows), products, variants, and rows that have only an image. `kept`: the columns whose values
 * are in the metadata. `unused`: the columns with values for which a product has no place. `later`: the columns of which a row after the first of a
 * product has a value that is not stored. `locations`: the locations whose stocks were added.
 * `negative`: how many stocks below 0 were stored as 0.
 */
export type ShopifyTally = {
  rows: number;
  products: number;
  variants: number;
  images: number;
  negative: number;
  /** Images and tags beyond the most that a product can have. */
  surplus: number;
  kept: Set<string>;
  unused: Set<string>;
  later: Set<string>;
  locations: Set<string>;
};

export function createShopifyTally(): ShopifyTally {
  const counts = { rows: 0, products: 0, variants: 0, images: 0, negative: 0, surplus: 0 };
  return { ...counts, kept: new Set(), unused: new Set(), later: new Set(), locations: new Set() };
}

/** A row of the file: its line, and its cells by the present name of the column. */
export type ShopifyRow = { line: number; cells: ReadonlyMap<string, string> };

/** Whether a file with these columns is a product export of Shopify. */
export function isShopifyHeader(columns: readonly string[]): boolean {
  const header = new Set<string>(columns.map(toPresentName));
  return REQUIRED_COLUMNS.every((name) => header.has(name));
}

function toPresentName(column: string): string {
  return CANONICAL.get(column.trim().toLowerCase()) ?? column.trim();
}

/** The columns of the file by their present names. Throws OperatorError if a column is missing without which no product can be read. */
export function readShopifyHeader(cells: readonly string[]): string[] {
  const header = cells.map(toPresentName);
  const missing = REQUIRED_COLUMNS.find((name) => !header.includes(name));
  if (missing === undefined) return header;
  const names = [...new Set([missing, EARLIER.get(missing) ?? missing])]
    .map((name) => JSON.stringify(name))
    .join(' or ');
  throw new OperatorError(`the file is not a product export of Shopify: it has no column ${names}`);
}

/** The handle of the row. Empty for a row that belongs to the product of the row before it. */
export function handleOf(row: ShopifyRow): string {
  return read(row, 'URL handle');
}

function read({ cells }: ShopifyRow, column: Column): string {
  return cells.get(column) ?? '';
}

type ShopifyRecord = { line: number; record: Record<string, unknown> | null };

/**
 * The records of the rows of one handle, without `kind` and `shop`. `slugs`: the slugs of the records so far. A record without its own fields
 * (OWN_COLUMN), which are no JSON object, is null.
 */
export function toShopifyRecords(
  rows: readonly ShopifyRow[],
  { tally, slugs }: { tally: ShopifyTally; slugs: Set<string> },
): ShopifyRecord[] {
  const [first] = rows;
  if (!first) return [];
  const isVariant = (row: ShopifyRow) =>
    (['Price', 'Option1 value', 'SKU'] as const).some((column) => read(row, column) !== '');
  const variants = rows.filter((row) => row === first || isVariant(row));
  const images = rows
    .filter((row) => read(row, 'Product image URL') !== '')
    .toSorted((a, b) => Number(read(a, 'Image position')) - Number(read(b, 'Image position')))
    .map((row) => read(row, 'Product image URL'));
  tally.products += 1;
  tally.variants += variants.length;
  tally.images += rows.length - variants.length;
  for (const row of rows) noteUnused(row, { tally, first, isVariant: variants.includes(row) });
  const isOnly = variants.length === 1;
  return variants.map((row) => {
    const own = parseOwnFields(row.cells.get(OWN_COLUMN) ?? '');
    const record = own && { ...toRecord(row, { first, images, isOnly, tally, slugs }), ...own };
    if (record) slugs.add(String(record['slug']));
    return { line: row.line, record };
  });
}

/** The columns that are read from the first row of a product only. */
const OF_FIRST_ROW: ReadonlySet<string> = new Set<Column>(['Title', 'Description', 'Tags', 'Status']);
/** The columns that are read from a row that is no variant. */
const OF_IMAGE_ROW: ReadonlySet<string> = new Set<Column>(['URL handle', 'Product image URL', 'Image position']);

/** Notes the columns of which no record has the value. A later row may repeat what the first row of the product has. */
function noteUnused(
  { cells }: ShopifyRow,
  { tally, first, isVariant }: { tally: ShopifyTally; first: ShopifyRow; isVariant: boolean },
): void {
  const hasQuantity = (cells.get('Inventory quantity') ?? '') !== '';
  for (const [name, cell] of cells) {
    if (cell === '' || name === OWN_COLUMN) continue;
    const isRead = isVariant ? !OF_FIRST_ROW.has(name) || cells === first.cells : OF_IMAGE_ROW.has(name);
    if (USES.get(name) === 'none' || (hasQuantity && LOCATION.test(name))) tally.unused.add(name);
    else if (!isRead && cell !== first.cells.get(name)) tally.later.add(name);
  }
}

function parseOwnFields(text: string): Record<string, unknown> | null {
  if (text === '') return {};
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** The tracker of a stock that Shopify counts itself. Others count it in a warehouse of theirs. */
export const OWN_TRACKER = 'shopify';

type VariantContext = {
  first: ShopifyRow;
  images: readonly string[];
  isOnly: boolean;
  tally: ShopifyTally;
  slugs: ReadonlySet<string>;
};

function toRecord(row: ShopifyRow, { first, images, isOnly, tally, slugs }: VariantContext): Record<string, unknown> {
  const options = toOptions(row, first);
  const suffix = isOnly ? '' : toShopifySuffix(options);
  const handle = read(first, 'URL handle');
  const [main = '', ...others] = unique([read(row, 'Variant image URL'), ...images]);
  const status = PRODUCT_STATUSES.find((one) => one === read(first, 'Status').toLowerCase());
  const collections = unique([
    read(first, 'Type'),
    ...read(first, 'Tags')
      .split(',')
      .map((tag) => tag.trim()),
  ]);
  tally.surplus += Math.max(0, others.length - MORE_IMAGES_MAX) + Math.max(0, collections.length - COLLECTIONS_MAX);
  const metadata = toMetadata(row, first, tally);
  if (status === undefined && read(first, 'Status') !== '') {
    metadata['Status'] = read(first, 'Status');
    tally.kept.add('Status');
  }
  const tracker = read(row, 'Inventory tracker');
  if (tracker !== '' && tracker !== OWN_TRACKER) {
    metadata['Inventory tracker'] = tracker;
    tally.kept.add('Inventory tracker');
  }
  const isGroup = !isOnly || options.length > 0;
  const values = {
    name: [read(first, 'Title'), suffix].filter(Boolean).join(' – '),
    // Another variant or handle can have the same slug, and must not be changed by this row.
    slug: toFreeSlug([handle, suffix && toSlug(suffix)].filter(Boolean).join('-'), slugs),
    description: read(first, 'Description'),
    price: read(row, 'Price'),
    compareAtPrice: read(row, 'Compare-at price'),
    sku: withoutApostrophe(read(row, 'SKU')),
    barcode: withoutApostrophe(read(row, 'Barcode')),
    status: status ?? '',
    groupId: isGroup ? handle : '',
    options: isGroup ? options : '',
    inventory: toStock(row, tally),
    trackInventory: row.cells.has('Inventory tracker') ? tracker !== '' : '',
    weightGrams: toNumber(read(row, 'Weight value (grams)')),
    requiresShipping: toFlag(read(row, 'Requires shipping')),
    image: main,
    moreImages: others.slice(0, MORE_IMAGES_MAX),
    collections: collections.slice(0, COLLECTIONS_MAX),
    metadata: Object.keys(metadata).length > 0 ? metadata : '',
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
}

/** The options of a variant. The first row of a handle has their names. A product without variants has the option `Default Title`. */
function toOptions(row: ShopifyRow, first: ShopifyRow): { name: string; value: string }[] {
  return ([1, 2, 3] as const).flatMap((number) => {
    const value = read(row, `Option${number} value`);
    const name = read(row, `Option${number} name`) || read(first, `Option${number} name`) || `Option${number}`;
    return value === '' || value === 'Default Title' ? [] : [{ name, value }];
  });
}

/** What the name of a variant has after the title. */
export function toShopifySuffix(options: readonly { value: string }[]): string {
  return options.map(({ value }) => value).join(' / ');
}

/** The keys that are added after the columns: a status and a tracker that a product does not have. */
const LATE_KEYS = 2;

/**
 * The values of the columns that are kept in the metadata, and of the columns that Shopify or an application has added. What describes the whole
 * product is on the first row only, and every variant gets it.
 */
function toMetadata(row: ShopifyRow, first: ShopifyRow, tally: ShopifyTally): Record<string, string> {
  const metadata = new Map<string, string>();
  for (const [name, own] of row.cells) {
    const use = USES.get(name) ?? (name === OWN_COLUMN || LOCATION.test(name) ? 'field' : 'kept');
    const value = own || (isOfVariant(name) ? '' : (first.cells.get(name) ?? ''));
    if ((use !== 'kept' && use !== 'variant') || value === '') continue;
    const fits =
      countCharacters(name) <= METADATA_KEY_LENGTH_MAX && countCharacters(value) <= METADATA_VALUE_LENGTH_MAX;
    if (!fits || metadata.size >= METADATA_KEYS_MAX - LATE_KEYS) tally.unused.add(name);
    else {
      metadata.set(name, value);
      tally.kept.add(name);
    }
  }
  return Object.fromEntries(metadata);
}

/** The stock of a row: the number, or the sum of its locations. Shopify sells below 0, and a shop of Mercat does not. */
function toStock(row: ShopifyRow, tally: ShopifyTally): number | string {
  const text = read(row, 'Inventory quantity');
  let stock = toNumber(text);
  if (text === '') {
    for (const [name, cell] of row.cells) {
      const location = LOCATION.exec(name)?.[1];
      const count = toNumber(cell);
      // Shopify writes `not stocked` for a location that does not have the variant.
      if (location === undefined || typeof count !== 'number') continue;
      stock = (typeof stock === 'number' ? stock : 0) + count;
      tally.locations.add(location);
    }
  }
  if (typeof stock !== 'number' || stock >= 0) return stock;
  tally.negative += 1;
  return 0;
}

/** Spreadsheets keep the leading zeros of a number only after an apostrophe, which Shopify writes. */
function withoutApostrophe(text: string): string {
  return /^'\d/.test(text) ? text.slice(1) : text;
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => text !== '');
}

/** Text that is not a number is returned unchanged, so that the rejection of the record quotes it. */
function toNumber(text: string): number | string {
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

function toFlag(text: string): boolean | string {
  if (/^true$/i.test(text)) return true;
  return /^false$/i.test(text) ? false : text;
}

export function describeShopify(tally: ShopifyTally): string {
  const { rows, products, variants, images, negative, surplus, kept, unused, later, locations } = tally;
  return [
    `rows: ${rows}, products: ${products}, variants: ${variants}, rows with images only: ${images}`,
    ...(locations.size > 0 ? [`the stock is the sum of the locations ${[...locations].join(', ')}`] : []),
    ...(negative > 0 ? [`stocks below 0 that are stored as 0: ${negative}`] : []),
    ...(surplus > 0
      ? [
          `images and tags beyond ${MORE_IMAGES_MAX + 1} images and ${COLLECTIONS_MAX} tags, which are not stored: ${surplus}`,
        ]
      : []),
    ...(kept.size > 0 ? [`kept in the metadata: ${[...kept].join(', ')}`] : []),
    ...(unused.size > 0 ? [`a product has no place for the columns ${[...unused].join(', ')}`] : []),
    ...(later.size > 0 ? [`not read after the first row of a product: ${[...later].join(', ')}`] : []),
  ].join('; ');
}
