// The one small port that every HTTP marketplace goes through: a deadline on each exchange, a budget of requests an hour, few
// retries with jitter, and a breaker that rests. It never judges what an answer means, and never tells an address or a key.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Random } from '../core/random.ts';
import { systemRandom } from '../core/random.ts';
import { backoffMs, parseRetryAfter, remainingMs } from '../resilience/backoff.ts';
import { CircuitBreaker } from '../resilience/breaker.ts';
import type { UpstreamStatus } from '../tasks/upstream-status.ts';
import type { Budget } from './budget.ts';
import { parseExactJson } from './exact-json.ts';
import { exchange, ExchangeFailure } from '../resilience/exchange.ts';
import type { Exchange } from '../resilience/exchange.ts';

export type UpstreamReason =
  | ExchangeFailure['reason']
  /** 429 after all patience, or a pause that such an answer asked for. */
  | 'rate-limited'
  /** 401 and 403: the key is wrong, or may not do this. */
  | 'unauthorized'
  | 'not-found'
  /** Another 4xx: what was asked is wrong, and would be wrong again. */
  | 'rejected'
  | 'server-error'
  /** Not JSON, or nested too deep. */
  | 'malformed'
  /** Not asked at all: the breaker is open. */
  | 'resting'
  /** Not asked at all: the hour's budget is spent. */
  | 'over-budget';

/** Why there is no answer. The message is fit for logs and for the operator's pages. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  readonly reason: UpstreamReason;
  /** The status of the answer, where there was one. */
  readonly status: number | null;
  /** When asking again may help, in ms from now; null where nothing is known. */
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

export type Query = Readonly<Record<string, string | number | readonly string[] | null | undefined>>;

export type CallOptions = {
  /** Ends the call, its waits included. */
  signal?: AbortSignal;
  /** Bytes of the decompressed answer, where the usual limit does not fit. */
  bytesMax?: number;
  /** How long the call may wait for the budget, or for the end of a pause, before it is refused. */
  patienceMs?: number;
  /** One of many that can wait: others come before it where the budget is short. */
  isBulk?: boolean;
};

export type Upstream = {
  readonly name: string;
  /** The parsed answer, with every number as a JsonNumber (core/json-text.ts). Throws UpstreamFailure. */
  getJson(path: string, query?: Query, options?: CallOptions): Promise<unknown>;
  postJson(path: string, body: unknown, options?: CallOptions): Promise<unknown>;
  /** The answer as text, for what is not JSON as a whole. */
  getText(path: string, query?: Query, options?: CallOptions): Promise<string>;
  status(): UpstreamStatus;
};

export type UpstreamOptions = {
  name: string;
  /** May carry a path and a query of its own, such as an RPC address with a key: both are kept. */
  baseUrl: string;
  headers?: Readonly<Record<string, string>>;
  /** For each exchange, not for the call with its retries. */
  timeoutMs: number;
  /** Requests in any hour, retries included; null for no limit. A call rejects with the error of a budget that cannot be asked. */
  budget?: Budget | null;
  log: Log;
  clock: Clock;
  random?: Random;
  /** How long a call may wait for the budget, or for the end of a pause, where it does not say itself. */
  patienceMs?: number;
  /** The wait before the first retry; each further one is twice as long. */
  retryMs?: number;
  /** The first rest of the breaker; it doubles with every failed trial, up to `restMaxMs`. */
  restMs?: number;
  restMaxMs?: number;
};

/** The waits of an upstream, where they differ from its usual ones. */
export type UpstreamPace = Partial<Pick<UpstreamOptions, 'timeoutMs' | 'retryMs' | 'restMs' | 'restMaxMs'>> & {
  /** The longest wait for the next bytes of a response that is read as a stream. */
  stallMs?: number;
};

const BYTES_MAX = 4 * 2 ** 20;
const RETRIES_MAX = 2;
const RETRY_MS = 750;
const RETRY_JITTER = 0.5;
const REST_MS = 5_000;
/** Shorter than the pause of a task that failed (tasks/run.ts), so that each try of it is a trial: a return is seen by the next one. */
const REST_MAX_MS = 18_000;
const PATIENCE_MS = 30_000;
/** An answer that asks for a longer pause is not believed beyond this. */
const PAUSE_MAX_MS = 15 * 60_000;
/** The pause after a 429 that names none. */
const PAUSE_MS = 5_000;

type Request = { method: 'GET' | 'POST'; url: string; body?: string };

export function createUpstream(options: UpstreamOptions): Upstream {
  const { name, baseUrl, headers = {}, timeoutMs, budget = null, log, clock, random = systemRandom } = options;
  const { retryMs = RETRY_MS, restMs = REST_MS, restMaxMs = REST_MAX_MS, patienceMs: usualMs = PATIENCE_MS } = options;
  const breaker = new CircuitBreaker({ openMs: restMs, openMaxMs: restMaxMs, clock, random });
  const counts = { requests: 0, retries: 0, refused: 0 };
  const last = {
    successAt: null as number | null,
    failureAt: null as number | null,
    failure: null as UpstreamReason | null,
  };
  let pausedUntil = 0;

  const call = async <T>(request: Request, callOptions: CallOptions, parse: (body: Buffer) => T): Promise<T> => {
    const { signal, patienceMs = usualMs } = callOptions;
    let trial = await enter(callOptions);
    for (let attempt = 0; ; attempt += 1) {
      try {
        const value = parse(await send(request, callOptions));
        last.successAt = clock();
        if (breaker.succeeded()) log.info('an upstream is back', { source: name });
        return value;
      } catch (error) {
        const failure = toFailure(name, error);
        note(failure);
        const waitMs = attempt < RETRIES_MAX && !trial ? toRetryWait(failure, attempt) : null;
        if (waitMs === null || waitMs > patienceMs) throw settle(failure);
        await pause(waitMs, signal);
        counts.retries += 1;
        trial = await enter(callOptions);
      }
    }
  };

  /** Waits for leave to send one request, and takes it; whether the request is the trial of a resting breaker. */
  const enter = async ({ signal, patienceMs = usualMs, isBulk = false }: CallOptions): Promise<boolean> => {
    if (signal?.aborted) throw new UpstreamFailure(name, 'aborted');
    if (breaker.remainingMs() > 0) throw refuse('resting', breaker.remainingMs());
    const pauseMs = remainingMs(pausedUntil, clock(), PAUSE_MAX_MS);
    if (pauseMs > patienceMs) throw refuse('rate-limited', pauseMs);
    const budgetMs = budget ? await budget.take({ patienceMs, isBulk }) : 0;
    if (budget && budgetMs > patienceMs) throw refuse('over-budget', budgetMs);
    const waitMs = Math.max(pauseMs, budgetMs);
    try {
      if (waitMs > 0) await pause(waitMs, signal);
      // It may have been given up while the budget was asked.
      if (signal?.aborted) throw new UpstreamFailure(name, 'aborted');
      const leave = breaker.enter();
      if (leave === 'no') throw refuse('resting', breaker.remainingMs());
      return leave === 'trial';
    } catch (error) {
      giveBack();
      throw error;
    }
  };

  /** Neither waited for nor allowed to fail the call: one lost only makes the hour a request shorter. */
  const giveBack = () => {
    void budget?.giveBack().catch((error: unknown) => {
      log.warn('a request that was not sent could not be given back to its budget', { source: name, error });
    });
  };

  const refuse = (reason: UpstreamReason, retryAfterMs: number) => {
    counts.refused += 1;
    return new UpstreamFailure(name, reason, { retryAfterMs });
  };

  const send = async (request: Request, { signal, bytesMax = BYTES_MAX }: CallOptions): Promise<Buffer> => {
    counts.requests += 1;
    const { method, url, body } = request;
    const answer = await exchange(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      timeoutMs,
      bytesMax,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
    if (answer.status >= 200 && answer.status < 300) return answer.body;
    throw new UpstreamFailure(name, toReason(answer.status), {
      status: answer.status,
      retryAfterMs: answer.status === 429 || answer.status === 503 ? readRetryAfter(answer, clock()) : null,
    });
  };

  const note = ({ reason, retryAfterMs }: UpstreamFailure) => {
    // Given up by the caller: nothing is known of the upstream.
    if (reason === 'aborted') return;
    last.failureAt = clock();
    last.failure = reason;
    if (reason === 'rate-limited') pausedUntil = Math.max(pausedUntil, clock() + (retryAfterMs ?? PAUSE_MS));
  };

  /** What a call that failed for good says of the upstream. */
  const settle = (failure: UpstreamFailure): UpstreamFailure => {
    const { reason } = failure;
    if (reason === 'aborted') breaker.abandoned();
    else if (ANSWERED.has(reason)) breaker.succeeded();
    else if (breaker.failed())
      log.warn('an upstream is given a rest after repeated failures', { source: name, reason });
    return failure;
  };

  const toRetryWait = ({ reason, retryAfterMs }: UpstreamFailure, attempt: number): number | null => {
    if (!RETRIED.has(reason)) return null;
    const backoff = { baseMs: retryMs, maxMs: PAUSE_MAX_MS, jitter: RETRY_JITTER };
    return backoffMs(attempt + 1, backoff, random) + (retryAfterMs ?? (reason === 'rate-limited' ? PAUSE_MS : 0));
  };

  const pause = async (ms: number, signal: AbortSignal | undefined) => {
    try {
      await sleep(ms, undefined, signal && { signal });
    } catch (error) {
      throw new UpstreamFailure(name, 'aborted', { cause: error });
    }
  };

  const json = (body: Buffer) => parseExactJson(body);
  return {
    name,
    getJson: (path, query = {}, callOptions = {}) =>
      call({ method: 'GET', url: toUrl(baseUrl, path, query) }, callOptions, json),
    postJson: (path, body, callOptions = {}) =>
      call({ method: 'POST', url: toUrl(baseUrl, path, {}), body: JSON.stringify(body) }, callOptions, json),
    getText: (path, query = {}, callOptions = {}) =>
      call({ method: 'GET', url: toUrl(baseUrl, path, query) }, callOptions, (body) => body.toString('utf8')),
    status: () => ({
      name,
      breaker: breaker.state(),
      restsUntil: breaker.remainingMs() > 0 ? clock() + breaker.remainingMs() : null,
      failures: breaker.failures(),
      lastSuccessAt: last.successAt,
      lastFailureAt: last.failureAt,
      lastFailure: last.failure,
      budget: budget && { perHour: budget.perHour, left: budget.left() },
      ...counts,
    }),
  };
}

/** The reasons that may pass by themselves within seconds. */
const RETRIED: ReadonlySet<UpstreamReason> = new Set(['rate-limited', 'server-error', 'unreachable']);
/** It answered, and only what was asked was wrong or too much: no reason to rest. */
const ANSWERED: ReadonlySet<UpstreamReason> = new Set(['rate-limited', 'not-found', 'rejected']);

/** A path of the given segments, each encoded. A dot segment would leave the path, and is never a name of anything. */
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

/** What a status that is no success says. */
export function toReason(status: number): UpstreamReason {
  if (status === 429) return 'rate-limited';
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404) return 'not-found';
  return status >= 500 ? 'server-error' : 'rejected';
}

function toFailure(name: string, error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  if (error instanceof ExchangeFailure) return new UpstreamFailure(name, error.reason, { cause: error });
  return new UpstreamFailure(name, 'malformed', { cause: error });
}

/** Bounded; null where the response names no pause. */
function readRetryAfter({ headers }: Exchange, now: number): number | null {
  const ms = parseRetryAfter(headers.get('retry-after'), now);
  return ms === null ? null : Math.min(ms, PAUSE_MAX_MS);
}
