// The load during a fault: writers and readers that send mixed requests until they are stopped. Like the integration of a shop, a writer
// repeats a request with the same Idempotency-Key until the service acknowledges it. The writer then notes the write in the ledger.

import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Client, Sent } from './client.ts';
import type { Ledger } from './ledger.ts';
import { SUBJECT, toListing, toNdjson, toToken } from './records.ts';

const STOCK_PRODUCTS = 6;
const INITIAL_STOCK = 15;
const DELTA_MAX = 6;
const ADJUSTERS = 4;
const CHANGERS = 2;
const MARKET_READERS = 3;
const STORE_READERS = 1;
const TOKENS_PER_IMPORT = 20;
/** The pauses between two requests of one writer or reader. */
const PAUSE_MS = 10;
const RETRY_PAUSE_MS = 100;
/** The pause after an import is longer, because the checks read each imported token. */
const IMPORT_PAUSE_MS = 250;
/** The default time limit of `stop` and `progress`. It is long enough for a slow machine. */
const PROGRESS_LIMIT_MS = 600_000;

/** Reads of the marketplace interface. */
export const MARKET_PATHS = [
  '/v1/collections?limit=5',
  `/v1/collections/${SUBJECT.slug}`,
  `/v1/collections/${SUBJECT.slug}/floor`,
  `/v1/collections/${SUBJECT.slug}/listings?limit=5`,
  `/v1/collections/${SUBJECT.slug}/sales?limit=5`,
  `/v1/tokens/ethereum/${SUBJECT.address}/1`,
] as const;

export const STORE_PATHS = [
  '/api/v1/products?limit=5',
  '/api/v1/inventory',
  '/api/v1/inventory/adjustments?limit=5',
  '/api/v1/webhooks',
] as const;

/** A write that the service rejected for good, for example with a 400, and the response. The load does not repeat such a write. */
export type Rejection = { sent: Sent; answer: Answer };

export class Load {
  readonly #client: Client;
  readonly #ledger: Ledger;
  #tasks: Promise<void>[] = [];
  #isStopping = false;
  /** Writes are not repeated after this time (`performance.now()`). */
  #deadline = Number.POSITIVE_INFINITY;
  #acknowledged = 0;
  #nextToken = 1;
  readonly rejections: Rejection[] = [];
  /** Writes that were not acknowledged within the limit of `stop`. */
  readonly unacknowledged: Sent[] = [];

  constructor(client: Client, ledger: Ledger) {
    this.#client = client;
    this.#ledger = ledger;
  }

  /** The number of requests that were acknowledged since the start. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Creates the products whose stock the load adjusts, and a collection. */
  async prepare(): Promise<void> {
    for (let number = 0; number < STOCK_PRODUCTS; number += 1) {
      const name = `Stock ${number}`;
      const id = await this.#create(name, { inventory: INITIAL_STOCK });
      if (id === null) throw new Error('the load cannot create its products');
      this.#ledger.noteStock(id, INITIAL_STOCK);
    }
    const records = [SUBJECT.record, toListing('1', 1_000_000n)];
    if (!(await this.#import(records))) throw new Error('the load cannot import its collection');
  }

  start(): void {
    this.#isStopping = false;
    const stockIds = [...this.#ledger.initialStock.keys()];
    this.#tasks = [
      ...times(ADJUSTERS, () => this.#repeat(() => this.#adjust(stockIds))),
      ...times(CHANGERS, () => this.#repeat(() => this.#changeProduct())),
      this.#repeat(() => this.#importTokens()),
      ...times(MARKET_READERS, () => this.#repeat(() => this.#read(MARKET_PATHS))),
      ...times(STORE_READERS, () => this.#repeat(() => this.#read(STORE_PATHS))),
    ];
  }

  /** Stops the load when the service has acknowledged the current write of each writer, or after `limitMs`. */
  async stop(limitMs = PROGRESS_LIMIT_MS): Promise<void> {
    this.#isStopping = true;
    this.#deadline = performance.now() + limitMs;
    await Promise.all(this.#tasks);
  }

  /** Resolves when `count` more requests were acknowledged. */
  async progress(count: number, limitMs = PROGRESS_LIMIT_MS): Promise<void> {
    const aim = this.#acknowledged + count;
    const deadline = performance.now() + limitMs;
    while (this.#acknowledged < aim) {
      if (performance.now() > deadline) throw new Error(`${aim - this.#acknowledged} requests were not acknowledged`);
      await sleep(PAUSE_MS);
    }
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#isStopping) {
      await work();
      await sleep(PAUSE_MS);
    }
  }

  async #adjust(stockIds: readonly string[]): Promise<void> {
    const productId = pick(stockIds);
    const marker = randomUUID();
    const delta = randomInt(-DELTA_MAX, DELTA_MAX + 1);
    const body = { product_id: productId, adjustment: delta, reason: marker };
    const answer = await this.#write({ method: 'POST', path: '/api/v1/inventory', body });
    if (answer !== null) this.#ledger.noteMovement(productId, { marker, delta });
  }

  async #changeProduct(): Promise<void> {
    const name = `Product ${randomUUID()}`;
    const id = await this.#create(name);
    if (id === null) return;
    const path = `/api/v1/products/${id}`;
    const renamed = `${name} renamed`;
    if ((await this.#write({ method: 'PUT', path, body: { name: renamed } })) !== null)
      this.#ledger.noteRenamed(id, renamed);
    if (randomInt(3) === 0 && (await this.#write({ method: 'DELETE', path })) !== null) this.#ledger.noteDeleted(id);
  }

  async #create(name: string, more: object = {}): Promise<string | null> {
    const answer = await this.#write({
      method: 'POST',
      path: '/api/v1/products',
      body: { name, price: '19.90', ...more },
    });
    if (answer === null) return null;
    const { id } = (JSON.parse(answer.text) as { data: { id: string } }).data;
    this.#ledger.noteCreated(id, name);
    return id;
  }

  async #importTokens(): Promise<void> {
    const tokens = times(TOKENS_PER_IMPORT, () => {
      const tokenId = String(this.#nextToken);
      this.#nextToken += 1;
      return [tokenId, `Token ${randomUUID()}`] as const;
    });
    if (await this.#import(tokens.map(([tokenId, name]) => toToken(tokenId, name)))) this.#ledger.noteTokens(tokens);
    await sleep(IMPORT_PAUSE_MS);
  }

  async #import(records: readonly object[]): Promise<boolean> {
    const sent = { method: 'POST', path: '/intake/v1/records', body: toNdjson(records) };
    return (await this.#write(sent)) !== null;
  }

  async #read(paths: readonly string[]): Promise<void> {
    const { status } = await this.#client.send({ method: 'GET', path: pick(paths) });
    if (status === 200) this.#acknowledged += 1;
    // Errors can arrive faster than successful responses. Without this pause, a reader would send more requests during a fault.
    else await sleep(RETRY_PAUSE_MS);
  }

  /** Sends a write until it is acknowledged. Returns null if it is rejected, or not acknowledged within the limit of `stop`. */
  async #write(write: Sent): Promise<Answer | null> {
    const sent = { ...write, ...(takesKey(write) && { idempotencyKey: randomUUID() }) };
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#client.send(sent);
      if (isAcknowledged(sent, answer, attempt)) {
        this.#acknowledged += 1;
        return answer;
      }
      if (!isRepeatable(sent, answer)) {
        this.rejections.push({ sent, answer });
        return null;
      }
      if (performance.now() > this.#deadline) {
        this.unacknowledged.push(sent);
        return null;
      }
      await sleep(RETRY_PAUSE_MS);
    }
  }
}

/** Whether the request accepts an Idempotency-Key. */
const takesKey = ({ method, path }: Sent): boolean => method !== 'DELETE' && path.startsWith('/api/');

function isAcknowledged({ method, path }: Sent, { status, text }: Answer, attempt: number): boolean {
  // If a repeated attempt gets a 404, an earlier attempt has deleted the product, but its response did not arrive.
  if (method === 'DELETE') return status === 200 || status === 204 || (status === 404 && attempt > 1);
  if (path.startsWith('/intake/')) return status === 200 && hasImportedAll(text);
  return status === 200 || status === 201;
}

/** Whether the events of an import end with `done`, without a rejected record. */
function hasImportedAll(events: string): boolean {
  const last = readLastEvent(events);
  return last?.event === 'done' && last.refused === 0;
}

/** The last event of an import. Null if the response was cut off. */
function readLastEvent(events: string): { event: string; refused?: number } | null {
  try {
    return JSON.parse(events.trimEnd().split('\n').at(-1) ?? '') as { event: string; refused?: number };
  } catch {
    return null;
  }
}

/** Whether the load repeats the request. A request is repeated even after a 500, so that the load continues. The checks report each 500. */
function isRepeatable({ path }: Sent, { status, text }: Answer): boolean {
  if (status === 'no response' || status >= 500 || status === 429) return true;
  // 409: an earlier attempt of the request is still running.
  if (status === 409) return true;
  return path.startsWith('/intake/') && readLastEvent(text)?.event !== 'done';
}

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function pick<T>(items: readonly T[]): T {
  const item = items[randomInt(items.length)];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
}
