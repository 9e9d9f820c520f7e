// Chooses the number of blocks in one request for logs. The number is halved when a request fails or is rejected, and grows slowly when
// requests succeed. It is lower where blocks have many logs, because a response is held in memory as a whole.

const SIZE_START = 1_000;
const SIZE_MAX = 10_000;
const GROWTH = 1.25;
/**
 * The size is chosen so that a response has at most about this many logs. With a smaller number, a backfill would need more requests. With a
 * larger one, it would need more memory, and would wait longer for its first slice before it can store anything.
 */
const LOGS_AIM = 15_000;
/**
 * After a rejected range, ranges of its size are requested again after this many successes in a row. The range may have been rejected only
 * because its blocks had many logs.
 */
const SUCCESSES_TO_LIFT = 50;

export class RangeSize {
  #size: number;
  #ceiling = SIZE_MAX;
  #successes = 0;

  constructor(start = SIZE_START) {
    this.#size = start;
  }

  current(): number {
    return this.#size;
  }

  /** A request for `blocks` succeeded with `logs` logs. */
  succeeded(blocks: number, logs: number): void {
    this.#grow(blocks);
    if (logs > LOGS_AIM) this.#size = Math.max(1, Math.min(this.#size, Math.floor((blocks * LOGS_AIM) / logs)));
  }

  #grow(blocks: number): void {
    // The last range of a read may be shorter. Its success is no evidence about longer ranges.
    if (blocks < this.#size) return;
    this.#successes += 1;
    if (this.#successes >= SUCCESSES_TO_LIFT) {
      this.#ceiling = SIZE_MAX;
      this.#successes = 0;
    }
    this.#size = Math.min(this.#ceiling, Math.max(this.#size + 1, Math.floor(this.#size * GROWTH)));
  }

  /**
   * The endpoint rejected a request for `blocks`. A range of this size is requested again only after SUCCESSES_TO_LIFT successes in a row.
   */
  rejected(blocks: number): void {
    this.#ceiling = Math.max(1, blocks - 1);
    this.failed(blocks);
  }

  /** A request for `blocks` failed, perhaps for a reason other than its size. The size is therefore halved, but gets no ceiling. */
  failed(blocks: number): void {
    this.#size = Math.max(1, Math.min(this.#size, blocks >> 1));
    this.#successes = 0;
  }
}
