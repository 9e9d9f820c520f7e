// Reads product exports of Shopify as product records (shop/products/shopify.ts).

import { readCells } from '../../intake/csv/rows.ts';
import type { ShopifyRow, ShopifyTally } from '../../shop/products/shopify.ts';
import { OWN_COLUMN, handleOf, readShopifyHeader, toShopifyRecords } from '../../shop/products/shopify.ts';

export const SHOPIFY_FORMAT = 'shopify-products';

type Rejected = { line: number; reason: string };

/**
 * Yields NDJSON. The record of a variant is on the same line as its row in the file, so that errors name this line. All other lines are
 * blank. `onRejected` is called for each row that cannot be read.
 */
export async function* toShopifyLines(
  source: AsyncIterable<Uint8Array>,
  { shop, tally, onRejected }: { shop: string; tally: ShopifyTally; onRejected: (row: Rejected) => void },
): AsyncGenerator<Uint8Array> {
  let nextLine = 1;
  const slugs = new Set<string>();
  for await (const rows of groupByHandle(readShopifyRows(source, { tally, onRejected }), onRejected)) {
    for (const { line, record } of toShopifyRecords(rows, { tally, slugs })) {
      if (record === null) {
        onRejected({ line, reason: `the column ${OWN_COLUMN} is not the JSON of mercat export` });
        continue;
      }
      const blankLines = Math.max(0, line - nextLine);
      nextLine += blankLines + 1;
      yield Buffer.from(`${'\n'.repeat(blankLines)}${JSON.stringify({ kind: 'product', shop, ...record })}\n`);
    }
  }
}

async function* readShopifyRows(
  source: AsyncIterable<Uint8Array>,
  { tally, onRejected }: { tally: ShopifyTally; onRejected: (row: Rejected) => void },
): AsyncGenerator<ShopifyRow> {
  let header: string[] | null = null;
  for await (const group of readCells(source)) {
    for (const row of group) {
      if (header === null) {
        header = readShopifyHeader(row.cells ?? []);
        continue;
      }
      tally.rows += 1;
      if (row.cells === null) onRejected({ line: row.line, reason: row.reason });
      else if (row.cells.length !== header.length) {
        onRejected({ line: row.line, reason: `has ${row.cells.length} cells, but the header has ${header.length}` });
      } else {
        const cells = new Map(header.map((name, index) => [name, row.cells[index]?.trim() ?? '']));
        yield { line: row.line, cells };
      }
    }
  }
}

/** A row without a handle belongs to the product of the row before it. */
async function* groupByHandle(
  rows: AsyncIterable<ShopifyRow>,
  onRejected: (row: Rejected) => void,
): AsyncGenerator<ShopifyRow[]> {
  let group: ShopifyRow[] = [];
  for await (const row of rows) {
    const handle = handleOf(row);
    const [first] = group;
    if (!first && handle === '') {
      onRejected({ line: row.line, reason: 'has no handle, and no row before it has one' });
      continue;
    }
    if (first && handle !== '' && handle !== handleOf(first)) {
      yield group;
      group = [];
    }
    group.push(row);
  }
  if (group.length > 0) yield group;
}
