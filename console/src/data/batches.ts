// Joins reads of single things into one request, because a console page with a list of events names many of them at once.

type Waiting<Names, Result> = { names: Names; resolve: (result: Result) => void; reject: (error: unknown) => void };

/** How long a read waits for other reads. */
const DELAY_MS = 10;
const BATCH_MAX = 100;

export class Batches<Names, Result> {
  readonly #readAll: (names: readonly Names[]) => Promise<readonly Result[]>;
  readonly #restMs: number;
  #waiting: Waiting<Names, Result>[] = [];
  #isTimed = false;

  /** `readAll` returns the results in the order of the names. `restMs`: how long a request waits after the last one, unless its batch is full. */
  constructor(readAll: (names: readonly Names[]) => Promise<readonly Result[]>, { restMs = 0 } = {}) {
    this.#readAll = readAll;
    this.#restMs = restMs;
  }

  read(names: Names): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ names, resolve, reject });
      if (this.#waiting.length === BATCH_MAX) void this.#send();
      else this.#sendAfter(DELAY_MS);
    });
  }

  #sendAfter(ms: number): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    setTimeout(() => {
      this.#isTimed = false;
      if (this.#waiting.length === 0) return;
      void this.#send();
      this.#sendAfter(this.#restMs);
    }, ms);
  }

  async #send(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      const results = await this.#readAll(batch.map(({ names }) => names));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
