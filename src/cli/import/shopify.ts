// Converts a product export of Shopify to product records. The CSV file has one row for each variant, and one for each further image of a
// product. The rows of a product are consecutive and have the same handle. A product of a shop has only one price and one stock, so each
// variant becomes a product.

import { OperatorError } from '../../platform/core/errors.ts';
import type { ParsedRow } from '../../intake/csv/rows.ts';
import { readCells } from '../../intake/csv/rows.ts';
import { toSlug } from '../../shop/products/slug.ts';

export const SHOPIFY_FORMAT = 'shopify-products';

/**
 * Counts what was read: rows (including rejected rows), products, variants, and rows that have only an image. `unused`: the columns that are
 * not empty, and for which a product has no field.
 */
export type ShopifyTally = { rows: number; products: number; variants: number; images: number; unused: Set<string> };

export function createShopifyTally(): ShopifyTally {
  return { rows: 0, products: 0, variants: 0, images: 0, unused: new Set() };
}

const USED_COLUMNS = [
  'Handle',
  'Title',
  'Body (HTML)',
  'Type',
  'Tags',
  'Option1 Name',
  'Option1 Value',
  'Option2 Name',
  'Option2 Value',
  'Option3 Name',
  'Option3 Value',
  'Variant Grams',
  'Variant Inventory Tracker',
  'Variant Inventory Qty',
  'Variant Price',
  'Variant Requires Shipping',
  'Image Src',
  'Image Position',
  'Variant Image',
] as const;
type UsedColumn = (typeof USED_COLUMNS)[number];

const REQUIRED_COLUMNS: readonly UsedColumn[] = ['Handle', 'Title', 'Variant Price'];

/** A row of the file: its line, and its cells by the name of the column. */
type ShopifyRow = { line: number; cells: ReadonlyMap<string, string> };

/**
 * Yields NDJSON. The record of a variant is on the same line as its row in the file, so that errors name this line. All other lines are
 * blank. `onRejected` is called for each row that cannot be read.
 */
export async function* toShopifyLines(
  source: AsyncIterable<Uint8Array>,
  {
    shop,
    tally,
    onRejected,
  }: { shop: string; tally: ShopifyTally; onRejected: (row: { line: number; reason: string }) => void },
): AsyncGenerator<Uint8Array> {
  let nextLine = 1;
  for await (const rows of groupByHandle(readRows(source, { tally, onRejected }))) {
    for (const { line, record } of toProducts(rows, shop, tally)) {
      const blankLines = Math.max(0, line - nextLine);
      nextLine += blankLines + 1;
      yield Buffer.from(`${'\n'.repeat(blankLines)}${JSON.stringify(record)}\n`);
    }
  }
}

async function* readRows(
  source: AsyncIterable<Uint8Array>,
  { tally, onRejected }: { tally: ShopifyTally; onRejected: (row: { line: number; reason: string }) => void },
): AsyncGenerator<ShopifyRow> {
  let header: string[] | null = null;
  for await (const group of readCells(source)) {
    for (const row of group) {
      if (header === null) {
        header = readHeader(row);
        continue;
      }
      tally.rows += 1;
      if (row.cells === null) onRejected({ line: row.line, reason: row.reason });
      else if (row.cells.length !== header.length) {
        onRejected({ line: row.line, reason: `has ${row.cells.length} cells, but the header has ${header.length}` });
      } else {
        const cells = new Map(header.map((name, index) => [name, row.cells[index]?.trim() ?? '']));
        noteUnused(cells, tally);
        yield { line: row.line, cells };
      }
    }
  }
}

function readHeader(row: ParsedRow): string[] {
  const header = row.cells?.map((name) => name.trim()) ?? [];
  const missing = REQUIRED_COLUMNS.find((name) => !header.includes(name));
  if (missing === undefined) return header;
  throw new OperatorError(`the file is not a product export of Shopify: it has no column ${JSON.stringify(missing)}`);
}

function noteUnused(cells: ReadonlyMap<string, string>, tally: ShopifyTally): void {
  for (const [name, cell] of cells) {
    if (cell !== '' && !(USED_COLUMNS as readonly string[]).includes(name)) tally.unused.add(name);
  }
}

async function* groupByHandle(rows: AsyncIterable<ShopifyRow>): AsyncGenerator<ShopifyRow[]> {
  let group: ShopifyRow[] = [];
  for await (const row of rows) {
    if (group[0] && read(group[0], 'Handle') !== read(row, 'Handle')) {
      yield group;
      group = [];
    }
    group.push(row);
  }
  if (group.length > 0) yield group;
}

function read({ cells }: ShopifyRow, column: UsedColumn): string {
  return cells.get(column) ?? '';
}

function toProducts(
  rows: readonly ShopifyRow[],
  shop: string,
  tally: ShopifyTally,
): { line: number; record: Record<string, unknown> }[] {
  const [first] = rows;
  if (!first) return [];
  const isVariant = (row: ShopifyRow) => read(row, 'Variant Price') !== '' || read(row, 'Option1 Value') !== '';
  const variants = rows.filter((row) => row === first || isVariant(row));
  const images = rows
    .filter((row) => read(row, 'Image Src') !== '')
    .toSorted((a, b) => Number(read(a, 'Image Position')) - Number(read(b, 'Image Position')))
    .map((row) => read(row, 'Image Src'));
  tally.products += 1;
  tally.variants += variants.length;
  tally.images += rows.length - variants.length;
  const isOnly = variants.length === 1;
  return variants.map((row) => ({ line: row.line, record: toProduct(row, { first, images, isOnly, shop }) }));
}

function toProduct(
  row: ShopifyRow,
  { first, images, isOnly, shop }: { first: ShopifyRow; images: readonly string[]; isOnly: boolean; shop: string },
): Record<string, unknown> {
  const options = (['Option1 Value', 'Option2 Value', 'Option3 Value'] as const)
    .map((column) => read(row, column))
    .filter((value) => value !== '' && value !== 'Default Title');
  const suffix = isOnly ? '' : options.join(' / ');
  const [main = '', ...others] = unique([read(row, 'Variant Image'), ...images]);
  const collections = unique([
    read(first, 'Type'),
    ...read(first, 'Tags')
      .split(',')
      .map((tag) => tag.trim()),
  ]);
  const values = {
    name: [read(first, 'Title'), suffix].filter(Boolean).join(' – '),
    slug: [read(first, 'Handle'), suffix && toSlug(suffix)].filter(Boolean).join('-'),
    description: read(first, 'Body (HTML)'),
    price: read(row, 'Variant Price'),
    inventory: toNumber(read(row, 'Variant Inventory Qty')),
    trackInventory: row.cells.has('Variant Inventory Tracker') ? read(row, 'Variant Inventory Tracker') !== '' : '',
    weightGrams: toNumber(read(row, 'Variant Grams')),
    requiresShipping: toFlag(read(row, 'Variant Requires Shipping')),
    image: main,
    moreImages: others,
    collections,
  };
  return { kind: 'product', shop, ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')) };
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

export function describeShopify({ rows, products, variants, images, unused }: ShopifyTally): string {
  const parts = `rows: ${rows}, products: ${products}, variants: ${variants}, rows with images only: ${images}`;
  if (unused.size === 0) return parts;
  return `${parts}; a product has no field for the columns ${[...unused].join(', ')}`;
}
