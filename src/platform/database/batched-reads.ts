// Joins concurrent reads into few statements. Each call of `read` waits for a statement that is sent after the call, so the returned value is never
// older than the call.

import { Deadline } from '../core/deadline.ts';
import { tooMany } from '../resilience/fair-queue.ts';

export type BatchedReadsOptions<Value> = {
  /**
   * Reads the values of these keys with one statement. A key without a value is absent from the result. Each caller of `read` gives a
   * deadline by which its statement must have begun. `startBy` is the earliest of these deadlines.
   */
  readAll: (keys: readonly string[], startBy: Deadline) => Promise<ReadonlyMap<string, Value>>;
  /** The most keys of one statement. */
  sizeMax: number;
};

/** The most statements at a time. The second one lets reads proceed while the first one is slow. */
const RUNNING_MAX = 2;

type Waiting<Value> = PromiseWithResolvers<Value | null> & { startBy: Deadline };
type Batch<Value> = { waiting: ReadonlyMap<string, Waiting<Value>>; startBy: Deadline };

export class BatchedReads<Value> {
  readonly #options: BatchedReadsOptions<Value>;
  readonly #waiting = new Map<string, Waiting<Value>>();
  #running = 0;
  #isScheduled = false;

  constructor(options: BatchedReadsOptions<Value>) {
    this.#options = options;
  }

  /**
   * The value of a key, or null if there is none. If the statement fails, all its reads are rejected with the same error. Rejects with
   * `unavailable` if the statement has not begun by the deadline `startBy`, or by that of another caller that waits for the same key.
   */
  read(key: string, startBy = Deadline.none): Promise<Value | null> {
    let waiting = this.#waiting.get(key);
    if (!waiting) {
      waiting = { ...Promise.withResolvers<Value | null>(), startBy };
      this.#waiting.set(key, waiting);
      this.#schedule();
    } else waiting.startBy = startBy.earlierOf(waiting.startBy);
    return waiting.promise;
  }

  /**
   * Sends the statement after the event loop has processed the events that are ready now, so that requests that arrive together share one
   * statement.
   */
  #schedule(): void {
    if (this.#isScheduled || this.#running >= RUNNING_MAX) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#run(this.#take());
    });
  }

  async #run({ waiting, startBy }: Batch<Value>): Promise<void> {
    if (waiting.size === 0) return;
    this.#running += 1;
    if (this.#waiting.size > 0) this.#schedule();
    try {
      const values = await this.#options.readAll([...waiting.keys()], startBy);
      for (const [key, { resolve }] of waiting) resolve(values.get(key) ?? null);
    } catch (error) {
      for (const { reject } of waiting.values()) reject(error);
    } finally {
      this.#running -= 1;
      if (this.#waiting.size > 0) this.#schedule();
    }
  }

  #take(): Batch<Value> {
    const batch = new Map<string, Waiting<Value>>();
    let startBy = Deadline.none;
    for (const [key, waiting] of this.#waiting) {
      if (batch.size === this.#options.sizeMax) break;
      this.#waiting.delete(key);
      if (waiting.startBy.hasPassed) {
        waiting.reject(tooMany());
        continue;
      }
      batch.set(key, waiting);
      startBy = startBy.earlierOf(waiting.startBy);
    }
    return { waiting: batch, startBy };
  }
}
