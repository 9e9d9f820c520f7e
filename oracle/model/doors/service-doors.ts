// One service as a run sees it: the interfaces through which records and requests go in, and responses come out. Everything goes over HTTP or the local
// socket. Every request that changes something is noted, so that a failure can be printed as commands that repeat it.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, RequestOptions, Server } from 'node:http';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Transform } from 'node:stream';
import { json, text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import type { MarketClient } from '../../../client/src/market.ts';
import { createMarketClient } from '../../../client/src/market.ts';
import type { TestService } from '../../../test/support/service/service.ts';
import { startTestService } from '../../../test/support/service/service.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { ChainDoor } from './chain-door.ts';
import { toCsv } from './csv.ts';
import { Difference, Unavailable } from '../errors.ts';
import type { MarketRecord } from '../rules/records.ts';
import type { RestartStep } from '../steps.ts';
import { VendorDoor } from './vendor-door.ts';

export type Imported = {
  id: string;
  counts: Record<string, number>;
  rejected: string[];
  warnings: Record<string, { count: number }>;
};

/** A response: the status, and the body as parsed JSON. */
export type Response = { status: number; body: unknown };

/** An event of the shop, as a webhook receives it. */
export type ShopEvent = { type: string; sequence: number; data: { id?: string; productId?: string } };

type StartAll = () => Promise<[TestService, ...TestService[]]>;
type Parts = {
  clock: { now: number };
  keys: Keys;
  chain: ChainDoor;
  vendor: VendorDoor;
  receiver: Receiver;
  startAll: StartAll;
  settings: Record<string, string>;
};

type TaskEnd = { lastEnded: string | null; failures: number };

const MAIN = path.join(import.meta.dirname, '../../../src/main.ts');
/** The clock of a run moves little, so all requests of a case are of a few minutes. */
const SETTINGS = {
  // Several processes state the same URLs of images, as behind a load balancer.
  BASE_URL: 'http://127.0.0.1:1',
  SOURCE_TIMEOUT_MS: '60000',
  WEBHOOK_ALLOW_PRIVATE: 'true',
  STORE_RATE_LIMIT: '100000',
};
const SERVER_ERROR = 500;
/** Decision 0011: "JSON of 1 KiB or more". */
const LARGE_CHARACTERS = 1_024;
const TASK_PATIENCE_MS = 120_000;
const TASK_POLL_MS = 30;
const STREAM_PATIENCE_MS = 20_000;

type Keys = { intake: string; orders: string; store: string; otherShop: string };

const STORE = '/api/v1';
export const SHOP = 'corner';
const OTHER_SHOP = 'market';
/** Webhooks: events of reservations are "sent only to webhooks that name the type". */
const EVENTS = ['product.*', 'inventory.low', 'reservation.created', 'reservation.consumed', 'reservation.released'];
const PAGES_MAX = 1_000;
/** What clients accept, one after the other. */
const CODINGS = [undefined, 'gzip', 'identity', 'br', 'zstd, gzip;q=0.5'];
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

export class ServiceDoors {
  #service: TestService;
  /** All processes that serve. The first one also has the workers. */
  #processes: readonly [TestService, ...TestService[]];
  readonly #startAll: StartAll;
  readonly #settings: Record<string, string>;
  #turn = 0;
  #client: MarketClient | null = null;
  /** The file of the newest backup. */
  #backup = '';
  readonly #keys: Keys;
  readonly #clock: { now: number };
  /** The chain that the service follows, and the marketplace that it reads. */
  readonly chain: ChainDoor;
  readonly vendor: VendorDoor;
  readonly #receiver: Server;
  /** The events of the shop that a webhook has received, by `webhook-id`. */
  readonly shopEvents: Map<string, ShopEvent>;
  /** How many responses were read. */
  responses = 0;

  private constructor(
    processes: readonly [TestService, ...TestService[]],
    { clock, keys, chain, vendor, receiver, startAll, settings }: Parts,
  ) {
    this.#startAll = startAll;
    this.#settings = settings;
    this.chain = chain;
    this.vendor = vendor;
    this.#receiver = receiver.server;
    this.shopEvents = receiver.events;
    this.#service = processes[0];
    this.#processes = processes;
    this.#clock = clock;
    this.#keys = keys;
  }

  /** Starts a service whose clock the run moves, with a process for each of the settings. */
  static async start(
    allSettings: readonly Record<string, string>[],
    { now, faultShare }: { now: number; faultShare: number },
  ): Promise<ServiceDoors> {
    const clock = { now };
    const chain = await ChainDoor.start(() => clock.now, faultShare);
    const vendor = await VendorDoor.start();
    const startProcess = (settings: Record<string, string> = {}, workers = true) =>
      startTestService({
        settings: { ...SETTINGS, ...chain.settings, ...vendor.settings, ...settings },
        clock: () => clock.now,
        logLevel: 'warn',
        workers,
      });
    const startAll: StartAll = async () => {
      const first = await startProcess(allSettings[0]);
      const others: TestService[] = [];
      for (const settings of allSettings.slice(1)) others.push(await startProcess(settings, false));
      return [first, ...others];
    };
    const processes = await startAll();
    const [service] = processes;
    const createKey = async (input: object): Promise<string> => {
      const { body } = await service.operate('keys.create', { ...input });
      return body.result.secret as string;
    };
    for (const name of [SHOP, OTHER_SHOP]) await service.operate('shops.create', { name });
    const scopes = ['products:read', 'products:write', 'inventory:read', 'inventory:write', 'webhooks:write'];
    const keys = {
      intake: await createKey({ scopes: ['intake:write', 'orders:write'] }),
      orders: await createKey({ scopes: ['orders:write'] }),
      store: await createKey({ shop: SHOP, scopes }),
      otherShop: await createKey({ shop: OTHER_SHOP, scopes }),
    };
    const receiver = await startReceiver();
    const settings = allSettings[0] ?? {};
    const doors = new ServiceDoors(processes, { clock, keys, chain, vendor, receiver, startAll, settings });
    const { port } = receiver.server.address() as AddressInfo;
    const { status } = await doors.store('POST', '/webhooks', { url: `http://127.0.0.1:${port}/`, events: EVENTS });
    if (status !== 201) throw new Error(`the webhook cannot be created: ${status}`);
    return doors;
  }

  /** The collections whose figures come from a chain or a marketplace, and not from the market of the model. */
  get otherIds(): Set<string> {
    return new Set([...this.chain.ids, this.vendor.id]);
  }

  get now(): number {
    return this.#clock.now;
  }

  /** Lines that the service has logged with the level `error` since the last call. */
  takeErrors(): string[] {
    const lines = this.#processes.flatMap(({ logged }) => logged.splice(0));
    return lines.filter((line) => line.includes('"level":"error"'));
  }

  async close(): Promise<void> {
    for (const service of this.#processes.toReversed()) await service.close();
    await this.chain.close();
    await this.vendor.close();
    this.#receiver.closeAllConnections();
    this.#receiver.close();
  }

  /** Stops all processes, and starts them again. */
  async restart({ data }: Omit<RestartStep, 'do'>): Promise<void> {
    for (const service of this.#processes.toReversed()) await service.close();
    if (data === 'restore' || data === 'keep') this.#backup = await this.#makeBackup();
    if (data === 'restore' || data === 'older') await this.#run(['restore', '--replace', this.#backup]);
    this.#processes = await this.#startAll();
    this.#service = this.#processes[0];
    this.#client = null;
  }

  async #makeBackup(): Promise<string> {
    const file = path.join(temporaryDirectory(), 'backup');
    await this.#run(['backup', file]);
    return file;
  }

  async #run(command: readonly string[]): Promise<void> {
    await promisify(execFile)(process.execPath, [MAIN, ...command], { env: { ...process.env, ...this.#settings } });
  }

  advance(ms: number): void {
    this.#clock.now += ms;
  }

  /** Advances the clock to a time, if it is later. */
  advanceTo(time: number): void {
    this.#clock.now = Math.max(this.#clock.now, time);
  }

  /** Runs tasks of the workers to their end, as `mercat sync NAME --once` does. */
  async runTasks(names: readonly string[], { mayFail = false } = {}): Promise<void> {
    await Promise.all(names.map((name) => this.#runTask(name, mayFail)));
  }

  async #runTask(name: string, mayFail: boolean): Promise<void> {
    const [before] = (await this.operate('sync.start', { name })) as TaskEnd[];
    const deadline = performance.now() + TASK_PATIENCE_MS;
    for (;;) {
      await delay(TASK_POLL_MS);
      const [task] = (await this.operate('sync.read', { name })) as TaskEnd[];
      if (task && task.lastEnded !== before?.lastEnded && (mayFail || task.failures === 0)) return;
      if (performance.now() > deadline) throw new Unavailable(`the task ${name} does not end`);
    }
  }

  async import(
    records: readonly object[],
    through: 'http' | 'socket' | 'csv',
    options: { replace: boolean; createCollections: boolean },
  ): Promise<Imported> {
    const csv = through === 'csv' ? toCsv(records as MarketRecord[]) : null;
    const body = csv?.text ?? records.map((record) => `${JSON.stringify(record)}\n`).join('');
    const query = new URLSearchParams({
      replace: String(options.replace),
      createCollections: String(options.createCollections),
      ...(csv && { format: 'csv', map: JSON.stringify(csv.map) }),
    });
    const path = `/intake/v1/records?${query.toString()}`;
    const isHttp = through !== 'socket';
    const to = isHttp ? this.#url(path) : { socketPath: this.#service.socketPath, path };
    const headers = {
      'content-type': csv ? 'text/csv' : 'application/x-ndjson',
      ...(isHttp && { authorization: `Bearer ${this.#keys.intake}` }),
    };
    const { text: received } = await send(to, { method: 'POST', headers }, body);
    const events = received
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown> & { event: string });
    const done = events.find(({ event }) => event === 'done');
    if (!done) throw new Unavailable(`the import did not end: ${received}`);
    const counts = Object.fromEntries(
      ['inserted', 'updated', 'unchanged', 'conflict', 'refused'].map((name) => [name, Number(done[name])]),
    );
    const rejected = events.filter(({ event }) => event === 'refused').map(({ reason }) => String(reason));
    const warnings = done['warnings'] as Imported['warnings'];
    return { id: (done['imports'] as string[])[0] ?? '', counts, rejected, warnings };
  }

  /** Takes an import back. Returns how many rows stay. */
  async undo(id: string): Promise<number> {
    let position: unknown = null;
    let kept = 0;
    do {
      const part = (await this.operate('imports.undo', { id, position })) as {
        rows: Record<string, { kept: number }>;
        next: unknown;
      };
      kept += Object.values(part.rows).reduce((sum, row) => sum + row.kept, 0);
      position = part.next;
    } while (position !== null);
    return kept;
  }

  async operate(operation: string, input: Record<string, unknown>): Promise<unknown> {
    const { status, body } = await this.#call(operation, input);
    if (status !== 200) throw new Error(`${operation} ${JSON.stringify(input)}: ${JSON.stringify(body)}`);
    return body.result;
  }

  /** Deletes everything about a collection. There may be nothing to delete. */
  async purge(id: string): Promise<void> {
    const { status, body } = await this.#call('collections.remove', { id, purge: true });
    if (status !== 200 && !JSON.stringify(body).includes('nothing is stored'))
      throw new Error(`collections.remove ${id}: ${JSON.stringify(body)}`);
  }

  async #call(
    operation: string,
    input: Record<string, unknown>,
  ): Promise<{ status: number; body: { result: unknown } }> {
    const response = await this.#service.operate(operation, input).catch((error: unknown) => {
      throw new Unavailable(`${operation}: ${String(error)}`);
    });
    if (response.status >= SERVER_ERROR) throw new Unavailable(`${operation}: ${JSON.stringify(response.body)}`);
    return response;
  }

  async get(path: string): Promise<Response> {
    this.responses += 1;
    const coding = CODINGS[this.responses % CODINGS.length];
    const headers = { ...(coding !== undefined && { 'accept-encoding': coding }) };
    const { status, text: received } = await send(this.#url(path), { method: 'GET', headers }, '');
    if (status >= SERVER_ERROR) throw new Unavailable(`${path}: ${received}`);
    return { status, body: JSON.parse(received) };
  }

  async post(path: string, body: object): Promise<Response> {
    this.responses += 1;
    const options = { method: 'POST', headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip' } };
    const { status, text: received } = await send(this.#url(path), options, JSON.stringify(body));
    if (status >= SERVER_ERROR) throw new Unavailable(`${path}: ${received}`);
    return { status, body: JSON.parse(received) };
  }

  /** Calls a tool for agents. Returns its structured content. */
  async tool(name: string, given: object): Promise<unknown> {
    this.responses += 1;
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    const { status, text: received } = await send(this.#url('/mcp'), { method: 'POST', headers }, JSON.stringify(call));
    if (status >= SERVER_ERROR) throw new Unavailable(`/mcp: ${received}`);
    const { result } = JSON.parse(received.replace(/^(?:event: message\n)?data: /, '')) as {
      result: { isError?: boolean; structuredContent: unknown; content: unknown };
    };
    if (result.isError) throw new Unavailable(`${name}: ${JSON.stringify(result.content)}`);
    return result.structuredContent;
  }

  /** Reads the store with the key of another shop. */
  async asOtherShop(path: string): Promise<Response> {
    this.responses += 1;
    const headers = { authorization: `Bearer ${this.#keys.otherShop}` };
    const { status, text: received } = await send(this.#url(STORE + path), { method: 'GET', headers }, '');
    if (status >= SERVER_ERROR) throw new Unavailable(`${path}: ${received}`);
    return { status, body: JSON.parse(received) };
  }

  /** The offsets of the first `count` server-sent events, and of those that arrive together with them. */
  events(path: string, count: number): Promise<string[]> {
    this.responses += 1;
    return new Promise((resolve, reject) => {
      const call = request({ ...this.#url(path), agent: false }, (response) => {
        let received = '';
        response.setEncoding('utf8');
        response.on('error', () => undefined);
        response.on('data', (part: string) => {
          received += part;
          // The line `retry` and an id without data begin every stream.
          const offsets = [...received.matchAll(/^id: (\S+)\nevent: /gm)].map(([, offset = '']) => offset);
          if (offsets.length < count || !received.includes('id: ')) return;
          resolve(offsets);
          response.destroy();
        });
        response.on('end', () => reject(new Unavailable(`${path}: the stream has ended`)));
      });
      call.setTimeout(STREAM_PATIENCE_MS, () => call.destroy(new Error('the stream lacks events')));
      call.on('error', (error) => reject(new Unavailable(`${path}: ${error.message}`))).end();
    });
  }

  /** Sends a request to the store. */
  async store(
    method: string,
    path: string,
    body?: object,
    given: Record<string, string> = {},
  ): Promise<Response & { etag: string }> {
    this.responses += 1;
    const coding = CODINGS[this.responses % CODINGS.length];
    const headers = {
      authorization: `Bearer ${this.#keys.store}`,
      ...(coding !== undefined && { 'accept-encoding': coding }),
      ...(body && { 'content-type': 'application/json' }),
      ...given,
    };
    const sent = body ? JSON.stringify(body) : '';
    const { status, etag, text: received } = await send(this.#url(STORE + path), { method, headers }, sent);
    if (status >= SERVER_ERROR) throw new Unavailable(`${path}: ${received}`);
    return { status, etag, body: JSON.parse(received) };
  }

  /** The typed client, which keeps its cache of responses from step to step. */
  get client(): MarketClient {
    this.#client ??= createMarketClient({ baseUrl: this.#service.url, retriesMax: 0 });
    return this.#client;
  }

  /** Sends a request about signed orders. The key `orders` has the scope orders:write alone. */
  async intake(method: string, path: string, body?: object, key: 'intake' | 'orders' = 'intake'): Promise<Response> {
    this.responses += 1;
    const headers = {
      authorization: `Bearer ${this.#keys[key]}`,
      ...(body && { 'content-type': 'application/json' }),
    };
    const { status, text: received } = await send(
      this.#url(path),
      { method, headers },
      body ? JSON.stringify(body) : '',
    );
    if (status >= SERVER_ERROR) throw new Unavailable(`${path}: ${received}`);
    return { status, body: JSON.parse(received) };
  }

  /** All rows of a list, from all pages. Null: 404. */
  async rows(path: string, limit: number): Promise<unknown[] | null> {
    const rows: unknown[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const separator = path.includes('?') ? '&' : '?';
      const target = `${path}${separator}limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`;
      const isStore = path.startsWith(STORE);
      const { status, body } = await (isStore ? this.store('GET', target.slice(STORE.length)) : this.get(target));
      if (status === 404) return null;
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
      const { data, pagination } = body as {
        data: unknown[];
        pagination: { nextCursor: string | null; hasMore: boolean };
      };
      rows.push(...data);
      if (!pagination.hasMore) return rows;
      cursor = pagination.nextCursor;
    }
    throw new Error(`${path} has more than ${PAGES_MAX} pages`);
  }

  /** Each request goes to another process than the one before. */
  #url(path: string): RequestOptions {
    const { url } = this.#processes[this.#turn++ % this.#processes.length] ?? this.#service;
    const { hostname, port } = new URL(url);
    return { hostname, port, path };
  }
}

type Receiver = { server: Server; events: Map<string, ShopEvent> };

async function startReceiver(): Promise<Receiver> {
  const events = new Map<string, ShopEvent>();
  const server = createServer((received, response) => {
    const id = String(received.headers['webhook-id']);
    json(received).then(
      (body) => {
        events.set(id, body as ShopEvent);
        response.end();
      },
      () => response.destroy(),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, events };
}

/** Connections are kept for less time than a server keeps them, so that no server closes one while a request is on its way. */
const AGENT = new Agent({ keepAlive: true, timeout: 2_000 });

function send(
  to: RequestOptions,
  options: RequestOptions,
  body: string,
): Promise<{ status: number; etag: string; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request({ agent: AGENT, ...to, ...options }, (response) => {
      const decoder = DECODERS[response.headers['content-encoding'] ?? '']?.();
      text(decoder ? response.pipe(decoder) : response).then(
        (received) => {
          const wrong = codingError(response, { ...to, ...options }, received);
          if (wrong !== null) reject(new Difference(wrong));
          else resolve({ status: response.statusCode ?? 0, etag: response.headers.etag ?? '', text: received });
        },
        (error: unknown) => reject(new Unavailable(`${String(to.path)}: ${String(error)}`)),
      );
    });
    call.on('error', (error) => reject(new Unavailable(`${String(to.path)}: ${error.message}`))).end(body);
  });
}

/**
 * Operation: responses are "compressed for clients that accept br, zstd or gzip". Decision 0011: a response with a strong ETag is not encoded, and "responses to POST are never
 * compressed". Null if this is so.
 */
function codingError(
  { statusCode, headers }: IncomingMessage,
  { method, path: target, headers: sent }: RequestOptions,
  received: string,
): string | null {
  const served = headers['content-encoding'];
  if (method !== 'GET') return served === undefined ? null : `${method} ${target} is compressed: ${served}`;
  const accepted = (sent as Record<string, string>)['accept-encoding'] ?? 'identity';
  const isLarge = statusCode === 200 && received.length >= LARGE_CHARACTERS && !headers.etag?.startsWith('"');
  if (!isLarge || accepted === 'identity' || served !== undefined) return null;
  return `GET ${target} is not compressed for ${accepted}: ${received.length} characters`;
}
