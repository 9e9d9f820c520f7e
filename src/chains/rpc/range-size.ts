// The number of blocks in one request for logs: halved when the endpoint rejects it or fails, increased slowly when it succeeds,
// and kept below the size that was rejected last until many requests have succeeded.

const SIZE_START = 1_000;
const SIZE_MAX = 10_000;
const GROWTH = 1.25;
/** Successes in a row after which the ceiling is removed. A range may have been rejected because its blocks held many logs. */
const SUCCESSES_TO_LIFT = 50;

export class RangeSize {
  #size: number;
  #ceiling = SIZE_MAX;
  #successes = 0;

  constructor(start = SIZE_START) {
    this.#size = start;
  }

  /** Blocks to request next. */
  current(): number {
    return this.#size;
  }

  /** A request for `blocks` succeeded. */
  succeeded(blocks: number): void {
    // The last range of a read may be shorter. Its success is no evidence about longer ranges.
    if (blocks < this.#size) return;
    this.#successes += 1;
    if (this.#successes >= SUCCESSES_TO_LIFT) {
      this.#ceiling = SIZE_MAX;
      this.#successes = 0;
    }
    this.#size = Math.min(this.#ceiling, Math.max(this.#size + 1, Math.floor(this.#size * GROWTH)));
  }

  /** A request for `blocks` was rejected as too large. That many blocks are not requested again until the ceiling is removed. */
  rejected(blocks: number): void {
    this.#ceiling = Math.max(1, blocks - 1);
    this.failed(blocks);
  }

  /** A request for `blocks` failed, whether or not because of its size. */
  failed(blocks: number): void {
    this.#size = Math.max(1, Math.min(this.#size, blocks >> 1));
    this.#successes = 0;
  }
}
