// Records which rows an import inserts and changes, so that the import can be undone. The records are written in the same transactions as
// the rows.

import { OperatorError } from '../../platform/core/errors.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { RecordWrites } from '../../platform/database/write-recording.ts';
import type { CollectionCoverage } from '../../market/index/queries/coverage.ts';
import { insertCoverageChange } from '../queries/coverage-changes.ts';
import { insertImportChange, listRowImages, lockOpenImport, toWriteRecording } from '../queries/import-changes.ts';
import { toKeyText } from '../queries/tracked-tables.ts';
import type { TrackedKind } from '../queries/tracked-tables.ts';
import { TRACKED_TABLES } from '../queries/tracked-tables.ts';

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
  /** When the import started, in milliseconds. The imported listings are taken as complete at this time. */
  readonly startedAt: number;
  #seq = 0;
  /** The end of the coverage that is stored. */
  readonly #covered = new Map<string, number>();
  /** The transactions that have found the import open. Each holds a lock until it ends. While a lock is held, the import cannot be closed. */
  readonly #open = new WeakSet<Queryable>();

  constructor(importId: string, startedAt: number) {
    this.importId = importId;
    this.startedAt = startedAt;
  }

  isCovered({ collectionId, subject, to }: CollectionCoverage): boolean {
    return (this.#covered.get(toKeyText(collectionId, subject)) ?? Number.NEGATIVE_INFINITY) >= to;
  }

  /** Remembers coverage that is stored. Must be called only after the transaction that stored the coverage was committed. */
  noteCovered(coverage: readonly CollectionCoverage[]): void {
    for (const { collectionId, subject, to } of coverage) this.#covered.set(toKeyText(collectionId, subject), to);
  }

  /** Lets a statement record the rows of this kind that it writes. */
  recordTo(kind: TrackedKind): RecordWrites {
    return async (tx) => toWriteRecording(kind, await this.#next(tx, kind));
  }

  /**
   * Records a change that takes several statements. The rows are read before and after these statements, so this costs more than
   * `recordTo`.
   */
  readonly track: TrackChanges = async (tx, kind, keys, write) => {
    const wanted = [...new Set(keys)];
    if (wanted.length === 0) return write();
    const change = await this.#next(tx, kind);
    const before = await listRowImages(tx, kind, wanted);
    const result = await write();
    await insertImportChange(tx, { ...change, kind, keys: wanted }, before);
    return result;
  };

  /** Records up to which time the import covers the collections. Must be called before this coverage is written. */
  async recordCoverage(tx: Queryable, coverage: readonly CollectionCoverage[]): Promise<void> {
    if (coverage.length > 0) await insertCoverageChange(tx, await this.#next(tx, 'coverage'), coverage);
  }

  /** The identity of the next change in this transaction. Throws if the import is closed by an undo. */
  async #next(tx: Queryable, kind: TrackedKind): Promise<{ importId: string; seq: number }> {
    const { importId } = this;
    if (!this.#open.has(tx)) {
      if (!(await lockOpenImport(tx, TRACKED_TABLES[kind].schema, importId)))
        throw new OperatorError(`the import ${importId} is being undone`);
      this.#open.add(tx);
    }
    this.#seq += 1;
    return { importId, seq: this.#seq };
  }
}
