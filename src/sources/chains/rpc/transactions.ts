// Reads the senders and the call data of transactions, and compares them between two endpoints.

import { LRUCache } from 'lru-cache';
import type { Address } from '../../../platform/core/address.ts';
import { parseAddress } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import type { EndpointComparison, OnUncompared } from './endpoint-comparison.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import type { Endpoint } from './endpoint.ts';
import { invalidResponse, RpcFailure } from './rpc-failure.ts';
import { readBytes, readHash, readObject } from './rpc-values.ts';

/**
 * `sender` is the account that signed the transaction, `value` the native currency that it carries, a decimal number of base units. Each is null
 * when the endpoint did not send it.
 */
export type Transaction = { sender: Address | null; callData: Hex; value: string | null };

/** The most transactions in one compared read. `Endpoint.send` requests these transactions in batches. */
const TRANSACTIONS_AT_ONCE = 200;
/** The most characters of call data that are kept for each endpoint after a failed read. */
const KEPT_CHARACTERS_MAX = 64 * 2 ** 20;
/** How many characters a kept transaction counts in addition to its call data. */
const KEPT_OVERHEAD = 200;

const QUANTITY = /^0x[0-9a-f]{1,64}$/i;

type Transactions = { endpoint: Endpoint; found: ReadonlyMap<Hex, Transaction> };

export class TransactionReads {
  readonly #pool: EndpointPool;
  readonly #comparison: EndpointComparison;
  /**
   * What each endpoint has sent for reads that are not complete. A read that is repeated after a failure continues with these transactions:
   * otherwise a rate-limited endpoint might never complete a long read.
   */
  readonly #kept = new Map<Endpoint, LRUCache<Hex, Transaction>>();

  constructor(pool: EndpointPool, comparison: EndpointComparison) {
    this.#pool = pool;
    this.#comparison = comparison;
  }

  /**
   * Returns the transactions by hash. Transactions that no endpoint has are left out. Throws RpcFailure of kind `contradicted` when the
   * endpoints return different transactions. `onUncompared` is called if an endpoint had all transactions and no other endpoint could be called.
   */
  async read(txs: readonly Hex[], onUncompared?: OnUncompared): Promise<Map<Hex, Transaction>> {
    const distinct = [...new Set(txs)];
    const all = new Map<Hex, Transaction>();
    for (let from = 0; from < distinct.length; from += TRANSACTIONS_AT_ONCE) {
      const part = distinct.slice(from, from + TRANSACTIONS_AT_ONCE);
      const found = (await this.#readCompared(part, onUncompared)) ?? (await this.#readFromSeveral(part));
      for (const [tx, transaction] of found) all.set(tx, transaction);
    }
    this.#discard(distinct);
    return all;
  }

  /** Null when no endpoint has all of the transactions. */
  async #readCompared(txs: readonly Hex[], onUncompared?: OnUncompared): Promise<ReadonlyMap<Hex, Transaction> | null> {
    const fetchAll = async (endpoint: Endpoint): Promise<Transactions> => {
      const found = await this.#fetch(endpoint, txs);
      // The kind `not-found` would make the comparison wait for an endpoint that does not keep old transactions.
      if (found.size < txs.length) throw new RpcFailure('no-state', 'a transaction');
      return { endpoint, found };
    };
    const fetch = this.#comparison.fetchAhead('call', fetchAll);
    const first = await nullIfMissing(this.#pool.read(fetchAll));
    if (!first) return null;
    const [topic = ''] = txs;
    const toComparable = ({ found }: Transactions) => JSON.stringify(txs.map((tx) => found.get(tx)));
    const verdict = await this.#comparison.judge(
      { kind: 'call', topic, block: 0, blocks: 0, toComparable, fetch, ...(onUncompared && { onUncompared }) },
      first,
    );
    if (verdict === 'accepted') return first.found;
    // The next read requests the transactions again, because the endpoints may agree by then.
    this.#discard(txs);
    throw new RpcFailure('contradicted', 'transactions');
  }

  /**
   * Transactions that one endpoint does not have are requested from the next endpoint. The transactions are not compared. They count as one
   * uncompared read.
   */
  async #readFromSeveral(txs: readonly Hex[]): Promise<Map<Hex, Transaction>> {
    const found = new Map<Hex, Transaction>();
    const fetchMissing = async (endpoint: Endpoint) => {
      const missing = txs.filter((tx) => !found.has(tx));
      for (const [tx, transaction] of await this.#fetch(endpoint, missing)) found.set(tx, transaction);
      if (found.size < txs.length) throw new RpcFailure('not-found', 'a transaction');
    };
    await nullIfMissing(this.#pool.read(fetchMissing));
    const [topic = ''] = txs;
    if (found.size > 0) this.#comparison.acceptUncompared({ kind: 'call', topic, blocks: 0 });
    return found;
  }

  /** Requests the transactions that the endpoint has not sent before. Transactions that it does not have are left out. */
  async #fetch(endpoint: Endpoint, txs: readonly Hex[]): Promise<Map<Hex, Transaction>> {
    const kept = this.#keptOf(endpoint);
    const found = new Map<Hex, Transaction>();
    for (const tx of txs) {
      const transaction = kept.get(tx);
      if (transaction) found.set(tx, transaction);
    }
    const missing = txs.filter((tx) => !found.has(tx));
    await endpoint.send(missing.map(toRequest), {
      onAccepted: (requests, results) => {
        for (const [index, { params }] of requests.entries()) {
          const [tx] = params;
          const transaction = readTransaction(results[index], tx);
          if (!transaction) continue;
          found.set(tx, transaction);
          kept.set(tx, transaction);
        }
      },
    });
    return found;
  }

  #keptOf(endpoint: Endpoint): LRUCache<Hex, Transaction> {
    let kept = this.#kept.get(endpoint);
    if (!kept) {
      const sizeCalculation = ({ callData }: Transaction) => callData.length + KEPT_OVERHEAD;
      kept = new LRUCache<Hex, Transaction>({ maxSize: KEPT_CHARACTERS_MAX, sizeCalculation });
      this.#kept.set(endpoint, kept);
    }
    return kept;
  }

  #discard(txs: readonly Hex[]): void {
    for (const kept of this.#kept.values()) for (const tx of txs) kept.delete(tx);
  }
}

const toRequest = (tx: Hex) => ({ method: 'eth_getTransactionByHash', params: [tx] as const });

async function nullIfMissing<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof RpcFailure && (error.kind === 'not-found' || error.kind === 'no-state')) return null;
    throw error;
  }
}

function readTransaction(result: unknown, tx: Hex): Transaction | null {
  if (result === null || result === undefined) return null;
  const fields = readObject(result, 'a transaction');
  if (readHash(fields['hash'], 'the hash of a transaction') !== tx) throw invalidResponse('another transaction');
  const { from, value } = fields;
  return {
    sender: typeof from === 'string' ? parseAddress('evm', from) : null,
    callData: readBytes(fields['input'] ?? fields['data'], 'call data'),
    value: typeof value === 'string' && QUANTITY.test(value) ? BigInt(value).toString() : null,
  };
}
