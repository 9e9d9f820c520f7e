// Sets the stock of products to the numbers in a CSV file of an ERP system, which has the columns `sku` and `stock`. A SKU is the slug of
// a product. Usage: MERCAT_KEY=mercat_live_… node client/examples/sync-stock.ts BASE_URL stock.csv

import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import type { StoreClient } from 'mercat-client/store';
import { MercatError, createStoreClient } from 'mercat-client/store';

type Row = { sku: string; stock: string };

/** Prints one line for each row that was not applied. Returns the number of products that were changed. */
export async function syncStock(store: StoreClient, csv: string, print: (line: string) => void): Promise<number> {
  const products = new Map<string, { id: string; inventory: number }>();
  for await (const { slug, id, inventory } of store.listProducts({ limit: 100 })) products.set(slug, { id, inventory });
  let changed = 0;
  for (const { sku, stock } of parse<Row>(csv, { columns: true, skip_empty_lines: true, trim: true })) {
    const product = products.get(sku.toLowerCase());
    const set = /^\d+$/.test(stock) ? Number(stock) : null;
    if (!product || set === null) print(`${sku}: ${product ? `not a number: ${stock}` : 'no such product'}`);
    else if (set !== product.inventory && (await setStock(store, { ...product, set }))) changed += 1;
    else if (set !== product.inventory) print(`${sku}: the stock has changed meanwhile, run again`);
  }
  return changed;
}

/** False if the stock has changed since it was read, for example because somebody has bought the product. */
async function setStock(store: StoreClient, { id, inventory, set }: { id: string; inventory: number; set: number }) {
  try {
    await store.changeInventory({ product_id: id, set, expected: inventory, reason: 'ERP file' });
    return true;
  } catch (error) {
    if (error instanceof MercatError && error.code === 'conflict') return false;
    throw error;
  }
}

if (import.meta.main) {
  const [baseUrl = '', file = ''] = process.argv.slice(2);
  const store = createStoreClient({ baseUrl, apiKey: process.env['MERCAT_KEY'] ?? '' });
  console.log(`${await syncStock(store, readFileSync(file, 'utf8'), console.log)} products changed`);
}
