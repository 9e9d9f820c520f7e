// Removes collections from both databases, with their orders, listings, sales, tokens and figures.

import type { OnChanged } from '../core/collection-versions.ts';
import type { Database, Queryable } from '../database/port.ts';
import { lockChainsAndBooks } from '../orders/book.ts';
import { lockCatalog } from './queries/catalog.ts';
import { deleteCollections, deleteObservations } from './queries/collection-removal.ts';
import { lockFigures } from './queries/figures.ts';
import { listCollectionsByIds } from './queries/collections.ts';

type RemovalContext = { main: Database; indexer: Database; onChanged: OnChanged };

/**
 * Removes collections and everything that is stored of them. Returns how many of them had a record. With two databases, the indexer may
 * fail after the primary has committed. Then the removal can be repeated.
 */
export async function removeCollections(
  { main, indexer, onChanged }: RemovalContext,
  collections: readonly { collectionId: string; chain: string }[],
): Promise<number> {
  const ids = collections.map(({ collectionId }) => collectionId);
  const removeObservations = async (tx: Queryable) => {
    await lockFigures(tx, ids);
    await deleteObservations(tx, ids);
  };
  const removed = await main.transaction(async (tx) => {
    // First the locks that writers of orders take, then the lock that copies to the indexer take. So no copy brings a figure back.
    await lockChainsAndBooks(tx, collections);
    await lockCatalog(tx);
    const { length } = await listCollectionsByIds(tx, ids);
    await deleteCollections(tx, ids);
    if (indexer === main) await removeObservations(tx);
    return length;
  });
  if (indexer !== main) await indexer.transaction(removeObservations);
  onChanged({ collectionIds: new Set(ids), kinds: new Set(['collection', 'order', 'listing', 'sale', 'token']) });
  return removed;
}
