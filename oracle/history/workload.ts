// Writers that change the stock of a shop and its reservations at the same time, and note what they see. Like a shop, a writer repeats a request with the
// same Idempotency-Key until it is answered, so that each operation has a result however often the service is killed.

import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { SeededRandom } from '../../devnet/random.ts';
import { createRandom } from '../../devnet/random.ts';
import type {
  Change,
  End,
  History,
  Interval,
  Item,
  ItemState,
  LogEntry,
  Operation,
  ReservationState,
} from './history.ts';

const PRODUCTS = 24;
const INITIAL_STOCK = 120;
const QUANTITY_MAX = 4;
const ITEMS_MAX = 3;
const BATCH_MAX = 6;
/** A key may send 60 batches a minute. */
const BATCH_EVERY_MS = 1_100;
const EXPIRES_IN_S = [30, 35, 45];
const EXTENDED_BY_S = 30;
/** How many reservations wait for a writer that ends them. The others expire. */
const OPEN_MAX = 400;
const RETRY_MS = 50;
/** The stock of an expired reservation is back after a second. */
const RETURNED_MS = 2_000;
/** Only a service that hangs needs longer for a request, or for the last expiry. */
const LIMIT_MS = 120_000;
const PAGE = 500;

export type WorkloadOptions = {
  /** The address of the service, which may change when it is started again. */
  url: () => string;
  /** One key for each writer, because the limits are those of a key. */
  keys: readonly string[];
  operations: number;
  seed: number;
  /** Whether reservations that are left in the end are released. Otherwise they expire. */
  releasesRest: boolean;
  /** Makes a new reservation expire earlier, and returns when. */
  shorten?: (id: string) => Promise<number>;
};

type WireError = { message: string; details?: { message: string }[] };
type WireChange = { previous: number; inventory: number; adjustmentId: string };
type WireItem = { productId: string; quantity: number; held: number; consumed: number };
type WireReservation = { id: string; status: string; expiresAt: string; items: WireItem[] };
type WireEntry = Omit<LogEntry, 'product' | 'reservation' | 'at'> & {
  productId: string;
  reservationId: string | null;
  createdAt: string;
};
type WireFeedRow = { type: string; object: WireEntry | WireReservation };

/** A response. `data` or `error` is present. */
type Answer<Data> = {
  status: number;
  body: { data: Data; error?: WireError; meta: { sequence: number; hasMore: boolean } };
};
type Sent = { method: string; path: string; body?: object };
type Open = { id: string; items: ItemState[] };

export class Workload {
  readonly #options: WorkloadOptions;
  readonly #agent: Agent;
  readonly #open: Open[] = [];
  readonly #started: number[] = [];
  readonly history: Pick<History, 'products' | 'operations'> = { products: [], operations: [] };
  #begun = 0;

  constructor(options: WorkloadOptions) {
    this.#options = options;
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.keys.length });
  }

  /** The number of operations that have begun. */
  get begun(): number {
    return this.#begun;
  }

  async prepare(): Promise<void> {
    const [key = ''] = this.#options.keys;
    for (let number = 0; number < PRODUCTS; number += 1) {
      const body = { name: `Product ${number}`, price: '1', inventory: INITIAL_STOCK };
      const { body: made } = await this.#send<{ id: string }>(key, { method: 'POST', path: '/products', body });
      this.history.products.push({ id: made.data.id, inventory: INITIAL_STOCK });
    }
  }

  /** Runs all operations. */
  async run(): Promise<void> {
    await Promise.all(this.#options.keys.map((key, writer) => this.#write(key, writer)));
  }

  /** Waits until all reservations have ended, and reads the stock, the log and the reservations. */
  async readEnd(): Promise<Pick<History, 'log' | 'reservations'>> {
    const [key = ''] = this.#options.keys;
    const deadline = Date.now() + LIMIT_MS;
    for (;;) {
      const { body } = await this.#send<WireReservation[]>(key, {
        method: 'GET',
        path: '/reservations?status=held&limit=100',
      });
      if (body.data.length === 0) break;
      if (Date.now() > deadline) throw new Error('a reservation does not end');
      if (this.#options.releasesRest) for (const { id } of body.data) await this.#end(key, { id, kind: 'release' });
      else await delay(RETRY_MS);
    }
    // The status says that a reservation is over before its stock is back.
    await delay(RETURNED_MS);
    for (const { id } of this.history.products) await this.#read(key, id);
    return this.#readFeed(key);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #readFeed(key: string): Promise<Pick<History, 'log' | 'reservations'>> {
    const log: LogEntry[] = [];
    const reservations = new Map<string, ReservationState>();
    for (let after = 0, hasMore = true; hasMore;) {
      const { body } = await this.#send<WireFeedRow[]>(key, {
        method: 'GET',
        path: `/changes?after=${after}&limit=${PAGE}`,
      });
      for (const { type, object } of body.data) {
        if (type === 'inventory.changed') {
          const {
            id,
            productId: product,
            previous,
            next,
            source,
            reservationId: reservation,
            createdAt,
          } = object as WireEntry;
          log.push({ id, product, previous, next, source, reservation, at: Date.parse(createdAt) });
        } else if (type.startsWith('reservation.')) reservations.set(object.id, toState(object as WireReservation));
      }
      ({ sequence: after, hasMore } = body.meta);
    }
    return { log, reservations: [...reservations.values()] };
  }

  async #write(key: string, writer: number): Promise<void> {
    const random = createRandom(this.#options.seed * 1_000 + writer);
    this.#started[writer] = 0;
    while (this.#begun < this.#options.operations) {
      this.#begun += 1;
      const drawn = random.below(100);
      if (drawn < 34) await this.#reserve(key, random);
      else if (drawn < 56) await this.#endOne(key, random);
      else if (drawn < 68) await this.#read(key, this.#product(random));
      else if (drawn < 72) await this.#batch(key, writer, random);
      else await this.#change(key, random);
    }
  }

  #product(random: SeededRandom): string {
    return random.pick(this.history.products)?.id ?? '';
  }

  #products(random: SeededRandom, max: number): string[] {
    return random
      .shuffle(this.history.products)
      .slice(0, 1 + random.below(max))
      .map(({ id }) => id);
  }

  #note(operation: Operation): void {
    this.history.operations.push(operation);
  }

  #drawChange(random: SeededRandom, product: string): Omit<Change, 'call' | 'end' | 'result'> {
    const isSet = random.happens(0.1);
    return {
      kind: 'change',
      product,
      mode: isSet ? 'set' : 'adjustment',
      requested: isSet ? random.below(2 * INITIAL_STOCK) : random.below(2 * QUANTITY_MAX + 1) - QUANTITY_MAX,
      clamp: random.happens(0.5),
      expected: random.happens(0.1) ? random.below(INITIAL_STOCK) : null,
    };
  }

  async #change(key: string, random: SeededRandom): Promise<void> {
    const change = this.#drawChange(random, this.#product(random));
    const { call, end, status, body } = await this.#timed<WireChange>(key, {
      method: 'POST',
      path: '/inventory',
      body: toBody(change),
    });
    this.#note({ ...change, call, end, result: toResult(status === 200 ? body.data : null, body.error) });
  }

  async #batch(key: string, writer: number, random: SeededRandom): Promise<void> {
    const now = performance.now();
    if (now < (this.#started[writer] ?? 0) + BATCH_EVERY_MS) return this.#change(key, random);
    this.#started[writer] = now;
    const changes = this.#products(random, BATCH_MAX).map((product) => this.#drawChange(random, product));
    const sent = { method: 'POST', path: '/inventory/batch', body: { changes: changes.map(toBody) } };
    const { call, end, body } = await this.#timed<{ change: WireChange | null; error: WireError | null }[]>(key, sent);
    for (const [index, change] of changes.entries()) {
      const { change: made = null, error } = body.data[index] ?? {};
      this.#note({ ...change, call, end, result: toResult(made, error) });
    }
  }

  async #reserve(key: string, random: SeededRandom): Promise<void> {
    const items: Item[] = this.#products(random, ITEMS_MAX).map((product) => ({
      product,
      quantity: 1 + random.below(QUANTITY_MAX),
    }));
    const expiresInSeconds = random.pick(EXPIRES_IN_S) ?? 30;
    const wire = items.map(({ product, quantity }) => ({ product_id: product, quantity }));
    const sent = { method: 'POST', path: '/reservations', body: { items: wire, expiresInSeconds } };
    const { call, end, status, body } = await this.#timed<WireReservation>(key, sent);
    const reserve = { kind: 'reserve', call, end, items, expiresInMs: expiresInSeconds * 1_000 } as const;
    if (status !== 201) {
      const short = (body.error?.details ?? []).map(({ message }) => {
        const [, product = '', level = ''] = /^the stock of (\S+) is (\d+), less/.exec(message) ?? [];
        return { product, level: Number(level) };
      });
      this.#note({ ...reserve, result: { short } });
      return;
    }
    const made = toState(body.data);
    const { shorten } = this.#options;
    const expiresAt = shorten && random.happens(0.2) ? await shorten(made.id) : made.expiresAt;
    this.#note({ ...reserve, result: { ...made, expiresAt } });
    if (this.#open.length < OPEN_MAX && random.happens(0.9)) this.#open.push({ id: made.id, items: made.items });
  }

  async #endOne(key: string, random: SeededRandom): Promise<void> {
    const index = random.below(this.#open.length);
    const open = this.#open[index];
    if (!open) return this.#read(key, this.#product(random));
    // A reservation that stays in the list is ended by several writers at the same time.
    if (random.happens(0.7)) this.#open.splice(index, 1);
    const drawn = random.below(100);
    const kind = drawn < 60 ? 'consume' : drawn < 90 ? 'release' : 'extend';
    const isPart = kind === 'consume' && random.happens(0.4);
    const items = isPart
      ? open.items
          .slice(0, 1 + random.below(open.items.length))
          .map(({ product, quantity }) => ({ product, quantity: 1 + random.below(quantity) }))
      : null;
    const keepsRest = isPart && random.happens(0.5);
    await this.#end(key, { id: open.id, kind, items, keepsRest });
  }

  async #end(
    key: string,
    { id, kind, items = null, keepsRest = false }: Pick<End, 'id' | 'kind'> & Partial<Pick<End, 'items' | 'keepsRest'>>,
  ): Promise<void> {
    const body = {
      ...(items && {
        items: items.map(({ product, quantity }) => ({ product_id: product, quantity })),
        remaining: keepsRest ? 'hold' : 'release',
      }),
      ...(kind === 'extend' && { expiresInSeconds: EXTENDED_BY_S }),
    };
    const { call, end, ...answer } = await this.#timed<WireReservation>(key, {
      method: 'POST',
      path: `/reservations/${id}/${kind}`,
      body,
    });
    const [, refusedAs = 'less'] = /^is (\w+)$/.exec(answer.body.error?.details?.[0]?.message ?? '') ?? [];
    const result: End['result'] = answer.status === 200 ? toState(answer.body.data) : { refusedAs };
    this.#note({ kind, call, end, id, items, keepsRest, expiresInMs: EXTENDED_BY_S * 1_000, result });
  }

  async #read(key: string, product: string): Promise<void> {
    const path = `/inventory?product_id=${product}`;
    for (;;) {
      const call = Date.now();
      const answer = await this.#sendOnce<{ inventory: number; reserved: number }[]>(
        key,
        { method: 'GET', path },
        null,
      );
      const [level] = answer?.body.data ?? [];
      if (level) {
        this.#note({
          kind: 'read',
          call,
          end: Date.now() + 1,
          product,
          inventory: level.inventory,
          reserved: level.reserved,
        });
        return;
      }
      await delay(RETRY_MS);
    }
  }

  async #timed<Data>(key: string, sent: Sent): Promise<Answer<Data> & Interval> {
    const call = Date.now();
    const answer = await this.#send<Data>(key, sent);
    return { ...answer, call, end: Date.now() + 1 };
  }

  /** Repeats a request until it is answered. Throws for an answer that no rule allows. */
  async #send<Data>(key: string, sent: Sent): Promise<Answer<Data>> {
    const idempotencyKey = sent.method === 'GET' ? null : randomUUID();
    const deadline = Date.now() + LIMIT_MS;
    for (;;) {
      const answer = await this.#sendOnce<Data>(key, sent, idempotencyKey);
      const { status = 0, body } = answer ?? {};
      const isRunning = status === 409 && body?.error?.message.includes('Idempotency-Key') === true;
      if (answer && ([200, 201].includes(status) || (status === 409 && !isRunning))) return answer;
      if (![0, 408, 409, 429].includes(status) && status < 500)
        throw new Error(`${sent.method} ${sent.path}: ${status} ${JSON.stringify(body)}`);
      if (Date.now() > deadline) throw new Error(`${sent.method} ${sent.path} is not answered: ${status}`);
      await delay(RETRY_MS);
    }
  }

  /** Null: there was no complete response. */
  #sendOnce<Data>(
    key: string,
    { method, path, body }: Sent,
    idempotencyKey: string | null,
  ): Promise<Answer<Data> | null> {
    const content = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
      ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
    };
    return new Promise((resolve) => {
      const fail = () => resolve(null);
      const call = request(
        `${this.#options.url()}/api/v1${path}`,
        { method, headers, agent: this.#agent },
        (response) => {
          text(response)
            .then((json) =>
              resolve({ status: response.statusCode ?? 0, body: JSON.parse(json) as Answer<Data>['body'] }),
            )
            .catch(fail);
        },
      );
      call.on('error', fail).end(content);
    });
  }
}

function toState({ id, status, expiresAt, items }: WireReservation): ReservationState {
  return {
    id,
    status,
    expiresAt: Date.parse(expiresAt),
    items: items.map(({ productId, quantity, held, consumed }) => ({
      product: productId,
      quantity,
      held,
      consumed,
    })),
  };
}

function toBody({ product, mode, requested, clamp, expected }: Omit<Change, 'call' | 'end' | 'result'>): object {
  return { product_id: product, [mode]: requested, clamp, ...(expected !== null && { expected }) };
}

function toResult(made: WireChange | null, error: WireError | null | undefined): Change['result'] {
  if (made) return { previous: made.previous, next: made.inventory, entry: made.adjustmentId };
  const [, level] = /^The stock is (\d+)/.exec(error?.message ?? '') ?? [];
  return level === undefined ? null : { level: Number(level) };
}
