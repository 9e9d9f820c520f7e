// One of the databases behind an answer, as the reads of the marketplace interface see it.

import type { Queryable } from '../database/port.ts';
import type { Result, SourceState } from '../resilience/source.ts';

/** A database read that has a deadline and a breaker of its own. */
export type MarketSource = {
  readonly name: string;
  state(): SourceState;
  readonly timeoutMs: number;
  /** `leftMs`: less time than its deadline. */
  read<T>(query: (db: Queryable) => Promise<T>, leftMs?: number): Promise<Result<T>>;
};
