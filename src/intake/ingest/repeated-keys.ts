// Finds the keys that listings of several collections have in one batch. The key of a listing is made of its marketplace and its id. Until
// the migration 0027-collection-keys.sql is applied, a key is unique over all collections: the first listing with a key is stored, and a listing
// of another collection with this key is not stored. The result is the same as if each listing were in a batch of its own.

import type { NumberedRecord } from '../records/parse.ts';

/** Returns the keys that listings of several collections have. */
export function findRepeatedKeys(records: readonly NumberedRecord[]): ReadonlySet<string> {
  const first = new Map<string, string>();
  const repeated = new Set<string>();
  for (const { record } of records) {
    if (record.kind !== 'listing') continue;
    const { key, collectionId } = record.row;
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, collectionId);
    else if (earlier !== collectionId) repeated.add(key);
  }
  return repeated;
}

/**
 * Returns the lines of the listings that are not stored because a listing of another collection has their key: a stored listing, or an earlier
 * listing of the batch. `stored`: the collections of the stored listings with these keys, by key.
 */
export function findRepeatedLines(
  records: readonly NumberedRecord[],
  keys: ReadonlySet<string>,
  stored: ReadonlyMap<string, string>,
): ReadonlySet<number> {
  const first = new Map(stored);
  const lines = new Set<number>();
  for (const { line, record } of records) {
    if (record.kind !== 'listing' || !keys.has(record.row.key)) continue;
    const { key, collectionId } = record.row;
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, collectionId);
    else if (earlier !== collectionId) lines.add(line);
  }
  return lines;
}
