// Ends the wait for work that is not done by its deadline.

import { Deadline } from '../core/deadline.ts';

/** The deadline has passed before the work was done. The work may still run, but its result is ignored. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';

  constructor(message = 'not done by the deadline') {
    super(message);
  }
}

/**
 * Settles like `work`, or rejects with DeadlineExceeded at the deadline. Uses only one timer and one promise, because it is called for
 * every SQL statement that has a deadline.
 */
export function raceDeadline<T>(work: Promise<T>, deadline: Deadline): Promise<T> {
  if (deadline.isNone) return work;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DeadlineExceeded()), deadline.leftMs);
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

/** Whether `work` is fulfilled within `limitMs`. Rejects if `work` rejects within this time. */
export async function isDoneWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const isDone = work.then(() => true);
  try {
    return await raceDeadline(isDone, Deadline.after(limitMs));
  } catch (error) {
    if (error instanceof DeadlineExceeded) return false;
    throw error;
  }
}

/** A signal that aborts at the deadline, or when one of `others` aborts. Declare it with `using`, which clears the timer. */
export class DeadlineSignal implements Disposable {
  readonly signal: AbortSignal;
  readonly #deadline = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(timeoutMs: number, ...others: readonly AbortSignal[]) {
    this.signal = AbortSignal.any([this.#deadline.signal, ...others]);
    this.#timer = setTimeout(() => this.#deadline.abort(new DeadlineExceeded()), timeoutMs);
  }

  /** Whether the deadline has passed. If `others` have aborted the signal before the deadline, this is false until the deadline. */
  get hasPassed(): boolean {
    return this.#deadline.signal.aborted;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
