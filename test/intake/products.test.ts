// Imports records of products, on both engines. A record creates or changes a product, or is rejected. The events and adjustments of an
// import follow the rules of the store interface.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Queryable } from '../../src/platform/database/port.ts';
import { trackNothing } from '../../src/intake/undo/change-log.ts';
import { ingestProducts } from '../../src/intake/ingest/products.ts';
import type { ProductRecord } from '../../src/intake/records/product.ts';
import { parseProductRecord } from '../../src/intake/records/product.ts';
import { parseColumnMap } from '../../src/intake/csv/column-map.ts';
import { collection, product, recordContext, runImport, toContext, toNdjson } from '../support/service/intake.ts';
import type { TestShop } from '../support/service/shop.ts';
import { forEachStore } from '../support/service/shop.ts';
import { until } from '../support/until.ts';

forEachStore('records of products', (store) => {
  const load = (...records: unknown[]) => runImport(toContext(store.main, { clock: store.now }), toNdjson(records));
  /** Imports records that must all be accepted, and returns `[inserted, updated, unchanged]`. */
  const ingest = async (...records: unknown[]) => {
    const { summary, refused } = await load(...records);
    assert.deepEqual(refused, []);
    return [summary.inserted, summary.updated, summary.unchanged];
  };
  const rejectionsOf = async (...records: unknown[]) =>
    (await load(...records)).refused.map(({ line, reason }) => `${line}: ${reason}`);
  const productsOf = async (shop: TestShop) => {
    const listed = await shop.walk('/products');
    const read = await Promise.all(listed.map(({ id }) => shop.ok('GET', `/products/${id}`)));
    return read.map(({ data }) => data);
  };
  const onlyOf = async (shop: TestShop) => {
    const [only, ...rest] = await productsOf(shop);
    assert.deepEqual(rest, []);
    return only;
  };
  const eventTypes = async (shop: TestShop) => (await shop.events()).map(({ type }) => type);

  describe('a new product', () => {
    test('an imported product is the same as a product created through the store interface', async () => {
      const shop = await store.shop();
      const fields = {
        name: 'Enamel mug',
        price: '19.90',
        inventory: 40,
        collection: 'mugs',
        moreImages: ['https://a/1'],
      };
      const posted = await shop.product(fields);
      const other = await store.shop();
      assert.deepEqual(await ingest(product({ shop: other.name, ...fields })), [1, 0, 0]);
      const imported = await onlyOf(other);
      const { id, createdAt, updatedAt } = imported;
      assert.deepEqual(imported, { ...posted, id, createdAt, updatedAt });
      assert.deepEqual(await other.events(), [{ type: 'product.created', data: imported }]);
      assert.deepEqual(await other.walk('/inventory/adjustments'), []);
    });

    test('an imported product keeps its price exactly as it was written, as a string or as a JSON number', async () => {
      const shop = await store.shop();
      const big = '1234567890123456789012345678901234567890.123456789012345678';
      await load(
        `{"kind":"product","shop":"${shop.id}","name":"a","price":19.90}`,
        `{"kind":"product","shop":"${shop.id}","name":"b","price":${big}}`,
        `{"kind":"product","shop":"${shop.id}","name":"c","price":"0.10"}`,
      );
      const prices = Object.fromEntries((await productsOf(shop)).map(({ name, price }) => [name, price]));
      assert.deepEqual(prices, { a: '19.90', b: big, c: '0.10' });
    });

    test('a product can be imported from a CSV file, with its price as it was written', async () => {
      const shop = await store.shop();
      const map = parseColumnMap({
        kind: { value: 'product' },
        shop: { value: shop.name },
        name: 'title',
        price: 'eur',
        inventory: 'n',
        trackInventory: 'tracked',
        collection: 'shelf',
      });
      const csv = 'title,eur,n,tracked,shelf\nMug,19.90,5,true,mugs\n"Plate, blue",7.00,,false,\n';
      const { summary, refused } = await runImport(toContext(store.main), csv, { format: 'csv', map });
      assert.deepEqual([summary.inserted, refused], [2, []]);
      const described = (await productsOf(shop)).map(
        (one) => `${one.name}: ${one.price}, ${one.inventory}, ${one.collections}`,
      );
      assert.deepEqual(described.toSorted(), ['Mug: 19.90, 5, mugs', 'Plate, blue: 7.00, 0, ']);
      assert.deepEqual(
        (
          await runImport(toContext(store.main), 'n,p\nMug,1\n', {
            format: 'csv',
            map: {
              kind: { value: 'product' },
              shop: { value: shop.name },
              name: { column: 'n' },
              price: { value: 19.9 },
            },
          })
        ).refused,
        [{ line: 2, reason: 'price: must be a string, because the number may have been rounded (19.9)' }],
      );
    });
  });

  describe('a product that is imported again', () => {
    test('a second import of the same file changes no product and adds no event', async () => {
      const shop = await store.shop();
      const file = Array.from({ length: 30 }, (_, i) =>
        product({
          shop: shop.name,
          name: `Ware ${i}`,
          inventory: i,
          description: 'x',
          collections: ['a', 'b'],
          collection: 'c',
        }),
      );
      assert.deepEqual(await ingest(...file), [30, 0, 0]);
      const stored = await productsOf(shop);
      store.advance(60_000);
      assert.deepEqual(await ingest(...file), [0, 0, 30]);
      assert.deepEqual(await productsOf(shop), stored);
      assert.equal((await shop.events()).length, 30);
      const [{ versions }] = (await store.query(
        'select array_agg(distinct version) as versions from main.product where shop_id = $1',
        [shop.id],
      )) as [{ versions: number[] }];
      assert.deepEqual(versions, [1]);
    });

    test('a changed record replaces only the fields that it gives, as PUT does', async () => {
      const shop = await store.shop();
      const first = {
        shop: shop.name,
        slug: 'mug',
        description: 'Tin',
        image: 'https://a/1',
        weightGrams: 90,
        inventory: 40,
      };
      await ingest(product(first));
      await shop.ok('POST', '/inventory', { product_id: (await onlyOf(shop)).id, adjustment: -3 });
      const before = await onlyOf(shop);
      store.advance(1_000);
      const change = { shop: shop.name, slug: 'mug', name: 'Mug 2', image: null, collection: 'new' };
      assert.deepEqual(await ingest(product(change)), [0, 1, 0]);
      const after = await onlyOf(shop);
      const { updatedAt } = after;
      assert.notEqual(updatedAt, before.updatedAt);
      assert.deepEqual(after, { ...before, name: 'Mug 2', image: null, collections: ['new'], updatedAt });
      const changed = ['name', 'image', 'collections'];
      assert.deepEqual((await shop.events()).at(-1), { type: 'product.updated', data: { ...after, changed } });
    });

    test('a changed stock is logged as an adjustment that names no key', async () => {
      const shop = await store.shop();
      await ingest(product({ shop: shop.name, inventory: 30 }));
      assert.deepEqual(await ingest(product({ shop: shop.name, inventory: 4 })), [0, 1, 0]);
      const [entry, ...rest] = await shop.walk('/inventory/adjustments');
      assert.deepEqual(rest, []);
      const { previous, next, requested, source, keyId, reason } = entry;
      assert.deepEqual([previous, next, requested, source, keyId, reason], [30, 4, 4, 'import', null, 'Import']);
      assert.deepEqual(await eventTypes(shop), ['product.created', 'inventory.low', 'product.updated']);
    });

    test('a record without a slug is matched by the slug made from its name', async () => {
      const shop = await store.shop();
      const posted = await shop.product({ name: 'Éclair & Co' });
      assert.deepEqual(await ingest(product({ shop: shop.id, name: 'ECLAIR co', price: '2' })), [0, 1, 0]);
      assert.deepEqual(
        await ingest(product({ shop: shop.id, slug: posted.slug, name: 'Choux', price: '2' })),
        [0, 1, 0],
      );
      assert.deepEqual(await ingest(product({ shop: shop.id, name: 'Choux', price: '2' })), [1, 0, 0]);
      const slugs = (await productsOf(shop)).map(({ name, slug }) => `${name} ${slug}`);
      assert.deepEqual(slugs.toSorted(), ['Choux choux', 'Choux eclair-co']);
    });

    test('records of one product in a batch are stored in order', async () => {
      const [one, two] = [await store.shop(), await store.shop()];
      const records = [one.name, one.id, two.name].flatMap((shop) => [
        product({ shop, price: '1' }),
        product({ shop, price: '2' }),
      ]);
      assert.deepEqual(await ingest(...records), [2, 4, 0]);
      assert.deepEqual([(await onlyOf(one)).price, (await onlyOf(two)).price], ['2', '2']);
      assert.deepEqual(await eventTypes(one), [
        'product.created',
        ...Array.from({ length: 3 }, () => 'product.updated'),
      ]);
    });
  });

  test('concurrent imports and requests for the same products create each product once', async () => {
    const shop = await store.shop();
    const file = (price: string) =>
      Array.from({ length: 20 }, (_, i) => product({ shop: shop.name, name: `Ware ${i}`, slug: `ware-${i}`, price }));
    const files = ['1', '2', '3'].map((price, i) => load(...(i === 1 ? file(price).toReversed() : file(price))));
    const requests = file('4').map(async ({ kind: _kind, shop: _shop, ...body }) => {
      const { status } = await shop.send('POST', '/products', { body });
      assert.ok(status === 201 || status === 400, String(status));
    });
    const imports = await Promise.all(files);
    await Promise.all(requests);
    for (const { refused } of imports) assert.deepEqual(refused, []);
    const stored = await productsOf(shop);
    assert.equal(stored.length, 20);
    const created = (await eventTypes(shop)).filter((type) => type === 'product.created');
    assert.equal(created.length, 20);
  });

  const parseFor =
    ({ name: shop }: TestShop) =>
    (slug: string, price: string) =>
      parseProductRecord(recordContext, { values: { shop, name: slug, slug, price }, path: '' });
  const write = (tx: Queryable, ...records: ProductRecord[]) =>
    ingestProducts(tx, records, { now: store.now(), importer: 'operator', track: trackNothing });
  const isLockAwaited = async (tx: Queryable) =>
    (await tx.query('select 1 from pg_locks where not granted')).length > 0;

  test('a request that PostgreSQL aborts as part of a deadlock with an import is repeated', async () => {
    const shop = await store.shop();
    const parse = parseFor(shop);
    const { id } = await shop.product({ name: 'Old', slug: 'old' });
    const update = async (slug: string) => {
      let response: ReturnType<TestShop['send']> | undefined;
      await store.main.transaction(async (tx) => {
        await write(tx, parse(slug, '1'));
        let isDone = false;
        response = shop.send('PUT', `/products/${id}`, { body: { slug } }).finally(() => (isDone = true));
        // The embedded engine has one connection. The request waits for it, so no deadlock can occur.
        if (store.main.engine === 'embedded') return;
        // The request holds the product and waits for the slug. Now the import waits for the product. Only the request looks for
        // deadlocks, because the `deadlock_timeout` of the import is an hour.
        await tx.query(`set local deadlock_timeout = '1h'`);
        await until(async () => isDone || (await isLockAwaited(tx)), 20_000, 'the request did not begin');
        await write(tx, parse('old', '2'));
      });
      return response ?? assert.fail();
    };
    let response = await update('new-1');
    // If the import came too late, there was no deadlock: the request's wait for the slug had reached its limit.
    for (let attempt = 2; attempt <= 5 && /holds this record/.test(response.text); attempt += 1)
      response = await update(`new-${attempt}`);
    assert.equal(response.status, 400, response.text);
    assert.match(response.text, /is taken by another product/);
  });

  test('an import waits for another import into the same shop, so that neither of them fails', async () => {
    const shop = await store.shop();
    await ingest(product({ shop: shop.name, slug: 'stored' }));
    const parse = parseFor(shop);
    let second: Promise<unknown> = Promise.resolve();
    await store.main.transaction(async (tx) => {
      await write(tx, parse('new', '1'));
      let isDone = false;
      second = store.main
        .transaction((other) => write(other, parse('stored', '2'), parse('new', '2')))
        .finally(() => (isDone = true));
      const isWaiting = async () => isDone || (await isLockAwaited(tx));
      // The embedded engine has one connection. The second transaction waits for the connection, not for a lock.
      if (store.main.engine !== 'embedded') await until(isWaiting, 20_000, 'the second import did not begin');
      await write(tx, parse('stored', '1'));
    });
    await second;
    assert.deepEqual(
      (await productsOf(shop)).map(({ price }) => price),
      ['2', '2'],
    );
  });

  test('a record that cannot be stored is rejected with its line and reason', async () => {
    const shop = await store.shop();
    await ingest(
      product({ shop: shop.name, slug: 'full', collections: Array.from({ length: 25 }, (_, i) => `c${i}`) }),
    );
    const events = await shop.events();
    const rejections = await rejectionsOf(
      product({ shop: 'Nobody' }),
      product({ shop: shop.name, name: 'Good' }),
      product({ shop: shop.name, slug: 'full', collection: 'one more' }),
      product({ shop: shop.name, name: '' }),
    );
    assert.deepEqual(rejections, [
      '1: shop: there is no shop named "Nobody"; see mercat shops list',
      '3: collection: would put the product in more than 25 collections ("one more")',
      '4: name: must be 1 to 160 characters long ("")',
    ]);
    assert.equal((await shop.events()).length, events.length + 1);
  });

  test('a dry run reports the same results as a real import and stores nothing', async () => {
    const shop = await store.shop();
    const records = toNdjson([product({ shop: shop.name }), product({ shop: 'Nobody' })]);
    const dry = await runImport(toContext(store.main), records, { dryRun: true });
    assert.deepEqual([await shop.walk('/products'), await shop.events()], [[], []]);
    const reported: string[] = [];
    const onChanged = ({ collectionIds }: { collectionIds: ReadonlySet<string> }) => reported.push(...collectionIds);
    const real = await runImport(toContext(store.main, { onChanged }), records);
    assert.deepEqual([real.refused, reported], [dry.refused, []]);
    assert.deepEqual({ ...real.summary, imports: [], seconds: 0 }, { ...dry.summary, seconds: 0 });
  });

  /** Imports over HTTP, and returns the lines of the response. */
  const sendWith = async (key: { secret: string }, records: readonly unknown[], query = '') => {
    const headers = { authorization: `Bearer ${key.secret}` };
    const body = toNdjson(records);
    const response = await fetch(`${store.service.url}/intake/v1/records${query}`, { method: 'POST', headers, body });
    return (await response.text())
      .trim()
      .split('\n')
      .map((event) => JSON.parse(event));
  };
  const importWith = async (key: { secret: string }, ...records: unknown[]) =>
    (await sendWith(key, records)).filter(({ event }) => event === 'refused');

  test('a key of a shop can import products of that shop only', async () => {
    const [shop, stranger] = [await store.shop(), await store.shop()];
    const key = await shop.newKey(['intake:write']);
    const own = product({ shop: shop.name, inventory: 5 });
    const other = product({ shop: stranger.id });
    const none = product({ shop: 'nobody' });
    const refused = await importWith(key, other, own, none);
    const reasonOf = (name: string) => `shop: there is no shop named ${JSON.stringify(name)}; see mercat shops list`;
    assert.deepEqual(
      refused.map(({ line, reason }) => [line, reason]),
      [
        [1, reasonOf(stranger.id)],
        [3, reasonOf('nobody')],
      ],
    );
    assert.deepEqual([await stranger.walk('/products'), await stranger.events()], [[], []]);
    assert.deepEqual(await importWith(key, { ...own, inventory: 4 }), []);
    const [entry] = await shop.walk('/inventory/adjustments');
    assert.deepEqual([entry.next, entry.source, entry.keyId], [4, 'import', key.id]);
  });

  test('a key without a shop can import records of the market, but no products, and learns nothing about the shops', async () => {
    const shop = await store.shop();
    await shop.product({ name: 'Ring', slug: 'ring', price: '900.00', inventory: 12 });
    const [before, events] = [await productsOf(shop), await shop.events()];
    const key = await store.operate('keys.create', { scopes: ['intake:write'] });
    const theft = { slug: 'ring', price: '0.01', inventory: 0, description: 'planted' };
    const records = [
      product({ ...theft, shop: shop.name }),
      product({ ...theft, shop: shop.id }),
      product({ ...theft, shop: 'nobody' }),
      product({ ...theft, shop: '' }),
      collection(),
    ];
    const reason = 'shop: the API key has no shop, so it cannot import products';
    for (const query of ['?dryRun=true', '']) {
      const response = await sendWith(key, records, query);
      const refused = response.filter(({ event }) => event === 'refused');
      assert.deepEqual(
        refused.slice(0, 3).map((each) => [each.line, each.reason]),
        [1, 2, 3].map((line) => [line, reason]),
      );
      const { inserted, refused: count } = response.at(-1);
      assert.deepEqual([inserted, count], [1, 4], query);
    }
    assert.deepEqual([await productsOf(shop), await shop.events()], [before, events]);
    assert.deepEqual(await shop.walk('/inventory/adjustments'), []);
  });

  test('products can be imported over the socket of a running server', async () => {
    const shop = await store.shop();
    const { inserted } = await store.service.load([product({ shop: shop.name })]);
    assert.deepEqual([inserted, (await onlyOf(shop)).price], [1, '19.90']);
  });
});
