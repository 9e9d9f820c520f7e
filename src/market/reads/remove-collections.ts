// Removes collections from both databases, with their orders, listings, sales, tokens and figures.

import { deleteActivityOf, lockActivityHead } from '../activity/queries/activity-log.ts';
import { insertMarketChanges } from '../activity/queries/market-changes.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { OnChanged } from '../../platform/core/collection-versions.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { lockChainsAndBooks } from '../orders/book.ts';
import { lockCatalog } from '../index/queries/catalog.ts';
import { deleteCollections, deleteObservations, listKnownCollections } from './queries/collection-removal.ts';
import { changeIndexDetails } from '../index/change-index.ts';

type RemovalContext = { main: Database; indexer: Database; clock: Clock; onChanged: OnChanged };

export type RemovedRows = Record<'collections' | 'orders' | 'listings' | 'sales' | 'tokens', number>;

const COUNTED_TABLES = {
  collections: 'main.collection',
  orders: 'main.book_order',
  listings: 'indexer.listing',
  sales: 'indexer.sale',
  tokens: 'indexer.token',
} as const satisfies Record<keyof RemovedRows, string>;

/**
 * Removes collections and everything that is stored about them. The activity log then has one change of the kind `remove` for each. With two databases, a later transaction may fail after the primary has
 * committed. The removal can then be repeated.
 */
export async function removeCollections(
  { main, indexer, clock, onChanged }: RemovalContext,
  collections: readonly { collectionId: string; chain: string }[],
): Promise<RemovedRows> {
  const ids = collections.map(({ collectionId }) => collectionId);
  const removeObservations = (tx: Queryable) => changeIndexDetails(tx, ids, () => deleteObservations(tx, ids));
  const removed = await main.transaction(async (tx) => {
    // Writers of orders take the locks of chains and books, and copies to the indexer take the lock of the catalog. While this transaction
    // holds these locks, no copy can restore a removed figure.
    await lockChainsAndBooks(tx, collections);
    await lockCatalog(tx);
    // A merge of the activity log takes this lock. So, if both schemas are in one database, the activity log gets no change of a removed
    // collection after the deletion.
    await lockActivityHead(tx);
    const known = new Set(await listKnownCollections(tx, ids));
    const deleted = await deleteCollections(tx, ids);
    const at = clock();
    const leaving = collections.filter(({ collectionId }) => known.has(collectionId));
    await insertMarketChanges(
      tx,
      'main',
      leaving.map(({ collectionId, chain }) => ({ kind: 'remove', at, chain, collectionId })),
    );
    return indexer === main ? [...deleted, ...(await removeObservations(tx))] : [...deleted];
  });
  if (indexer !== main) {
    removed.push(...(await indexer.transaction(removeObservations)));
    // Before the indexer committed, a merge could still read changes of the removed collections from the indexer, and append them to the
    // activity log. So these changes are deleted from the log again.
    await main.transaction((tx) => deleteActivityOf(tx, ids));
  }
  onChanged({ collectionIds: new Set(ids), kinds: new Set(['collection', 'order', 'listing', 'sale', 'token']) });
  const counts = new Map(removed);
  const countOf = (kind: keyof RemovedRows) => counts.get(COUNTED_TABLES[kind]) ?? 0;
  return {
    collections: countOf('collections'),
    orders: countOf('orders'),
    listings: countOf('listings'),
    sales: countOf('sales'),
    tokens: countOf('tokens'),
  };
}
