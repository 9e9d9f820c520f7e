// Starts a service on a free port, and gives tests a client that validates every response against the served OpenAPI document.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Clock } from '../../../src/platform/core/clock.ts';
import { readConfig } from '../../../src/service/config.ts';
import type { LogLevel } from '../../../src/platform/core/log.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { RateLimits } from '../../../src/platform/http/rate-limit.ts';
import { SocketIntake } from '../../../src/intake/socket-client.ts';
import type { ImportSummary } from '../../../src/intake/import-summary.ts';
import { EXPLORE_PREFIX } from '../../../src/market/explore/http/routes.ts';
import { MARKETPLACE_PREFIX } from '../../../src/market/reads/http/routes.ts';
import type { ServiceOptions } from '../../../src/service/service.ts';
import { startService } from '../../../src/service/service.ts';
import type { Vendor } from '../../../src/sources/upstreams/vendor.ts';
import type { OpenApiContract } from './contract.ts';
import { createOpenApiContract } from './contract.ts';

export type TestResponse = { status: number; headers: Headers; text: string; body: any };

export type TestService = {
  url: string;
  /** Requests a path and validates the response against the served document. */
  get(path: string, init?: RequestInit): Promise<TestResponse>;
  /** Requests a path and returns the body. Fails unless the status is 200. */
  ok(path: string): Promise<any>;
  /** Returns all rows of a list, from all pages. */
  walk(path: string): Promise<any[]>;
  /** Imports records through the local socket, as the command line does. Fails unless all records are accepted. */
  /** `completeUntil`: until when the sales are known, in milliseconds; otherwise until the newest one. */
  load(records: Iterable<Record<string, unknown>>, options?: { completeUntil?: number }): Promise<ImportSummary>;
  /** Calls an operation through the local socket, as the operator's commands do. */
  operate(operation: string, input: Record<string, unknown>): Promise<{ status: number; body: any }>;
  socketPath: string;
  logged: string[];
  close(): Promise<void>;
};

const UNLIMITED: RateLimits = { list: 1_000_000, single: 1_000_000, message: 1_000_000 };
const PAGES_MAX = 10_000;

export async function startTestService(options: {
  settings: Record<string, string>;
  clock?: Clock;
  monotonic?: Clock;
  limits?: RateLimits;
  sample?: boolean;
  logLevel?: LogLevel;
  open?: ServiceOptions['open'];
  consoleFolder?: string;
  /** Default: the vendors of the registry. */
  vendors?: readonly Vendor[];
  /** Whether the service runs its tasks. Default: true. */
  workers?: boolean;
}): Promise<TestService> {
  const logged: string[] = [];
  const service = await startService({
    // The service has no price sources by default, because no test uses the internet.
    config: readConfig({ PORT: '0', PRICE_SOURCES: 'none', ...options.settings }, {}, options.vendors),
    log: createLog(options.logLevel ?? 'info', (line) => logged.push(line)),
    sample: options.sample ?? false,
    workers: options.workers ?? true,
    limits: options.limits ?? UNLIMITED,
    // A test that moves the clock also moves the monotonic clock, unless it gives its own monotonic clock.
    ...(options.clock && { clock: options.clock, monotonic: options.monotonic ?? options.clock }),
    ...(options.open && { open: options.open }),
    ...(options.consoleFolder !== undefined && { consoleFolder: options.consoleFolder }),
  });
  const contractOf = async (prefix: string) =>
    createOpenApiContract(await (await fetch(`${service.url}${prefix}/openapi.json`)).json());
  const marketplace = await contractOf(MARKETPLACE_PREFIX);
  // The document of /explore/v1 is requested only when a test first needs it, because a test may limit the number of requests.
  let explore: Promise<OpenApiContract> | null = null;

  const get = async (path: string, init: RequestInit = {}): Promise<TestResponse> => {
    const response = await fetch(`${service.url}${path}`, { redirect: 'manual', ...init });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, text, body: text === '' ? null : parse(text) };
    const isExplore = path.startsWith(EXPLORE_PREFIX);
    const contract = isExplore ? await (explore ??= contractOf(EXPLORE_PREFIX)) : marketplace;
    contract.check(init.method ?? 'GET', path, answer);
    return answer;
  };
  const ok = async (path: string) => {
    const answer = await get(path);
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return answer.body;
  };
  return {
    url: service.url,
    get,
    ok,
    walk: async (path) => {
      const rows: unknown[] = [];
      let cursor: string | null = null;
      for (let pages = 0; pages < PAGES_MAX; pages += 1) {
        const separator = path.includes('?') ? '&' : '?';
        const page: any = await ok(cursor === null ? path : `${path}${separator}cursor=${cursor}`);
        rows.push(...page.data);
        assert.equal(page.pagination.hasMore, page.pagination.nextCursor !== null);
        if (!page.pagination.hasMore) return rows;
        cursor = page.pagination.nextCursor;
      }
      throw new Error(`${path} has more than ${PAGES_MAX} pages`);
    },
    load: async (records, options = {}) => {
      const connection = new SocketIntake(service.socketPath);
      const refused: string[] = [];
      const lines = [...records].map((record) => `${JSON.stringify(record)}\n`).join('');
      const summary = await connection.import(toChunks(lines), { format: 'ndjson', ...options }, (event) => {
        if (event.event === 'refused') refused.push(`${event.line}: ${event.reason}`);
      });
      assert.deepEqual(refused, []);
      return summary;
    },
    operate: (operation, input) => operate(service.socketPath, operation, input),
    socketPath: service.socketPath,
    logged,
    close: service.close,
  };
}

function operate(socketPath: string, operation: string, input: object): Promise<{ status: number; body: any }> {
  const headers = { 'content-type': 'application/json' };
  const path = `/operator/v1/${operation}`;
  return new Promise((resolve, reject) => {
    // Without a connection of its own, a call could use one that the server is closing.
    const call = request({ socketPath, path, method: 'POST', headers, agent: false }, (response) => {
      json(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    call.on('error', reject).end(JSON.stringify(input));
  });
}

async function* toChunks(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
