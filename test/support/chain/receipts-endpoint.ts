// A JSON-RPC endpoint on loopback whose chain consists of given transactions: receipts with all their logs, as a chain would serve them. Each
// list of transactions becomes one block, in order, from block 1. The chain does not grow and has no state, except the code of contracts and the
// responses of calls that a test gives.

import http from 'node:http';
import type { AddressInfo } from 'node:net';

export type ReceiptLog = { address: string; topics: readonly string[]; data: string };
export type ReceiptTransaction = {
  hash: string;
  /** The account that signed the transaction. */
  from: string;
  to: string | null;
  input: string;
  /** The native currency that the call carries, in base units as decimal text. Default: '0'. */
  value?: string;
  logs: readonly ReceiptLog[];
};

export type ReceiptsOptions = {
  chainId?: number;
  /** The time of block 1 in seconds. Default: in 2023. */
  startsAtS?: number;
  /** The code of contracts, by address. */
  codes?: ReadonlyMap<string, string>;
  /** The result of `eth_call` by `address data`. */
  calls?: ReadonlyMap<string, string>;
};

type LogFilter = { address?: string[]; topics?: string[][]; fromBlock?: string; toBlock?: string; blockHash?: string };
type Request = { id: number; method: string; params: unknown[] };

/** Later blocks follow at intervals of 12 seconds. */
const FIRST_BLOCK_S = 1_700_000_000;
const BLOCK_S = 12;

/** Returns the URL. The server ends with the test. */
export async function startReceipts(
  t: { after(close: () => void): void },
  blocks: readonly (readonly ReceiptTransaction[])[],
  { chainId = 1, startsAtS = FIRST_BLOCK_S, codes = new Map(), calls = new Map() }: ReceiptsOptions = {},
): Promise<string> {
  const logs = blocks.flatMap((transactions, index) => toLogs(transactions, index + 1));
  const transactions = new Map(blocks.flat().map((transaction) => [transaction.hash, transaction]));
  const toBlock = (number: number) => toBlockOf(number, { height: blocks.length, startsAtS });
  const answer = ({ method, params }: Request): object => {
    const [first, second] = params;
    if (method === 'eth_chainId') return { result: toQuantity(chainId) };
    if (method === 'eth_blockNumber') return { result: toQuantity(blocks.length) };
    if (method === 'eth_getBlockByHash') return { result: toBlock(Number(first)) };
    if (method === 'eth_getBlockByNumber') {
      return { result: toBlock(String(first).startsWith('0x') ? Number(first) : blocks.length) };
    }
    if (method === 'eth_getLogs') return { result: selectLogs(logs, first as LogFilter) };
    if (method === 'eth_getTransactionByHash') {
      const found = transactions.get(String(first));
      if (!found) return { result: null };
      const { hash, from, to, input, value = '0' } = found;
      return { result: { hash, from, to, input, value: `0x${BigInt(value).toString(16)}` } };
    }
    if (method === 'eth_getCode') return { result: codes.get(String(first).toLowerCase()) ?? '0x' };
    if (method === 'eth_call') {
      const { to, data } = first as { to: string; data: string };
      const result = calls.get(`${to.toLowerCase()} ${data}`);
      return result === undefined ? { error: { code: 3, message: 'execution reverted' } } : { result };
    }
    return { error: { code: -32_601, message: `method not found: ${method} ${String(second)}` } };
  };
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Request | Request[];
      const respond = (one: Request) => ({ jsonrpc: '2.0', id: one.id, ...answer(one) });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(Array.isArray(body) ? body.map(respond) : respond(body)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function toLogs(transactions: readonly ReceiptTransaction[], block: number) {
  let logIndex = 0;
  return transactions.flatMap(({ hash, logs }, transactionIndex) =>
    logs.map(({ address, topics, data }) => ({
      address: address.toLowerCase(),
      topics,
      data,
      blockNumber: toQuantity(block),
      blockHash: toHash(block),
      transactionHash: hash,
      transactionIndex: toQuantity(transactionIndex),
      logIndex: toQuantity(logIndex++),
      removed: false,
    })),
  );
}

function selectLogs(
  logs: ReturnType<typeof toLogs>,
  { address, topics, fromBlock, toBlock: end, blockHash }: LogFilter,
) {
  const addresses = address && new Set(address.map((one) => one.toLowerCase()));
  const firstTopics = topics?.[0] && new Set(topics[0]);
  return logs.filter((log) => {
    if (addresses && !addresses.has(log.address)) return false;
    if (firstTopics && !firstTopics.has(log.topics[0] ?? '')) return false;
    if (blockHash !== undefined) return log.blockHash === blockHash;
    return Number(log.blockNumber) >= Number(fromBlock) && Number(log.blockNumber) <= Number(end);
  });
}

const toQuantity = (value: number) => `0x${value.toString(16)}`;
/** A block hash of 32 bytes. `Number` of the hash is the number of the block. */
const toHash = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;

function toBlockOf(number: number, { height, startsAtS }: { height: number; startsAtS: number }): object | null {
  if (number > height) return null;
  return {
    number: toQuantity(number),
    hash: toHash(number),
    parentHash: toHash(Math.max(0, number - 1)),
    timestamp: toQuantity(startsAtS + BLOCK_S * (number - 1)),
    transactions: [],
  };
}
