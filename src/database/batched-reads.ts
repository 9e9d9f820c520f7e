// Joins concurrent reads into few statements. A read is never older than its call: it waits for a statement that is sent after the call.

export type BatchedReadsOptions<Value> = {
  /** Reads the values of these keys with one statement. A key without a value is absent from the result. */
  readAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  /** The most keys of one statement. */
  sizeMax: number;
};

/** The most statements at a time. The second one lets reads proceed while the first one is slow. */
const RUNNING_MAX = 2;

type Waiting<Value> = PromiseWithResolvers<Value | null>;

export class BatchedReads<Value> {
  readonly #options: BatchedReadsOptions<Value>;
  readonly #waiting = new Map<string, Waiting<Value>>();
  #running = 0;
  #isScheduled = false;

  constructor(options: BatchedReadsOptions<Value>) {
    this.#options = options;
  }

  /** The value of a key, or null if there is none. Rejects with the error of the statement, like all reads of the same statement. */
  read(key: string): Promise<Value | null> {
    let waiting = this.#waiting.get(key);
    if (!waiting) {
      waiting = Promise.withResolvers();
      this.#waiting.set(key, waiting);
      this.#schedule();
    }
    return waiting.promise;
  }

  /** The statement is sent after the events that are ready now, so that the requests which arrive together share it. */
  #schedule(): void {
    if (this.#isScheduled || this.#running >= RUNNING_MAX) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#run(this.#take());
    });
  }

  async #run(batch: ReadonlyMap<string, Waiting<Value>>): Promise<void> {
    this.#running += 1;
    if (this.#waiting.size > 0) this.#schedule();
    try {
      const values = await this.#options.readAll([...batch.keys()]);
      for (const [key, { resolve }] of batch) resolve(values.get(key) ?? null);
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    } finally {
      this.#running -= 1;
      if (this.#waiting.size > 0) this.#schedule();
    }
  }

  #take(): Map<string, Waiting<Value>> {
    const batch = new Map<string, Waiting<Value>>();
    for (const [key, waiting] of this.#waiting) {
      if (batch.size === this.#options.sizeMax) break;
      batch.set(key, waiting);
      this.#waiting.delete(key);
    }
    return batch;
  }
}
