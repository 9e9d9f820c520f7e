// Records the changes that a write makes to orders or listings. The write may have several statements.

import type { Queryable } from '../../platform/database/port.ts';
import type { ChangeOrigin } from './market-change.ts';
import { insertMarketChanges } from './queries/market-changes.ts';
import type { MarketRow } from './state-change.ts';
import { toRowChange } from './state-change.ts';

/** `listRows` reads stored rows and returns them by key. A key without a stored row is not in the map. `now` is in milliseconds. */
export type RecordedWrite = {
  origin: ChangeOrigin;
  keys: readonly string[];
  listRows: (tx: Queryable, keys: readonly string[]) => Promise<ReadonlyMap<string, MarketRow>>;
  now: number;
};

/**
 * Reads the rows, calls `write`, reads the rows again, and records the differences. The transaction must hold the locks that writers of these
 * rows take.
 */
export async function recordMarketChanges<T>(
  tx: Queryable,
  { origin, keys, listRows, now }: RecordedWrite,
  write: () => Promise<T>,
): Promise<T> {
  const before = await listRows(tx, keys);
  const result = await write();
  const after = await listRows(tx, keys);
  const sorted = [...new Set(keys)].sort();
  const changes = sorted.flatMap((key) => toRowChange(before.get(key) ?? null, after.get(key) ?? null, now) ?? []);
  await insertMarketChanges(tx, origin, changes);
  return result;
}
