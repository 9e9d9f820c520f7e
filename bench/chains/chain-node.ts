// A simulated EVM node: a JSON-RPC server whose blocks have the logs that a function returns. A GET returns the number of calls.

import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

const GENESIS_S = 1_700_000_000;
const BLOCK_S = 2;
const RANGE_MAX = 2_000;
const NO_BLOOM = `0x${'0'.repeat(512)}`;

export type NodeChain = {
  /** The number of the newest block. */
  head: () => number;
  /** The logs of a block as JSON texts (`toLogText`): at least the logs of the contracts in `addresses`. */
  logsOf: (block: number, addresses: ReadonlySet<string>) => readonly string[];
  /** The transactions of a complete block. */
  transactionsOf?: (block: number) => readonly unknown[];
  /** How long each response is delayed. */
  latencyMs?: number;
  /** Handles the body of a PUT. */
  onPut?: (body: string) => void;
};

export const word = (value: number | bigint) => value.toString(16).padStart(64, '0');
export const hashOf = (block: number) => `0x${word(0xb10c_0000_0000 + block)}` as const;
export const txOf = (block: number, index: number) => `0x${word(block * 10_000 + index)}`;
const numberOf = (hash: string) => Number(BigInt(hash) - 0xb10c_0000_0000n);

type NodeLog = { block: number; index: number; address: string; topics: readonly (string | null)[]; data: string };

/** `tx`: the index of the transaction in the block. Default: each log has a transaction of its own. */
export function toLogText({ block, index, address, topics, data }: NodeLog, tx = index): string {
  const hex = (value: number) => `0x${value.toString(16)}`;
  return (
    `{"address":"${address}","topics":${JSON.stringify(topics)},"data":"${data}","blockNumber":"${hex(block)}",` +
    `"blockHash":"${hashOf(block)}","blockTimestamp":"${hex(GENESIS_S + block * BLOCK_S)}",` +
    `"transactionHash":"${txOf(block, tx)}","transactionIndex":"${hex(tx)}","logIndex":"${hex(index)}","removed":false}`
  );
}

function headerOf(block: number) {
  return {
    number: `0x${block.toString(16)}`,
    hash: hashOf(block),
    parentHash: hashOf(block - 1),
    timestamp: `0x${(GENESIS_S + block * BLOCK_S).toString(16)}`,
    logsBloom: NO_BLOOM,
    transactions: [],
  };
}

/** Starts the server, and prints its port to standard output. */
export function serveChain(chain: NodeChain): void {
  const { latencyMs = 0, onPut } = chain;
  let calls = 0;
  const call = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    if (request.method === 'PUT') {
      onPut?.(body);
      response.end();
      return;
    }
    await delay(latencyMs);
    const received = JSON.parse(body) as RpcCall | RpcCall[];
    calls += Array.isArray(received) ? received.length : 1;
    const sent = Array.isArray(received)
      ? `[${received.map((one) => respond(chain, one)).join(',')}]`
      : respond(chain, received);
    response.writeHead(200, { 'content-type': 'application/json' }).end(sent);
  };
  const server = createServer((request, response) => {
    if (request.method === 'GET') response.end(String(calls));
    else call(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.stdout.write(`${typeof address === 'object' && address ? address.port : 0}\n`);
  });
}

type RpcCall = {
  id: number;
  method: string;
  params: [Record<string, string> & { address?: readonly string[] }, ...unknown[]];
};

function respond(chain: NodeChain, { id, method, params }: RpcCall): string {
  const wrap = (result: string) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  if (method === 'eth_chainId') return wrap('"0x1"');
  if (method === 'eth_getBlockByNumber') {
    const named = params[0] as unknown as string;
    const number = named === 'latest' || named === 'finalized' ? chain.head() : Number(named);
    if (number > chain.head()) return wrap('null');
    return wrap(JSON.stringify(params[1] === true ? completeBlockOf(chain, number) : headerOf(number)));
  }
  if (method === 'eth_getBlockByHash') return wrap(JSON.stringify(headerOf(numberOf(params[0] as unknown as string))));
  if (method === 'eth_getLogs') {
    const { fromBlock, toBlock, blockHash, address } = params[0];
    const from = blockHash === undefined ? Number(fromBlock) : numberOf(blockHash);
    const to = blockHash === undefined ? Number(toBlock) : from;
    if (to - from >= RANGE_MAX) {
      return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32005,"message":"query exceeds max block range ${RANGE_MAX}"}}`;
    }
    // A request for the logs of all contracts looks for swaps of pools. These chains have no pools.
    if (!address) return wrap('[]');
    const addresses = new Set(address);
    const logs: string[] = [];
    for (let number = from; number <= to; number += 1) logs.push(...chain.logsOf(number, addresses));
    return wrap(`[${logs.join(',')}]`);
  }
  if (method === 'eth_getTransactionByHash') {
    return wrap(JSON.stringify({ hash: params[0], input: '0x12345678360c6ebe' }));
  }
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"no such method"}}`;
}

/** A complete block. It has fields that other indexers read and the service does not. */
function completeBlockOf({ transactionsOf = () => [] }: NodeChain, number: number) {
  return {
    ...headerOf(number),
    miner: `0x${'0'.repeat(40)}`,
    gasUsed: '0x0',
    gasLimit: '0x0',
    baseFeePerGas: '0x0',
    nonce: '0x0',
    extraData: '0x',
    size: '0x0',
    receiptsRoot: hashOf(0),
    stateRoot: hashOf(0),
    transactionsRoot: hashOf(0),
    sha3Uncles: hashOf(0),
    transactions: transactionsOf(number),
  };
}
