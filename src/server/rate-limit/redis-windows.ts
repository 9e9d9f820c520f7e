// Rate limit windows in Redis, which several processes share. After a failure or a late reply, Redis is not used until a trial in the
// background succeeds. A failure of Redis does not fail a request.

import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Random } from '../../platform/core/random.ts';
import type { StatusProvider } from '../../platform/core/status.ts';
import { BackgroundTrials, CircuitBreaker } from '../../platform/resilience/breaker.ts';
import type { CountedWindow } from './redis-connection.ts';
import { RedisConnection } from './redis-connection.ts';
import { RedisFailure } from './redis-failure.ts';

export type RedisWindowsOptions = { url: string; serviceName: string; log: Log; clock: Clock; random: Random };

/** `shared`: requests are now counted in Redis, together with the requests of other processes. `alone`: this process counts alone. */
export type RedisWindowsStatus = { counted: 'shared' | 'alone' };

/** The largest number of counts in progress. Further requests are counted in this process, so that a flood uses bounded memory. */
export const COUNTS_IN_PROGRESS_MAX = 2_000;
/** A request waits at most this long for a count. */
export const COUNT_DEADLINE_MS = 50;
/** The time limit for opening a connection and its handshake. No request waits for a connection. */
const CONNECT_TIMEOUT_MS = 1_000;
/** A new connection counts once in this window, to prove that it works. No window of a client has this name. */
export const PROBE = { name: 'probe', windowMs: 1_000 };
/** The time between two trials of a Redis that failed. */
const RETRY_MS = 1_000;

export class RedisWindows {
  readonly #url: string;
  readonly #prefix: string;
  readonly #log: Log;
  readonly #breaker: CircuitBreaker;
  readonly #trials: BackgroundTrials;
  #connection: RedisConnection | null = null;
  #inProgress = 0;
  #isClosed = false;

  readonly status: StatusProvider = {
    section: 'rateLimits',
    read: async (): Promise<RedisWindowsStatus> => ({ counted: this.#connection ? 'shared' : 'alone' }),
  };

  private constructor({ url, serviceName, log, clock, random }: RedisWindowsOptions) {
    this.#url = url;
    this.#prefix = redisKeyPrefix(serviceName);
    this.#log = log;
    this.#breaker = new CircuitBreaker({ failuresMax: 1, openMs: RETRY_MS, openMaxMs: RETRY_MS, clock, random });
    this.#trials = new BackgroundTrials(this.#breaker, () => this.#tryAgain());
  }

  /** Resolves after the first attempt to connect, even if it failed. */
  static async open(options: RedisWindowsOptions): Promise<RedisWindows> {
    const windows = new RedisWindows(options);
    try {
      await windows.#connect();
    } catch (error) {
      windows.#noteFailure(error);
    }
    return windows;
  }

  /**
   * Counts one request in the window `name`. Returns null, or a promise of null, if Redis cannot count the request. The promise never
   * rejects.
   */
  count(name: string, windowMs: number): Promise<CountedWindow | null> | null {
    const connection = this.#connection;
    if (!connection || this.#inProgress >= COUNTS_IN_PROGRESS_MAX) return null;
    return this.#countIn(connection, `${this.#prefix}:${name}`, windowMs);
  }

  close(): void {
    this.#isClosed = true;
    this.#trials.stop();
    this.#connection?.destroy();
    this.#connection = null;
  }

  async #countIn(connection: RedisConnection, key: string, windowMs: number): Promise<CountedWindow | null> {
    this.#inProgress += 1;
    try {
      return await connection.count(key, windowMs);
    } catch (error) {
      this.#lose(connection, error);
      return null;
    } finally {
      this.#inProgress -= 1;
    }
  }

  /** Connects and counts once, because a Redis that accepts connections may still be unable to count. */
  async #connect(): Promise<void> {
    const connection = await RedisConnection.connect(this.#url, {
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      timeoutMs: COUNT_DEADLINE_MS,
      onLost: (lost, failure) => this.#lose(lost, failure),
    });
    try {
      await connection.count(`${this.#prefix}:${PROBE.name}`, PROBE.windowMs);
    } catch (error) {
      connection.destroy();
      throw error;
    }
    if (this.#isClosed) connection.destroy();
    else this.#connection = connection;
  }

  /** Stops using a failed connection. Its counts in progress all fail, but only the first failure has an effect. */
  #lose(connection: RedisConnection, error: unknown): void {
    if (connection !== this.#connection) return;
    this.#connection = null;
    connection.destroy();
    this.#noteFailure(error);
  }

  #noteFailure(error: unknown): void {
    if (!this.#breaker.failed()) return;
    const reason = error instanceof RedisFailure ? error.message : String(error);
    this.#log.warn('Redis is unavailable: this process counts requests by itself', { reason });
    this.#trials.start();
  }

  async #tryAgain(): Promise<void> {
    try {
      await this.#connect();
    } catch {
      // The breaker opens again, and the next trial follows.
      return;
    }
    if (this.#connection && this.#breaker.succeeded())
      this.#log.info('Redis is available again: rate limits are shared');
  }
}

/** The prefix of all keys in Redis. */
export function redisKeyPrefix(serviceName: string): string {
  return `${serviceName}:rate-limit`;
}
