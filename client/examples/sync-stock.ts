// Prints what has changed in a shop since the last run, which COPY.json keeps, then sets its stock to a CSV file with the columns `sku` and `stock`.
// Usage: MERCAT_KEY=mercat_live_… node client/examples/sync-stock.ts BASE_URL stock.csv COPY.json

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import type { Adjustment, Product, StoreClient } from 'mercat-client/store';
import { MercatError, createStoreClient } from 'mercat-client/store';

const [REASON, ROWS_MAX] = ['ERP file', 1_000];
export type ShopCopy = { sequence: number | null; products: Record<string, Pick<Product, 'sku' | 'inventory'>> };
type Print = (line: string) => void;
export const newCopy = (): ShopCopy => ({ sequence: null, products: {} });

/** Brings the copy up to date. Reads the products only the first time. Prints each change of stock that is not from an ERP file. */
export async function follow(store: StoreClient, copy: ShopCopy, print: Print): Promise<void> {
  const { products } = copy;
  if (copy.sequence === null) {
    const list = store.listProducts({ limit: 100, status: 'any' });
    copy.sequence = (await list.page()).meta.sequence;
    for await (const { id, sku, inventory } of list) products[id] = { sku, inventory };
  }
  for (let hasMore = true; hasMore;) {
    const { data, meta } = await store.listChanges({ after: copy.sequence, limit: 500 });
    for (const { type, productId, object } of data) {
      if (productId === null) continue;
      const { next, reason, sku, inventory } = { ...object } as Adjustment & Product;
      if (type === 'product.deleted') delete products[productId];
      else if (type !== 'inventory.changed') products[productId] = { sku, inventory };
      else if (products[productId]) products[productId].inventory = next;
      if (type === 'inventory.changed' && reason !== REASON) print(`${products[productId]?.sku}: ${next} (${reason})`);
    }
    ({ sequence: copy.sequence, hasMore } = meta);
  }
}

/** Prints each row that is rejected. A stock that was changed meanwhile is not overwritten. Returns how many stocks were sent. */
export async function sendStock(store: StoreClient, copy: ShopCopy, csv: string, print: Print): Promise<number> {
  const known = new Map(Object.values(copy.products).map(({ sku, inventory }) => [sku, inventory]));
  const changes = parse<{ sku: string; stock: string }>(csv, { columns: true, skip_empty_lines: true, trim: true })
    .map(({ sku, stock }) => ({ sku, set: Number(stock || NaN), expected: known.get(sku) ?? -1, reason: REASON }))
    .filter(({ set, expected }) => set !== expected);
  for (let first = 0; first < changes.length; first += ROWS_MAX) {
    const { data } = await store.changeInventoryBatch({ changes: changes.slice(first, first + ROWS_MAX) });
    for (const [at, { error }] of data.entries()) if (error) print(`${changes[first + at]?.sku}: ${error.message}`);
  }
  return changes.length;
}

if (import.meta.main) {
  const [baseUrl = '', csv = '', file = 'copy.json'] = process.argv.slice(2);
  const store = createStoreClient({ baseUrl, apiKey: process.env['MERCAT_KEY'] ?? '' });
  let copy: ShopCopy = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : newCopy();
  await follow(store, copy, console.log).catch(async (error: unknown) => {
    // The last run was more than 30 days ago, or the service was restored from a backup.
    if (!(error instanceof MercatError) || error.code !== 'gone') throw error;
    await follow(store, (copy = newCopy()), console.log);
  });
  writeFileSync(file, JSON.stringify(copy));
  console.log(`${await sendStock(store, copy, readFileSync(csv, 'utf8'), console.log)} stocks sent`);
}
