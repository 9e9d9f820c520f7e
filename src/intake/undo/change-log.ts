// Records which rows an import inserts and changes, so that the import can be undone. The records are written in the same transactions as
// the rows.

import { OperatorError } from '../../core/errors.ts';
import type { Queryable } from '../../database/port.ts';
import { insertImportChange, listRowImages } from '../queries/import-changes.ts';
import type { CollectionCoverage } from '../../market/queries/coverage.ts';
import { toKeyText } from '../queries/tracked-tables.ts';
import type { TrackedKind } from '../queries/tracked-tables.ts';

/** Runs `write`, and records which of the rows with these keys it inserted or changed. */
export type TrackChanges = <T>(
  tx: Queryable,
  kind: TrackedKind,
  keys: readonly string[],
  write: () => Promise<T>,
) => Promise<T>;

/** Records nothing, for writers that are not imports. */
export const trackNothing: TrackChanges = (_tx, _kind, _keys, write) => write();

/** The changes of one import. The changes in both databases share one sequence of numbers, in the order of the writes. */
export class ChangeLog {
  readonly importId: string;
  /** The import is complete up to this time, in milliseconds. */
  readonly startedAt: number;
  #seq = 0;
  readonly #covered = new Set<string>();

  constructor(importId: string, startedAt: number) {
    this.importId = importId;
    this.startedAt = startedAt;
  }

  isCovered({ collectionId, subject }: CollectionCoverage): boolean {
    return this.#covered.has(toKeyText(collectionId, subject));
  }

  /** Called after the coverage was committed. */
  noteCovered(coverage: readonly CollectionCoverage[]): void {
    for (const { collectionId, subject } of coverage) this.#covered.add(toKeyText(collectionId, subject));
  }

  readonly track: TrackChanges = async (tx, kind, keys, write) => {
    const wanted = [...new Set(keys)];
    if (wanted.length === 0) return write();
    const before = await listRowImages(tx, kind, wanted);
    const result = await write();
    this.#seq += 1;
    const change = { importId: this.importId, seq: this.#seq, kind, keys: wanted };
    if (!(await insertImportChange(tx, change, before))) {
      throw new OperatorError(`the import ${this.importId} is being undone`);
    }
    return result;
  };
}
