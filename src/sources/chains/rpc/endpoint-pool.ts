// Calls the endpoints of a chain in the configured order, except that lagging endpoints come last. Endpoints whose circuit breaker is open
// are not called. A read tries the endpoints in several rounds.

import { setTimeout as delay } from 'node:timers/promises';
import type { Chain } from '../../../platform/core/chains.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Random } from '../../../platform/core/random.ts';
import { backoffMs } from '../../../platform/resilience/backoff.ts';
import type { Endpoint } from './endpoint.ts';
import type { RpcFailureKind } from './rpc-failure.ts';
import { ChainUnavailable, RpcFailure } from './rpc-failure.ts';

export type EndpointPoolOptions = {
  chain: Chain;
  /** In order of preference. */
  endpoints: readonly Endpoint[];
  log: Log;
  random: Random;
  /** How long one read is retried. A running attempt is not aborted. */
  patienceMs: number;
  signal: AbortSignal;
};

const ROUNDS_MAX = 4;
/** The longest wait between two rounds of one read. If a longer wait is needed, the read fails. */
const WAIT_MS_MAX = 5_000;
const BACKOFF = { baseMs: 300, maxMs: WAIT_MS_MAX, jitter: 0.5 };
/** An endpoint that is more than this many blocks behind the best head is called after the other endpoints. */
export const LAG_MAX = 10;

/** Failures that a retry does not change. If every endpoint fails with one of these kinds, the read is not retried. */
const CONCLUSIVE: ReadonlySet<RpcFailureKind> = new Set([
  'not-found',
  'no-state',
  'refused',
  'unsupported',
  'call-failed',
]);

export class EndpointPool {
  readonly chain: Chain;
  readonly endpoints: readonly Endpoint[];
  readonly #options: EndpointPoolOptions;

  constructor(options: EndpointPoolOptions) {
    this.chain = options.chain;
    this.endpoints = options.endpoints;
    this.#options = options;
  }

  /**
   * Calls `work` with one endpoint after the other until a call returns. `work` throws RpcFailure when the endpoint failed. If
   * `work` throws another error, if a call reverts, or if `signal` is aborted, the read ends at once. When no round succeeds, throws
   * ChainUnavailable. If every endpoint that could be called in the last round failed conclusively, throws a conclusive RpcFailure instead.
   * Rounds in which a rate limit rejected a call do not count towards ROUNDS_MAX. A read that waits for a rate limit therefore ends after `patienceMs`, or when a
   * wait would be longer than WAIT_MS_MAX.
   */
  async read<T>(work: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    const { chain, log, patienceMs, signal } = this.#options;
    const failures = new Map<number, RpcFailure>();
    const startedAt = performance.now();
    let conclusive: RpcFailure | null = null;
    for (let rounds = 0; ;) {
      const failuresOfRound: RpcFailure[] = [];
      for (const endpoint of this.inOrder()) {
        if (!endpoint.enter()) continue;
        try {
          return await this.attempt(endpoint, work);
        } catch (error) {
          if (!(error instanceof RpcFailure)) throw error;
          if (error.kind === 'reverted' || error.kind === 'closed') throw error;
          failures.set(endpoint.position, error);
          failuresOfRound.push(error);
        }
        if (performance.now() - startedAt > patienceMs) throw new ChainUnavailable(chain.id, failures);
      }
      conclusive = findConclusive(failuresOfRound);
      if (conclusive && failuresOfRound.length === this.endpoints.length) throw conclusive;
      if (!failuresOfRound.some(({ kind }) => kind === 'rate-limited')) rounds += 1;
      const waitMs = this.#waitMs(Math.max(1, rounds));
      if (waitMs === null || rounds === ROUNDS_MAX) break;
      log.debug('waiting for an endpoint', { chain: chain.id, waitMs });
      await wait(waitMs, signal);
    }
    // If `conclusive` is set, every endpoint that was called in the last round failed conclusively.
    throw conclusive ?? new ChainUnavailable(chain.id, failures);
  }

  /** Calls `work` once and records the outcome. `endpoint.enter()` must have returned true before. Rethrows what `work` throws. */
  async attempt<T>(endpoint: Endpoint, work: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    try {
      if (this.#options.signal.aborted) throw new RpcFailure('closed');
      await endpoint.verify();
      const result = await work(endpoint);
      endpoint.succeeded();
      return result;
    } catch (error) {
      endpoint.failed(error);
      throw error;
    }
  }

  /**
   * Returns an endpoint other than `first` whose breaker has admitted one call (`Endpoint.enter`). Returns `first` if no other endpoint may
   * be called now.
   */
  enterAlternative(first: Endpoint): Endpoint {
    return this.inOrder().find((endpoint) => endpoint !== first && endpoint.enter()) ?? first;
  }

  /** Returns the endpoints that may be called now. The breaker of each has admitted one call (`Endpoint.enter`). */
  enterAll(): Endpoint[] {
    return this.endpoints.filter((endpoint) => endpoint.enter());
  }

  /** The endpoints that may be called now, in the order in which a read calls them. */
  inOrder(): Endpoint[] {
    const best = Math.max(...this.endpoints.map((endpoint) => endpoint.head ?? 0));
    const lags = ({ head }: Endpoint) => head !== null && head < best - LAG_MAX;
    const available = this.endpoints.filter(({ health }) => health.isAvailable());
    return [...available.filter((endpoint) => !lags(endpoint)), ...available.filter(lags)];
  }

  /**
   * Waits before a read is repeated. `attempt` is the number of attempts so far. Throws RpcFailure of kind `closed` if `signal` is
   * aborted.
   */
  async pause(attempt: number): Promise<void> {
    await wait(backoffMs(attempt, BACKOFF, this.#options.random), this.#options.signal);
  }

  /** Null when the wait would be longer than WAIT_MS_MAX. */
  #waitMs(rounds: number): number | null {
    const openForMs = Math.min(...this.endpoints.map(({ health }) => health.openForMs()));
    const waitMs = Math.max(openForMs, backoffMs(rounds, BACKOFF, this.#options.random));
    return waitMs > WAIT_MS_MAX ? null : waitMs;
  }
}

/** The failure to report if all failures of a round are conclusive; null otherwise. */
function findConclusive(failures: readonly RpcFailure[]): RpcFailure | null {
  if (!failures.every((failure) => CONCLUSIVE.has(failure.kind))) return null;
  return failures.find((failure) => failure.kind === 'no-state') ?? failures[0] ?? null;
}

async function wait(waitMs: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(waitMs, undefined, { signal });
  } catch (error) {
    throw new RpcFailure('closed', null, { cause: error });
  }
}
