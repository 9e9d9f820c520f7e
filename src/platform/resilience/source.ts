// A source of data that can fail while other sources work. Each read has a deadline, and all reads share one circuit breaker. A read
// returns a failure as a value, so that a response can be built from the sources that work.

import type { Clock } from '../core/clock.ts';
import { Deadline } from '../core/deadline.ts';
import type { Log } from '../core/log.ts';
import type { Random } from '../core/random.ts';
import { BackgroundTrials, CircuitBreaker } from './breaker.ts';
import { DeadlineExceeded, raceDeadline } from './deadline.ts';

export type Result<T> = { ok: true; value: T } | { ok: false; reason: 'timeout' | 'error' | 'open' };

export type SourceState = 'closed' | 'open';

/** `timeoutMs`: how long the read may take. */
type Read<T> = (timeoutMs: number) => Promise<T>;

export type SourceOptions = {
  name: string;
  /** The longest time that a read may take. */
  timeoutMs: number;
  log: Log;
  clock: Clock;
  random: Random;
  /** The longest time between two trials of an open breaker. The breaker shortens this time at random. */
  retryMs?: number;
};

const RETRY_MS = 1_000;

/**
 * While the breaker is open, reads fail immediately, and trials run in the background. Each trial repeats the most recently requested read,
 * so that a single read that always fails does not keep the breaker open.
 */
export class Source {
  readonly name: string;
  readonly timeoutMs: number;
  readonly #log: Log;
  readonly #breaker: CircuitBreaker;
  readonly #trials: BackgroundTrials;
  #lastRead: Read<unknown> = () => Promise.resolve();
  #isClosed = false;

  constructor({ name, timeoutMs, log, clock, random, retryMs = RETRY_MS }: SourceOptions) {
    this.name = name;
    this.timeoutMs = timeoutMs;
    this.#log = log;
    this.#breaker = new CircuitBreaker({ openMs: retryMs, openMaxMs: retryMs, clock, random });
    this.#trials = new BackgroundTrials(this.#breaker, () => this.#tryAgain());
  }

  state(): SourceState {
    return this.#breaker.state() === 'closed' ? 'closed' : 'open';
  }

  /**
   * Runs `read` unless the breaker is open. The time limit is the smaller of `leftMs` and the source's `timeoutMs`. The returned promise
   * never rejects, and resolves within this limit even if `read` has not settled.
   */
  async read<T>(read: Read<T>, leftMs = this.timeoutMs): Promise<Result<T>> {
    if (this.#isClosed) return this.#attempt(read, leftMs);
    this.#lastRead = read;
    if (this.#breaker.state() !== 'closed') return { ok: false, reason: 'open' };
    const result = await this.#attempt(read, leftMs);
    if (result.ok) this.#noteSuccess();
    else if (this.#breaker.failed()) this.#noteOpened();
    return result;
  }

  /** Stops the trials. Later reads bypass the breaker. */
  close(): void {
    this.#isClosed = true;
    this.#trials.stop();
    this.#breaker.succeeded();
  }

  async #attempt<T>(read: Read<T>, leftMs: number): Promise<Result<T>> {
    const timeoutMs = Math.min(leftMs, this.timeoutMs);
    try {
      return { ok: true, value: await raceDeadline(Promise.try(read, timeoutMs), Deadline.after(timeoutMs)) };
    } catch (error) {
      const reason = error instanceof DeadlineExceeded ? 'timeout' : 'error';
      // While the breaker is open, failures are logged at `debug` only.
      const level = this.state() === 'open' ? 'debug' : 'warn';
      this.#log[level]('a source failed', { source: this.name, reason, error });
      return { ok: false, reason };
    }
  }

  async #tryAgain(): Promise<void> {
    const result = await this.#attempt(this.#lastRead, this.timeoutMs);
    if (result.ok) this.#noteSuccess();
  }

  #noteSuccess(): void {
    if (this.#breaker.succeeded()) this.#log.info('a source works again', { source: this.name });
  }

  #noteOpened(): void {
    this.#log.warn('a source is not read for a while after repeated failures', {
      source: this.name,
      failures: this.#breaker.failures(),
    });
    this.#trials.start();
  }
}
