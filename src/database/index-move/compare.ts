// Checks that the target has the rows of the source. In each part of a table, the number of rows and a digest of all their values must be equal.

import { OperatorError } from '../../core/errors.ts';
import { setExactText } from '../backup/catalogue.ts';
import type { Database, Queryable } from '../port.ts';
import { readChanges } from './replay.ts';
import type { Digest, Key } from './rows.ts';
import { readDigest, readDigestOfKeys } from './rows.ts';
import type { MovedTable } from './tables.ts';

/** The most rows of one part. While they are read, the embedded engine runs no other statement. */
const ROWS_MAX = { postgresql: 100_000, embedded: 5_000 };
/** The most changes of one part. */
const CHANGES_MAX = 5_000;

type Sides = { source: Queryable; target: Database };

/** Compares all rows of a table, and returns their number. `source` must return exact text (`setExactText`). */
export async function compareTable(
  { source, target }: Sides,
  table: MovedTable,
  { engine, onPart }: { engine: Database['engine']; onPart: (rows: number) => Promise<void> },
): Promise<number> {
  const limit = ROWS_MAX[engine];
  let after: Key | null = null;
  let total = 0;
  for (;;) {
    const read: Digest = await readDigest(source, table, { range: { after, to: null }, limit });
    // The last range has no end. So rows of the target after the last row of the source are found too.
    const range = { after, to: read.rows < limit ? null : read.last };
    check(table, read, await exactly(target, (tx) => readDigest(tx, table, { range, limit: null })));
    total += read.rows;
    await onPart(read.rows);
    if (read.rows < limit) return total;
    after = read.last;
  }
}

/**
 * Compares the rows that the recorded changes name. The changes must have been copied to the target before, from the snapshot that `source`
 * reads. `source` must return exact text (`setExactText`). `onPart` receives the number of changes of each part.
 */
export async function compareChanges(
  { source, target }: Sides,
  tables: readonly MovedTable[],
  { onPart }: { onPart: (changes: number) => Promise<void> },
): Promise<void> {
  let after = 0;
  for (;;) {
    const { seqs, keys } = await readChanges(source, { after, limit: CHANGES_MAX });
    for (const table of tables) {
      const changed = keys.get(table.name);
      if (!changed) continue;
      const read = await readDigestOfKeys(source, table, changed);
      check(table, read, await exactly(target, (tx) => readDigestOfKeys(tx, table, changed)));
    }
    await onPart(seqs.length);
    if (seqs.length < CHANGES_MAX) return;
    after = seqs.at(-1) ?? after;
  }
}

export function exactly<T>(db: Database, read: (tx: Queryable) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await setExactText(tx);
    return read(tx);
  });
}

function check({ name }: MovedTable, source: Digest, target: Digest): void {
  if (source.rows === target.rows && source.sum === target.sum) return;
  throw new OperatorError(
    `the target does not have the rows of indexer.${name} (${target.rows} rows instead of ${source.rows}, or other values): ` +
      'was something else written there? Run mercat move-index --abandon, then start again',
  );
}
