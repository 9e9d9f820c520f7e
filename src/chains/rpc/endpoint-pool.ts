// The endpoints of a chain and the order in which they are called: as configured, without those whose breaker is open, and those
// that lag behind last. A read is bounded in rounds and in time. What is requested, and whether a response can be true, is for the
// caller to say.

import { setTimeout as delay } from 'node:timers/promises';
import type { Chain } from '../../core/chains.ts';
import type { Log } from '../../core/log.ts';
import type { Random } from '../../core/random.ts';
import { backoffMs } from '../../resilience/backoff.ts';
import type { Endpoint } from './endpoint.ts';
import type { RpcFailureKind } from './rpc-failure.ts';
import { ChainUnavailable, RpcFailure } from './rpc-failure.ts';

export type EndpointPoolOptions = {
  chain: Chain;
  /** In order of preference. */
  endpoints: readonly Endpoint[];
  log: Log;
  random: Random;
  /** For one read with all its retries: no request starts after that. */
  patienceMs: number;
  signal: AbortSignal;
};

const ROUNDS_MAX = 4;
/** The longest wait for an endpoint within one read: the caller tries again later. */
const WAIT_MS_MAX = 5_000;
const BACKOFF = { baseMs: 300, maxMs: WAIT_MS_MAX, jitter: 0.5 };
/** Blocks behind the best head beyond which an endpoint is called after the others. */
export const LAG_MAX = 10;

/** What endpoints say of themselves: when all of them say so, asking again is useless. */
const CONCLUSIVE: ReadonlySet<RpcFailureKind> = new Set(['not-found', 'no-state', 'unsupported']);

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
   * Calls `work` with one endpoint after the other until it returns. `work` throws RpcFailure when the endpoint failed; any
   * other error ends the read. Throws ChainUnavailable, or RpcFailure when all endpoints agree that they cannot know.
   */
  async read<T>(work: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    const { chain, log, patienceMs, signal } = this.#options;
    const failures = new Map<number, RpcFailure>();
    const startedAt = performance.now();
    let conclusive: RpcFailure | null = null;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const failuresOfRound: RpcFailure[] = [];
      for (const endpoint of this.#inOrder()) {
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
      const waitMs = this.#waitMs(round);
      if (waitMs === null || round === ROUNDS_MAX - 1) break;
      log.debug('waiting for an endpoint', { chain: chain.id, waitMs });
      await wait(waitMs, signal);
    }
    // The breakers of the endpoints that might know more were open all the time.
    throw conclusive ?? new ChainUnavailable(chain.id, failures);
  }

  /** One call of `work` with an endpoint that was entered before, its outcome recorded. Throws RpcFailure. */
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

  /** Another endpoint than `first`, entered for one attempt; `first` itself when no other may be called now. */
  enterAlternative(first: Endpoint): Endpoint {
    return this.#inOrder().find((endpoint) => endpoint !== first && endpoint.enter()) ?? first;
  }

  /** All endpoints that may be called now, each entered for one attempt. */
  enterAll(): Endpoint[] {
    return this.endpoints.filter((endpoint) => endpoint.enter());
  }

  #inOrder(): Endpoint[] {
    const best = Math.max(...this.endpoints.map((endpoint) => endpoint.head ?? 0));
    const lags = ({ head }: Endpoint) => head !== null && head < best - LAG_MAX;
    const available = this.endpoints.filter(({ health }) => health.isAvailable());
    return [...available.filter((endpoint) => !lags(endpoint)), ...available.filter(lags)];
  }

  /** How long until another round makes sense; null when that is too long to wait. */
  #waitMs(round: number): number | null {
    const openForMs = Math.min(...this.endpoints.map(({ health }) => health.openForMs()));
    const waitMs = Math.max(openForMs, backoffMs(round + 1, BACKOFF, this.#options.random));
    return waitMs > WAIT_MS_MAX ? null : waitMs;
  }
}

/** The failure to report when all of them are conclusive; null otherwise. */
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
