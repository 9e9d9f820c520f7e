// Two processes of the service share one PostgreSQL. Copies of a shop read its products once, and then follow `/changes`, each over connections that are
// cut at random times and lead to another process afterwards. Meanwhile writers change the shop, and the processes are killed. At the end every copy must
// equal the shop, without a second read of the products. `npm run test:copy` runs this test with more cuts and kills. SHOP_COPY_SEED sets the random seed.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Adjustment, Product, ProductSummary, Reservation, StoreClient } from '../../client/src/store.ts';
import { MercatError, createStoreClient } from '../../client/src/store.ts';
import type { SeededRandom } from '../../devnet/random.ts';
import { createRandom } from '../../devnet/random.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import {
  canRunPostgres,
  createTestDatabase,
  migratedTemplate,
  startPostgres,
} from '../support/engines/postgres-server.ts';
import { startTcpProxy } from '../support/engines/tcp-proxy.ts';
import { Nodes } from './stream/nodes.ts';

const SEED = Number(process.env['SHOP_COPY_SEED'] ?? 1);
const COPIES = Number(process.env['SHOP_COPY_COPIES'] ?? 2);
const CUTS = Number(process.env['SHOP_COPY_CUTS'] ?? 20);
const KILLS = Number(process.env['SHOP_COPY_KILLS'] ?? 1);
const NODES = 2;
const WRITERS = 6;
const PRODUCTS = 60;
/** The longest time between two cuts of a connection. */
const OPEN_MS_MAX = 300;
const RETRY_MS = 50;
const RETURNED_MS = 2_500;
const SCOPES = ['products:read', 'products:write', 'inventory:read', 'inventory:write'];

after(cleanUp);

test('a copy of a shop by one list and the feed of changes equals the shop, over cut connections and kills', async (t) => {
  if (!canRunPostgres() && process.env['REQUIRE_POSTGRES'] !== '1') return t.skip('PostgreSQL is not on this machine');
  const closers: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    for (const close of closers.toReversed()) await close();
  });
  const server = await startPostgres();
  closers.push(() => server.discard());
  const nodes = await Nodes.start(NODES, {
    DATABASE_URL: await createTestDatabase(server.url, await migratedTemplate(server.url)),
    STORE_RATE_LIMIT: '100000000',
    LOG_LEVEL: 'silent',
  });
  closers.push(() => nodes.stop());
  await nodes.operate('shops.create', { name: 'shop' });
  const { secret: apiKey } = await nodes.operate('keys.create', { shop: 'shop', scopes: SCOPES });
  const clients = nodes.urls.map((baseUrl) => createStoreClient({ baseUrl, apiKey, retriesMax: 0 }));
  const shop = new ShopWriters(clients);
  await shop.fill();
  const copies: ShopCopy[] = [];
  closers.push(() => Promise.all(copies.map((copy) => copy.close())));
  const writing = shop.start();
  for (let index = 0; index < COPIES; index += 1)
    copies.push(await ShopCopy.start({ nodes: nodes.urls, apiKey, random: createRandom(SEED + index) }));
  const cuts = () => copies.reduce((sum, copy) => sum + copy.cuts, 0);
  for (let kills = 0; kills < KILLS; kills += 1) {
    while (cuts() < ((kills + 1) * CUTS) / (KILLS + 1)) await delay(RETRY_MS);
    await nodes.kill(kills % NODES);
  }
  while (cuts() < CUTS) await delay(RETRY_MS);
  shop.stop();
  const writes = await writing;

  // The stock of reservations of deleted products returns within a second.
  await delay(RETURNED_MS);
  const [client = assert.fail()] = clients;
  const { sequence } = (await client.listChanges({ after: copies[0]?.sequence ?? 0 })).meta;
  const products = await client.listProducts({ limit: 100, status: 'any' }).take(Number.POSITIVE_INFINITY);
  const reservations = await client.listReservations({ limit: 100 }).take(Number.POSITIVE_INFINITY);
  const inOrder = <T extends { id: string }>(rows: Iterable<T>) => [...rows].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const [index, copy] of copies.entries()) {
    await copy.stopAt(sequence);
    t.diagnostic(`copy ${index + 1}: ${copy.changes} changes, ${copy.cuts} cuts, ${copy.lists} read of the products`);
    assert.deepEqual(inOrder(copy.products.values()), inOrder(products));
    const known = reservations.filter(({ id }) => copy.reservations.has(id));
    assert.deepEqual(inOrder(copy.reservations.values()).map(withoutNames), inOrder(known).map(withoutNames));
    assert.equal(copy.lists, 1);
    assert.ok(copy.changes > 0 && copy.isInOrder);
  }
  t.diagnostic(
    `${writes} writes, ${KILLS} kills, ${cuts()} cuts, ${products.length} products, ${reservations.length} reservations`,
  );
  assert.ok(reservations.length > 0);
});

/** A list has no names of deleted products, and the feed has those of the time of the change. */
const withoutNames = (reservation: Reservation) => ({
  ...reservation,
  items: reservation.items.map((item) => ({ ...item, name: null })),
});

/** What a caller keeps of a shop. */
class ShopCopy {
  readonly products = new Map<string, ProductSummary>();
  readonly reservations = new Map<string, Reservation>();
  sequence = 0;
  changes = 0;
  /** How many open connections were cut. */
  cuts = 0;
  /** How often the products were read. */
  lists = 0;
  isInOrder = true;
  readonly #client: StoreClient;
  readonly #close: () => Promise<void>;
  readonly #work: Promise<unknown>;
  #stopAt = Number.POSITIVE_INFINITY;

  private constructor(
    client: StoreClient,
    options: { cut: (copy: ShopCopy) => Promise<void>; close: () => Promise<void> },
  ) {
    this.#client = client;
    this.#close = options.close;
    this.#work = Promise.all([this.#copy(), options.cut(this)]);
    this.#work.catch(() => undefined);
  }

  static async start({ nodes, apiKey, random }: { nodes: readonly string[]; apiKey: string; random: SeededRandom }) {
    const proxy = await startTcpProxy(nodes[0] ?? '');
    const client = createStoreClient({ baseUrl: proxy.url, apiKey, retriesMax: 0 });
    const cut = async (copy: ShopCopy) => {
      for (let next = 1; copy.sequence < copy.#stopAt; next += 1) {
        await delay(random.below(OPEN_MS_MAX));
        proxy.retarget(nodes[next % nodes.length] ?? '');
        if (proxy.connections() > 0) copy.cuts += 1;
        proxy.cut();
      }
    };
    return new ShopCopy(client, { cut, close: () => proxy.close() });
  }

  /** Waits until the copy has all changes up to this place. */
  async stopAt(sequence: number): Promise<void> {
    this.#stopAt = sequence;
    await this.#work;
  }

  async close(): Promise<void> {
    this.#stopAt = 0;
    await this.#work.catch(() => undefined);
    await this.#close();
  }

  async #copy(): Promise<void> {
    await this.#readProducts();
    while (this.sequence < this.#stopAt) {
      const { data, meta } = await this.#repeat(() =>
        this.#client.listChanges({ after: this.sequence, limit: 200, wait: 1 }),
      );
      let last = this.sequence;
      for (const { sequence, type, productId, object } of data) {
        this.isInOrder &&= sequence > last;
        last = sequence;
        this.#apply(type, productId ?? '', object);
      }
      this.changes += data.length;
      this.sequence = meta.sequence;
    }
  }

  async #readProducts(): Promise<void> {
    this.lists += 1;
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const wanted = { limit: 20, status: 'any', ...(cursor !== undefined && { cursor }) } as const;
      const { data, meta, pagination } = await this.#repeat(() => this.#client.listProducts(wanted).page());
      if (isFirst) this.sequence = meta.sequence;
      for (const product of data) this.products.set(product.id, product);
      cursor = pagination.nextCursor ?? undefined;
    }
  }

  #apply(type: string, productId: string, object: Product | Adjustment | Reservation | null): void {
    const known = this.products.get(productId);
    if (type === 'product.deleted') this.products.delete(productId);
    else if (type.startsWith('product.')) {
      const { description: _, moreImages: __, ...summary } = object as Product;
      this.products.set(productId, summary);
    } else if (type === 'inventory.changed' && known) {
      const { previous, next, createdAt } = object as Adjustment;
      // A change that was limited to nothing is in the log, and leaves the product as it is.
      if (next !== previous) this.products.set(productId, { ...known, inventory: next, updatedAt: createdAt });
    } else if (type.startsWith('reservation.')) {
      const reservation = object as Reservation;
      this.reservations.set(reservation.id, reservation);
    }
  }

  /** Repeats a read until it is answered. */
  async #repeat<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await read();
      } catch (error) {
        if (!isPassing(error)) throw error;
        await delay(RETRY_MS / 5);
      }
    }
  }
}

/** Whether a request fails because of a cut or a kill. */
function isPassing(error: unknown): boolean {
  return (
    error instanceof MercatError &&
    ['network_error', 'timeout', 'unavailable', 'invalid_response', 'internal_error'].includes(error.code)
  );
}

/** Writers that change the products, the stock and the reservations of a shop. */
class ShopWriters {
  readonly #clients: readonly StoreClient[];
  readonly #ids: string[] = [];
  #isStopping = false;
  #number = 0;

  constructor(clients: readonly StoreClient[]) {
    this.#clients = clients;
  }

  async fill(): Promise<void> {
    for (let count = 0; count < PRODUCTS; count += 1) await this.#create(createRandom(SEED));
  }

  /** Resolves with the number of writes. */
  async start(): Promise<number> {
    const counts = Array.from({ length: WRITERS }, async (_, index) => {
      const random = createRandom(SEED * 100 + index);
      let count = 0;
      for (; !this.#isStopping; count += 1) await this.#write(random);
      return count;
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  stop(): void {
    this.#isStopping = true;
  }

  async #write(random: SeededRandom): Promise<void> {
    const productId = random.pick(this.#ids) ?? '';
    const drawn = random.below(100);
    const quantity = 1 + random.below(3);
    if (drawn < 6) await this.#create(random);
    else if (drawn < 9) {
      this.#ids.splice(this.#ids.indexOf(productId), 1);
      await this.#send(random, (client) => client.deleteProduct({ productId }));
    } else if (drawn < 25) {
      const name = `Renamed ${(this.#number += 1)}`;
      const stock = random.happens(0.3) ? { inventory: random.below(100) } : {};
      await this.#send(random, (client, key) => client.updateProduct({ productId, name, ...stock }, key));
    } else if (drawn < 70) {
      await this.#send(random, (client, key) =>
        client.changeInventory({ product_id: productId, adjustment: quantity - 2 }, key),
      );
    } else {
      const items = [{ product_id: productId, quantity }];
      const made = await this.#send(random, (client, key) => client.createReservation({ items }, key));
      const reservationId = made?.data.id;
      if (reservationId === undefined) return;
      await this.#send(random, (client, key) =>
        random.happens(0.5)
          ? client.consumeReservation({ reservationId }, key)
          : client.releaseReservation({ reservationId }, key),
      );
    }
  }

  async #create(random: SeededRandom): Promise<void> {
    const product = { name: `Product ${(this.#number += 1)}`, price: '19.90', inventory: 50, description: 'Text' };
    const made = await this.#send(random, (client, key) => client.createProduct(product, key));
    if (made) this.#ids.push(made.data.id);
  }

  /** Repeats a request with the same idempotency key until it is answered. Null if it is rejected, for example because the product was deleted. */
  async #send<T>(
    random: SeededRandom,
    send: (client: StoreClient, options: { idempotencyKey: string }) => Promise<T>,
  ): Promise<T | null> {
    const options = { idempotencyKey: crypto.randomUUID() };
    for (;;) {
      try {
        return await send(random.pick(this.#clients) ?? assert.fail(), options);
      } catch (error) {
        const isRunning = error instanceof MercatError && error.message.includes('Idempotency-Key');
        if (isRunning || isPassing(error)) await delay(RETRY_MS);
        else if (error instanceof MercatError && ['not_found', 'conflict', 'insufficient_stock'].includes(error.code))
          return null;
        else throw error;
      }
    }
  }
}
