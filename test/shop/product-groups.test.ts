// Updates that share a transaction have the same results, rows and events as the same updates made one by one.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { createLog } from '../../src/core/log.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { SecretKeys } from '../../src/core/secret-keys.ts';
import { createId } from '../../src/core/time-ordered-id.ts';
import type { Database, Statements } from '../../src/database/port.ts';
import { updateProductsWithEvents } from '../../src/shop/products/product-changes.ts';
import { ProductWriter } from '../../src/shop/products/product-writer.ts';
import type { Product, ProductInput } from '../../src/shop/products/product.ts';
import { changeProduct } from '../../src/shop/products/products.ts';
import { insertProduct } from '../../src/shop/queries/products.ts';
import { insertShop } from '../../src/shop/queries/shops.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { START } from '../support/service/market.ts';
import { forEachStore } from '../support/service/shop.ts';
import { until } from '../support/until.ts';

const PRODUCTS = 3;
const CASES = 25;
/** Ends a test that hangs. */
const LIMIT_MS = 60_000;
const LATER = START + 1_234;

/**
 * `product`: the number of a product. The number PRODUCTS stands for a product that does not exist. `expected`: the version that the update
 * names in `If-Match`.
 */
type Wanted = { product: number; expected: number | null; input: ProductInput };

const label = fc.constantFrom('a', 'b"', 'ü ☃', '');
const wantedUpdate: fc.Arbitrary<Wanted> = fc.record({
  product: fc.integer({ min: 0, max: PRODUCTS }),
  expected: fc.option(fc.integer({ min: 1, max: 4 }), { nil: null, freq: 3 }),
  input: fc.record(
    {
      name: fc.constantFrom('one', 'two\n'),
      price: fc.constantFrom('1', '1.00', '99999999999999999999.5'),
      description: fc.option(label, { nil: null }),
      image: fc.option(fc.constant('https://a/i'), { nil: null }),
      moreImages: fc.array(fc.constantFrom('https://a/1', 'https://a/2,{}'), { maxLength: 3 }),
      type: fc.constantFrom('physical' as const, 'nft' as const),
      trackInventory: fc.boolean(),
      requiresShipping: fc.boolean(),
      weightGrams: fc.constantFrom(0, 0.1, 1e21),
      collection: fc.constantFrom('x', 'y'),
      collections: fc.uniqueArray(fc.constantFrom('x', 'NULL', '{"a"}'), { maxLength: 3 }),
    },
    { requiredKeys: [] },
  ),
});

const checkOf =
  (expected: number | null) =>
  ({ version }: { version: number }) => {
    if (expected !== null && expected !== version) throw new ServiceError('precondition_failed', 'changed');
  };

forEachEngine('a group of updates', (engine) => {
  let main: Database;
  before(async () => {
    main = await engine.open();
  });

  /** Makes the updates in a new shop. Returns their results and what is stored, with numbers in place of the ids. */
  async function makeAll(updates: readonly Wanted[], make: (shopId: string, all: Made[]) => Promise<unknown[]>) {
    const shop = { id: createId('shop', START), name: createId('name', START), createdAt: START };
    await insertShop(main, shop);
    const ids = Array.from({ length: PRODUCTS + 1 }, () => createId('prod', START));
    for (const id of ids.slice(0, PRODUCTS)) await insertProduct(main, shop.id, newProduct(id));
    const results = await make(
      shop.id,
      updates.map(({ product, expected, input }) => ({
        productId: ids[product] ?? '',
        input,
        check: checkOf(expected),
      })),
    );
    const rows = await main.query(
      `select name, slug, price, type, description, image, more_images, inventory, track_inventory, requires_shipping, weight_grams,
         collections, version, updated_at from main.product where shop_id = $1 order by id`,
      [shop.id],
    );
    const events = await main.query(
      'select type, data, created_at from main.event where shop_id = $1 order by sequence',
      [shop.id],
    );
    const text = JSON.stringify({ results, rows, events });
    return JSON.parse(ids.reduce((all, id, number) => all.replaceAll(id, `product ${number}`), text)) as unknown;
  }

  type Made = { productId: string; input: ProductInput; check: (product: Product) => void };

  async function oneByOne(shopId: string, all: Made[]): Promise<unknown[]> {
    const context = {
      main,
      clock: () => LATER,
      log: createLog('silent'),
      serviceName: 'mercat',
      secretKeys: new SecretKeys([]),
    };
    const caller = { keyId: 'key_1', shopId, scopes: new Set<string>() };
    const results: unknown[] = [];
    for (const { productId, ...update } of all) {
      results.push(
        await main
          .transaction((tx) => changeProduct(context, tx, caller, { id: productId, ...update }))
          .catch((error: ServiceError) => error.code),
      );
    }
    return results;
  }

  async function together(shopId: string, all: Made[]): Promise<unknown[]> {
    const made = await main.transaction((tx) =>
      updateProductsWithEvents(tx, { shopId, now: LATER, locked: 'skip' }, all),
    );
    return made.map((result) => {
      if (result === 'locked') return result;
      if (result instanceof ServiceError) return result.code;
      if (result.outcome === 'missing') return 'not_found';
      return result.outcome === 'invalid' ? 'bad_request' : result.product;
    });
  }

  test('a group of updates has the same results, rows and events as the same updates made one by one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(wantedUpdate, { minLength: 1, maxLength: 12 }), async (updates) => {
        assert.deepEqual(await makeAll(updates, together), await makeAll(updates, oneByOne));
      }),
      { numRuns: CASES, seed: 1 },
    );
  });

  test('a group of updates is one transaction, and an update that fails does not affect the other updates', async () => {
    const { shopId, writer, transactions } = await createWriter();
    const [one, other] = [await createProduct(shopId), await createProduct(shopId)];
    const tooMany = Array.from({ length: 25 }, (_, number) => `c${number}`);
    transactions.count = 0;
    const made = await Promise.all([
      writer(one, { name: 'first' }),
      writer(other, { collections: tooMany }),
      writer(other, { collection: 'one more' }),
      writer(createId('prod', START), { name: 'x' }),
      writer(one, { name: 'second' }, 7),
      writer(one, { name: 'third' }, 2),
      writer('prod_?', { name: 'x' }),
    ]);
    assert.deepEqual(made, [
      '2 first',
      '2 name',
      'bad_request',
      'not_found',
      'precondition_failed',
      '3 third',
      'not_found',
    ]);
    assert.equal(transactions.count, 1);
  });

  test('a group of updates has at most 16 updates', async () => {
    const { shopId, writer, transactions } = await createWriter();
    const products: string[] = [];
    for (let count = 0; count < 33; count += 1) products.push(await createProduct(shopId));
    const made = await Promise.all(products.map((id) => writer(id, { name: 'new' })));
    assert.deepEqual(new Set(made), new Set(['2 new']));
    assert.equal(transactions.count, 3);
  });

  test('a group does not wait for a product that another transaction has locked', { timeout: LIMIT_MS }, async (t) => {
    if (engine.name !== 'postgresql') return t.skip('the embedded engine runs one transaction at a time');
    const { shopId, writer } = await createWriter();
    const [locked, free] = [await createProduct(shopId), await createProduct(shopId)];
    const sent: Promise<string>[] = [];
    const isWaiting = async () => {
      const sql = `select count(*)::integer as waiting from pg_stat_activity where wait_event_type = 'Lock'`;
      const [row] = await main.query<{ waiting: number }>(sql);
      return row?.waiting === 1;
    };
    await main.transaction(async (tx) => {
      await tx.query(`update main.product set name = 'held', version = 2 where id = $1`, [locked]);
      sent.push(writer(locked, { name: 'first' }), writer(locked, { name: 'second' }));
      assert.equal(await writer(free, { name: 'free' }), '2 free');
      await until(isWaiting, LIMIT_MS, 'no update waits for the locked product');
    });
    assert.deepEqual(await Promise.all(sent), ['3 first', '4 second']);
  });

  async function createProduct(shopId: string): Promise<string> {
    const product = newProduct(createId('prod', START));
    await insertProduct(main, shopId, product);
    return product.id;
  }

  /** A writer for a new shop. It returns the version and the name of the product, or the code of the error. */
  async function createWriter() {
    const shop = { id: createId('shop', START), name: createId('name', START), createdAt: START };
    await insertShop(main, shop);
    const transactions = { count: 0 };
    const statements: Statements = {
      ...main,
      transaction: (work) => {
        transactions.count += 1;
        return main.transaction(work);
      },
    };
    const all = new ProductWriter({
      statementsOf: () => statements,
      clock: () => LATER,
      secretKeys: new SecretKeys([]),
      toResponse: ({ version, name }) => ({ status: 200, headers: {}, body: `${version} ${name}`, hasSecret: false }),
    });
    const writer = (productId: string, input: ProductInput, expected: number | null = null) =>
      all
        .change(
          shop.id,
          { productId, input, check: checkOf(expected) },
          { once: null, latest: performance.now() + LIMIT_MS },
        )
        .then(
          ({ response }) => response.body,
          (error: ServiceError) => error.code as string,
        );
    return { shopId: shop.id, writer, transactions };
  }
});

function newProduct(id: string): Product {
  const texts = { name: 'name', slug: id, price: '1', type: 'physical', description: null, image: null } as const;
  const rest = { moreImages: [], requiresShipping: true, weightGrams: 0, collections: [], trackInventory: false };
  return { ...texts, ...rest, id, inventory: 3, version: 1, createdAt: START, updatedAt: START - 1 };
}

forEachStore('updates that arrive together', (store) => {
  test('each of the updates that arrive together gets its own response, and a repetition with the same idempotency key gets this response again', async () => {
    const shop = await store.shop();
    const products = await Promise.all(Array.from({ length: 10 }, () => shop.product()));
    const update = ({ id }: { id: string }, key: string) =>
      shop.send('PUT', `/products/${id}`, { body: { description: key }, headers: { 'idempotency-key': key } });
    const first = await Promise.all(products.map((product, index) => update(product, `key ${index}`)));
    const again = await Promise.all(products.map((product, index) => update(product, `key ${index}`)));
    for (const [index, { id }] of products.entries()) {
      const response = first[index];
      assert.deepEqual(
        [response?.status, response?.body.data.id, response?.body.data.description, response?.headers.get('etag')],
        [200, id, `key ${index}`, '"2"'],
      );
      assert.equal(again[index]?.text, response?.text);
      assert.deepEqual(
        [again[index]?.headers.get('idempotent-replayed'), again[index]?.headers.get('etag')],
        ['true', '"2"'],
      );
    }
    assert.equal((await shop.events()).filter(({ type }) => type === 'product.updated').length, products.length);
  });
});
