// A till. Reads barcodes or SKUs from the terminal, one in a line, as a scanner types them. The line `pay` sells what was scanned.
// Usage: MERCAT_KEY=mercat_live_… node client/examples/pos.ts BASE_URL

import { createInterface } from 'node:readline';
import { formatAmount, parseAmount } from 'mercat-client';
import type { ProductSummary, StoreClient } from 'mercat-client/store';
import { MercatError, createStoreClient } from 'mercat-client/store';

/** Prices have at most this many digits after the point. */
const DECIMALS = 18;

type Print = (line: string) => void;
type Basket = Map<string, { product: ProductSummary; quantity: number }>;

export async function runTill(store: StoreClient, lines: AsyncIterable<string>, print: Print): Promise<void> {
  const basket: Basket = new Map();
  for await (const line of lines) {
    const code = line.trim();
    if (code === 'pay') {
      if (await sell(store, basket, print)) basket.clear();
      continue;
    }
    const product = code === '' ? null : await find(store, code);
    if (!product) print(`${code}: unknown`);
    else {
      basket.set(product.id, { product, quantity: (basket.get(product.id)?.quantity ?? 0) + 1 });
      print(`${product.name}  ${product.price}`);
    }
  }
}

async function find(store: StoreClient, code: string): Promise<ProductSummary | null> {
  const [product = null] = await store.listProducts({ barcode: code, status: 'active' }).take(1);
  return product ?? (await store.listProducts({ sku: code, status: 'active' }).take(1))[0] ?? null;
}

/** Takes all products from the stock, or none. Prints the total, or what is missing. */
async function sell(store: StoreClient, basket: Basket, print: Print): Promise<boolean> {
  const rows = [...basket.values()];
  const counted = rows.filter(({ product }) => product.trackInventory);
  const changes = counted.map(({ product: { id }, quantity: n }) => ({ product_id: id, adjustment: -n, clamp: false }));
  try {
    if (changes.length > 0) await store.changeInventoryBatch({ atomic: true, changes });
  } catch (error) {
    if (!(error instanceof MercatError) || error.code !== 'insufficient_stock') throw error;
    for (const { path, message } of error.details)
      print(`${counted[Number(path.split('.')[1])]?.product.name}: ${message}`);
    return false;
  }
  let total = 0n;
  for (const { product, quantity } of rows) total += parseAmount(product.price, DECIMALS) * BigInt(quantity);
  print(`Total  ${formatAmount(total, DECIMALS)}`);
  return true;
}

if (import.meta.main) {
  const [baseUrl = ''] = process.argv.slice(2);
  const store = createStoreClient({ baseUrl, apiKey: process.env['MERCAT_KEY'] ?? '' });
  await runTill(store, createInterface({ input: process.stdin }), console.log);
}
