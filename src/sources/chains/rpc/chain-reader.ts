// Reads one EVM chain through endpoints that may be wrong, slow, rate-limited or down.

import type { Chain } from '../../../platform/core/chains.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Random } from '../../../platform/core/random.ts';
import { BlockReads } from './block-reads.ts';
import { ContractReads } from './contract-reads.ts';
import type { ComparedReads, OnUncompared } from './endpoint-comparison.ts';
import { EndpointComparison } from './endpoint-comparison.ts';
import { EndpointPool } from './endpoint-pool.ts';
import type { EndpointStatus } from './endpoint.ts';
import { Endpoint } from './endpoint.ts';
import { EventReads } from './event-reads.ts';
import { PoolReads } from './pool-reads.ts';
import type { Transaction } from './transactions.ts';
import { TransactionReads } from './transactions.ts';
import { UnreadLogs } from './unread-logs.ts';

export type ChainReaderOptions = {
  chain: Chain;
  /** In order of preference. */
  urls: readonly string[];
  /** Which reads are compared with another endpoint. Default: `all`. */
  compared?: ComparedReads;
  log: Log;
  clock: Clock;
  random: Random;
  timeoutMs?: number;
  /** How long one read is retried. A running attempt is not aborted. */
  patienceMs?: number;
  /** How long the breaker of a failing endpoint stays open at first. The time doubles with each failed trial. */
  openMs?: number;
};

const TIMEOUT_MS = 10_000;
const PATIENCE_MS = 45_000;
const OPEN_MS = 1_000;

/**
 * A read throws ChainUnavailable when no endpoint returned a usable response. A read throws RpcFailure of kind `not-found` or `no-state`
 * when the endpoints do not have the block or its state. Some reads behave otherwise. Their comments say how.
 */
export class ChainReader {
  readonly chain: Chain;
  readonly blocks: BlockReads;
  readonly events: EventReads;
  readonly contracts: ContractReads;
  readonly pools: PoolReads;
  readonly unread: UnreadLogs;
  readonly comparison: EndpointComparison;
  readonly #pool: EndpointPool;
  readonly #transactions: TransactionReads;
  readonly #closing = new AbortController();

  constructor(options: ChainReaderOptions) {
    const { chain, urls, log, clock, random } = options;
    const { timeoutMs = TIMEOUT_MS, patienceMs = PATIENCE_MS, openMs = OPEN_MS } = options;
    const { compared = 'all' } = options;
    if (chain.family !== 'evm') throw new Error(`${chain.id} is not an EVM chain`);
    const { signal } = this.#closing;
    const endpoints = urls.map(
      (url, position) => new Endpoint({ url, position, chain, log, clock, random, timeoutMs, openMs, signal }),
    );
    this.chain = chain;
    this.#pool = new EndpointPool({ chain, endpoints, log, random, patienceMs, signal });
    this.blocks = new BlockReads(this.#pool, clock);
    this.comparison = new EndpointComparison({ pool: this.#pool, compared, clock, log });
    this.#transactions = new TransactionReads(this.#pool, this.comparison);
    this.unread = new UnreadLogs(chain.id, log);
    this.events = new EventReads(this.#pool, this.comparison, this.unread, log);
    this.contracts = new ContractReads(this.#pool, this.comparison, () => this.blocks.sharedHead());
    this.pools = new PoolReads(this.#pool, this.comparison, this.contracts, log);
  }

  /** Reads transactions by their hashes (TransactionReads.read). Transactions that no endpoint has are left out. */
  transactions(txs: readonly Hex[], onUncompared?: OnUncompared): Promise<Map<Hex, Transaction>> {
    return this.#transactions.read(txs, onUncompared);
  }

  endpoints(): EndpointStatus[] {
    return this.#pool.endpoints.map((endpoint) => endpoint.status(this.blocks.bestHead));
  }

  /** Aborts the requests in progress. Later reads throw RpcFailure of kind `closed`. */
  close(): void {
    this.#closing.abort();
  }
}
