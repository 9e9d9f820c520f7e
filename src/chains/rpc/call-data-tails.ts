// Reads the last four bytes of call data, which marketplaces use as their tag.

import type { Hex } from '../../core/evm.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import type { Endpoint } from './endpoint.ts';
import { invalidResponse, RpcFailure } from './rpc-failure.ts';
import { readBytes, readHash, readObject } from './rpc-values.ts';

const TRANSACTIONS_AT_ONCE = 200;
const TAIL_DIGITS = 8;

/** The tails by transaction hash. Transactions that no endpoint has are left out. */
export async function readCallDataTails(pool: EndpointPool, txs: readonly Hex[]): Promise<Map<Hex, Hex>> {
  const distinct = [...new Set(txs)];
  const tails = new Map<Hex, Hex>();
  for (let from = 0; from < distinct.length; from += TRANSACTIONS_AT_ONCE) {
    await readPart(pool, distinct.slice(from, from + TRANSACTIONS_AT_ONCE), tails);
  }
  return tails;
}

/** Transactions that one endpoint does not have are requested from the next endpoint. */
async function readPart(pool: EndpointPool, txs: readonly Hex[], tails: Map<Hex, Hex>): Promise<void> {
  const fetchMissing = async (endpoint: Endpoint) => {
    const missing = txs.filter((tx) => !tails.has(tx));
    const results = await endpoint.send(missing.map((tx) => ({ method: 'eth_getTransactionByHash', params: [tx] })));
    for (const [index, tx] of missing.entries()) {
      const tail = readTail(results[index], tx);
      if (tail) tails.set(tx, tail);
    }
    if (txs.some((tx) => !tails.has(tx))) throw new RpcFailure('not-found', 'a transaction');
  };
  try {
    await pool.read(fetchMissing);
  } catch (error) {
    if (!(error instanceof RpcFailure && error.kind === 'not-found')) throw error;
  }
}

function readTail(result: unknown, tx: Hex): Hex | null {
  if (result === null || result === undefined) return null;
  const transaction = readObject(result, 'a transaction');
  if (readHash(transaction['hash'], 'the hash of a transaction') !== tx) throw invalidResponse('another transaction');
  const input = readBytes(transaction['input'] ?? transaction['data'], 'call data');
  return `0x${input.slice(2).slice(-TAIL_DIGITS)}`;
}
