// Whether a database accepts writes. Reads may succeed while every write fails, for example while the disk is full. So only a write can show that
// the failure is over: while writes fail, a write of its own is tried again and again.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../core/clock.ts';
import { describeError } from '../core/errors.ts';

export type WriteFailureReason = 'disk-full' | 'read-only' | 'storage';

/** `since`: when the first write failed, in milliseconds since the epoch. `error`: what the database reported last. It may contain paths. */
export type WriteFailure = { reason: WriteFailureReason; since: number; error: string };

type Watch = {
  /** Writes to the database without a lasting effect. Rejects while writes fail. */
  tryWrite: () => Promise<void>;
  /** Is notified of each failure, and of the end of the failures. */
  outages: { noteFailure(error: unknown): void; noteSuccess(): void };
  clock: Clock;
};

const TRY_PERIOD_MS = 3_000;

/** Runs a function outside the asynchronous context of the request whose write has failed. */
const outsideRequests = AsyncLocalStorage.snapshot();

export class WriteHealth {
  #watch: Watch | null = null;
  #failure: WriteFailure | null = null;
  #timer: NodeJS.Timeout | null = null;

  /** Null unless writes fail. Always null before `watch`. */
  get failure(): WriteFailure | null {
    return this.#failure;
  }

  /** Begins to record failures. Returns a function that ends this, for the shutdown. */
  watch(watch: Watch): () => void {
    this.#watch = watch;
    return () => {
      this.#watch = null;
      clearTimeout(this.#timer ?? undefined);
    };
  }

  /** Must be called with each error of the database. Ignores an error that is no failure to write. */
  note(error: unknown): void {
    const reason = findWriteFailureReason(error);
    if (reason === null || !this.#watch) return;
    this.#failure = { reason, since: this.#failure?.since ?? this.#watch.clock(), error: describeError(error) };
    this.#watch.outages.noteFailure(error);
    this.#tryLater();
  }

  #tryLater(): void {
    if (this.#timer || !this.#watch) return;
    this.#timer = setTimeout(() => void outsideRequests(() => this.#try()), TRY_PERIOD_MS).unref();
  }

  async #try(): Promise<void> {
    try {
      await this.#watch?.tryWrite();
      this.#timer = null;
      this.#failure = null;
      this.#watch?.outages.noteSuccess();
    } catch {
      // A failure to write was noted when the statement failed. While the database cannot be reached, writes fail too.
      this.#timer = null;
      this.#tryLater();
    }
  }
}

const REASONS: readonly (readonly [RegExp, WriteFailureReason])[] = [
  [/^53100$/, 'disk-full'],
  [/^25006$/, 'read-only'],
  [/^58\w{3}$/, 'storage'],
];

/** Why the database cannot write (by its SQLSTATE): its disk is full, it is read-only, or its files cannot be written. Null for any other error. */
export function findWriteFailureReason(error: unknown): WriteFailureReason | null {
  const { code } = (error ?? {}) as { code?: unknown };
  if (!(error instanceof Error) || typeof code !== 'string') return null;
  return REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? null;
}
