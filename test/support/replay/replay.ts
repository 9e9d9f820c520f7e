// A local server in place of a vendor. It serves a table of routes, fails on demand as vendors do, and records its requests. This
// file knows no vendor. The routes of each vendor are in a file of their own.

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { gzipBomb } from './gzip-bomb.ts';

/** Where the responses of a route come from. The most reliable origin is the first in this list. */
export type Origin =
  | 'recorded'
  /** Recorded rows, in pages that are made from the schema of the vendor's document. */
  | 'recorded rows'
  | 'example'
  /** Made from the schema of the vendor's document. */
  | 'schema';

export type ReplayRequest = {
  method: string;
  path: string;
  /** The decoded texts that the named groups of the route's pattern matched. */
  groups: Readonly<Record<string, string>>;
  query: URLSearchParams;
  headers: http.IncomingHttpHeaders;
  body: string;
};

/** A response with its own status or headers, such as 404 for an unknown token. */
export class ReplayResponse {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, { body = '{}', headers = {} }: { body?: string; headers?: Record<string, string> } = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export type Route = {
  method?: 'GET' | 'POST';
  /** Matches the complete path. Named groups become `groups`. */
  path: RegExp;
  origin: Origin;
  /** Text is sent as it is. Any other value is sent as JSON. */
  answer: (request: ReplayRequest) => unknown;
  /**
   * Present if the route serves a list in pages. `parameter` is the query parameter with the cursor or the offset of the page. `nextField`
   * is the field of a response that has the cursor of the next page. `nextField` is absent if responses have no such field.
   */
  paging?: { parameter: string; nextField?: string };
};

export const REPLAY_FAULTS = [
  'slow',
  'hang',
  'hang-in-body',
  'drip',
  'reset',
  'redirect',
  'too-many-requests',
  'server-error',
  'unauthorized',
  'not-found',
  'truncated',
  'not-json',
  'not-utf8',
  'empty',
  'gzip-bomb',
  'deep',
  'wrong-types',
  'floats',
  'nulls',
  'null-signatures',
  'huge-page',
  'repeated-page',
  'looping-cursor',
] as const;
export type ReplayFault = (typeof REPLAY_FAULTS)[number];

export type FaultOptions = {
  /** How many requests are served correctly before the fault. Default: 0. */
  skip?: number;
  /** How many requests have the fault after the skipped requests. Default: all requests until `heal`. */
  times?: number;
  /** Only requests whose path matches have the fault. Other requests do not count for `skip` and `times`. */
  path?: RegExp;
  /** For `slow`: the delay of the response. For `drip`: the time between two bytes. */
  ms?: number;
  /** For `too-many-requests`: the text of the header `Retry-After`. If null, the response has no such header. Default: `0`. */
  retryAfter?: string | null;
};

export type ReplayServer = {
  url: string;
  fail(fault: ReplayFault, options?: FaultOptions): void;
  heal(): void;
  /** The number of entries in `requests`. With `path`, only the entries that match it are counted. */
  count(path?: RegExp): number;
  /** All requests so far, in their order, as `GET /path?query`. */
  readonly requests: readonly string[];
  reset(): void;
  close(): Promise<void>;
};

const DRIP_MS = 20;
const SLOW_MS = 200;
const HUGE_ROWS = 20_000;
const DEPTH = 100_000;

/** Starts the server on loopback. It closes with the test. */
export async function startReplayServer(
  t: Pick<TestContext, 'after'>,
  routes: readonly Route[],
): Promise<ReplayServer> {
  const requests: string[] = [];
  let failing: (FaultOptions & { fault: ReplayFault; skip: number; times: number }) | null = null;

  /** Returns the fault of this request, or null. Counts the request for `skip` and `times`. */
  const takeFault = (path: string): (FaultOptions & { fault: ReplayFault }) | null => {
    if (!failing || (failing.path && !failing.path.test(path))) return null;
    if (failing.skip > 0) {
      failing.skip -= 1;
      return null;
    }
    if (failing.times <= 0) return null;
    failing.times -= 1;
    return failing;
  };

  const server = http.createServer((incoming, outgoing) => {
    outgoing.on('error', () => outgoing.destroy());
    const respond = (request: ReplayRequest) => {
      requests.push(`${request.method} ${incoming.url}`);
      const fault = takeFault(request.path);
      const breaking = fault && BREAKING[fault.fault];
      if (breaking) return breaking(outgoing, fault);
      const { status, body, headers } = answer(routes, request, fault?.fault ?? null);
      for (const [name, value] of Object.entries(headers ?? {})) outgoing.setHeader(name, value);
      if (status === 304) return outgoing.writeHead(status).end();
      const sending = (fault && SENDING[fault.fault]) ?? sendWhole;
      return sending(outgoing, { status, bytes: Buffer.from(body), ms: fault?.ms });
    };
    // A client may disconnect while it sends the body.
    void readRequest(incoming).then(respond, () => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  t.after(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail: (fault, options = {}) => {
      failing = { skip: 0, times: Number.POSITIVE_INFINITY, ...options, fault };
    },
    heal: () => (failing = null),
    count: (path) => (path ? requests.filter((request) => path.test(request)).length : requests.length),
    requests,
    reset: () => (requests.length = 0),
    close,
  };
}

async function readRequest(incoming: http.IncomingMessage): Promise<ReplayRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const url = new URL(incoming.url ?? '/', 'http://localhost');
  return {
    method: incoming.method ?? 'GET',
    path: url.pathname,
    groups: {},
    query: url.searchParams,
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

type Breaking = (outgoing: http.ServerResponse, options: FaultOptions) => void;

const endWith =
  (status: number, body: string | Buffer = '{}', headers: http.OutgoingHttpHeaders = {}): Breaking =>
  (outgoing) =>
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);

/** Faults that replace the complete response. */
const BREAKING: Partial<Record<ReplayFault, Breaking>> = {
  hang: () => undefined,
  'hang-in-body': (outgoing) => outgoing.writeHead(200, { 'content-type': 'application/json' }).write('{"'),
  reset: (outgoing) => outgoing.socket?.resetAndDestroy(),
  redirect: endWith(302, '', { location: 'http://127.0.0.1:1/' }),
  'too-many-requests': (outgoing, { retryAfter = '0' }) =>
    outgoing.writeHead(429, retryAfter === null ? {} : { 'retry-after': retryAfter }).end('{}'),
  'server-error': endWith(500),
  // A vendor sends this response after it has revoked the key.
  unauthorized: endWith(401),
  'not-found': endWith(404),
  'not-json': endWith(200, '<!doctype html><title>Just a moment...</title>', { 'content-type': 'text/html' }),
  'not-utf8': endWith(200, Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d])),
  empty: endWith(200, ''),
  deep: endWith(200, '['.repeat(DEPTH) + ']'.repeat(DEPTH)),
  'gzip-bomb': (outgoing) => endWith(200, gzipBomb(), { 'content-encoding': 'gzip' })(outgoing, {}),
};

function answer(
  routes: readonly Route[],
  request: ReplayRequest,
  fault: ReplayFault | null,
): { status: number; body: string; headers?: Readonly<Record<string, string>> } {
  for (const route of routes) {
    const match = new RegExp(`^(?:${route.path.source})$`, route.path.flags).exec(request.path);
    if (!match || (route.method ?? 'GET') !== request.method) continue;
    const entries = Object.entries(match.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)]);
    const query = new URLSearchParams(request.query);
    if (fault === 'repeated-page' && route.paging) query.delete(route.paging.parameter);
    const value = route.answer({ ...request, query, groups: Object.fromEntries(entries) });
    if (value instanceof ReplayResponse) return value;
    const spoil = fault && SPOILING[fault];
    if (!spoil) return { status: 200, body: typeof value === 'string' ? value : JSON.stringify(value) };
    const original: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    return { status: 200, body: JSON.stringify(spoil(original, route.paging?.nextField)) };
  }
  return { status: 404, body: '{"errors":["no such route"]}' };
}

let fresh = 0;

type Spoiling = (value: unknown, nextField: string | undefined) => unknown;

const setNext =
  (toCursor: () => string): Spoiling =>
  (value, nextField) =>
    nextField === undefined ? value : { ...(value as object), [nextField]: toCursor() };

/** Responses that are well-formed JSON with wrong content. */
const SPOILING: Partial<Record<ReplayFault, Spoiling>> = {
  'wrong-types': (value) => mapLeaves(value, toWrongType),
  floats: (value) =>
    mapLeaves(value, (leaf) => (typeof leaf === 'string' && /^\d+$/.test(leaf) ? Number(leaf) + 0.5 : leaf)),
  nulls: (value) => mapLeaves(value, () => null),
  'null-signatures': (value) => mapLeaves(value, (leaf, key) => (key === 'signature' ? null : leaf)),
  'huge-page': (value) => (Array.isArray(value) ? repeat(value) : mapArrays(value as Record<string, unknown>)),
  'repeated-page': setNext(() => `again-${(fresh += 1)}`),
  'looping-cursor': setNext(() => 'round-and-round'),
};

function toWrongType(leaf: unknown): unknown {
  if (typeof leaf === 'string') return { text: leaf };
  return typeof leaf === 'number' ? [String(leaf)] : 'yes';
}

function repeat(rows: readonly unknown[]): unknown[] {
  return Array.from({ length: HUGE_ROWS }, (_, index) => rows[index % Math.max(rows.length, 1)] ?? 0);
}

function mapArrays(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, Array.isArray(one) ? repeat(one) : one]));
}

function mapLeaves(value: unknown, toLeaf: (leaf: unknown, key: string) => unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => mapLeaves(one, toLeaf, key));
  if (typeof value !== 'object' || value === null) return toLeaf(value, key);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapLeaves(one, toLeaf, name)]));
}

type Sending = (
  outgoing: http.ServerResponse,
  answer: { status: number; bytes: Buffer; ms: number | undefined },
) => void;

const sendWhole: Sending = (outgoing, { status, bytes }) => {
  outgoing.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
};

/** Faults in how a response is sent. */
const SENDING: Partial<Record<ReplayFault, Sending>> = {
  slow: (outgoing, answer) => setTimeout(() => sendWhole(outgoing, answer), answer.ms ?? SLOW_MS).unref(),
  drip: (outgoing, { status, bytes, ms = DRIP_MS }) => {
    outgoing.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length });
    drip(outgoing, bytes, ms);
  },
  truncated: (outgoing, { status, bytes }) => {
    outgoing.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length });
    outgoing.write(bytes.subarray(0, bytes.length / 2), () => outgoing.destroy());
  },
};

function drip(outgoing: http.ServerResponse, bytes: Buffer, everyMs: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (outgoing.destroyed || sent >= bytes.length) {
      clearInterval(timer);
      outgoing.end();
    } else outgoing.write(bytes.subarray(sent, (sent += 1)));
  }, everyMs);
  timer.unref();
  outgoing.on('close', () => clearInterval(timer));
}
