// A JSON-RPC endpoint on loopback in front of a real one. It fails, limits and returns wrong data as public endpoints do: at
// random by a seed, or always where an option is set. It counts its faults.

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { asOfHead, corrupt, lagOf } from './faulty-responses.ts';
import type { JsonRpcRequest, JsonRpcResponse } from './faulty-responses.ts';
import { gzipBomb } from '../replay/gzip-bomb.ts';

/** Faults of the connection and of HTTP, then those of the response's content. */
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
  // Leaves out all logs of one contract, in responses about one block, once a block: a single endpoint that always leaves out the
  // same logs cannot be detected.
  'omitted-logs',
] as const;
export type RpcFault = (typeof RPC_FAULTS)[number];

export type FaultyOptions = {
  seed?: number;
  /** The share of requests that get a fault, among the requests to which a fault can apply. */
  faultShare?: number;
  faults?: readonly RpcFault[];
  /** The options from here on apply to every response. */
  rangeMax?: number;
  rangeWording?: string;
  batchMax?: number;
  lag?: number;
  /** Added to the number of the newest block, so that it is wrong. */
  ahead?: number;
  chainId?: number;
  zeroBlooms?: boolean;
  withoutTimestamps?: boolean;
  /** Whether the endpoint keeps the state of the newest block only. */
  withoutHistory?: boolean;
  withoutFinality?: boolean;
  retryAfterS?: number;
};

export type FaultyEndpoint = {
  url: string;
  /** How often each fault was applied. */
  counts: Record<string, number>;
  /** How often each method was called. */
  asked: Record<string, number>;
  /** HTTP requests. */
  requests: number;
  /** Changes the given options from now on. */
  set(options: FaultyOptions): void;
  close(): Promise<void>;
};

const DRIP_MS = 200;
const ENDLESS_CHUNK = Buffer.alloc(2 ** 20, ' ');

/** Starts an endpoint in front of `targetUrl`. */
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

  const answerTo = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString();
    const questions = JSON.parse(body) as JsonRpcRequest | JsonRpcRequest[];
    const list = [questions].flat();
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
    const breaks = fault && BREAKS[fault];
    if (breaks) {
      count();
      return void breaks(response, options);
    }
    if (fault === 'no-batch' && Array.isArray(questions)) {
      count();
      return send(response, 400, { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'invalid request' } });
    }
    const newest = Number((await forward(targetUrl, [BLOCK_NUMBER]))[0]?.result);
    const lag = lagOf(options, fault);
    const understood = lag > 0 ? list.map((question) => asOfHead(question, newest - lag)) : list;
    const clean = await forward(targetUrl, understood);
    const context = { options, newest, random, omitted, count };
    const answers = corrupt(list, clean, fault, context);
    const text = JSON.stringify(Array.isArray(questions) ? answers : answers[0]);
    if (fault === 'truncated' || fault === 'drip') count();
    if (fault === 'drip') return drip(response, text);
    return send(response, 200, fault === 'truncated' ? text.slice(0, text.length >> 1) : text);
  };

  const server = http.createServer((request, response) => {
    answerTo(request, response).catch(() => response.destroy());
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

/** Sends one character at a time until the client closes the connection. */
function drip(response: http.ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  let at = 0;
  const timer = setInterval(() => {
    response.write(text[at] ?? ' ');
    at += 1;
  }, DRIP_MS);
  response.once('close', () => clearInterval(timer));
}

function send(response: http.ServerResponse, status: number, body: unknown): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

async function forward(targetUrl: string, questions: readonly JsonRpcRequest[]): Promise<JsonRpcResponse[]> {
  const response = await fetch(targetUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(questions),
  });
  const answers = (await response.json()) as JsonRpcResponse[];
  // The responses are in the order of the requests, as at most endpoints.
  return questions.map(({ id }) => answers.find((answer) => answer.id === id) ?? { jsonrpc: '2.0', id });
}

/** A generator of numbers from 0 to 1 that gives the same ones for the same seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
