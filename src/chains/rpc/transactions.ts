// Reads the senders and the call data of transactions.

import type { Address } from '../../core/address.ts';
import { parseAddress } from '../../core/address.ts';
import type { Hex } from '../../core/evm.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import type { Endpoint } from './endpoint.ts';
import { invalidResponse, RpcFailure } from './rpc-failure.ts';
import { readBytes, readHash, readObject } from './rpc-values.ts';

/** `sender` is the account that signed the transaction, or null when the endpoint did not send it. */
export type Transaction = { sender: Address | null; callData: Hex };

const TRANSACTIONS_AT_ONCE = 200;

/** By transaction hash. Transactions that no endpoint has are left out. */
export async function readTransactions(pool: EndpointPool, txs: readonly Hex[]): Promise<Map<Hex, Transaction>> {
  const distinct = [...new Set(txs)];
  const found = new Map<Hex, Transaction>();
  for (let from = 0; from < distinct.length; from += TRANSACTIONS_AT_ONCE) {
    await readPart(pool, distinct.slice(from, from + TRANSACTIONS_AT_ONCE), found);
  }
  return found;
}

/** Transactions that one endpoint does not have are requested from the next endpoint. */
async function readPart(pool: EndpointPool, txs: readonly Hex[], found: Map<Hex, Transaction>): Promise<void> {
  const fetchMissing = async (endpoint: Endpoint) => {
    const missing = txs.filter((tx) => !found.has(tx));
    const results = await endpoint.send(missing.map((tx) => ({ method: 'eth_getTransactionByHash', params: [tx] })));
    for (const [index, tx] of missing.entries()) {
      const transaction = readTransaction(results[index], tx);
      if (transaction) found.set(tx, transaction);
    }
    if (txs.some((tx) => !found.has(tx))) throw new RpcFailure('not-found', 'a transaction');
  };
  try {
    await pool.read(fetchMissing);
  } catch (error) {
    if (!(error instanceof RpcFailure && error.kind === 'not-found')) throw error;
  }
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
