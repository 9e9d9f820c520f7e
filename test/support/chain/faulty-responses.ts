// How a faulty endpoint corrupts correct responses. A fault is counted only when it has corrupted a response. The fault `lagging` is counted for
// each HTTP request.

import type { FaultyOptions, RpcFault } from './faulty-endpoint.ts';

export type JsonRpcRequest = { jsonrpc: string; id: number; method: string; params: unknown[] };
export type JsonRpcResponse = { jsonrpc: string; id: number | null; result?: unknown; error?: unknown };
type Log = Record<string, unknown> & { address: string; topics: string[]; blockNumber: string };
type Block = Record<string, unknown> & { number: string };

type Context = {
  options: FaultyOptions;
  newest: number;
  random: () => number;
  /** The hashes of blocks whose logs have been left out already. */
  omitted: Set<string>;
  count: () => void;
};

/** Messages with which public endpoints reject a range of too many blocks or logs. */
export const RANGE_ERROR_MESSAGES = [
  'query returned more than 10000 results. Try with this block range [0x1, 0x2].',
  'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range',
  'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.',
  'eth_getLogs is limited to a 10,000 range',
  'exceed maximum block range: 5000',
  'range 1000000 exceeds limit of 10000',
  'block range is too wide',
  'requested too many blocks from 0 to 20000, maximum is set to 2048',
  'query exceeds max results 20000, retry with the range 0-5000',
  'backend response too large',
  'block range is larger than max block range, block range = 5120, max block range = 5000',
  'query timeout exceeded',
  'ranges over 10000 blocks are not supported on freetier',
  'internal error',
];

const LAG_OF_FAULT = 3;
const FOREIGN = '0x00000000000000000000000000000000000f0e1e';

/** How many blocks the endpoint is behind in this request. */
export function lagOf(options: FaultyOptions, fault: RpcFault | undefined): number {
  return (options.lag ?? 0) + (fault === 'lagging' ? LAG_OF_FAULT : 0);
}

/** The request with the block number `head` in place of `latest`, for an endpoint whose newest block is `head`. */
export function asOfHead(call: JsonRpcRequest, head: number): JsonRpcRequest {
  const isForLatest = call.method === 'eth_getBlockByNumber' && call.params[0] === 'latest';
  return isForLatest ? { ...call, params: [`0x${Math.max(0, head).toString(16)}`, false] } : call;
}

export function corrupt(
  calls: readonly JsonRpcRequest[],
  correct: JsonRpcResponse[],
  fault: RpcFault | undefined,
  context: Context,
): JsonRpcResponse[] {
  const { options, newest, count } = context;
  const served = correct.map((response, index) => serve(calls[index], response, options, newest));
  const lag = lagOf(options, fault);
  const seen = lag > 0 ? served.map((response, index) => lagBehind(calls[index], response, newest - lag)) : served;
  if (fault === 'lagging') count();
  return fault ? seen.map((response, index) => spoilOne(calls[index], response, fault, context)) : seen;
}

function serve(
  call: JsonRpcRequest | undefined,
  response: JsonRpcResponse,
  options: FaultyOptions,
  newest: number,
): JsonRpcResponse {
  const { method, params = [] } = call ?? {};
  const error = (code: number, message: string) => ({ jsonrpc: '2.0', id: response.id, error: { code, message } });
  if (method === 'eth_chainId' && options.chainId !== undefined)
    return { ...response, result: `0x${options.chainId.toString(16)}` };
  if (method === 'eth_getLogs' && options.rangeMax !== undefined && widthOf(params) > options.rangeMax)
    return error(-32_000, options.rangeWording ?? RANGE_ERROR_MESSAGES[0] ?? '');
  if (options.withoutHistory && isOfOldState(method, params, newest))
    return error(-32_000, 'missing trie node 00ff (path )');
  if (options.withoutFinality && params[0] === 'finalized')
    return error(-32_602, 'invalid argument 0: hex string expected');
  let { result } = response;
  if (options.zeroBlooms && isBlock(result)) result = { ...result, logsBloom: `0x${'0'.repeat(512)}` };
  if (options.ahead && params[0] === 'latest' && isBlock(result))
    result = { ...result, number: `0x${(Number(result.number) + options.ahead).toString(16)}` };
  if (options.withoutTimestamps && method === 'eth_getLogs' && Array.isArray(result))
    result = (result as Log[]).map(({ blockTimestamp: _time, ...log }) => log);
  return 'result' in response ? { ...response, result } : response;
}

function isOfOldState(method: string | undefined, params: unknown[], newest: number): boolean {
  return (method === 'eth_getCode' || method === 'eth_call') && params[1] !== 'latest' && Number(params[1]) < newest;
}

/** The response of a node whose newest block is `head`. A later block is null, and has no logs. */
function lagBehind(call: JsonRpcRequest | undefined, response: JsonRpcResponse, head: number): JsonRpcResponse {
  const { method } = call ?? {};
  if (method === 'eth_blockNumber') return { ...response, result: `0x${head.toString(16)}` };
  if (method === 'eth_getLogs' && Array.isArray(response.result))
    return { ...response, result: (response.result as Log[]).filter((log) => Number(log.blockNumber) <= head) };
  return isBlock(response.result) && Number(response.result.number) > head ? { ...response, result: null } : response;
}

function spoilOne(
  call: JsonRpcRequest | undefined,
  response: JsonRpcResponse,
  fault: RpcFault,
  context: Context,
): JsonRpcResponse {
  const { count, random } = context;
  const { method, params = [] } = call ?? {};
  const done = (spoilt: Partial<JsonRpcResponse>) => {
    count();
    return { ...response, ...spoilt };
  };
  const toError = (message: string): JsonRpcResponse => {
    count();
    return { jsonrpc: '2.0', id: response.id, error: { code: -32_000, message } };
  };
  const spoilLeaf = LEAF_FAULTS[fault];
  if (spoilLeaf) return done({ result: mapLeaves(response.result, spoilLeaf) });
  if (fault === 'error') return toError('something went wrong');
  if (fault === 'wrong-id') return done({ id: (response.id ?? 0) + 1_000_000 });
  if (fault === 'wrong-chain' && method === 'eth_chainId') return done({ result: '0x539' });
  if (fault === 'empty-call' && method === 'eth_call' && typeof response.result === 'string')
    return done({ result: toZeros(response.result) });
  if (method !== 'eth_getLogs' || !Array.isArray(response.result)) return response;
  if (fault === 'range-limit' && widthOf(params) > 1)
    return toError(RANGE_ERROR_MESSAGES[Math.floor(random() * RANGE_ERROR_MESSAGES.length)] ?? '');
  const logs = response.result as Log[];
  const spoilt = spoilLogs(logs, params, fault, context);
  return spoilt ? done({ result: spoilt }) : response;
}

/** By fault: what replaces each value of a response. The field names stay the same. */
const LEAF_FAULTS: Partial<Record<RpcFault, (leaf: unknown) => unknown>> = {
  'wrong-types': (leaf) => (typeof leaf === 'string' ? { text: leaf } : 0.5),
  nulls: () => null,
};

function mapLeaves(value: unknown, toLeaf: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => mapLeaves(one, toLeaf));
  if (typeof value !== 'object' || value === null) return toLeaf(value);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapLeaves(one, toLeaf)]));
}

/** Null if there is nothing to corrupt, or if the fault is not about logs. */
function spoilLogs(logs: readonly Log[], params: unknown[], fault: RpcFault, context: Context): Log[] | null {
  const last = logs.at(-1);
  return (last && LOG_FAULTS[fault]?.({ logs, others: logs.slice(0, -1), last, params, context })) ?? null;
}

type FaultInput = { logs: readonly Log[]; others: readonly Log[]; last: Log; params: unknown[]; context: Context };

const LOG_FAULTS: Partial<Record<RpcFault, (input: FaultInput) => Log[] | null>> = {
  'removed-log': ({ others, last }) => [...others, { ...last, removed: true }],
  'foreign-log': ({ logs, last }) => [...logs, { ...last, address: FOREIGN, logIndex: plus(last['logIndex'], 1) }],
  'outside-log': ({ logs, last }) => [...logs, { ...last, blockNumber: plus(last.blockNumber, 1_000_000) }],
  // This fault applies only to responses about a single block. In a response about a range, nothing contradicts a wrong block hash.
  'wrong-block-hash': ({ others, last, params }) =>
    isOfBlock(params) ? [...others, { ...last, blockHash: `0x${'ab'.repeat(32)}` }] : null,
  'altered-log': ({ others, last }) => [...others, alterLog(last)],
  'malformed-log': ({ others, last }) => [...others, { ...last, data: '0xzz' }],
  'duplicated-log': ({ logs, last }) => [...logs, last],
  'shuffled-logs': ({ logs }) => (logs.length > 1 ? logs.toReversed() : null),
  'omitted-logs': ({ logs, params, context: { omitted } }) => {
    const hash = isOfBlock(params) ? String((params[0] as Record<string, unknown>)['blockHash']) : null;
    if (hash === null || omitted.has(hash)) return null;
    omitted.add(hash);
    return logs.filter((log) => log.address !== logs[0]?.address);
  },
};

/** Changes the last digit of the data and of the last topic. The first topic is never changed, because it is the kind of event. */
export function alterLog<L extends Record<string, unknown>>(log: L): L {
  const [kind, ...topics] = log['topics'] as string[];
  return {
    ...log,
    data: alterLastDigit(String(log['data'])),
    topics: [kind, ...topics.slice(0, -1), ...topics.slice(-1).map(alterLastDigit)],
  };
}

export function alterLastDigit(hex: string): string {
  return hex.length > 2 ? `${hex.slice(0, -1)}${hex.endsWith('1') ? '2' : '1'}` : hex;
}

/** Zero bytes of the same length. As the result of a call, zero bytes mean 0, false or no account. */
export function toZeros(hex: string): string {
  return `0x${'0'.repeat(Math.max(0, hex.length - 2))}`;
}

function plus(quantity: unknown, more: number): string {
  return `0x${(Number(quantity) + more).toString(16)}`;
}

function isOfBlock(params: unknown[]): boolean {
  return (params[0] as Record<string, unknown>)['blockHash'] !== undefined;
}

function widthOf(params: unknown[]): number {
  const { fromBlock, toBlock } = params[0] as Record<string, unknown>;
  return fromBlock === undefined ? 1 : Number(toBlock) - Number(fromBlock) + 1;
}

function isBlock(result: unknown): result is Block {
  return typeof result === 'object' && result !== null && 'parentHash' in result && 'number' in result;
}
