// Repeats a check in rounds. Each round determines the time until the next round. A caller can start the next round earlier.

export class Rounds {
  /** Runs one round, and returns the time until the next one. Must not reject. */
  readonly #run: () => Promise<number>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | null = null;
  #isWoken = false;
  #isClosed = false;

  constructor(run: () => Promise<number>) {
    this.#run = run;
  }

  /** Begins a round now. If a round is running, the next round begins immediately after it. */
  wake(): void {
    if (this.#isClosed) return;
    if (this.#running) this.#isWoken = true;
    else this.#begin();
  }

  /** Resolves after a complete round that began after this call. */
  async next(): Promise<void> {
    const earlier = this.#running;
    this.wake();
    if (earlier) await earlier;
    await this.#running;
  }

  /** Begins no further round. Resolves when no round is running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#isWoken = false;
    this.#running = this.#run().then((pauseMs) => {
      this.#running = null;
      if (this.#isClosed) return;
      if (this.#isWoken) return this.#begin();
      this.#timer = setTimeout(() => this.#begin(), pauseMs);
      this.#timer.unref();
    });
  }
}
