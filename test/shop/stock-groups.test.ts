// Changes of stock that share a statement have the same results, log entries and events as changes that are made one by one.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { Deadline } from '../../src/platform/core/deadline.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { createId } from '../../src/platform/core/time-ordered-id.ts';
import { insertProducts } from '../../src/shop/queries/products.ts';
import { insertShop } from '../../src/shop/queries/shops.ts';
import type { GroupedStockChange } from '../../src/shop/queries/stock.ts';
import { updateStocks } from '../../src/shop/queries/stock.ts';
import { SecretKeys } from '../../src/platform/core/secret-keys.ts';
import { StockWriter } from '../../src/shop/stock-writer.ts';
import type { Product } from '../../src/shop/products/product.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { START } from '../support/service/market.ts';
import { forEachStore, inParallel } from '../support/service/shop.ts';
import { until } from '../support/until.ts';

const PRODUCTS = 3;
const STOCK_MAX = 60;
const LOW_STOCK_LEVEL = 10;
const CASES = 30;
const STATEMENT_MS = 60_000;
/** Ends a test that hangs. */
const LIMIT_MS = 60_000;

type Wanted = Pick<GroupedStockChange, 'mode' | 'requested' | 'expected' | 'reason'> & { product: number };

const wantedChange: fc.Arbitrary<Wanted> = fc.record({
  // The number PRODUCTS stands for a product that does not exist.
  product: fc.integer({ min: 0, max: PRODUCTS }),
  mode: fc.constantFrom('adjustment' as const, 'set' as const),
  requested: fc.integer({ min: -40, max: 80 }),
  expected: fc.option(fc.integer({ min: 0, max: 30 }), { nil: null, freq: 3 }),
  reason: fc.constantFrom('sold', 'counted'),
});

const wantedGroup = fc.record({
  stocks: fc.array(fc.integer({ min: 0, max: 30 }), { minLength: PRODUCTS, maxLength: PRODUCTS }),
  isTracked: fc.array(fc.boolean(), { minLength: PRODUCTS, maxLength: PRODUCTS }),
  changes: fc.array(wantedChange, { minLength: 1, maxLength: 25 }),
});

forEachEngine('a group of changes', (engine) => {
  let main: Database;
  before(async () => {
    main = await engine.open();
  });

  /** Makes the changes in a new shop, in groups of `size`. Returns the results and the stored rows, with numbers in place of the ids. */
  async function makeAll(
    { stocks, isTracked, changes }: { stocks: number[]; isTracked: boolean[]; changes: Wanted[] },
    size: number,
  ) {
    const shop = { id: createId('shop', START), name: createId('name', START), createdAt: START };
    await insertShop(main, shop);
    const ids = Array.from({ length: PRODUCTS + 1 }, () => createId('prod', START));
    for (const [index, inventory] of stocks.entries()) {
      await insertProducts(main, shop.id, [newProduct(ids[index] ?? '', inventory, isTracked[index] ?? true)]);
    }
    const results = [];
    for (let first = 0; first < changes.length; first += size) {
      const group = changes.slice(first, first + size).map(({ product, ...change }) => ({
        ...change,
        productId: ids[product] ?? '',
        keyId: 'key_1',
        eventId: createId('evt', START),
      }));
      const options = { stockMax: STOCK_MAX, lowStockLevel: LOW_STOCK_LEVEL, now: START, source: 'inventory' } as const;
      results.push(...(await updateStocks(main, shop.id, group, { ...options, locked: 'wait' })));
    }
    const log = await main.query(
      `select public_id, product_id, previous, next, requested, mode, reason from main.adjustment where shop_id = $1 order by id`,
      [shop.id],
    );
    const entries = log.map((row) => row['public_id']);
    const events = await main.query('select type, data from main.event where shop_id = $1 order by sequence', [
      shop.id,
    ]);
    const products = await main.query(
      'select id, inventory, version, updated_at from main.product where shop_id = $1 order by id',
      [shop.id],
    );
    const text = JSON.stringify({ results, log, events, products });
    const named = [
      ...ids.map((id, index) => [id, `product ${index}`]),
      ...entries.map((id, index) => [id, `entry ${index}`]),
    ];
    return JSON.parse(named.reduce((left, [id, name]) => left.replaceAll(String(id), String(name)), text));
  }

  test('a group of changes has the same results and leaves the same rows as the changes made one by one', async () => {
    await fc.assert(
      fc.asyncProperty(wantedGroup, async (group) => {
        assert.deepEqual(await makeAll(group, group.changes.length), await makeAll(group, 1));
      }),
      { numRuns: CASES, seed: 17 },
    );
  });
});

forEachEngine('the writer of stock', (engine) => {
  let main: Database;
  const shopId = createId('shop', START);
  const statements: string[] = [];
  before(async () => {
    main = await engine.open();
    await insertShop(main, { id: shopId, name: shopId, createdAt: START });
  });

  /** Creates a writer that records each statement in `statements`. `adjust` sends one adjustment of -1. */
  function createWriter(waitMs = LIMIT_MS) {
    const writer = new StockWriter({
      statementsOf: (_, { productId }) => {
        statements.push(productId ?? 'group');
        return main.within(STATEMENT_MS);
      },
      clock: () => START,
      secretKeys: new SecretKeys([]),
      toResponse: ({ next }) => ({ status: 200, headers: {}, body: String(next), hasSecret: false }),
    });
    const adjust = (productId: string, key: string | null = null) => {
      const request = {
        product: { by: 'product_id', value: productId },
        mode: 'adjustment',
        requested: -1,
        expected: null,
        keyId: 'key_1',
        reason: '',
      } as const;
      const once = key === null ? null : { id: { keyId: 'key_1', key }, digest: Buffer.from(productId) };
      return writer.change(shopId, request, { once, startBy: Deadline.after(waitMs) }).then(
        ({ response, isReplayed }) => (isReplayed ? `replayed ${response.body}` : response.body),
        (error: { code: string }) => error.code,
      );
    };
    return { adjust };
  }

  async function createProduct(inventory: number): Promise<string> {
    const id = createId('prod', START);
    await insertProducts(main, shopId, [newProduct(id, inventory, true)]);
    return id;
  }

  test('all changes that wait at the same moment are applied in one statement, in the order of their arrival', async () => {
    const { adjust } = createWriter();
    const [one, other] = [await createProduct(50), await createProduct(20)];
    statements.length = 0;
    const made = await Promise.all([adjust(one), adjust(other), adjust(one), adjust(one), adjust(other)]);
    assert.deepEqual(made, ['49', '19', '48', '47', '18']);
    assert.deepEqual(statements, ['group']);
  });

  test('a change that has not begun in time is rejected and is not made', async () => {
    const id = await createProduct(50);
    statements.length = 0;
    const { adjust } = createWriter(0);
    assert.deepEqual(await Promise.all([adjust(id), adjust(id)]), ['unavailable', 'unavailable']);
    assert.deepEqual(statements, []);
    assert.equal(await createWriter().adjust(id), '49');
  });

  test('a change gets `not_found` when the product that it waits for is deleted', { timeout: LIMIT_MS }, async () => {
    const { adjust } = createWriter();
    const id = await createProduct(50);
    const sent: Promise<string>[] = [];
    const isWaiting = async () => {
      const [row] = await main.query<{ waiting: number }>(
        `select count(*)::integer as waiting from pg_stat_activity where wait_event_type = 'Lock'`,
      );
      return row?.waiting === 1;
    };
    await main.transaction(async (tx) => {
      await tx.query('delete from main.product where id = $1', [id]);
      sent.push(adjust(id), adjust(id, 'of a deleted product'));
      // The embedded engine runs one transaction at a time.
      if (engine.name === 'postgresql') await until(isWaiting, LIMIT_MS, 'no change waits for the product');
    });
    assert.deepEqual(await Promise.all(sent), ['not_found', 'not_found']);
    assert.equal(await adjust(id), 'not_found');
  });

  test('the second use of an idempotency key in one group is rejected, and later uses get the first response', async () => {
    const { adjust } = createWriter();
    const [one, other] = [await createProduct(50), await createProduct(20)];
    const made = await Promise.all([
      adjust(one, 'a'),
      adjust(one, 'a'),
      adjust(one),
      adjust(other, 'b'),
      adjust(one, 'c'),
    ]);
    assert.deepEqual(made, ['49', 'conflict', '48', '19', '47']);
    assert.deepEqual(await Promise.all([adjust(one, 'a'), adjust(one, 'b'), adjust(one), adjust(one, 'a')]), [
      'replayed 49',
      'unprocessable',
      '46',
      'replayed 49',
    ]);
  });
});

function newProduct(id: string, inventory: number, trackInventory: boolean): Product {
  const texts = { name: id, slug: id, price: '1', type: 'physical', description: null, image: null } as const;
  const rest = { moreImages: [], requiresShipping: true, weightGrams: 0, collections: [] };
  const names = { sku: null, barcode: null, externalId: null, groupId: null, options: [], metadata: {} };
  const more = { ...names, status: 'active', compareAtPrice: null } as const;
  return {
    ...texts,
    ...rest,
    ...more,
    id,
    inventory,
    trackInventory,
    version: 1,
    createdAt: START,
    updatedAt: START - 1,
  };
}

forEachStore('changes that arrive together', (store) => {
  describe('changes with idempotency keys', () => {
    test('changes with idempotency keys are each made only once, and a repeated request gets the first response', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 100 });
      const change = (key: string, amount = -1) =>
        shop.send('POST', '/inventory', {
          body: { product_id: id, adjustment: amount },
          headers: { 'idempotency-key': key },
        });
      const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`);
      const first = await inParallel(keys, keys.length, (key) => change(key));
      assert.deepEqual(new Set(first.map(({ status }) => status)), new Set([200]));
      const again = await inParallel(keys, keys.length, (key) => change(key));
      assert.deepEqual(
        again.map(({ text }) => text),
        first.map(({ text }) => text),
      );
      assert.deepEqual(new Set(again.map(({ headers }) => headers.get('idempotent-replayed'))), new Set(['true']));
      const [other, ...mixed] = await Promise.all([
        change('key 0', -2),
        ...Array.from({ length: 6 }, () =>
          shop.send('POST', '/inventory', { body: { product_id: id, adjustment: -1 } }),
        ),
      ]);
      assert.equal(other?.status, 422);
      assert.deepEqual(new Set(mixed.map(({ status }) => status)), new Set([200]));
      assert.equal((await shop.ok('GET', `/products/${id}`)).data.inventory, 100 - 20 - 6);
    });
  });

  test('changes that arrive together are made or rejected independently of one another', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 50 });
    const unknown = createId('prod', START);
    const bodies = [
      { product_id: id, adjustment: -1 },
      { product_id: id, adjustment: -1, expected: 7 },
      { product_id: unknown, adjustment: -1 },
      { product_id: 'prod_?', adjustment: -1 },
      { product_id: id, adjustment: -1 },
    ];
    const sent = await Promise.all(bodies.map((body) => shop.send('POST', '/inventory', { body })));
    assert.deepEqual(
      sent.map(({ status }) => status),
      [200, 409, 404, 404, 200],
    );
    assert.equal((await shop.walk('/inventory/adjustments')).length, 2);
  });

  test('changes that arrive together all get a 503, and change nothing, when their statement fails', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 50 });
    await store.query(`create or replace function main.fail() returns trigger language plpgsql as
      $$ begin raise exception 'no space' using errcode = '53100'; end $$`);
    await store.query('create trigger fail before insert on main.adjustment for each row execute function main.fail()');
    const change = () => shop.send('POST', '/inventory', { body: { product_id: id, adjustment: -1 } });
    try {
      const sent = await Promise.all(Array.from({ length: 10 }, change));
      assert.deepEqual(new Set(sent.map(({ status }) => status)), new Set([503]));
    } finally {
      await store.query('drop trigger fail on main.adjustment');
    }
    assert.equal((await shop.ok('GET', `/products/${id}`)).data.inventory, 50);
    assert.equal((await change()).status, 200);
    assert.equal((await shop.walk('/inventory/adjustments')).length, 1);
  });
});
