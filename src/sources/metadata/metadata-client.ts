// Reads metadata documents from hosts that contracts choose. The client keeps to budgets of requests, skips hosts that are down, and follows
// redirects. It connects to public addresses only, unless a setting allows private addresses. Gateways, which the operator configured, may
// have any address.

import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/core/clock.ts';
import type { Random } from '../../platform/core/random.ts';
import { parseRetryAfter } from '../../platform/resilience/backoff.ts';
import { CircuitBreaker } from '../../platform/resilience/breaker.ts';
import { createCheckedLookup } from '../../platform/resilience/checked-lookup.ts';
import type { GuardedResponse } from '../../platform/resilience/guarded-get.ts';
import { GuardedFailure, guardedGet } from '../../platform/resilience/guarded-get.ts';
import { parseTarget } from '../../platform/resilience/public-target.ts';
import type { Resolve } from '../../platform/resilience/resolve-host.ts';
import { createResolve } from '../../platform/resilience/resolve-host.ts';
import type { Budget } from '../upstreams/budget.ts';
import { ProcessBudget } from '../upstreams/budget.ts';
import type { MetadataFailure } from './metadata-failure.ts';
import type { Gateways, ParsedUri } from './metadata-uri.ts';
import { parseMetadataUri } from './metadata-uri.ts';

export type MetadataClientOptions = Gateways & {
  clock: Clock;
  random: Random;
  /** The budget of all requests together. */
  budget: Budget;
  hostBudget: number;
  allowPrivate: boolean;
  resolve?: Resolve;
  timeoutMs?: number;
  bytesMax?: number;
  /** After a host went down, no request is sent to it for this long. The time doubles with each failed trial. */
  openMs?: number;
};

export type Document = { mediaType: string; body: Buffer };

/**
 * `over-budget`: a budget of requests is used up. `host` is the name under which `mercat status` counts the read: `data`, `ipfs`, `arweave`
 * or the host of the URL.
 */
export type DocumentResult =
  | { ok: true; host: string; document: Document }
  | { ok: false; host: string | null; failure: MetadataFailure | 'over-budget' };

const TIMEOUT_MS = 10_000;
const DOCUMENT_BYTES_MAX = 2 ** 20;
const REDIRECTS_MAX = 3;
const OPEN_MS = 60_000;
const OPEN_MS_MAX = 60 * 60_000;
/** The largest number of hosts whose budgets and failures are remembered. */
const HOSTS_MAX = 1_000;
const HEADERS = { accept: 'application/json, */*;q=0.5', 'user-agent': 'Mercat-Metadata/1' };
const STATUS_RATE_LIMITED = 429;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const NOT_FOUND: ReadonlySet<number> = new Set([404, 410]);

type Host = { budget: Budget; breaker: CircuitBreaker };

/** A failure of one URL. */
class DocumentFailure extends Error {
  readonly reason: MetadataFailure | 'over-budget';

  constructor(reason: MetadataFailure | 'over-budget') {
    super(reason);
    this.reason = reason;
  }
}

export class MetadataClient {
  readonly #options: MetadataClientOptions;
  readonly #lookup: ReturnType<typeof createCheckedLookup>;
  readonly #hosts = new LRUCache<string, Host>({ max: HOSTS_MAX });

  constructor(options: MetadataClientOptions) {
    const { allowPrivate, resolve = createResolve(allowPrivate) } = options;
    this.#options = options;
    this.#lookup = createCheckedLookup(resolve, allowPrivate);
  }

  /** Throws only when `signal` aborts. */
  async read(uri: string, signal: AbortSignal): Promise<DocumentResult> {
    const parsed = parseMetadataUri(uri, this.#options);
    if (parsed.kind === 'unsupported') return { ok: false, host: null, failure: 'unsupported-uri' };
    const { host } = parsed;
    if (parsed.kind === 'data') {
      const { mediaType, body } = parsed;
      const isTooLarge = body.length > this.#bytesMax;
      return isTooLarge ? { ok: false, host, failure: 'too-large' } : { ok: true, host, document: { mediaType, body } };
    }
    return this.#readRemote(parsed, signal);
  }

  get #bytesMax(): number {
    return this.#options.bytesMax ?? DOCUMENT_BYTES_MAX;
  }

  /** Tries the URLs in turn. If a budget is used up, no further URL is tried, because the caller must wait. */
  async #readRemote(
    { host, urls, isGateway }: Extract<ParsedUri, { kind: 'remote' }>,
    signal: AbortSignal,
  ): Promise<DocumentResult> {
    let failure: MetadataFailure | 'over-budget' = 'unsupported-uri';
    for (const url of urls) {
      try {
        return { ok: true, host, document: await this.#follow(url, isGateway, signal) };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof DocumentFailure)) throw error;
        // `host-down` does not replace an earlier failure, because it says less about the document than the response of another gateway.
        if (failure === 'unsupported-uri' || error.reason !== 'host-down') failure = error.reason;
        if (error.reason === 'over-budget') break;
      }
    }
    return { ok: false, host, failure };
  }

  /** Requests `first` and follows redirects. Checks each URL, except `first` if it is the URL of a gateway: the operator configured the gateways. */
  async #follow(first: string, isGateway: boolean, signal: AbortSignal): Promise<Document> {
    let text = first;
    let isTrusted = isGateway;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
      const url = this.#check(text, isTrusted);
      const response = await this.#get(url, isTrusted, signal);
      const { location } = response.headers;
      if (!REDIRECTS.has(response.status)) return toDocument(response);
      if (location === undefined || !URL.canParse(location, url)) throw new DocumentFailure('bad-status');
      const target = new URL(location, url);
      target.hash = '';
      text = target.href;
      isTrusted = false;
    }
    throw new DocumentFailure('too-many-redirects');
  }

  #check(text: string, isTrusted: boolean): URL {
    if (isTrusted) return new URL(text);
    const target = parseTarget(text, this.#options.allowPrivate, true);
    if ('url' in target) return target.url;
    throw new DocumentFailure(target.reason === 'private' ? 'private-address' : 'unsupported-uri');
  }

  async #get(url: URL, isTrusted: boolean, signal: AbortSignal): Promise<GuardedResponse> {
    const { timeoutMs = TIMEOUT_MS, clock } = this.#options;
    const { budget, breaker } = this.#hostOf(url.host);
    const entry = breaker.enter();
    if (entry === 'no') throw new DocumentFailure('host-down');
    try {
      await this.#take(budget);
      const lookup = isTrusted ? null : this.#lookup;
      const options = { lookup, timeoutMs, bytesMax: this.#bytesMax, headers: HEADERS, signal };
      const response = await guardedGet(url, options);
      if (response.status === STATUS_RATE_LIMITED) {
        const leastMs = parseRetryAfter(response.headers['retry-after'] ?? null, clock()) ?? 0;
        breaker.failed({ opens: true, leastMs: Math.min(leastMs, OPEN_MS_MAX) });
      } else if (response.status >= 500) breaker.failed();
      else breaker.succeeded();
      return response;
    } catch (error) {
      if (error instanceof GuardedFailure) throw toFailure(error, breaker);
      breaker.abandoned();
      throw error;
    }
  }

  /** Takes one request from the budget of the host and one from the budget of all requests, without waiting. If either is used up, takes none. */
  async #take(hostBudget: Budget): Promise<void> {
    const { budget } = this.#options;
    if ((await hostBudget.take({ patienceMs: 0 })) > 0) throw new DocumentFailure('over-budget');
    if ((await budget.take({ patienceMs: 0 })) === 0) return;
    await hostBudget.giveBack();
    throw new DocumentFailure('over-budget');
  }

  #hostOf(name: string): Host {
    const { clock, random, hostBudget, openMs = OPEN_MS } = this.#options;
    const known = this.#hosts.get(name);
    if (known) return known;
    const host = {
      budget: new ProcessBudget({ perHour: hostBudget, clock }),
      breaker: new CircuitBreaker({ openMs, openMaxMs: Math.max(openMs, OPEN_MS_MAX), clock, random }),
    };
    this.#hosts.set(name, host);
    return host;
  }
}

/** A failure counts towards the breaker of the host if it concerns the host, and not if it concerns one URL. */
function toFailure({ reason }: GuardedFailure, breaker: CircuitBreaker): DocumentFailure {
  if (reason === 'unreachable' || reason === 'timeout') breaker.failed();
  else breaker.abandoned();
  return new DocumentFailure(reason === 'aborted' ? 'timeout' : reason);
}

function toDocument({ status, headers, body }: GuardedResponse): Document {
  if (NOT_FOUND.has(status)) throw new DocumentFailure('not-found');
  if (status === STATUS_RATE_LIMITED) throw new DocumentFailure('rate-limited');
  if (status < 200 || status > 299) throw new DocumentFailure('bad-status');
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';', 1);
  return { mediaType: mediaType.trim().toLowerCase(), body };
}
