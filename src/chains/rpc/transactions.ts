// Reads the senders and the call data of transactions, and compares them between two endpoints.

import type { Address } from '../../core/address.ts';
import { parseAddress } from '../../core/address.ts';
import type { Hex } from '../../core/evm.ts';
import type { EndpointComparison } from './endpoint-comparison.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import type { Endpoint } from './endpoint.ts';
import { invalidResponse, RpcFailure } from './rpc-failure.ts';
import { readBytes, readHash, readObject } from './rpc-values.ts';

/** `sender` is the account that signed the transaction, or null when the endpoint did not send it. */
export type Transaction = { sender: Address | null; callData: Hex };

const TRANSACTIONS_AT_ONCE = 200;

type Transactions = { endpoint: Endpoint; found: ReadonlyMap<Hex, Transaction> };

/**
 * Returns the transactions by hash. Transactions that no endpoint has are left out. Throws RpcFailure of kind `contradicted` when the
 * endpoints return different transactions.
 */
export async function readTransactions(
  pool: EndpointPool,
  comparison: EndpointComparison,
  txs: readonly Hex[],
): Promise<Map<Hex, Transaction>> {
  const distinct = [...new Set(txs)];
  const all = new Map<Hex, Transaction>();
  for (let from = 0; from < distinct.length; from += TRANSACTIONS_AT_ONCE) {
    const part = distinct.slice(from, from + TRANSACTIONS_AT_ONCE);
    const found = (await readCompared(pool, comparison, part)) ?? (await readFromSeveral(pool, comparison, part));
    for (const [tx, transaction] of found) all.set(tx, transaction);
  }
  return all;
}

/** Null when no endpoint has all of the transactions. */
async function readCompared(
  pool: EndpointPool,
  comparison: EndpointComparison,
  txs: readonly Hex[],
): Promise<ReadonlyMap<Hex, Transaction> | null> {
  const fetchAll = async (endpoint: Endpoint): Promise<Transactions> => {
    const found = await fetchTransactions(endpoint, txs);
    // The kind `not-found` would make the comparison wait for an endpoint that does not keep old transactions.
    if (found.size < txs.length) throw new RpcFailure('no-state', 'a transaction');
    return { endpoint, found };
  };
  const fetch = comparison.fetchAhead('call', fetchAll);
  const first = await nullIfMissing(pool.read(fetchAll));
  if (!first) return null;
  const [topic = ''] = txs;
  const toComparable = ({ found }: Transactions) => JSON.stringify(txs.map((tx) => found.get(tx)));
  const verdict = await comparison.judge({ kind: 'call', topic, block: 0, blocks: 0, toComparable, fetch }, first);
  if (verdict === 'accepted') return first.found;
  throw new RpcFailure('contradicted', 'transactions');
}

/**
 * Transactions that one endpoint does not have are requested from the next endpoint. The transactions are not compared. They count as one
 * uncompared read.
 */
async function readFromSeveral(
  pool: EndpointPool,
  comparison: EndpointComparison,
  txs: readonly Hex[],
): Promise<Map<Hex, Transaction>> {
  const found = new Map<Hex, Transaction>();
  const fetchMissing = async (endpoint: Endpoint) => {
    const missing = txs.filter((tx) => !found.has(tx));
    for (const [tx, transaction] of await fetchTransactions(endpoint, missing)) found.set(tx, transaction);
    if (found.size < txs.length) throw new RpcFailure('not-found', 'a transaction');
  };
  await nullIfMissing(pool.read(fetchMissing));
  const [topic = ''] = txs;
  if (found.size > 0) comparison.acceptUncompared({ kind: 'call', topic, blocks: 0 });
  return found;
}

async function nullIfMissing<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof RpcFailure && (error.kind === 'not-found' || error.kind === 'no-state')) return null;
    throw error;
  }
}

async function fetchTransactions(endpoint: Endpoint, txs: readonly Hex[]): Promise<Map<Hex, Transaction>> {
  const results = await endpoint.send(txs.map((tx) => ({ method: 'eth_getTransactionByHash', params: [tx] })));
  const found = new Map<Hex, Transaction>();
  for (const [index, tx] of txs.entries()) {
    const transaction = readTransaction(results[index], tx);
    if (transaction) found.set(tx, transaction);
  }
  return found;
}

function readTransaction(result: unknown, tx: Hex): Transaction | null {
  if (result === null || result === undefined) return null;
  const fields = readObject(result, 'a transaction');
  if (readHash(fields['hash'], 'the hash of a transaction') !== tx) throw invalidResponse('another transaction');
  const { from } = fields;
  return {
    sender: typeof from === 'string' ? parseAddress('evm', from) : null,
    callData: readBytes(fields['input'] ?? fields['data'], 'call data'),
  };
}
