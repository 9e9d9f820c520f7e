// Sends the requests of a client. Repeats failed attempts after a wait, keeps the time limit of the call, and reuses unchanged responses.

import type { Amounts } from './json.ts';
import { parseJson, toJson } from './json.ts';
import type { ErrorDetail } from './mercat-error.ts';
import { MercatError } from './mercat-error.ts';
import { EtagCache } from './etag-cache.ts';
import { wait } from './wait.ts';

export type ClientOptions = {
  /** The URL of the service, for example `https://market.example`. Empty for a page that the service itself serves. */
  baseUrl: string;
  /** Default: the `fetch` of the runtime. */
  fetch?: typeof globalThis.fetch;
  /** Added to every request. */
  headers?: Readonly<Record<string, string>>;
  /**
   * The time limit of a call, with all attempts and the waits between them. Default: 30 seconds, and in addition up to 60 seconds in which the
   * service asks to wait (`Retry-After`), as after too many requests in a minute.
   */
  timeoutMs?: number;
  /** How often a failed request is repeated at most. Default: 3. */
  retriesMax?: number;
  /** Called before a call waits to repeat a request, with the failure and the time of the wait. */
  onWait?: (error: MercatError, waitMs: number) => void;
  /**
   * The most characters of responses that are kept. A kept response is used again if the service reports that it is unchanged. 0 keeps
   * none. Default: 4 million. In a page of a browser the default is 0, because the browser has a cache of its own.
   */
  cacheCharactersMax?: number;
  /** Returns numbers of at least 0 and less than 1, which spread the waits between attempts. Default: `Math.random`. */
  random?: () => number;
};

export type CallOptions = {
  /** Ends the call. The call then fails with the reason of the signal. */
  signal?: AbortSignal;
  /** Replaces the time limit of the client. */
  timeoutMs?: number;
};

export type Request = {
  method: string;
  /** The path with the query. */
  target: string;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Whether the request is repeated even if an earlier attempt may have had its effect. */
  isRepeatable: boolean;
};

/** A successful response. */
export type Received = { body: unknown; headers: Headers };

const TIMEOUT_MS = 30_000;
/** How long a call waits in addition because the service asks for it. The windows of its rate limits have 60 seconds. */
const ASKED_WAIT_MAX_MS = 60_000;
const RETRIES_MAX = 3;
const CACHE_CHARACTERS_MAX = 4_000_000;
/** The wait before the first repetition. Each further wait is twice as long, up to LONGEST_WAIT_MS, unless the service names a time. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8_000;
/** With these statuses, the service has rejected the request, and the request has had no effect. */
const REJECTED_STATUSES = new Set([429, 503]);
/** With these statuses, a proxy has not received the response of the service. The request may have had its effect. */
const LOST_STATUSES = new Set([502, 504]);
const CONFLICT = 409;
const NOT_MODIFIED = 304;

export class Transport {
  readonly baseUrl: string;
  readonly amounts: Amounts;
  readonly #options: ClientOptions;
  readonly #fetch: typeof globalThis.fetch;
  readonly #responses: EtagCache;
  readonly #cache: 'no-cache' | undefined;

  /** `amounts`: how amounts in responses are read. */
  constructor(options: ClientOptions, amounts: Amounts = 'bigint') {
    this.amounts = amounts;
    this.baseUrl = options.baseUrl.replace(/\/+$/, '');
    if (this.baseUrl !== '' && !URL.canParse(this.baseUrl)) throw new TypeError(`Not a URL: ${this.baseUrl}`);
    this.#options = options;
    // In a browser, `fetch` fails if it is called as a method of this object.
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    // The cache of a browser asks the service whether a response has changed. Otherwise it would first return the response of before, which
    // `stale-while-revalidate` allows, and an event would be followed by a read of the state before the event.
    this.#cache = isPage() ? 'no-cache' : undefined;
    this.#responses = new EtagCache(options.cacheCharactersMax ?? (isPage() ? 0 : CACHE_CHARACTERS_MAX));
  }

  async send(request: Request, options: CallOptions = {}): Promise<Received> {
    const retriesMax = this.#options.retriesMax ?? RETRIES_MAX;
    const givenMs = options.timeoutMs ?? this.#options.timeoutMs;
    const limit = new TimeLimit(givenMs ?? TIMEOUT_MS, options.signal);
    let askedLeftMs = givenMs === undefined ? ASKED_WAIT_MAX_MS : 0;
    let isEffectUnknown = false;
    try {
      for (let retries = 0; ; retries += 1) {
        try {
          return await this.#attempt(request, limit.signal);
        } catch (error) {
          limit.signal.throwIfAborted();
          if (!(error instanceof MercatError) || retries >= retriesMax) throw error;
          if (!isRetried(error, request, isEffectUnknown)) throw error;
          isEffectUnknown ||= isLost(error);
          const waitMs = this.toWaitMs(retries, error.retryAfterMs);
          const askedMs = error.retryAfterMs ?? 0;
          if (askedMs <= askedLeftMs) {
            askedLeftMs -= askedMs;
            limit.extend(askedMs);
          }
          if (waitMs >= limit.leftMs()) throw error;
          this.#options.onWait?.(error, waitMs);
          await wait(waitMs, limit.signal);
        }
      }
    } finally {
      limit.end();
    }
  }

  /**
   * Sends a request once. Resolves when the status and the headers of the response have arrived. Fails unless the response is successful.
   */
  async open(request: Omit<Request, 'isRepeatable'>, signal: AbortSignal): Promise<Response> {
    const response = await this.#fetchOnce(request, signal);
    if (response.ok || response.status === NOT_MODIFIED) return response;
    throw await toServiceError(response);
  }

  /**
   * How long to wait before the request is repeated. `retries`: how often it was repeated before. A part of the wait is random, so that not all
   * clients repeat their requests at the same time.
   */
  toWaitMs(retries: number, retryAfterMs: number | null): number {
    const random = (this.#options.random ?? Math.random)();
    if (retryAfterMs !== null) return retryAfterMs + random * FIRST_WAIT_MS;
    return Math.min(FIRST_WAIT_MS * 2 ** retries, LONGEST_WAIT_MS) * (0.5 + random / 2);
  }

  async #attempt(request: Request, signal: AbortSignal): Promise<Received> {
    const { method, target, headers = {} } = request;
    const stored = method === 'GET' ? this.#responses.find(target) : null;
    const response = await this.open(
      { ...request, headers: { ...headers, ...(stored && { 'if-none-match': stored.etag }) } },
      signal,
    );
    const text = response.status === NOT_MODIFIED && stored ? stored.text : await readText(response);
    const etag = response.headers.get('etag');
    const isStorable =
      method === 'GET' && etag !== null && !/no-store/.test(response.headers.get('cache-control') ?? '');
    if (isStorable) this.#responses.insert(target, { etag, text });
    return { body: parseBody(text, response, this.amounts), headers: response.headers };
  }

  async #fetchOnce(
    { method, target, body, headers }: Omit<Request, 'isRepeatable'>,
    signal: AbortSignal,
  ): Promise<Response> {
    try {
      return await this.#fetch(this.baseUrl + target, {
        method,
        signal,
        ...(this.#cache && { cache: this.#cache }),
        headers: {
          ...this.#options.headers,
          ...headers,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: toJson(body) }),
      });
    } catch (cause) {
      signal.throwIfAborted();
      throw new MercatError('network_error', `No response from ${this.baseUrl}`, { cause });
    }
  }
}

/**
 * After a lost response, a 409 can mean that the first attempt still runs, so the request is repeated. If the last attempt gets a 409 too, the
 * call fails with this 409.
 */
function isRetried(error: MercatError, { isRepeatable }: Request, isEffectUnknown: boolean): boolean {
  if (isLost(error)) return isRepeatable;
  const { status } = error;
  return status !== null && (REJECTED_STATUSES.has(status) || (status === CONFLICT && isEffectUnknown));
}

const isLost = ({ code, status }: MercatError) =>
  status === null ? code === 'network_error' : LOST_STATUSES.has(status);

/** Aborts when the time has passed, with a MercatError as its reason, or when the caller aborts, with the reason of the caller. */
class TimeLimit {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout>;
  #timeoutMs: number;
  #endsAt: number;

  constructor(timeoutMs: number, caller: AbortSignal | undefined) {
    caller?.throwIfAborted();
    this.#caller = caller;
    caller?.addEventListener('abort', this.#onCallerAbort);
    this.#timeoutMs = timeoutMs;
    this.#endsAt = performance.now() + timeoutMs;
    this.#timer = this.#start(timeoutMs);
  }

  /** Moves the end of the limit. */
  extend(ms: number): void {
    if (ms === 0) return;
    clearTimeout(this.#timer);
    this.#timeoutMs += ms;
    this.#endsAt += ms;
    this.#timer = this.#start(this.leftMs());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  leftMs(): number {
    return this.#endsAt - performance.now();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#onCallerAbort);
  }

  #start(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      const message = `The call has not succeeded within ${this.#timeoutMs} ms`;
      this.#controller.abort(new MercatError('timeout', message));
    }, ms);
  }

  #onCallerAbort = () => this.#controller.abort(this.#caller?.reason);
}

async function readText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    throw new MercatError('network_error', 'The response was cut off', { cause });
  }
}

function parseBody(text: string, response: Response, amounts: Amounts): unknown {
  try {
    return parseJson(text, amounts);
  } catch (cause) {
    throw toInvalidResponse(response, { cause });
  }
}

async function toServiceError(response: Response): Promise<MercatError> {
  const envelope = parseEnvelope(await readText(response));
  if (!envelope) return toInvalidResponse(response);
  const { code, message, param = null, details = [] } = envelope;
  return new MercatError(code, message, { ...metaOf(response), param, details });
}

type Envelope = { code: string; message: string; param?: string; details?: readonly ErrorDetail[] };

/** Null if the text is not an error of the service. */
function parseEnvelope(text: string): Envelope | null {
  try {
    const { error } = JSON.parse(text) as { error?: Partial<Envelope> };
    return typeof error?.code === 'string' && typeof error.message === 'string' ? (error as Envelope) : null;
  } catch {
    return null;
  }
}

function toInvalidResponse(response: Response, fields: { cause?: unknown } = {}): MercatError {
  const message = `Status ${response.status}, and the body is not in the documented form`;
  return new MercatError('invalid_response', message, { ...metaOf(response), ...fields });
}

function metaOf({ status, headers }: Response): {
  status: number;
  requestId: string | null;
  retryAfterMs: number | null;
} {
  return { status, requestId: headers.get('x-request-id'), retryAfterMs: parseRetryAfter(headers.get('retry-after')) };
}

/** Returns milliseconds. The service sends `Retry-After` in seconds. A proxy may send a date (RFC 9110, section 10.2.3). */
function parseRetryAfter(text: string | null): number | null {
  if (text === null) return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

function isPage(): boolean {
  return 'document' in globalThis;
}
