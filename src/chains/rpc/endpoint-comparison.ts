// Compares the new blocks that one endpoint served with those of the other endpoints, so that no block is stored because of one wrong
// endpoint.

import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import type { Endpoint } from './endpoint.ts';
import type { FetchedLogs } from './fetch-logs.ts';
import { RpcFailure } from './rpc-failure.ts';

/** `new`: new blocks, which are read one by one. `all`: also past blocks, which are read in ranges. */
export type ComparedBlocks = 'new' | 'all' | 'off';

export type ComparisonStatus = {
  /** Reads that were accepted without a comparison since the process started, because no other endpoint could be compared. */
  uncompared: number;
  /** The block about which the endpoints disagree. Neither this block nor a later block is stored meanwhile. Null while they agree. */
  disputed: { block: number; since: number } | null;
};

export type EndpointComparisonOptions = { pool: EndpointPool; compared: ComparedBlocks; clock: Clock; log: Log };

type FetchLogs = (endpoint: Endpoint) => Promise<FetchedLogs>;

/** An endpoint that lacks a block is waited for, unless its newest block has not changed for this long. */
const STANDSTILL_MS = 60_000;

export class EndpointComparison {
  readonly #options: EndpointComparisonOptions;
  /** The head of each endpoint that lacked a block when it was last compared, and since when it has had this head. */
  readonly #behind = new Map<Endpoint, { head: number | null; since: number }>();
  #uncompared = 0;
  #disputed: ComparisonStatus['disputed'] = null;

  constructor(options: EndpointComparisonOptions) {
    this.#options = options;
  }

  /** Whether such blocks are compared. False with a single endpoint. */
  compares(blocks: 'new' | 'past'): boolean {
    const { pool, compared } = this.#options;
    return pool.endpoints.length > 1 && (compared === 'all' || (compared === 'new' && blocks === 'new'));
  }

  status(): ComparisonStatus {
    return { uncompared: this.#uncompared, disputed: this.#disputed };
  }

  /**
   * Whether the blocks of `first` may be stored. True if another endpoint serves the same last block and the same logs. False if no
   * endpoint agrees, and one contradicts `first` or does not have the block yet. An endpoint that two other endpoints contradict counts as
   * failed. If no other endpoint can be called, or all other endpoints fail or stand still, the blocks are accepted without a comparison,
   * and counted. Always true with a single endpoint, and if `blocks` are not compared.
   */
  async accepts(blocks: 'new' | 'past', first: FetchedLogs, fetchAgain: FetchLogs): Promise<boolean> {
    if (!this.compares(blocks)) return true;
    const { pool } = this.#options;
    const votes = new Map<string, Endpoint[]>([[toComparable(first), [first.endpoint]]]);
    let isAwaited = false;
    for (const other of pool.endpoints) {
      if (other === first.endpoint || !other.enter()) continue;
      const second = await this.#tryFetch(other, fetchAgain);
      if (second === 'not-found' && !this.#standsStill(other)) isAwaited = true;
      if (typeof second === 'string') continue;
      this.#behind.delete(other);
      const key = toComparable(second);
      votes.set(key, [...(votes.get(key) ?? []), other]);
      const majority = [...votes.values()].find((endpoints) => endpoints.length > 1);
      if (majority) return this.#decide(first, majority, [...votes.values()].flat());
    }
    if (votes.size > 1) return this.#dispute(first.to);
    if (isAwaited) return false;
    this.#uncompared += 1;
    this.#disputed = null;
    return true;
  }

  #decide(first: FetchedLogs, majority: readonly Endpoint[], voters: readonly Endpoint[]): boolean {
    this.#disputed = null;
    const failure = new RpcFailure('contradicted', `block ${first.to}`);
    for (const endpoint of voters) if (!majority.includes(endpoint)) endpoint.failed(failure);
    return majority.includes(first.endpoint);
  }

  #dispute(block: number): false {
    const { log, clock, pool } = this.#options;
    if (this.#disputed?.block === block) return false;
    this.#disputed = { block, since: clock() };
    log.warn('the endpoints of a chain disagree about a block, which is not read until they agree', {
      chain: pool.chain.id,
      block,
    });
    return false;
  }

  async #tryFetch(endpoint: Endpoint, fetchAgain: FetchLogs): Promise<FetchedLogs | 'not-found' | 'failed'> {
    try {
      return await this.#options.pool.attempt(endpoint, fetchAgain);
    } catch (error) {
      if (!(error instanceof RpcFailure) || error.kind === 'closed') throw error;
      return error.kind === 'not-found' ? 'not-found' : 'failed';
    }
  }

  /** Whether the head of an endpoint without the block has not changed for STANDSTILL_MS. */
  #standsStill(endpoint: Endpoint): boolean {
    const now = this.#options.clock();
    const known = this.#behind.get(endpoint);
    if (known && known.head === endpoint.head) return now - known.since >= STANDSTILL_MS;
    this.#behind.set(endpoint, { head: endpoint.head, since: now });
    return false;
  }
}

/**
 * Equal for two responses with the same last block and the same logs. The times of logs are left out, because not every endpoint serves
 * them.
 */
function toComparable({ last: { header }, logs }: FetchedLogs): string {
  const parts = logs.map(({ address, topics, data, blockNumber, blockHash, tx, logIndex }) =>
    [address, topics, data, blockNumber, blockHash, tx, logIndex].join(),
  );
  return [header.number, header.hash, header.parentHash, header.time, ...parts].join('\n');
}
