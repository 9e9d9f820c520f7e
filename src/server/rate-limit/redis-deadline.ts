// Redis commands that are sent at about the same time share one deadline, because a timer costs more than a command.

/** The time limit is counted in this many steps. */
const STEPS = 5;

/**
 * Commands that are sent within one step, a fifth of the time limit, share one deadline. The timer of a step starts when the previous step was
 * counted, so a pause of the process or of the machine counts as one step. When a timer fires, the process first reads the replies that have
 * arrived, and then counts the step, so replies that arrived during the pause are not late.
 */
export class RedisDeadline<T> {
  readonly #stepMs: number;
  readonly #result: T;
  /** One element for each step, oldest first: the deadline of the commands sent in this step, or null if none was sent. */
  readonly #steps: (PromiseWithResolvers<T> | null)[] = [null];
  #timer: NodeJS.Timeout | undefined;

  /** `result`: the value with which the promises of `join` resolve. */
  constructor(limitMs: number, result: T) {
    this.#stepMs = limitMs / STEPS;
    this.#result = result;
  }

  /** Returns a promise that resolves at the deadline of a command that is sent now. */
  join(): Promise<T> {
    if (this.#isIdle()) this.#wait();
    const step = this.#steps.at(-1) ?? Promise.withResolvers<T>();
    this.#steps[this.#steps.length - 1] = step;
    return step.promise;
  }

  /** Stops the timer. Promises that `join` has returned then never settle. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#steps.fill(null);
  }

  #isIdle(): boolean {
    return this.#steps.every((step) => step === null);
  }

  #wait(): void {
    this.#timer = setTimeout(() => setImmediate(() => this.#step()), this.#stepMs);
  }

  #step(): void {
    this.#steps.push(null);
    if (this.#steps.length > STEPS + 1) this.#steps.shift()?.resolve(this.#result);
    if (!this.#isIdle()) this.#wait();
  }
}
