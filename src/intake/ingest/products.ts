// Stores product records by the rules of the store interface, and records an event for each change. If the shop has a product with the
// record's slug, that product is updated; otherwise a product is created. A record that changes nothing writes nothing.

import type { Queryable } from '../../platform/database/port.ts';
import type { UpsertRejection, UpsertCounts } from '../../platform/database/upsert.ts';
import type { ShopTime } from '../../shop/products/product-changes.ts';
import {
  describeClashes,
  insertProductWithEvent,
  updateProductWithEvent,
} from '../../shop/products/product-changes.ts';
import type { Product } from '../../shop/products/product.ts';
import { claimProductImports, listProductsForUpdate } from '../../shop/queries/products.ts';
import { listShopIds } from '../../shop/queries/shops.ts';
import type { ProductRecord } from '../records/product.ts';
import { toKeyText } from '../queries/tracked-tables.ts';
import { describeDetails } from '../records/product.ts';
import type { TrackChanges } from '../undo/change-log.ts';

/**
 * Who imports. The operator, which includes the workers, can import products of every shop. An API key can import products of its own shop
 * only, and a key without a shop none.
 */
export type Importer = 'operator' | { keyId: string; shopId: string | null };

export type IngestedProducts = UpsertCounts & { rejections: UpsertRejection[] };

type Outcome = keyof UpsertCounts | { rejected: string };

/**
 * Stores the records. Records of one product are stored in the order given. Imports into one shop wait for each other. Without this wait,
 * two imports could deadlock: each would hold a product lock or a new slug that the other needs.
 */
export async function ingestProducts(
  tx: Queryable,
  records: readonly ProductRecord[],
  { now, importer, track }: { now: number; importer: Importer; track: TrackChanges },
): Promise<IngestedProducts> {
  if (records.length === 0) return { inserted: 0, updated: 0, unchanged: 0, rejections: [] };
  const shopIds = await listAccessibleShops(tx, records, importer);
  await claimProductImports(tx, shopIds.values());
  const stored = await lockStored(tx, records, shopIds);
  const keys = records.flatMap(({ shop, slug }) => {
    const shopId = shopIds.get(shop);
    return shopId === undefined ? [] : [toKeyText(shopId, slug)];
  });
  return track(tx, 'product', keys, () => ingestEach(tx, records, { shopIds, stored, now, importer }));
}

async function ingestEach(
  tx: Queryable,
  records: readonly ProductRecord[],
  {
    shopIds,
    stored,
    now,
    importer,
  }: { shopIds: ReadonlyMap<string, string>; stored: Map<string, Product>; now: number; importer: Importer },
): Promise<IngestedProducts> {
  const keyId = importer === 'operator' ? null : importer.keyId;
  const result: IngestedProducts = { inserted: 0, updated: 0, unchanged: 0, rejections: [] };
  for (const [index, record] of records.entries()) {
    const shopId = shopIds.get(record.shop);
    const outcome: Outcome =
      shopId === undefined
        ? { rejected: describeNoShop(record, importer) }
        : await ingestProduct(tx, { shopId, now, keyId }, record, stored);
    if (typeof outcome === 'string') result[outcome] += 1;
    else result.rejections.push({ index, reason: outcome.rejected });
  }
  return result;
}

/** The reason is the same for a shop of somebody else as for a shop that does not exist, so that a key cannot find out the names of shops. */
function describeNoShop({ shop }: ProductRecord, importer: Importer): string {
  if (importer !== 'operator' && importer.shopId === null)
    return 'shop: the API key has no shop, so it cannot import products';
  return `shop: there is no shop named ${JSON.stringify(shop)}; see mercat shops list`;
}

/**
 * Returns the ids of the shops, by the name or id in the records. A shop that the importer may not write to is left out, as if it did not
 * exist.
 */
async function listAccessibleShops(
  tx: Queryable,
  records: readonly ProductRecord[],
  importer: Importer,
): Promise<Map<string, string>> {
  const shops = await listShopIds(tx, [...new Set(records.map(({ shop }) => shop))]);
  if (importer === 'operator') return shops;
  return new Map([...shops].filter(([, id]) => id === importer.shopId));
}

/** Locks the stored products of the records, and returns them by shop and slug. */
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
  target: ShopTime & { keyId: string | null },
  { slug, create, update }: ProductRecord,
  stored: Map<string, Product>,
): Promise<Outcome> {
  const key = toKey(target.shopId, slug);
  const before = stored.get(key);
  if (before) {
    const change = { ...target, source: 'import', reason: 'Import' } as const;
    const updated = await updateProductWithEvent(tx, change, before, update);
    if (updated.outcome === 'invalid') return { rejected: describeDetails(updated.details, update) };
    if (updated.outcome === 'taken') return { rejected: describeDetails(describeClashes(updated.clashes), update) };
    // `missing` cannot occur: a locked product cannot be deleted.
    if (updated.outcome === 'missing') throw new Error(`product ${before.id} is not locked`);
    stored.set(key, updated.product);
    return updated.outcome;
  }
  const created = await insertProductWithEvent(tx, target, { ...create, slug });
  if (created.outcome === 'created') {
    stored.set(key, created.product);
    return 'inserted';
  }
  const others = created.clashes.filter(({ path }) => path !== 'slug');
  if (others.length > 0) return { rejected: describeDetails(describeClashes(others), create) };
  // Another writer created the product after this transaction locked the stored products.
  const [found] = await listProductsForUpdate(tx, [{ shopId: target.shopId, slug }]);
  if (!found)
    return {
      rejected: `slug: another client is creating and deleting ${JSON.stringify(slug)}; import the record again`,
    };
  stored.set(key, found.product);
  return ingestProduct(tx, target, { shop: target.shopId, slug, create, update }, stored);
}

function toKey(shopId: string, slug: string): string {
  return `${shopId} ${slug}`;
}
