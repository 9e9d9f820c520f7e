// Sends HTTP requests to a vendor. Each exchange has a deadline, failed requests are retried a few times, an hourly budget limits the
// requests, and a circuit breaker stops them while the vendor fails. Errors and logs name no URL and no key.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Random } from '../../platform/core/random.ts';
import { backoffMs, parseRetryAfter } from '../../platform/resilience/backoff.ts';
import { CircuitBreaker } from '../../platform/resilience/breaker.ts';
import type { UpstreamStatus } from '../../platform/tasks/upstream-status.ts';
import type { Budget } from './budget.ts';
import { parseExactJson } from './exact-json.ts';
import { exchange, ExchangeFailure } from '../../platform/resilience/http-exchange.ts';
import type { Exchange } from '../../platform/resilience/http-exchange.ts';

export type UpstreamReason =
  | ExchangeFailure['reason']
  /** Status 429, or not sent because the pause after an earlier 429 is longer than the caller's patience. */
  | 'rate-limited'
  /** Status 401 or 403: the key is wrong, or lacks a permission. */
  | 'unauthorized'
  | 'not-found'
  /** Another status below 500 that is not a success. The request is wrong, so a retry would fail too. */
  | 'rejected'
  | 'server-error'
  /** Not JSON, nested too deep, or not of the expected shape. */
  | 'malformed'
  /** Not sent: the circuit breaker is open. */
  | 'breaker-open'
  /** Not sent: the wait for the hourly budget is longer than the caller's patience. */
  | 'over-budget';

/** A call that failed. The message contains no URL and no key, so it may be logged and published in the status. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  readonly reason: UpstreamReason;
  readonly status: number | null;
  /** The time from this failure until a retry may succeed, in ms. Null when it is not known. */
  readonly retryAfterMs: number | null;

  constructor(
    upstream: string,
    reason: UpstreamReason,
    options: { status?: number | null; retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    const { status = null, retryAfterMs = null, cause } = options;
    super(`${upstream}: ${reason}${status === null ? '' : ` (${status})`}`, { cause });
    this.reason = reason;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The failure for a response that is not of the expected shape. `why` is only in the cause, which is logged and never published. */
export function toMalformed(upstream: UpstreamClient, why: string): UpstreamFailure {
  return new UpstreamFailure(upstream.name, 'malformed', { cause: new Error(why) });
}

export type Query = Readonly<Record<string, string | number | readonly string[] | null | undefined>>;

export type CallOptions = {
  /** Aborts the call, also while it waits. */
  signal?: AbortSignal | undefined;
  /** The largest body accepted, in bytes after decompression. Default: 4 MiB. */
  bytesMax?: number;
  /** The longest wait for the budget, for the end of a pause or for a retry. A call that needs a longer wait fails immediately. */
  patienceMs?: number;
  /** True for one of many requests that are not urgent. Such a request is sent only while the budget also has room for urgent requests. */
  isBulk?: boolean;
  /** Throws UpstreamFailure if the response has a successful status but reports an error, as JSON-RPC can. */
  check?: (value: unknown) => void;
};

export type UpstreamOptions = {
  name: string;
  /**
   * May contain a path and a query, for example in an RPC URL with a key. Each request is sent to this URL with its own path and query
   * added.
   */
  baseUrl: string;
  headers?: Readonly<Record<string, string>>;
  /** The deadline of one exchange. A call with retries may take longer. */
  timeoutMs: number;
  /** Limits the requests in any hour, retries included; null for no limit. If `take` rejects, the call rejects with the same error. */
  budget?: Budget | null;
  log: Log;
  clock: Clock;
  random: Random;
  /** The default of `CallOptions.patienceMs`. */
  patienceMs?: number;
  /** The longest wait before the first retry, apart from a pause after 429. It doubles with each further retry. */
  retryMs?: number;
  /** How long the breaker stays open at first. This time doubles with each failed trial, up to `breakerOpenMaxMs`. */
  breakerOpenMs?: number;
  breakerOpenMaxMs?: number;
};

/** Timeouts and waits of an upstream that replace the defaults. */
export type UpstreamPace = Partial<
  Pick<UpstreamOptions, 'timeoutMs' | 'retryMs' | 'breakerOpenMs' | 'breakerOpenMaxMs'>
> & {
  /** The longest wait for the next bytes of a response that is read as a stream. */
  stallMs?: number;
};

const BYTES_MAX = 4 * 2 ** 20;
const RETRIES_MAX = 2;
const RETRY_MS = 750;
const RETRY_JITTER = 0.5;
const BREAKER_OPEN_MS = 5_000;
/** Shorter than the retry delay of a task (platform/tasks/run.ts), so that the breaker allows a trial whenever a failed task runs again. */
const BREAKER_OPEN_MAX_MS = 18_000;
const PATIENCE_MS = 30_000;
/** The longest pause that a `Retry-After` header can cause. */
const PAUSE_MAX_MS = 15 * 60_000;
/** The pause after a 429 without `Retry-After`. */
const PAUSE_MS = 5_000;

type Request = { method: 'GET' | 'POST'; url: string; body?: string };

export class UpstreamClient {
  readonly name: string;
  readonly #options: UpstreamOptions;
  readonly #budget: Budget | null;
  readonly #breaker: CircuitBreaker;
  readonly #counts = { requests: 0, retries: 0, refused: 0 };
  #pausedUntil = 0;
  #lastSuccessAt: number | null = null;
  #lastFailureAt: number | null = null;
  #lastFailure: UpstreamReason | null = null;

  constructor(options: UpstreamOptions) {
    const { clock, random, breakerOpenMs = BREAKER_OPEN_MS, breakerOpenMaxMs = BREAKER_OPEN_MAX_MS } = options;
    this.name = options.name;
    this.#options = options;
    this.#budget = options.budget ?? null;
    this.#breaker = new CircuitBreaker({ openMs: breakerOpenMs, openMaxMs: breakerOpenMaxMs, clock, random });
  }

  /** Every number is a JsonNumber (platform/core/json-text.ts). Throws UpstreamFailure. */
  getJson(path: string, query: Query = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#call({ method: 'GET', url: toUrl(this.#options.baseUrl, path, query) }, options, parseExactJson);
  }

  /** Sends `body` as JSON. The response is parsed as by `getJson`. Throws UpstreamFailure. */
  postJson(path: string, body: unknown, options: CallOptions = {}): Promise<unknown> {
    const url = toUrl(this.#options.baseUrl, path, {});
    return this.#call({ method: 'POST', url, body: JSON.stringify(body) }, options, parseExactJson);
  }

  /** Throws UpstreamFailure. */
  getText(path: string, query: Query = {}, options: CallOptions = {}): Promise<string> {
    const url = toUrl(this.#options.baseUrl, path, query);
    return this.#call({ method: 'GET', url }, options, (body) => body.toString('utf8'));
  }

  status(): UpstreamStatus {
    const openMs = this.#breaker.remainingMs();
    return {
      name: this.name,
      breaker: this.#breaker.state(),
      restsUntil: openMs > 0 ? this.#options.clock() + openMs : null,
      failures: this.#breaker.failures(),
      lastSuccessAt: this.#lastSuccessAt,
      lastFailureAt: this.#lastFailureAt,
      lastFailure: this.#lastFailure,
      budget: this.#budget && { perHour: this.#budget.perHour, left: this.#budget.left() },
      ...this.#counts,
    };
  }

  /** Retries the request while another attempt may succeed and the wait for it is within the caller's patience. */
  async #call<T>(request: Request, options: CallOptions, parse: (body: Buffer) => T): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const isTrial = await this.#admit(options);
      try {
        const value = parse(await this.#send(request, options));
        options.check?.(value);
        this.#recordSuccess();
        return value;
      } catch (error) {
        const failure = toUpstreamFailure(this.name, error);
        this.#recordFailure(failure);
        const waitMs = isTrial ? null : this.#toRetryWait(failure, attempt);
        if (waitMs === null || waitMs > this.#patienceOf(options)) {
          this.#settleBreaker(failure);
          throw failure;
        }
        await this.#sleep(waitMs, options);
        this.#counts.retries += 1;
      }
    }
  }

  /** Waits until one request may be sent, and takes it from the budget. Returns whether the request is the breaker's trial. */
  async #admit(options: CallOptions): Promise<boolean> {
    const { signal, isBulk = false } = options;
    const patienceMs = this.#patienceOf(options);
    if (signal?.aborted) throw new UpstreamFailure(this.name, 'aborted');
    if (this.#breaker.remainingMs() > 0) throw this.#refuse('breaker-open', this.#breaker.remainingMs());
    const now = this.#options.clock();
    // If the clock was set back meanwhile, the pause still ends after at most PAUSE_MAX_MS.
    this.#pausedUntil = Math.min(this.#pausedUntil, now + PAUSE_MAX_MS);
    const pauseMs = Math.max(0, this.#pausedUntil - now);
    if (pauseMs > patienceMs) throw this.#refuse('rate-limited', pauseMs);
    const budgetMs = this.#budget ? await this.#budget.take({ patienceMs, isBulk }) : 0;
    if (this.#budget && budgetMs > patienceMs) throw this.#refuse('over-budget', budgetMs);
    try {
      await this.#sleep(Math.max(pauseMs, budgetMs), options);
      // The signal may have aborted while the budget was read.
      if (signal?.aborted) throw new UpstreamFailure(this.name, 'aborted');
      const admission = this.#breaker.enter();
      if (admission === 'no') throw this.#refuse('breaker-open', this.#breaker.remainingMs());
      return admission === 'trial';
    } catch (error) {
      this.#giveBack();
      throw error;
    }
  }

  async #send({ method, url, body }: Request, { signal, bytesMax = BYTES_MAX }: CallOptions): Promise<Buffer> {
    this.#counts.requests += 1;
    const response = await exchange(url, {
      method,
      trace: { peer: this.name },
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...this.#options.headers,
      },
      timeoutMs: this.#options.timeoutMs,
      bytesMax,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
    const { status } = response;
    if (status >= 200 && status < 300) return response.body;
    throw new UpstreamFailure(this.name, toReason(status), {
      status,
      retryAfterMs: status === 429 || status === 503 ? readRetryAfter(response, this.#options.clock()) : null,
    });
  }

  #recordSuccess(): void {
    this.#lastSuccessAt = this.#options.clock();
    if (this.#breaker.succeeded()) {
      this.#options.log.info('an upstream responds again; its circuit breaker closed', { source: this.name });
    }
  }

  #recordFailure({ reason, retryAfterMs }: UpstreamFailure): void {
    // The caller aborted the call, which is not a failure of the upstream.
    if (reason === 'aborted') return;
    const now = this.#options.clock();
    this.#lastFailureAt = now;
    this.#lastFailure = reason;
    if (reason === 'rate-limited') this.#pausedUntil = Math.max(this.#pausedUntil, now + (retryAfterMs ?? PAUSE_MS));
  }

  /** Reports a failed call, after all its retries, to the circuit breaker. */
  #settleBreaker({ reason }: UpstreamFailure): void {
    if (reason === 'aborted') this.#breaker.abandoned();
    else if (RESPONDED.has(reason)) this.#breaker.succeeded();
    else if (this.#breaker.failed()) {
      this.#options.log.warn('an upstream failed repeatedly; its circuit breaker opened', {
        source: this.name,
        reason,
      });
    }
  }

  /** How long to wait before the next attempt, in ms. Null when another attempt would not help. */
  #toRetryWait({ reason, retryAfterMs }: UpstreamFailure, attempt: number): number | null {
    if (attempt > RETRIES_MAX || !RETRIED.has(reason)) return null;
    const backoff = { baseMs: this.#options.retryMs ?? RETRY_MS, maxMs: PAUSE_MAX_MS, jitter: RETRY_JITTER };
    const waitMs = backoffMs(attempt, backoff, this.#options.random);
    return waitMs + (retryAfterMs ?? (reason === 'rate-limited' ? PAUSE_MS : 0));
  }

  #refuse(reason: UpstreamReason, retryAfterMs: number): UpstreamFailure {
    this.#counts.refused += 1;
    return new UpstreamFailure(this.name, reason, { retryAfterMs });
  }

  /**
   * Returns a request to the budget, because it was not sent. The call does not wait for the database. If the database fails, the call is
   * not affected, and the budget of this hour has one request less.
   */
  #giveBack(): void {
    void this.#budget?.giveBack().catch((error: unknown) => {
      const { log } = this.#options;
      log.warn('a request that was not sent could not be put back into its budget', { source: this.name, error });
    });
  }

  async #sleep(ms: number, { signal }: CallOptions): Promise<void> {
    if (ms <= 0) return;
    try {
      await sleep(ms, undefined, signal && { signal });
    } catch (error) {
      throw new UpstreamFailure(this.name, 'aborted', { cause: error });
    }
  }

  #patienceOf({ patienceMs = this.#options.patienceMs ?? PATIENCE_MS }: CallOptions): number {
    return patienceMs;
  }
}

/** Failures after which another attempt may succeed within seconds. */
const RETRIED: ReadonlySet<UpstreamReason> = new Set(['rate-limited', 'server-error', 'unreachable']);
/** Failures that show that the upstream works. They close the breaker. */
const RESPONDED: ReadonlySet<UpstreamReason> = new Set(['rate-limited', 'not-found', 'rejected']);

/** A path of segments, each encoded. Throws for empty and dot segments, which would lead to another path. */
export function toPath(...segments: readonly string[]): string {
  for (const segment of segments) if (/^\.{0,2}$/.test(segment)) throw new TypeError(`not a path segment: ${segment}`);
  return `/${segments.map((segment) => encodeURIComponent(segment)).join('/')}`;
}

function toUrl(baseUrl: string, path: string, query: Query): string {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  for (const [key, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue;
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [String(value)])
      url.searchParams.append(key, one);
  }
  return url.href;
}

/** The reason for a status that is not a success. */
export function toReason(status: number): UpstreamReason {
  if (status === 429) return 'rate-limited';
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404) return 'not-found';
  return status >= 500 ? 'server-error' : 'rejected';
}

function toUpstreamFailure(name: string, error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  if (error instanceof ExchangeFailure) return new UpstreamFailure(name, error.reason, { cause: error });
  return new UpstreamFailure(name, 'malformed', { cause: error });
}

/** The pause that `Retry-After` requests, up to PAUSE_MAX_MS; null without the header. */
function readRetryAfter({ headers }: Exchange, now: number): number | null {
  const ms = parseRetryAfter(headers.get('retry-after'), now);
  return ms === null ? null : Math.min(ms, PAUSE_MAX_MS);
}
