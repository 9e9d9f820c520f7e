// The types of time limits. They use the monotonic clock, so changes of the system's clock do not affect them.

/** The time by which work must have begun or ended. */
export class Deadline {
  static readonly none = new Deadline(Number.POSITIVE_INFINITY);

  /** A time of `performance.now()`, or infinity. */
  readonly at: number;

  private constructor(at: number) {
    this.at = at;
  }

  static after(ms: number): Deadline {
    return new Deadline(performance.now() + ms);
  }

  get isNone(): boolean {
    return this.at === Number.POSITIVE_INFINITY;
  }

  get hasPassed(): boolean {
    return performance.now() >= this.at;
  }

  /** The time until the deadline. Zero if it has passed. */
  get leftMs(): number {
    return Math.max(0, this.at - performance.now());
  }

  /** The earlier one of this and another deadline. */
  earlierOf(other: Deadline): Deadline {
    return other.at < this.at ? other : this;
  }
}

/** The time for which a request may use a database. All its statements and transactions share this time. Time in which none of them runs does not count. */
export class TimeBudget {
  #leftMs: number;
  #running = 0;
  #startedAt = 0;

  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /** Runs the work with the remaining time. */
  async spend<T>(work: (leftMs: number) => Promise<T>): Promise<T> {
    const now = performance.now();
    if (this.#running === 0) this.#startedAt = now;
    this.#running += 1;
    try {
      return await work(Math.max(0, this.#leftMs - (now - this.#startedAt)));
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#leftMs -= performance.now() - this.#startedAt;
    }
  }
}
