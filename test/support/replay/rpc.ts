// The routes of a JSON-RPC endpoint, for the replay server. The chain of the endpoint has no events, and gets a new block every two seconds.
// Tests that need events use test/support/chain instead.

import type { Route } from './replay.ts';

type RpcRequest = { id: number; method: string; params: unknown[] };

const BLOCK_S = 2;
const NO_BLOOM = `0x${'0'.repeat(512)}`;

export function rpcRoutes({ chainId, now = Date.now }: { chainId: number; now?: () => number }): Route[] {
  const answer = ({ id, method, params }: RpcRequest) => {
    const height = Math.floor(now() / 1_000 / BLOCK_S);
    return { jsonrpc: '2.0', id, ...read(method, params, { chainId, height }) };
  };
  return [
    {
      method: 'POST',
      path: /\//,
      origin: 'schema',
      answer: ({ body }) => {
        const requested = JSON.parse(body) as RpcRequest | RpcRequest[];
        return Array.isArray(requested) ? requested.map(answer) : answer(requested);
      },
    },
  ];
}

function read(method: string, [first]: unknown[], { chainId, height }: { chainId: number; height: number }): object {
  if (method === 'eth_chainId') return { result: toQuantity(chainId) };
  if (method === 'eth_blockNumber') return { result: toQuantity(height) };
  if (method === 'eth_getLogs') return { result: [] };
  if (method === 'eth_getBlockByHash') return { result: toBlock(Number(first)) };
  if (method === 'eth_getBlockByNumber') {
    const number = String(first).startsWith('0x') ? Number(first) : height;
    return { result: number <= height ? toBlock(number) : null };
  }
  return { error: { code: -32_601, message: 'method not found' } };
}

const toQuantity = (value: number) => `0x${value.toString(16)}`;
/** A block hash of 32 bytes that contains the block number. `Number` of the hash is the block number. */
const toHash = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;

function toBlock(number: number): object {
  return {
    number: toQuantity(number),
    hash: toHash(number),
    parentHash: toHash(number - 1),
    timestamp: toQuantity(number * BLOCK_S),
    logsBloom: NO_BLOOM,
    transactions: [],
  };
}
