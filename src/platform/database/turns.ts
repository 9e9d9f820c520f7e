// Turns give each row and each shop a share of a pool's connections. Work waits for its turn in this process, without a connection. So a
// locked row leaves connections for other rows, and a busy shop leaves connections for other shops.

import type { TimeBudget } from '../core/deadline.ts';
import { Deadline } from '../core/deadline.ts';
import { ServiceError } from '../core/errors.ts';
import { DeadlineExceeded, raceDeadline } from '../resilience/deadline.ts';
import type { Database, Statements } from './port.ts';
import { isLockTimeout } from './port.ts';

export type TurnLimits = {
  /** The number of pieces of work with one key that may run at the same time. */
  runningMax: number;
  /** The number of pieces of work with one key that may wait. Further work is rejected immediately. */
  waitingMax: number;
  /** Waiting work is rejected if no other work with its key has begun or ended for this long. */
  stallMs: number;
  /** Waiting work is rejected after this time, or at the deadline that the caller names, whichever comes first. */
  waitMaxMs: number;
  /** Whether all waiting work with a key is rejected after work with this key could not lock a row or missed its deadline. */
  failsTogether: boolean;
};

type Waiter = { place: PromiseWithResolvers<void>; hasPlace: boolean };
type Queue = { running: number; readonly waiting: Set<Waiter>; movedAt: number };

export class Turns {
  readonly #limits: TurnLimits;
  readonly #queues = new Map<string, Queue>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Runs the work when it is its turn. Work with one key runs in the order of the calls. Throws `unavailable` if the work is rejected.
   * `startBy`: the end of the wait. If a request takes several turns, they have the same end.
   */
  async take<T>(key: string, work: () => Promise<T>, startBy = Deadline.none): Promise<T> {
    const queue = this.#queues.get(key) ?? { running: 0, waiting: new Set(), movedAt: 0 };
    this.#queues.set(key, queue);
    await this.#enter(queue, startBy);
    try {
      return await work();
    } catch (error) {
      if (this.#limits.failsTogether && isStuck(error)) rejectAll(queue);
      throw error;
    } finally {
      leave(queue);
      if (queue.running === 0) this.#queues.delete(key);
    }
  }

  async #enter(queue: Queue, startBy: Deadline): Promise<void> {
    const { runningMax, waitingMax, waitMaxMs } = this.#limits;
    if (queue.running < runningMax) {
      queue.running += 1;
      queue.movedAt = performance.now();
      return;
    }
    if (queue.waiting.size >= waitingMax) throw tooMany();
    const waiter: Waiter = { place: Promise.withResolvers(), hasPlace: false };
    queue.waiting.add(waiter);
    await this.#wait(queue, waiter, startBy.earlierOf(Deadline.after(waitMaxMs)));
  }

  async #wait(queue: Queue, waiter: Waiter, startBy: Deadline): Promise<void> {
    const { stallMs } = this.#limits;
    for (;;) {
      const stalledAt = queue.movedAt + stallMs;
      try {
        return await raceDeadline(
          waiter.place.promise,
          startBy.earlierOf(Deadline.after(stalledAt - performance.now())),
        );
      } catch (error) {
        // This waiter got a place just before its deadline, and uses it.
        if (waiter.hasPlace) return;
        const hasMoved = !startBy.hasPassed && queue.movedAt + stallMs > performance.now();
        if (error instanceof DeadlineExceeded && hasMoved) continue;
        queue.waiting.delete(waiter);
        throw error instanceof DeadlineExceeded ? tooMany() : error;
      }
    }
  }
}

/**
 * The statements of a request. Each statement or transaction runs when it is the request's turn. The wait for the turn is not subtracted
 * from the time budget.
 */
export function inTurn(db: Database, budget: TimeBudget, take: <T>(work: () => Promise<T>) => Promise<T>): Statements {
  const run = <T>(use: (statements: Statements) => Promise<T>): Promise<T> =>
    take(() => budget.spend((leftMs) => use(db.within(leftMs))));
  return {
    query: (sql, params) => run((statements) => statements.query(sql, params)),
    queryPrepared: (sql, params) => run((statements) => statements.queryPrepared(sql, params)),
    transaction: (work) => run((statements) => statements.transaction(work)),
  };
}

/** Whether work could not lock a row, or missed its deadline. Work that waits for the same row would probably fail too. */
export function isStuck(error: unknown): boolean {
  return error instanceof DeadlineExceeded || isLockTimeout(error);
}

/** Gives the place to the work that has waited longest. If no work waits, the place becomes free. */
function leave(queue: Queue): void {
  queue.movedAt = performance.now();
  const [next] = queue.waiting;
  if (!next) {
    queue.running -= 1;
    return;
  }
  queue.waiting.delete(next);
  next.hasPlace = true;
  next.place.resolve();
}

function rejectAll(queue: Queue): void {
  const waiting = [...queue.waiting];
  queue.waiting.clear();
  for (const { place } of waiting) place.reject(tooMany());
}

export function tooMany(): ServiceError {
  return new ServiceError('unavailable', 'Too many requests wait for the same record, try again soon');
}
