// A JSON-RPC endpoint on loopback that forwards requests to a real endpoint. It fails, limits requests and returns wrong data, as
// public endpoints do. A random generator with a seed chooses the faults, and each fault is counted. Some options change every response.

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { asOfHead, corrupt, lagOf } from './faulty-responses.ts';
import type { JsonRpcRequest, JsonRpcResponse } from './faulty-responses.ts';
import { gzipBomb } from '../replay/gzip-bomb.ts';

/** The faults of the connection and of HTTP come first. The faults in the content of a response follow. */
export const RPC_FAULTS = [
  'stall',
  'drip',
  'reset',
  'limited',
  'server-error',
  'bad-gateway',
  'redirect',
  'truncated',
  'endless',
  'gzip-bomb',
  'wrong-types',
  'nulls',
  'error',
  'no-batch',
  'wrong-id',
  'wrong-chain',
  'lagging',
  'range-limit',
  'removed-log',
  'foreign-log',
  'outside-log',
  'wrong-block-hash',
  'malformed-log',
  'duplicated-log',
  'shuffled-logs',
  // Leaves out all logs of one contract from a response about a single block. Later responses about this block are complete, because a
  // reader of a single endpoint could not notice logs that are always left out.
  'omitted-logs',
] as const;
/** Well-formed lies, which only a comparison with another endpoint detects. */
export const RPC_LIES = ['altered-log', 'empty-call'] as const;
export type RpcFault = (typeof RPC_FAULTS)[number] | (typeof RPC_LIES)[number];

export type FaultyOptions = {
  seed?: number;
  /** The probability, from 0 to 1, that an HTTP request gets a fault. A fault that cannot apply to the request has no effect. */
  faultShare?: number;
  faults?: readonly RpcFault[];
  /** The `Retry-After` of the fault `limited`, in seconds. */
  retryAfterS?: number;
  // The options below apply to every response, unlike faults.

  /** The most blocks in one request for logs. */
  rangeMax?: number;
  /** The error message for a request for more than `rangeMax` blocks. */
  rangeWording?: string;
  batchMax?: number;
  lag?: number;
  /** Added to the number of the newest block, which makes the number wrong. */
  ahead?: number;
  chainId?: number;
  zeroBlooms?: boolean;
  withoutTimestamps?: boolean;
  /** Whether the endpoint keeps the state of the newest block only. */
  withoutHistory?: boolean;
  withoutFinality?: boolean;
};

export type FaultyEndpoint = {
  url: string;
  /** How often each fault corrupted a response. */
  counts: Record<string, number>;
  asked: Record<string, number>;
  /** The number of HTTP requests. A batch is one request. */
  requests: number;
  set(options: FaultyOptions): void;
  close(): Promise<void>;
};

const DRIP_MS = 200;
const ENDLESS_CHUNK = Buffer.alloc(2 ** 20, ' ');

export async function startFaultyEndpoint(targetUrl: string, initial: FaultyOptions = {}): Promise<FaultyEndpoint> {
  let options = initial;
  let random = createRandom(initial.seed ?? 1);
  const omitted = new Set<string>();
  const endpoint: FaultyEndpoint = {
    url: '',
    counts: {},
    asked: {},
    requests: 0,
    set: (next) => {
      options = { ...options, ...next };
      if (next.seed !== undefined) random = createRandom(next.seed);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  const respond = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString();
    const calls = JSON.parse(body) as JsonRpcRequest | JsonRpcRequest[];
    const list = [calls].flat();
    endpoint.requests += 1;
    for (const { method } of list) endpoint.asked[method] = (endpoint.asked[method] ?? 0) + 1;
    const { faults = RPC_FAULTS, faultShare = 0 } = options;
    const fault = random() < faultShare ? faults[Math.floor(random() * faults.length)] : undefined;
    const count = () => {
      if (fault) endpoint.counts[fault] = (endpoint.counts[fault] ?? 0) + 1;
    };
    if (options.batchMax !== undefined && list.length > options.batchMax)
      return send(response, 400, {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_600, message: 'Batch size too large' },
      });
    const breakResponse = fault && BREAKS[fault];
    if (breakResponse) {
      count();
      return void breakResponse(response, options);
    }
    if (fault === 'no-batch' && Array.isArray(calls)) {
      count();
      return send(response, 400, { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'invalid request' } });
    }
    const newest = Number((await forward(targetUrl, [BLOCK_NUMBER]))[0]?.result);
    const lag = lagOf(options, fault);
    const forwarded = lag > 0 ? list.map((call) => asOfHead(call, newest - lag)) : list;
    const correct = await forward(targetUrl, forwarded);
    const context = { options, newest, random, omitted, count };
    const corrupted = corrupt(list, correct, fault, context);
    const text = JSON.stringify(Array.isArray(calls) ? corrupted : corrupted[0]);
    if (fault === 'truncated' || fault === 'drip') count();
    if (fault === 'drip') return drip(response, text);
    return send(response, 200, fault === 'truncated' ? text.slice(0, text.length >> 1) : text);
  };

  const server = http.createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return endpoint;
}

const BLOCK_NUMBER: JsonRpcRequest = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] };

/** The effects of the faults of the connection and of HTTP. */
const BREAKS: Partial<Record<RpcFault, (response: http.ServerResponse, options: FaultyOptions) => unknown>> = {
  stall: () => undefined,
  reset: (response) => response.destroy(),
  limited: (response, { retryAfterS = 1 }) => {
    response.setHeader('retry-after', String(retryAfterS));
    send(response, 429, { error: 'slow down' });
  },
  'server-error': (response) => send(response, 500, 'internal error'),
  'bad-gateway': (response) => send(response, 502, '<html><body>Bad Gateway</body></html>'),
  redirect: (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  endless: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    pourOut(response);
  },
  'gzip-bomb': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipBomb());
  },
};

function pourOut(response: http.ServerResponse): void {
  while (!response.destroyed)
    if (!response.write(ENDLESS_CHUNK)) return void response.once('drain', () => pourOut(response));
}

/** Sends one character at a time, then spaces, until the client closes the connection. */
function drip(response: http.ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  let sent = 0;
  const timer = setInterval(() => {
    response.write(text[sent] ?? ' ');
    sent += 1;
  }, DRIP_MS);
  response.once('close', () => clearInterval(timer));
}

function send(response: http.ServerResponse, status: number, body: unknown): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

async function forward(targetUrl: string, calls: readonly JsonRpcRequest[]): Promise<JsonRpcResponse[]> {
  const response = await fetch(targetUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls),
  });
  const results = (await response.json()) as JsonRpcResponse[];
  // The responses are in the order of the calls, as most endpoints send them.
  return calls.map(({ id }) => results.find((result) => result.id === id) ?? { jsonrpc: '2.0', id });
}

/** A generator of numbers from 0 to 1 (mulberry32). The same seed gives the same numbers. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
