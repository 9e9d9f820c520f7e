// Chooses how many records an import stores in one transaction. The embedded engine has one connection, so a request waits until the
// transaction has ended. Smaller transactions cost more for each record, so they are used only while other work waits.

/** The largest number of records in one transaction. */
export const BATCH_ROWS_MAX = 500;
const BATCH_ROWS_MIN = 100;
/**
 * A transaction for which other work waits should take at most about this long. 500 sales take a sixth of it on an idle machine. A smaller
 * aim would make imports on a busy machine much slower, because some statements of a transaction take as long for few records as for many.
 */
const TRANSACTION_AIM_MS = 150;
/** Without waiting work, the batches grow by this factor. */
const GROWTH = 1.5;

/** One transaction of a batch. `isAwaited`: other work waited for its connection when it ended. */
export type BatchTransaction = { ms: number; isAwaited: boolean };

export class BatchSize {
  #rows = BATCH_ROWS_MAX;

  /** The number of records for the next batch. */
  get rows(): number {
    return this.#rows;
  }

  /** `rows`: the number of records of the batch. */
  adapt(rows: number, { ms, isAwaited }: BatchTransaction): void {
    if (isAwaited && ms > TRANSACTION_AIM_MS) {
      this.#rows = Math.max(BATCH_ROWS_MIN, Math.floor((rows * TRANSACTION_AIM_MS) / ms));
    } else if (!isAwaited) {
      this.#rows = Math.min(BATCH_ROWS_MAX, Math.ceil(this.#rows * GROWTH));
    }
  }
}
