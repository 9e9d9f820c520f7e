// Deadlines: work that is not done in time is given up. A deadline is a moment of `performance.now()`, which no change of the
// system's clock moves.

/** Work was not done by its deadline. It may go on for a moment: nobody reads its result. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';

  constructor(message = 'not done by the deadline') {
    super(message);
  }
}

/** Settles as the work does, or rejects with DeadlineExceeded. Runs for every statement: one timer and one promise. */
export function raceDeadline<T>(work: Promise<T>, deadline: number): Promise<T> {
  if (deadline === Number.POSITIVE_INFINITY) return work;
  return new Promise((resolve, reject) => {
    const leftMs = Math.max(0, deadline - performance.now());
    const timer = setTimeout(() => reject(new DeadlineExceeded()), leftMs);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** Whether the work is done within `limitMs`. Rejects as the work does. */
export async function isDoneWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const isDone = work.then(() => true);
  try {
    return await raceDeadline(isDone, performance.now() + limitMs);
  } catch (error) {
    if (error instanceof DeadlineExceeded) return false;
    throw error;
  }
}

/** A signal for work that can be aborted: it aborts at the deadline, or with any of `others`. Its timer ends with `using`. */
export class DeadlineSignal implements Disposable {
  readonly signal: AbortSignal;
  readonly #deadline = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(timeoutMs: number, ...others: readonly AbortSignal[]) {
    this.signal = AbortSignal.any([this.#deadline.signal, ...others]);
    this.#timer = setTimeout(() => this.#deadline.abort(new DeadlineExceeded()), timeoutMs);
  }

  /** Whether the deadline has passed, whatever else aborted the signal. */
  get hasPassed(): boolean {
    return this.#deadline.signal.aborted;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
