// A JSON-RPC endpoint on loopback that tells the truth or one consistent lie. Its false responses are well-formed, so that no check
// of their form can refuse them. faulty-endpoint.ts gives malformed responses.

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { alterLastDigit, alterLog, toZeros } from './faulty-responses.ts';

const LIES = [
  'none',
  /** Every list of logs is empty. The blooms of the blocks stay true. */
  'omits-logs',
  /** Every response with logs lacks its first log. */
  'omits-a-log',
  /** Every response with logs also has a copy of its last log, with the next log index. */
  'added-logs',
  /** Every log has other data and another last topic. */
  'altered-logs',
  /** Logs, and blocks that are requested by their number, are an hour older. */
  'altered-times',
  /** Every call returns zeros. */
  'empty-calls',
  /** The result of every call ends with another digit. */
  'altered-calls',
  /** The call data of every transaction ends with another digit. */
  'altered-transactions',
  /** The block that was the newest when `tell` was called, and all later blocks, have other hashes and no logs. */
  'fork',
  /** Like `fork`, but the block that was the newest keeps its hash and its logs. */
  'new-fork',
  /** All blocks have other hashes and no logs. */
  'other-hashes',
  /** Like `other-hashes`, and the chain has another id. */
  'other-chain',
] as const;
export type Lie = (typeof LIES)[number];

export type LyingEndpoint = {
  url: string;
  /** For each lie, the number of responses that it changed. */
  told: Record<Lie, number>;
  tell(lie: Lie): Promise<void>;
  close(): Promise<void>;
};

type Call = { id: number; method: string; params: unknown[] };
type Response = { id: number; result?: unknown };
type Fields = Record<string, unknown>;

const FORK_MARK = 'f0f0f0f0';
const HOUR_S = 3_600;
const NO_BLOOM = `0x${'0'.repeat(512)}`;

export async function startLyingEndpoint(targetUrl: string): Promise<LyingEndpoint> {
  let current: Lie = 'none';
  let forkedAt = 0;
  /** Maps each false hash that was served to the true hash of its block. */
  const renamed = new Map<string, string>();
  const told = Object.fromEntries(LIES.map((lie) => [lie, 0])) as Record<Lie, number>;
  const newest = async () => Number((await forward(targetUrl, [BLOCK_NUMBER]))[0]?.result);

  const rename = (hash: unknown): string => {
    const fake = `${String(hash).slice(0, -FORK_MARK.length)}${FORK_MARK}`;
    renamed.set(fake, String(hash));
    return fake;
  };
  const toForked = (block: Fields): Fields => {
    const number = Number(block['number']);
    if (number < forkedAt) return block;
    const parentHash = number > forkedAt ? rename(block['parentHash']) : block['parentHash'];
    return { ...block, hash: rename(block['hash']), parentHash, logsBloom: NO_BLOOM };
  };
  const fork = ({ method }: Call, result: unknown) => {
    if (method === 'eth_getLogs') return isOfFork(result) ? [] : result;
    return isBlock(result) ? toForked(result) : result;
  };
  const replaceChain = ({ method }: Call, result: unknown) => {
    if (method === 'eth_getLogs') return [];
    return isBlock(result)
      ? { ...result, hash: rename(result['hash']), parentHash: rename(result['parentHash']) }
      : result;
  };
  const isOfFork = (logs: unknown) => (logs as Fields[]).some((log) => Number(log['blockNumber']) >= forkedAt);
  const lies: Record<Lie, (call: Call, result: unknown) => unknown> = {
    none: (_call, result) => result,
    'omits-logs': ({ method }, result) => (method === 'eth_getLogs' ? [] : result),
    'altered-logs': ({ method }, result) => (method === 'eth_getLogs' ? (result as Fields[]).map(alterLog) : result),
    'omits-a-log': ({ method }, result) => (method === 'eth_getLogs' ? (result as Fields[]).slice(1) : result),
    'added-logs': ({ method }, result) => (method === 'eth_getLogs' ? withLastTwice(result as Fields[]) : result),
    'altered-times': ({ method }, result) => {
      if (method === 'eth_getLogs') return (result as Fields[]).map((log) => toOlder(log, 'blockTimestamp'));
      return method === 'eth_getBlockByNumber' && isBlock(result) ? toOlder(result, 'timestamp') : result;
    },
    'empty-calls': ({ method }, result) =>
      method === 'eth_call' && typeof result === 'string' ? toZeros(result) : result,
    'altered-calls': ({ method }, result) =>
      method === 'eth_call' && typeof result === 'string' ? alterLastDigit(result) : result,
    'altered-transactions': ({ method }, result) =>
      method === 'eth_getTransactionByHash'
        ? { ...(result as Fields), input: alterLastDigit(String((result as Fields)['input'])) }
        : result,
    fork,
    'new-fork': fork,
    'other-chain': (call, result) => (call.method === 'eth_chainId' ? '0x539' : replaceChain(call, result)),
    'other-hashes': replaceChain,
  };

  const server = http.createServer((request, response) => {
    const respond = async () => {
      const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString();
      const calls = JSON.parse(body) as Call | Call[];
      const list = [calls].flat();
      const honest = await forward(
        targetUrl,
        list.map((call) => toTrue(call, renamed)),
      );
      const answers = list.map((call, index) => {
        const { result, ...rest } = honest[index] ?? { id: call.id };
        const lied = lies[current](call, result);
        if (JSON.stringify(lied) !== JSON.stringify(result)) told[current] += 1;
        return result === undefined ? rest : { ...rest, result: lied };
      });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(Array.isArray(calls) ? answers : answers[0]));
    };
    respond().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    told,
    tell: async (lie) => {
      forkedAt = (await newest()) + (lie === 'new-fork' ? 1 : 0);
      current = lie;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const BLOCK_NUMBER: Call = { id: 1, method: 'eth_blockNumber', params: [] };

function toTrue(call: Call, renamed: ReadonlyMap<string, string>): Call {
  let text = JSON.stringify(call);
  for (const [fake, hash] of renamed) text = text.replaceAll(fake, hash);
  return JSON.parse(text) as Call;
}

function withLastTwice(logs: readonly Fields[]): Fields[] {
  return [...logs, ...logs.slice(-1).map((log) => ({ ...log, logIndex: toHex(Number(log['logIndex']) + 1) }))];
}

function toOlder(fields: Fields, name: string): Fields {
  return { ...fields, [name]: toHex(Number(fields[name]) - HOUR_S) };
}

function toHex(number: number): string {
  return `0x${number.toString(16)}`;
}

function isBlock(result: unknown): result is Fields {
  return typeof result === 'object' && result !== null && 'parentHash' in result && 'number' in result;
}

async function forward(targetUrl: string, calls: readonly Call[]): Promise<Response[]> {
  const response = await fetch(targetUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map((call) => ({ jsonrpc: '2.0', ...call }))),
  });
  const results = (await response.json()) as Response[];
  return calls.map(({ id }) => results.find((result) => result.id === id) ?? { id });
}
