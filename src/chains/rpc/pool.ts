// Which endpoint is asked, and who after it: in the configured order, those that rest or lag behind last. Bounded in rounds
// and in time. What to ask and whether an answer can be true is the caller's to say.

import { setTimeout as delay } from 'node:timers/promises';
import type { Chain } from '../../core/chains.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Endpoint } from './endpoint.ts';
import { ChainUnavailable, RpcFailure } from './rpc-failure.ts';

export type Pool = {
  readonly chain: Chain;
  readonly endpoints: readonly Endpoint[];
  /**
   * Asks one endpoint after the other until `work` returns. `work` throws RpcFailure when the endpoint failed, and any
   * other error for what is nobody's fault. Throws ChainUnavailable, or RpcFailure when all endpoints agree that they
   * cannot know.
   */
  ask<T>(work: (endpoint: Endpoint) => Promise<T>): Promise<T>;
  /** Another endpoint than `first` that may be asked now; itself when there is none. */
  second(first: Endpoint): Endpoint;
  /** One attempt at one endpoint, counted. Throws RpcFailure. */
  attempt<T>(endpoint: Endpoint, work: (endpoint: Endpoint) => Promise<T>): Promise<T>;
};

export type PoolOptions = {
  chain: Chain;
  endpoints: readonly Endpoint[];
  log: Log;
  clock: Clock;
  patienceMs: number;
  signal: AbortSignal;
};

const ROUNDS_MAX = 4;
const BACKOFF_MS = 200;
/** Longer than this nobody waits for a resting endpoint within a read: the caller comes again. */
const WAIT_MS_MAX = 5_000;
/** Blocks behind the best head beyond which an endpoint is asked after the others. */
export const LAG_MAX = 10;

export function createPool(options: PoolOptions): Pool {
  const { chain, endpoints, log, clock, patienceMs, signal } = options;

  const inOrder = () => {
    const best = Math.max(...endpoints.map((endpoint) => endpoint.head ?? 0));
    const lags = (endpoint: Endpoint) => endpoint.head !== null && endpoint.head < best - LAG_MAX;
    const awake = endpoints.filter((endpoint) => endpoint.restsUntil() <= clock());
    return [...awake.filter((endpoint) => !lags(endpoint)), ...awake.filter(lags)];
  };

  const attempt: Pool['attempt'] = async (endpoint, work) => {
    try {
      if (signal.aborted) throw new RpcFailure('closed');
      await endpoint.ready();
      const result = await work(endpoint);
      endpoint.settle(null);
      return result;
    } catch (error) {
      if (error instanceof RpcFailure) endpoint.settle(error);
      throw error;
    }
  };

  /** How long until asking again makes sense; null when that is not worth waiting for. */
  const pauseMs = (round: number) => {
    const wakesInMs = Math.min(...endpoints.map((endpoint) => endpoint.restsUntil())) - clock();
    const backoffMs = BACKOFF_MS * 2 ** round * (0.5 + Math.random());
    const waitMs = Math.max(backoffMs, wakesInMs);
    return waitMs > WAIT_MS_MAX ? null : waitMs;
  };

  return {
    chain,
    endpoints,
    attempt,
    second: (first) => inOrder().find((endpoint) => endpoint !== first) ?? first,
    ask: async (work) => {
      const failures = new Map<number, RpcFailure>();
      const startedAt = performance.now();
      let honest: RpcFailure | null = null;
      for (let round = 0; round < ROUNDS_MAX; round += 1) {
        const asked: RpcFailure[] = [];
        for (const endpoint of inOrder()) {
          try {
            return await attempt(endpoint, work);
          } catch (error) {
            if (!(error instanceof RpcFailure)) throw error;
            if (error.kind === 'reverted' || error.kind === 'closed') throw error;
            failures.set(endpoint.position, error);
            asked.push(error);
          }
          if (performance.now() - startedAt > patienceMs) throw new ChainUnavailable(chain.id, failures);
        }
        honest = agreement(asked);
        if (honest && asked.length === endpoints.length) throw honest;
        const waitMs = pauseMs(round);
        if (waitMs === null || round === ROUNDS_MAX - 1) break;
        log.debug('waiting for an endpoint', { chain: chain.id, waitMs });
        await pause(waitMs, signal);
      }
      // Whoever could know better did not come back meanwhile.
      throw honest ?? new ChainUnavailable(chain.id, failures);
    },
  };
}

/** What every endpoint says honestly of itself is not asked again. */
const HONEST: ReadonlySet<string> = new Set(['absent', 'no-state', 'unsupported']);

function agreement(asked: readonly RpcFailure[]): RpcFailure | null {
  if (!asked.every((failure) => HONEST.has(failure.kind))) return null;
  return asked.find((failure) => failure.kind === 'no-state') ?? asked[0] ?? null;
}

async function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(waitMs, undefined, { signal });
  } catch (error) {
    throw new RpcFailure('closed', null, { cause: error });
  }
}
