// A wait between two rounds of a loop. The wait does not keep the process alive.

export class Pause {
  #end: () => void = () => undefined;

  /** Resolves after `ms`, or when `end` is called. Must not be called again before the returned promise has resolved. */
  async wait(ms: number): Promise<void> {
    if (ms <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    timer.unref();
    this.#end = resolve;
    await promise;
    clearTimeout(timer);
  }

  end(): void {
    this.#end();
  }
}
