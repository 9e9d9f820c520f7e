// Undoes one recorded change of an import in one transaction. A row that has changed since the import is not reverted, and stays
// in the record of the change.

import type { Queryable } from '../../platform/database/port.ts';
import type { RefreshContext, Written } from '../../market/index/change-index.ts';
import { changeIndex } from '../../market/index/change-index.ts';
import { lockChainsAndBooks } from '../../market/orders/book.ts';
import { listOrderLocations } from '../../market/orders/queries/reverted-orders.ts';
import { claimProductImports } from '../../shop/queries/products.ts';
import { revertCoverageChange } from '../queries/coverage-changes.ts';
import type { ImportChange, ImportSchema } from '../queries/import-changes.ts';
import {
  findLastChange,
  keepChangedRows,
  listChangedRows,
  listCollectionsOfChange,
  listKeysOfChange,
} from '../queries/import-changes.ts';
import type { TrackedKind } from '../queries/tracked-tables.ts';
import { TRACKED_TABLES } from '../queries/tracked-tables.ts';
import type { KeptRow } from './divided-rows.ts';
import { divideRows } from './divided-rows.ts';
import type { RevertContext } from './revert-rows.ts';
import { revertRows } from './revert-rows.ts';

/**
 * The undo continues with the newest change whose number is below `before`. If `before` is null, it begins with the newest change of all.
 */
type ChangePosition = { importId: string; schema: ImportSchema; before: number | null };

/** `missing`: the number of rows that no longer exist. */
export type UndoneChange = {
  seq: number;
  kind: TrackedKind;
  removed: number;
  restored: number;
  missing: number;
  kept: KeptRow[];
  /** The collections of all rows of the change. */
  collectionIds: readonly string[];
};

/** Undoes the newest change before the position. Returns null if there is none. */
export async function undoLastChange(
  tx: Queryable,
  { importId, schema, before }: ChangePosition,
  context: RefreshContext,
): Promise<UndoneChange | null> {
  const change = await findLastChange(tx, schema, { importId, before });
  if (!change) return null;
  const isIndexed = TRACKED_TABLES[change.kind].schema === 'indexer';
  const collectionIds = isIndexed
    ? await listCollectionsOfChange(tx, importId, change)
    : await lockRows(tx, importId, change);
  const undo = () => undoRows(tx, change, { ...context, importId, collectionIds });
  const { undone } = isIndexed ? await changeIndex(tx, { collectionIds, refresh: context }, undo) : await undo();
  return undone;
}

async function undoRows(
  tx: Queryable,
  change: ImportChange,
  context: RevertContext,
): Promise<Written & { undone: UndoneChange }> {
  const { importId, collectionIds } = context;
  if (change.kind === 'coverage') {
    await revertCoverageChange(tx, { importId, seq: change.seq });
    await keepChangedRows(tx, importId, change, []);
    const restored = collectionIds.length;
    return { undone: { ...change, removed: 0, restored, missing: 0, kept: [], collectionIds } };
  }
  const { removed, restored, missing, changed } = divideRows(await listChangedRows(tx, importId, change));
  const { kept: blocked, ...written } =
    removed.length + restored.length === 0
      ? { kept: [], collectionIds: [] }
      : await revertRows(tx, change.kind, { removed, restored }, context);
  const kept = [...changed, ...blocked];
  await keepChangedRows(
    tx,
    importId,
    change,
    kept.map(({ key }) => key),
  );
  const blockedKeys = new Set(blocked.map(({ key }) => key));
  const undone = {
    ...change,
    removed: removed.filter((key) => !blockedKeys.has(key)).length,
    restored: restored.filter(({ key }) => !blockedKeys.has(key)).length,
    missing,
    kept,
    collectionIds,
  };
  return { undone, ...written };
}

/** Takes the same locks as other writers of these rows of the primary. Returns the locked collections. */
async function lockRows(tx: Queryable, importId: string, change: ImportChange): Promise<string[]> {
  const { kind } = change;
  const keys = await listKeysOfChange(tx, importId, change);
  if (kind === 'order' || kind === 'bid') {
    const orders = await listOrderLocations(tx, keys);
    await lockChainsAndBooks(tx, orders);
    return [...new Set(orders.map(({ collectionId }) => collectionId))];
  }
  if (kind === 'product') await claimProductImports(tx, new Set(keys.map((key) => key.split('\n', 1)[0] ?? '')));
  return kind === 'collection' ? keys : [];
}
