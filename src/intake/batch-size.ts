// Chooses how many records one batch of an import has. A batch is stored in one transaction, or in several at the same time
// (ingest/divide-batch.ts). A larger transaction costs less for each record, but other writers of its collections wait for it. The embedded
// engine has one connection, so there all requests wait until the transaction has ended.

import type { Engine } from '../platform/database/port.ts';

/** The number of records in the first batch. A smaller number is chosen later only if other work waits for the transactions. */
export const BATCH_ROWS_FIRST = 500;
/**
 * The largest number of records in one batch. The number is larger on PostgreSQL, for three reasons: the parts of a batch are stored at the same
 * time, each commit waits for the disk, and the more sorted rows a transaction inserts, the fewer index pages it writes for each row.
 */
const BATCH_ROWS_MAX: Record<Engine, number> = { embedded: 2_000, postgresql: 10_000 };
/**
 * The largest number of records in one batch that has products or orders. Their rows are written one after the other. The
 * follower of the chain and the requests of the store wait for these rows.
 */
const ROWS_MAX_OF_PRIMARY = 2_000;
/** The largest number of records in one batch on any engine. */
export const BATCH_ROWS_MAX_ANY = Math.max(...Object.values(BATCH_ROWS_MAX));
const BATCH_ROWS_MIN = 100;
/**
 * A transaction should take at most about this long, if it has more than BATCH_ROWS_FIRST records or other work waits for it. A smaller aim
 * would make imports on a busy machine much slower, because some statements of a transaction take as long for few records as for many.
 */
const TRANSACTION_AIM_MS: Record<Engine, number> = { embedded: 150, postgresql: 500 };
/** While no other work waits, each batch may be larger than the previous batch by this factor. */
const GROWTH = 3;
/** A batch of at least BATCH_ROWS_FIRST records is not filled for longer than this, so that the records of a slow source are stored soon. */
const FILL_MAX_MS = 1_000;

/** The longest transaction of a batch. `isAwaited`: when the transaction ended, other work waited for the connection. */
export type BatchTransaction = { ms: number; isAwaited: boolean };

export class BatchSize {
  readonly #aimMs: number;
  readonly #rowsMax: number;
  #rows = BATCH_ROWS_FIRST;

  constructor(engine: Engine) {
    this.#aimMs = TRANSACTION_AIM_MS[engine];
    this.#rowsMax = BATCH_ROWS_MAX[engine];
  }

  /** The number of records for the next batch. */
  get rows(): number {
    return this.#rows;
  }

  /** Whether a batch of `rows` records is complete. `hasPrimary`: it has products or orders. `fillMs`: the time since its first record was read. */
  isComplete(rows: number, { hasPrimary, fillMs }: { hasPrimary: boolean; fillMs: () => number }): boolean {
    if (hasPrimary && rows >= ROWS_MAX_OF_PRIMARY) return true;
    return rows >= this.#rows || (rows >= BATCH_ROWS_FIRST && fillMs() > FILL_MAX_MS);
  }

  /** `rows`: the number of records of the batch. */
  adapt(rows: number, { ms, isAwaited }: BatchTransaction): void {
    const rowsInTime = Math.floor((rows * this.#aimMs) / Math.max(ms, 1));
    if (!isAwaited) {
      const grown = Math.min(this.#rowsMax, Math.ceil(this.#rows * GROWTH));
      this.#rows = Math.min(grown, Math.max(BATCH_ROWS_FIRST, rowsInTime));
    } else if (ms > this.#aimMs) {
      this.#rows = Math.max(BATCH_ROWS_MIN, rowsInTime);
    }
  }
}
