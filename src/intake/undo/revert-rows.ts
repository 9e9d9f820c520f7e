// Undoes a change of an import: deletes the rows that the import inserted, and restores the rows that it updated. Also updates the figures,
// order books and logs that depend on these rows. The transaction must hold the locks that other writers of these rows take.

import type { Queryable } from '../../platform/database/port.ts';
import { insertCatalogChanges } from '../../market/index/queries/catalog.ts';
import type { CollectionAsset } from '../../market/index/queries/figures.ts';
import {
  listFollowedIds,
  listTakenSlugs,
  updateWithoutSlugs,
} from '../../market/reads/queries/reverted-collections.ts';
import {
  deleteSalesByKey,
  deleteTokens,
  listListedAssets,
  restoreSales,
  restoreTokens,
} from '../../market/index/queries/reverted-rows.ts';
import type { RefreshContext, Written } from '../../market/index/change-index.ts';
import { evaluateOrders } from '../../market/orders/evaluate.ts';
import { refreshBookAssets, refreshTopBids } from '../../market/orders/queries/book-figures.ts';
import { listOrderLocations } from '../../market/orders/queries/reverted-orders.ts';
import { deleteTrackedRows, restoreTrackedRows } from '../queries/import-changes.ts';
import type { TrackedKind } from '../queries/tracked-tables.ts';
import type { RecordKind } from '../records/kinds.ts';
import type { KeptRow, RevertedRows } from './divided-rows.ts';
import { revertProducts } from './revert-products.ts';

export type RevertContext = RefreshContext & {
  importId: string;
  /** The collections of the rows. The transaction holds their locks. */
  collectionIds: readonly string[];
};

/** `kept`: the rows that could not be reverted. The rest says what was written to the index. */
type Reverted = Written & { kept: KeptRow[] };

/** Reverts the rows. Rows of the index must be reverted within `changeIndex`. */
export async function revertRows(
  tx: Queryable,
  kind: RecordKind,
  rows: RevertedRows,
  context: RevertContext,
): Promise<Reverted> {
  switch (kind) {
    case 'collection':
      return { kept: await revertCollections(tx, rows, context.now) };
    case 'product':
      return { kept: await revertProducts(tx, rows, context) };
    case 'order':
      await revertOrders(tx, rows, context);
      break;
    case 'sale':
      await deleteSalesByKey(tx, rows.removed.map(toCollectionKey));
      await restoreSales(
        tx,
        rows.restored.map(({ key, image }) => ({ ...toCollectionKey(key), image })),
        context.now,
      );
      break;
    case 'token':
      return { kept: [], moved: await revertTokens(tx, rows) };
    case 'listing':
      return { kept: [], assets: await revertListings(tx, rows, context) };
    case 'bid':
      await revertPlainRows(tx, kind, rows, context.now);
      await refreshTopBids(tx, context.collectionIds, context.now);
      break;
    case 'rate':
    case 'stats':
    case 'analytics':
      await revertPlainRows(tx, kind, rows, context.now);
      break;
  }
  return { kept: [] };
}

function toAsset(key: string): CollectionAsset {
  const [collectionId = '', asset = ''] = key.split('\n');
  return { collectionId, asset };
}

/** Splits the key of a listing or a sale into the collection id and the key of the row. */
function toCollectionKey(text: string): { collectionId: string; key: string } {
  const [collectionId = '', key = ''] = text.split('\n');
  return { collectionId, key };
}

const keysOf = ({ removed, restored }: RevertedRows) => [...removed, ...restored.map(({ key }) => key)];

async function revertPlainRows(
  tx: Queryable,
  kind: TrackedKind,
  { removed, restored }: RevertedRows,
  now: number,
): Promise<void> {
  await deleteTrackedRows(tx, kind, { keys: removed, now });
  await restoreTrackedRows(tx, kind, { rows: restored, now });
}

async function revertTokens(tx: Queryable, rows: RevertedRows): Promise<CollectionAsset[]> {
  const moved = rows.removed.map(toAsset);
  await deleteTokens(tx, moved);
  await restoreTokens(
    tx,
    rows.restored.map(({ key, image }) => ({ ...toAsset(key), image })),
  );
  return moved;
}

async function revertListings(tx: Queryable, rows: RevertedRows, context: RevertContext): Promise<CollectionAsset[]> {
  const assets = await listListedAssets(tx, keysOf(rows).map(toCollectionKey));
  await revertPlainRows(tx, 'listing', rows, context.now);
  return assets;
}

async function revertOrders(tx: Queryable, rows: RevertedRows, { now }: RevertContext): Promise<void> {
  const orders = await listOrderLocations(tx, keysOf(rows));
  await revertPlainRows(tx, 'order', rows, now);
  const restored = new Set(rows.restored.map(({ key }) => key));
  await evaluateOrders(
    tx,
    orders.flatMap(({ id, isSigned }) => (isSigned && restored.has(id) ? [id] : [])),
    now,
  );
  await refreshBookAssets(
    tx,
    orders.flatMap(({ collectionId, asset }) => (asset === null ? [] : [{ collectionId, asset }])),
    now,
  );
}

/**
 * Reverts collection records. An inserted record stays if its collection is followed. A changed record stays as it is if another collection
 * now has the slug that the record had before the change.
 */
async function revertCollections(tx: Queryable, rows: RevertedRows, now: number): Promise<KeptRow[]> {
  const followed = new Set(await listFollowedIds(tx, rows.removed));
  const taken = new Set(await listTakenSlugs(tx, rows.restored, keysOf(rows)));
  const removed = rows.removed.filter((id) => !followed.has(id));
  const restored = rows.restored.filter(({ key }) => !taken.has(key));
  await deleteTrackedRows(tx, 'collection', { keys: removed, now });
  await updateWithoutSlugs(
    tx,
    restored.map(({ key }) => key),
  );
  await restoreTrackedRows(tx, 'collection', { rows: restored, now });
  await insertCatalogChanges(tx, keysOf({ removed, restored }));
  return [
    ...[...followed].map((key) => ({ key, reason: 'the collection is followed' })),
    ...[...taken].map((key) => ({
      key,
      reason: 'the slug that it had before the import now belongs to another collection',
    })),
  ];
}
