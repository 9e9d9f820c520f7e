// A source of the marketplace interface: one kind of read of one database. Each source has its own deadline, circuit breaker and lane, so
// that a failing source leaves the other sources unaffected.

import { TimeBudget } from '../../platform/core/deadline.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import { createLane } from '../../platform/database/connection-lane.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import type { FairQueue } from '../../platform/resilience/fair-queue.ts';
import type { Result, SourceOptions } from '../../platform/resilience/source.ts';
import { Source } from '../../platform/resilience/source.ts';

export type MarketSourceOptions = Pick<SourceOptions, 'name' | 'timeoutMs' | 'log' | 'clock' | 'random'> & {
  db: Pick<Database, 'within' | 'pool'>;
};

export class MarketSource {
  readonly name: string;
  readonly timeoutMs: number;
  readonly #db: Pick<Database, 'within'>;
  readonly #source: Source;
  readonly #lane: FairQueue;

  constructor({ db, ...options }: MarketSourceOptions) {
    this.name = options.name;
    this.timeoutMs = options.timeoutMs;
    this.#db = db;
    this.#lane = createLane(db.pool().max);
    this.#source = new Source(options);
  }

  /** Runs `query` within the deadline of the source, or within `leftMs` if that is shorter. Never rejects. */
  read<T>(query: (db: Queryable) => Promise<T>, leftMs?: number): Promise<Result<T>> {
    return this.#source.read((timeoutMs) => query(this.#db.within(timeoutMs, this.#lane)), leftMs);
  }

  /** Returns a `read` whose calls share one deadline. Time in which none of the calls runs does not count. */
  withinOneDeadline(): MarketSource['read'] {
    const budget = new TimeBudget(this.timeoutMs);
    return (query) => budget.spend((leftMs) => this.read(query, leftMs));
  }

  /** Whether public reads fail at once. */
  isOpen(): boolean {
    return this.#source.state() === 'open';
  }

  close(): void {
    this.#source.close();
  }
}

/** For reads that a response cannot do without. Throws a ServiceError with `code` when the source failed. */
export function requireValue<T>(result: Result<T>, code: 'unavailable' | 'upstream_error'): T {
  if (result.ok) return result.value;
  throw new ServiceError(
    code,
    code === 'unavailable'
      ? 'The service cannot reach its database, try again soon'
      : 'The index cannot be read, try again soon',
  );
}

/** Null when the source failed. */
export function valueOrNull<T>(result: Result<T>): T | null {
  return result.ok ? result.value : null;
}
