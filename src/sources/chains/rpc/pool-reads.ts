// Reads the swaps of pools. The contracts of pools are not known in advance, so all logs with the first topic of a swap are read, from any
// contract. The code of a contract that has emitted such a log then shows whether a factory has created the contract.

import { LRUCache } from 'lru-cache';
import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { VerifiedLog } from '../protocols/event-decoder.ts';
import type { FactoryTemplates, Pool, PoolEvents, PoolTemplate } from '../protocols/pool-events.ts';
import { parsePool } from '../protocols/pool-events.ts';
import type { ContractReads } from './contract-reads.ts';
import type { EndpointComparison, OnUncompared } from './endpoint-comparison.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import type { Endpoint } from './endpoint.ts';
import { readLogs } from './log-response.ts';
import type { RpcFailureKind } from './rpc-failure.ts';
import { ChainUnavailable, RpcFailure } from './rpc-failure.ts';
import { toQuantity } from './rpc-values.ts';

export type SwapRange = {
  from: number;
  to: number;
  topics: ReadonlySet<Hex>;
  /** Swaps in other transactions are left out. */
  txs: ReadonlySet<Hex>;
};

/** The most contracts of which the process remembers whether they are pools. */
const CONTRACTS_MAX = 20_000;
/** How many times a range is read if the read fails. After that, the range is left out. */
const ATTEMPTS_MAX = 3;

const TOO_LARGE: ReadonlySet<RpcFailureKind> = new Set(['range-too-large', 'too-large']);
/** The failures of endpoints that serve only the logs of named contracts. */
const REFUSED: ReadonlySet<RpcFailureKind> = new Set(['rpc-error', 'rejected', 'unsupported']);

/** `pool` is null for a contract that no factory has made. */
export type PoolLog = { log: VerifiedLog; pool: Pool | null };

type Swaps = { endpoint: Endpoint; logs: VerifiedLog[] };

export class PoolReads {
  readonly #pool: EndpointPool;
  readonly #comparison: EndpointComparison;
  readonly #contracts: ContractReads;
  readonly #log: Log;
  readonly #known = new LRUCache<Address, { pool: Pool | null }>({ max: CONTRACTS_MAX });
  readonly #templates = new Map<Address, FactoryTemplates>();
  /** The start of the range that failed last, and the number of its failures in a row. */
  #failing = { from: -1, attempts: 0 };
  #unreadRanges = 0;

  constructor(pool: EndpointPool, comparison: EndpointComparison, contracts: ContractReads, log: Log) {
    this.#pool = pool;
    this.#comparison = comparison;
    this.#contracts = contracts;
    this.#log = log;
  }

  /** How many ranges of blocks were left out since the process started, because no endpoint served their swaps. */
  unreadRanges(): number {
    return this.#unreadRanges;
  }

  /**
   * The swaps in the transactions `txs`, in block order, with the pools that `factories` made. If no endpoint serves the logs of all
   * contracts, or if the read fails ATTEMPTS_MAX times, the result is empty, and the range is counted and logged: the sales of pools must
   * not stop the reading of the chain. Throws RpcFailure of kind `contradicted` when the endpoints return different data.
   * `onUncompared` is called if the logs could not be compared.
   */
  async swaps(
    range: SwapRange,
    factories: ReadonlyMap<Address, PoolEvents>,
    onUncompared?: OnUncompared,
  ): Promise<PoolLog[]> {
    try {
      const logs = await this.#readLogs(range, onUncompared);
      const pools = await this.#readPools(new Set(logs.map(({ address }) => address)), factories, range.to);
      if (this.#failing.from === range.from) this.#failing.attempts = 0;
      return logs.map((log) => ({ log, pool: pools.get(log.address) ?? null }));
    } catch (error) {
      if (!isSkippable(error)) throw error;
      if (!this.#isRefused(error) && this.#countFailure(range.from) < ATTEMPTS_MAX) throw error;
      this.#unreadRanges += 1;
      this.#log[this.#unreadRanges === 1 ? 'warn' : 'debug']('the sales of pools are not read', {
        chain: this.#pool.chain.id,
        from: range.from,
        to: range.to,
        error,
      });
      return [];
    }
  }

  /** `contracts` have emitted logs in a range of blocks. `block` is the last block of this range. */
  async #readPools(
    contracts: ReadonlySet<Address>,
    factories: ReadonlyMap<Address, PoolEvents>,
    block: number,
  ): Promise<Map<Address, Pool>> {
    const unknown = [...contracts].filter((contract) => !this.#known.has(contract));
    const read = new Map<Address, Pool | null>();
    if (unknown.length > 0) {
      const templates = await this.#readTemplates(factories);
      for (const [contract, code] of await this.#readCodes(unknown, block))
        read.set(contract, parsePool(code, templates));
    }
    for (const [contract, pool] of read) this.#known.set(contract, { pool });
    const pools = new Map<Address, Pool>();
    for (const contract of contracts) {
      const pool = read.get(contract) ?? this.#known.get(contract)?.pool;
      if (pool) pools.set(contract, pool);
    }
    return pools;
  }

  async #readLogs(range: SwapRange, onUncompared?: OnUncompared): Promise<VerifiedLog[]> {
    const fetch = async (endpoint: Endpoint): Promise<Swaps> => {
      const logs = await fetchSwaps(endpoint, range);
      return { endpoint, logs: logs.filter(({ tx }) => range.txs.has(tx)) };
    };
    const fetchSecond = this.#comparison.fetchAhead('call', fetch);
    const first = await this.#pool.read(fetch);
    const verdict = await this.#comparison.judge(
      {
        kind: 'call',
        topic: `swaps ${range.from}`,
        block: range.to,
        blocks: 0,
        toComparable: ({ logs }) =>
          JSON.stringify(logs.map((log) => [log.address, log.topics, log.data, log.blockHash, log.tx, log.logIndex])),
        fetch: fetchSecond,
        ...(onUncompared && { onUncompared }),
      },
      first,
    );
    if (verdict === 'accepted') return first.logs;
    throw new RpcFailure('contradicted', `swaps of blocks ${range.from} to ${range.to}`);
  }

  /** Whether every endpoint refuses requests for the logs of all contracts. */
  #isRefused(error: unknown): boolean {
    if (!(error instanceof ChainUnavailable)) return error instanceof RpcFailure && error.kind === 'refused';
    const { failures } = error;
    return (
      failures.size === this.#pool.endpoints.length && [...failures.values()].every(({ kind }) => kind === 'refused')
    );
  }

  #countFailure(from: number): number {
    const attempts = this.#failing.from === from ? this.#failing.attempts + 1 : 1;
    this.#failing = { from, attempts };
    return attempts;
  }

  /** The templates of a factory never change, so they are read once. A factory that is not deployed has none. */
  async #readTemplates(factories: ReadonlyMap<Address, PoolEvents>): Promise<FactoryTemplates[]> {
    const read: FactoryTemplates[] = [];
    for (const [factory, { templates }] of factories) {
      const known = this.#templates.get(factory) ?? (await this.#fetchTemplates(factory, templates));
      if (known.byAddress.size === templates.length) this.#templates.set(factory, known);
      read.push(known);
    }
    return read;
  }

  async #fetchTemplates(factory: Address, templates: readonly PoolTemplate[]): Promise<FactoryTemplates> {
    const addresses = await this.#contracts.addresses(
      factory,
      templates.map(({ getter }) => getter),
    );
    const byAddress = new Map<Address, PoolTemplate>();
    for (const [index, template] of templates.entries()) {
      const address = addresses[index];
      if (address) byAddress.set(address, template);
    }
    return { factory, byAddress };
  }

  /**
   * The code is first read in the newest state, because an endpoint may not keep the states of old blocks. If a contract is missing there,
   * its code is read at `block`.
   */
  async #readCodes(contracts: readonly Address[], block: number): Promise<[Address, Hex][]> {
    const codes = await this.#contracts.codes(contracts, 'latest');
    const missing = contracts.filter((_, index) => codes[index] === '0x');
    const later = missing.length === 0 ? [] : await this.#contracts.codes(missing, block);
    return contracts.map((contract, index) => {
      const at = missing.indexOf(contract);
      return [contract, (at < 0 ? codes[index] : later[at]) ?? '0x'];
    });
  }
}

function isSkippable(error: unknown): boolean {
  if (error instanceof ChainUnavailable) return true;
  return error instanceof RpcFailure && error.kind !== 'contradicted' && error.kind !== 'closed';
}

/** If the range has too many logs for one response, its halves are fetched. Throws RpcFailure. */
async function fetchSwaps(endpoint: Endpoint, { from, to, topics }: SwapRange): Promise<VerifiedLog[]> {
  const where = { fromBlock: toQuantity(from), toBlock: toQuantity(to), topics: [[...topics]] };
  try {
    const [result] = await endpoint.send([{ method: 'eth_getLogs', params: [where] }]);
    return readLogs(result, { addresses: null, topics, from, to, hashes: new Map() });
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    if (REFUSED.has(error.kind)) throw new RpcFailure('refused', error.message);
    if (!TOO_LARGE.has(error.kind) || from === to) throw error;
    const middle = Math.floor((from + to) / 2);
    const rest = { topics, txs: new Set<Hex>() };
    return [
      ...(await fetchSwaps(endpoint, { from, to: middle, ...rest })),
      ...(await fetchSwaps(endpoint, { from: middle + 1, to, ...rest })),
    ];
  }
}
