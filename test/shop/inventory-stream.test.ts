// Tests GET /inventory of a shop with many products. The response is complete, its pages are read from the database only as fast as the
// client reads, and other requests are not delayed.

import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import type { TestShop } from '../support/service/shop.ts';
import { forEachStore } from '../support/service/shop.ts';
import { until } from '../support/until.ts';

const LIMIT_MS = 60_000;
const PAGE_SIZE = 250;
const PRODUCTS = 3_000;
/** So many products that the buffers of two sockets cannot hold them. Each item has a name of 500 characters. */
const MANY_PRODUCTS = 20_000;
const NAME_LENGTH = 500;
const READS = 20;

forEachStore('the inventory of a large shop', (store) => {
  const newLargeShop = async (products = PRODUCTS): Promise<TestShop> => {
    const shop = await store.shop();
    await store.query(
      `insert into main.product (id, shop_id, name, slug, price, type, more_images, inventory, track_inventory, requires_shipping,
         weight_grams, collections, created_at, updated_at)
       select 'prod_' || lpad(n::text, 26, '0'), $1, rpad('Mug ' || n, $3, 'x'), 'mug-' || n, '1', 'physical', '{}', n % 100, n % 10 > 0, true,
         0, '{}', now(), now()
       from generate_series(1, $2) as n`,
      [shop.id, products, NAME_LENGTH],
    );
    return shop;
  };
  const removeProducts = (shop: TestShop) => store.query('delete from main.product where shop_id = $1', [shop.id]);
  const pagesRead = () => store.statements('as selected');

  test('the response has every tracked product once, newest first', async () => {
    const shop = await newLargeShop();
    const { data, count } = await shop.ok('GET', '/inventory');
    assert.equal(count, (PRODUCTS * 9) / 10);
    assert.equal(data.length, count);
    const ids: string[] = data.map(({ productId }: { productId: string }) => productId);
    for (const [index, id] of ids.entries()) assert.ok(index === 0 || id < (ids[index - 1] ?? ''), id);
    const { updatedAt, ...first } = data[0];
    assert.ok(Date.parse(updatedAt) > 0);
    assert.deepEqual(first, {
      productId: `prod_${String(PRODUCTS - 1).padStart(26, '0')}`,
      name: `Mug ${PRODUCTS - 1}`.padEnd(NAME_LENGTH, 'x'),
      inventory: 99,
      reserved: 0,
      sku: null,
      slug: `mug-${PRODUCTS - 1}`,
      trackInventory: true,
      lowStock: false,
    });
    const low = await shop.ok('GET', '/inventory?low_stock=true&threshold=3');
    assert.equal(low.count, (PRODUCTS * 3) / 100);
    assert.ok(low.data.every((item: any) => item.inventory <= 3 && item.lowStock));
    await removeProducts(shop);
  });

  test('for a client that does not read, only the pages that fit into the buffers are read from the database', async () => {
    const shop = await newLargeShop(MANY_PRODUCTS);
    const { secret } = await shop.newKey(['inventory:read']);
    const before = pagesRead();
    const sockets = [1, 2].map(() => {
      const socket = net.connect(Number(new URL(store.service.url).port), '127.0.0.1');
      socket.on('error', () => undefined).pause();
      socket.write(`GET /api/v1/inventory HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\n\r\n`);
      return socket;
    });
    let read = -1;
    await until(
      async () => {
        const last = read;
        read = pagesRead() - before;
        await new Promise((resolve) => setTimeout(resolve, 250));
        return read > 2 && read === last;
      },
      LIMIT_MS,
      'further pages are read although the client does not read',
    );
    assert.ok(read < (2 * MANY_PRODUCTS) / PAGE_SIZE, `all ${read} pages were read, although the client does not read`);
    for (const socket of sockets) socket.destroy();
    assert.equal((await shop.ok('GET', '/inventory?low_stock=true&threshold=0')).count, 0);
    await removeProducts(shop);
  });

  test('a HEAD request reads one page only', async () => {
    const shop = await newLargeShop();
    const before = pagesRead();
    const response = await fetch(`${store.service.url}/api/v1/inventory`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${shop.key.secret}` },
    });
    assert.deepEqual([response.status, response.headers.get('content-length')], [200, null]);
    assert.equal(pagesRead() - before, 1);
    await removeProducts(shop);
  });

  test('many simultaneous reads in one shop do not delay the requests of another shop', async () => {
    const shop = await newLargeShop();
    const other = await store.shop();
    const { id } = await other.product({ inventory: 5 });
    const completed: string[] = [];
    const reads = Array.from({ length: READS }, async () => {
      const response = await shop.send('GET', '/inventory');
      if (response.status === 200) completed.push('read');
      return response;
    });
    await until(() => pagesRead() > 0, LIMIT_MS, 'nothing was read');
    const adjust = async () => {
      await other.ok('POST', '/inventory', { product_id: id, adjustment: 1 });
      completed.push('adjustment');
    };
    await Promise.all([adjust(), store.service.ok('/v1').then(() => completed.push('index'))]);
    const responses = await Promise.all(reads);
    const complete = responses.filter(({ status }) => status === 200);
    const rejected = responses.filter(({ status }) => status !== 200);
    // At most two reads run and eight wait. Whenever a read ends, one more is accepted, so more than ten can succeed.
    assert.ok(complete.length >= 10 && complete.length < READS, `${complete.length} of ${READS} reads got a 200`);
    for (const { body } of complete) assert.equal(body.count, (PRODUCTS * 9) / 10);
    for (const { status, headers } of rejected) assert.deepEqual([status, headers.get('retry-after')], [503, '2']);
    // Two reads run at a time, so the last two can end in either order. A request that ended before the last two did not wait for all reads.
    const early = completed.slice(0, -2);
    assert.ok(early.includes('adjustment') && early.includes('index'), completed.join(', '));
    await removeProducts(shop);
  });
});
