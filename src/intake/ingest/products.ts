// Stores product records by the rules of the store interface, and records an event for each change. If the shop has a product with the
// record's slug, that product is updated; otherwise a product is created. A record that changes nothing writes nothing.

import type { Queryable } from '../../platform/database/port.ts';
import type { UpsertRejection, UpsertCounts } from '../../platform/database/upsert.ts';
import type { ProductUpsertResult } from '../../shop/products/product-upserts.ts';
import { upsertProducts } from '../../shop/products/product-upserts.ts';
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
  const wanted = records.flatMap(({ shop, slug }) => {
    const shopId = shopIds.get(shop);
    return shopId === undefined ? [] : [{ shopId, slug }];
  });
  // Locked in the order of their ids, like the products of all other changes, before they are read in another order.
  await listProductsForUpdate(tx, wanted);
  const keys = wanted.map(({ shopId, slug }) => toKeyText(shopId, slug));
  return track(tx, 'product', keys, () => ingestByShop(tx, records, { shopIds, now, importer }));
}

async function ingestByShop(
  tx: Queryable,
  records: readonly ProductRecord[],
  { shopIds, now, importer }: { shopIds: ReadonlyMap<string, string>; now: number; importer: Importer },
): Promise<IngestedProducts> {
  const keyId = importer === 'operator' ? null : importer.keyId;
  const result: IngestedProducts = { inserted: 0, updated: 0, unchanged: 0, rejections: [] };
  const indexed = records.map((record, index) => ({ record, index, shopId: shopIds.get(record.shop) ?? null }));
  for (const [shopId, group] of Map.groupBy(indexed, (one) => one.shopId)) {
    if (shopId === null) {
      for (const { record, index } of group)
        result.rejections.push({ index, reason: describeNoShop(record, importer) });
      continue;
    }
    const change = { shopId, keyId, now, source: 'import', reason: 'Import' } as const;
    const upserts = group.map(({ record: { slug, input } }) => ({ key: { by: 'slug', value: slug }, input }) as const);
    for (const [position, outcome] of (await upsertProducts(tx, change, upserts)).entries()) {
      const { record, index } = group[position] ?? {};
      if (record && index !== undefined) count(result, outcome, { record, index });
    }
  }
  result.rejections.sort((a, b) => a.index - b.index);
  return result;
}

function count(
  result: IngestedProducts,
  outcome: ProductUpsertResult,
  { record, index }: { record: ProductRecord; index: number },
): void {
  if (outcome.outcome === 'rejected') {
    result.rejections.push({ index, reason: describeDetails(outcome.details, record.input) });
  } else if (outcome.outcome === 'missing') throw new Error('a product was looked up by its slug, and is missing');
  else result[outcome.outcome === 'created' ? 'inserted' : outcome.outcome] += 1;
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
