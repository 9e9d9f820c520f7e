// Lands records of products: what a shop has is changed by the rules of its own interface, what it does not have is created,
// each with its event. A record that tells nothing new writes nothing.

import type { Queryable } from '../../database/port.ts';
import type { ShopTime } from '../../shop/products/product-changes.ts';
import { insertProductWithEvent, updateProductWithEvent } from '../../shop/products/product-changes.ts';
import { listProductsForUpdate } from '../../shop/queries/products.ts';
import { listShopIds } from '../../shop/queries/shops.ts';
import type { UpsertCounts } from '../../database/upsert.ts';
import type { Product } from '../../shop/products/product.ts';
import type { ProductRecord } from '../records/product.ts';
import { toReason } from '../records/product.ts';

/** Who tells the records. With a shop: of its products alone. Without a key: the operator, or what is followed. */
export type RecordSender = { keyId: string | null; shopId: string | null };

type Outcome = keyof UpsertCounts | { refused: string };

export type IngestedProducts = UpsertCounts & { refused: { index: number; reason: string }[] };

/**
 * Lands the records, those of one product in their order. Products are taken in the order of their names, so that imports of the
 * same ones at once wait for each other and never in a circle.
 */
export async function ingestProducts(
  tx: Queryable,
  records: readonly ProductRecord[],
  { now, sender }: { now: number; sender: RecordSender },
): Promise<IngestedProducts> {
  const landed: IngestedProducts = { inserted: 0, updated: 0, unchanged: 0, refused: [] };
  if (records.length === 0) return landed;
  const shops = await listShopIds(tx, [...new Set(records.map(({ shop }) => shop))]);
  // Another shop is missing by the same words as one that never was.
  const shopIds = new Map([...shops].filter(([, id]) => sender.shopId === null || sender.shopId === id));
  const stored = await lockStored(tx, records, shopIds);
  const byName = [...records.entries()].toSorted(([, a], [, b]) =>
    compareTexts(toKey(a.shop, a.slug), toKey(b.shop, b.slug)),
  );
  for (const [index, record] of byName) {
    const shopId = shopIds.get(record.shop);
    const outcome: Outcome =
      shopId === undefined
        ? { refused: `shop: there is no shop named ${JSON.stringify(record.shop)}; see mercat shops list` }
        : await ingestProduct(tx, { shopId, now, keyId: sender.keyId }, record, stored);
    if (typeof outcome === 'string') landed[outcome] += 1;
    else landed.refused.push({ index, reason: outcome.refused });
  }
  landed.refused.sort((a, b) => a.index - b.index);
  return landed;
}

/** The products that are there already, locked, by shop and slug. */
async function lockStored(
  tx: Queryable,
  records: readonly ProductRecord[],
  shopIds: ReadonlyMap<string, string>,
): Promise<Map<string, Product>> {
  const wanted = records.flatMap(({ shop, slug }) => {
    const shopId = shopIds.get(shop);
    return shopId === undefined ? [] : [{ shopId, slug }];
  });
  const found = await listProductsForUpdate(tx, wanted);
  return new Map(found.map(({ shopId, product }) => [toKey(shopId, product.slug), product]));
}

async function ingestProduct(
  tx: Queryable,
  into: ShopTime & { keyId: string | null },
  { slug, create, update }: ProductRecord,
  stored: Map<string, Product>,
): Promise<Outcome> {
  const key = toKey(into.shopId, slug);
  const before = stored.get(key);
  if (before) {
    const change = { ...into, source: 'import', reason: 'Import' } as const;
    const updated = await updateProductWithEvent(tx, change, before, update);
    if (updated.outcome === 'invalid') return { refused: toReason(updated.details) };
    // The slug is not changed, and the product is locked: neither can happen.
    if (updated.outcome === 'slug-taken' || updated.outcome === 'missing')
      throw new Error(`product ${before.id} is not locked`);
    stored.set(key, updated.product);
    return updated.outcome;
  }
  const created = await insertProductWithEvent(tx, into, { ...create, slug });
  if (created) {
    stored.set(key, created);
    return 'inserted';
  }
  // Somebody else has just created it.
  const [found] = await listProductsForUpdate(tx, [{ shopId: into.shopId, slug }]);
  if (!found) return { refused: `slug: ${JSON.stringify(slug)} is being created and deleted by others` };
  stored.set(key, found.product);
  return ingestProduct(tx, into, { shop: into.shopId, slug, create, update }, stored);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function toKey(shopId: string, slug: string): string {
  return `${shopId} ${slug}`;
}
