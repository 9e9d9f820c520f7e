// /api/v1/changes: the feed of all changes of a shop. A copy that begins with the product list and follows the feed equals the shop.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENTS_KEPT_MS } from '../../src/shop/events.ts';
import { deleteOldEvents } from '../../src/shop/queries/deliveries.ts';
import { forEachStore, inParallel } from '../support/service/shop.ts';
import type { TestShop } from '../support/service/shop.ts';

type Change = { sequence: number; type: string; at: string; productId: string | null; object: any };

/** Reads all changes after a sequence number, page by page. A slow machine may answer that too many requests wait. */
async function readAll(shop: TestShop, after: number, limit = 100): Promise<{ changes: Change[]; sequence: number }> {
  const changes: Change[] = [];
  for (let sequence = after; ;) {
    const { status, body, text } = await shop.send('GET', `/changes?after=${sequence}&limit=${limit}`);
    if (status === 503) continue;
    assert.equal(status, 200, text);
    const { data, meta } = body;
    changes.push(...data);
    sequence = meta.sequence;
    if (!meta.hasMore) return { changes, sequence };
  }
}

/** What a copy of a shop holds after a change: the products with their stock. */
function apply(copy: Map<string, any>, { type, productId, object }: Change): void {
  if (type === 'product.deleted') copy.delete(productId ?? '');
  else if (type.startsWith('product.')) copy.set(productId ?? '', object);
  else if (type === 'inventory.changed') {
    const known = copy.get(productId ?? '');
    if (known) copy.set(productId ?? '', { ...known, inventory: object.next });
  }
}

const toStock = (products: Iterable<any>) =>
  [...products]
    .map(({ id, name, inventory }) => [id, name, inventory])
    .toSorted(([one], [other]) => (one < other ? -1 : 1));

forEachStore('changes', (store) => {
  test('the feed has each change of products, stock and reservations once, in their order, with the object after it', async () => {
    const shop = await store.shop();
    const { id, ...created } = await shop.product({ inventory: 12 });
    await shop.ok('POST', '/inventory', { product_id: id, adjustment: -4, reason: 'Sold' });
    const { data: updated } = await shop.ok('PUT', `/products/${id}`, { name: 'Cup', inventory: 20 });
    const items = [{ product_id: id, quantity: 2 }];
    const { data: reservation } = await shop.ok('POST', '/reservations', { items }, 201);
    await shop.ok('POST', `/reservations/${reservation.id}/consume`, {});
    await shop.ok('POST', '/webhooks', { url: 'https://shop.example/hook' }, 201);
    await shop.ok('DELETE', `/products/${id}`);
    const { data, meta } = await shop.ok('GET', '/changes?after=0');
    assert.deepEqual(
      data.map(({ sequence, type, productId }: Change) => [sequence, type, productId]),
      [
        [1, 'product.created', id],
        [2, 'inventory.changed', id],
        [3, 'inventory.changed', id],
        [4, 'product.updated', id],
        [5, 'inventory.changed', id],
        [6, 'reservation.created', null],
        [7, 'reservation.consumed', null],
        [8, 'product.deleted', id],
      ],
    );
    assert.deepEqual(meta, { sequence: 8, hasMore: false });
    assert.deepEqual(data[0].object, { id, ...created });
    assert.deepEqual([data[1].object.previous, data[1].object.next, data[1].object.reason], [12, 8, 'Sold']);
    assert.deepEqual(data[3].object, updated);
    assert.deepEqual([data[4].object.source, data[4].object.reservationId], ['reservation', reservation.id]);
    assert.deepEqual(data[5].object, reservation);
    assert.equal(data[6].object.status, 'consumed');
    assert.equal(data[7].object, null);
    assert.deepEqual((await readAll(shop, 0, 3)).changes, data);
    assert.deepEqual((await shop.ok('GET', '/changes?after=8')).data, []);
  });

  test('a change that is committed late gets a later place than all changes that were read before, also than those that were made after it', async (t) => {
    const shop = await store.shop();
    const product = await shop.product({ inventory: 5 });
    const seen = await readAll(shop, 0);
    if (store.main.engine === 'embedded')
      return t.skip('one connection: no change can be made while a transaction is open');
    const written = Promise.withResolvers<void>();
    const commit = Promise.withResolvers<void>();
    const late = store.main.transaction(async (tx) => {
      await tx.query(
        `insert into main.adjustment (shop_id, product_id, previous, next, requested, mode, reason, source, created_at)
         values ($1, $2, 5, 5, 0, 'adjustment', 'late', 'inventory', now())`,
        [shop.id, product.id],
      );
      written.resolve();
      await commit.promise;
    });
    await written.promise;
    await shop.ok('POST', '/inventory', { product_id: product.id, adjustment: 1, reason: 'early' });
    const early = await readAll(shop, seen.sequence);
    commit.resolve();
    await late;
    const after = await readAll(shop, early.sequence);
    assert.deepEqual(
      [early.changes, after.changes].map((changes) => changes.map(({ object }) => object.reason)),
      [['early'], ['late']],
    );
  });

  test('concurrent readers and writers: no reader misses a change or is given a lower sequence number later, and a copy by list and feed equals the shop', async () => {
    const shop = await store.shop();
    const products = await inParallel(
      Array.from({ length: 8 }, (_, index) => index),
      4,
      (index) => shop.product({ name: `Product ${index}`, inventory: 100 }),
    );
    const first = await shop.ok('GET', '/products?limit=100');
    const copy = new Map<string, any>(first.data.map((product: any) => [product.id, product]));
    let isWriting = true;
    const follow = async (from: number) => {
      const given: Change[] = [];
      for (let after = from; ;) {
        const wasWriting = isWriting;
        const { changes, sequence } = await readAll(shop, after, 7);
        given.push(...changes);
        after = sequence;
        if (!wasWriting) return given;
      }
    };
    const readers = [follow(0), follow(0), follow(first.meta.sequence)];
    await inParallel(
      Array.from({ length: 160 }, (_, index) => index),
      12,
      async (index) => {
        const { id } = products[index % 8];
        if (index === 150) await shop.ok('DELETE', `/products/${products[7].id}`);
        else if (index % 10 === 9) await shop.product({ name: `Later ${index}` });
        else if (index % 8 === 7) return;
        else if (index % 5 === 4)
          await shop.ok('PUT', `/products/${id}`, { name: `Renamed ${index}`, inventory: index });
        else if (index % 5 === 3)
          await shop.ok('POST', '/reservations', { items: [{ product_id: id, quantity: 1 }] }, 201);
        else await shop.ok('POST', '/inventory', { product_id: id, adjustment: index % 2 === 0 ? -1 : 2 });
      },
    );
    isWriting = false;
    const [one = [], other = [], joined = []] = await Promise.all(readers);
    assert.deepEqual(
      one.map(({ sequence }) => sequence),
      one.map((_, index) => index + 1),
    );
    assert.deepEqual(other, one);
    assert.deepEqual(joined, one.slice(first.meta.sequence));
    const entries = await shop.walk('/inventory/adjustments?limit=100');
    const events = (await shop.events()).filter(({ type }) => type !== 'inventory.low');
    assert.equal(one.length, entries.length + events.length);
    // In the feed, as in the log, each change of a product begins with the stock that the one before it has left.
    for (const { id } of products) {
      const log = one.filter(({ type, productId }) => type === 'inventory.changed' && productId === id);
      for (const [index, { object }] of log.entries())
        if (index > 0) assert.equal(object.previous, log[index - 1]?.object.next);
    }
    for (const change of joined) apply(copy, change);
    assert.deepEqual(toStock(copy.values()), toStock(await shop.walk('/products?limit=100')));
  });

  test('a list, also a filtered one, joins the feed: changes that the list may lack come after its meta.sequence', async () => {
    const shop = await store.shop();
    assert.deepEqual((await shop.ok('GET', '/products')).meta, { sequence: 0 });
    assert.deepEqual((await shop.ok('GET', '/products?q=none')).meta, { sequence: 0 });
    const { id } = await shop.product({ sku: 'S-1' });
    await readAll(shop, 0);
    for (const path of ['/products', '/products?sku=S-1', '/products?sku=unknown', '/products?q=mug&limit=1']) {
      assert.deepEqual((await shop.ok('GET', path)).meta, { sequence: 1 }, path);
    }
    await shop.ok('POST', '/inventory', { product_id: id, set: 3 });
    await readAll(shop, 1);
    assert.deepEqual((await shop.ok('GET', '/products')).meta, { sequence: 2 });
  });

  test('a list of a shop whose feed nobody has read joins it behind the changes that the list has', async () => {
    for (const path of ['/products', '/products?sort=name']) {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      for (let set = 1; set < 4; set += 1) await shop.ok('POST', '/inventory', { product_id: id, set });
      const { data, meta } = await shop.ok('GET', path);
      assert.deepEqual([data[0].inventory, meta.sequence], [3, 4], path);
      await shop.ok('POST', '/inventory', { product_id: id, set: 9 });
      // From now on a list writes nothing, and is followed by what the feed has not given yet.
      const statements = store.statements('update main.shop_feed');
      assert.deepEqual((await shop.ok('GET', path)).meta, { sequence: 4 });
      assert.equal(store.statements('update main.shop_feed'), statements);
      assert.deepEqual(
        (await readAll(shop, meta.sequence)).changes.map(({ object }) => object.next),
        [9],
      );
      assert.equal((await readAll(shop, 0)).changes.length, 5);
    }
  });

  test('a response waits for the next change, without a connection of the database', async () => {
    const shop = await store.shop();
    const { id } = await shop.product();
    const { sequence } = await readAll(shop, 0);
    // More requests wait than the database has connections, and other requests are still served.
    const waiting = Array.from({ length: 24 }, () => shop.ok('GET', `/changes?after=${sequence}&wait=20`));
    await shop.ok('GET', `/products/${id}`);
    await shop.ok('POST', '/inventory', { product_id: id, set: 7 });
    for (const { data, meta } of await Promise.all(waiting)) {
      assert.deepEqual([data.map(({ object }: Change) => object.next), meta.sequence], [[7], sequence + 1]);
    }
    assert.deepEqual((await shop.ok('GET', `/changes?after=${sequence + 1}&wait=1`)).data, []);
  });

  test('a key with one of the scopes gets its part of the feed, with the same sequence numbers', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 3 });
    await shop.ok('POST', '/inventory', { product_id: id, adjustment: 1 });
    await shop.ok('POST', '/reservations', { items: [{ product_id: id, quantity: 1 }] }, 201);
    await shop.ok('PUT', `/products/${id}`, { name: 'Cup' });
    const read = async (scope: string) => {
      const { secret } = await shop.newKey([scope]);
      const { body } = await shop.send('GET', '/changes?after=0', { secret });
      assert.deepEqual(body.meta, { sequence: 5, hasMore: false });
      return body.data.map((change: Change) => [change.sequence, change.type]);
    };
    assert.deepEqual(await read('products:read'), [
      [1, 'product.created'],
      [5, 'product.updated'],
    ]);
    assert.deepEqual(await read('inventory:read'), [
      [2, 'inventory.changed'],
      [3, 'inventory.changed'],
      [4, 'reservation.created'],
    ]);
  });

  test('a shop reads its own changes only, and its sequence numbers tell nothing about other shops', async () => {
    const [shop, stranger] = [await store.shop(), await store.shop()];
    for (const one of [shop, stranger, stranger, stranger, shop]) await one.product({ inventory: 5 });
    const [own, theirs] = [await readAll(shop, 0), await readAll(stranger, 0)];
    assert.deepEqual([own.sequence, theirs.sequence], [2, 3]);
    const ids = new Set((await stranger.walk('/products')).map(({ id }) => id));
    assert.deepEqual(new Set(theirs.changes.map(({ productId }) => productId)), ids);
    assert.ok(own.changes.every(({ productId }) => !ids.has(productId)));
    const waiting = shop.ok('GET', '/changes?after=2&wait=1');
    await stranger.product();
    assert.deepEqual((await waiting).data, []);
  });

  test('wrong parameters get a 400 that names them, and an after beyond the newest change a 410', async () => {
    const shop = await store.shop();
    for (const [query = '', path = ''] of [
      ['', 'after'],
      ['after=-1', 'after'],
      ['after=x', 'after'],
      ['after=0&limit=501', 'limit'],
      ['after=0&wait=21', 'wait'],
      ['after=0&since=1', 'since'],
    ]) {
      const { status, body } = await shop.send('GET', `/changes?${query}`);
      assert.deepEqual([status, body.error.details.map((detail: any) => detail.path)], [400, [path]], query);
    }
    const { status, body } = await shop.send('GET', '/changes?after=1');
    assert.deepEqual([status, body.error.code], [410, 'gone']);
    assert.deepEqual(body.error.details, [{ path: 'after', message: 'must be at most 0, the newest change' }]);
  });

  test('changes are kept for 30 days: an older after is a 410 that names the oldest one that works, whether the changes were read before or not', async () => {
    const [read, unread] = [await store.shop(), await store.shop()];
    for (const shop of [read, unread]) {
      const { id } = await shop.product({ inventory: 3 });
      await shop.ok('POST', '/inventory', { product_id: id, adjustment: 1 });
    }
    assert.equal((await readAll(read, 0)).sequence, 2);
    await store.query(`update main.event set fanned_out = true where shop_id = any ($1)`, [[read.id, unread.id]]);
    store.advance(EVENTS_KEPT_MS + 1);
    await deleteOldEvents(store.main, store.now() - EVENTS_KEPT_MS, 1_000);
    for (const shop of [read, unread]) await shop.product({ name: 'New' });
    const expectGone = async (shop: TestShop) => {
      const { status, body } = await shop.send('GET', '/changes?after=0');
      assert.equal(status, 410);
      return Number(/at least (\d+)/.exec(body.error.details[0].message)?.[1]);
    };
    const after = [await expectGone(read), await expectGone(unread)];
    assert.equal(after[0], 1);
    assert.deepEqual(
      (await readAll(read, 1)).changes.map(({ sequence, type }) => [sequence, type]),
      [
        [2, 'inventory.changed'],
        [3, 'product.created'],
      ],
    );
    const rest = (await readAll(unread, after[1] ?? 0)).changes;
    assert.deepEqual(
      rest.map(({ type, object }) => [type, object.name]),
      [['product.created', 'New']],
    );
    // A reader that joins by the list continues without an error.
    const { meta } = await unread.ok('GET', '/products');
    assert.deepEqual((await readAll(unread, meta.sequence)).changes, []);
  });

  test('the changes of an import and of its undo are in the feed', async () => {
    const shop = await store.shop();
    const record = {
      kind: 'product',
      shop: shop.name,
      slug: 'imported',
      name: 'Imported',
      price: '5.00',
      inventory: 4,
    };
    const { secret } = await shop.newKey(['intake:write']);
    const response = await fetch(`${store.service.url}/intake/v1/records`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/x-ndjson' },
      body: `${JSON.stringify(record)}\n`,
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const { body } = await store.service.operate('imports.list', {});
    const undone = await store.service.operate('imports.undo', { id: body.result[0].id });
    assert.deepEqual(undone.body.result.rows, { product: { removed: 1, restored: 0, missing: 0, kept: 0 } });
    assert.deepEqual(
      (await readAll(shop, 0)).changes.map(({ type, object }) => [type, object?.slug]),
      [
        ['product.created', 'imported'],
        ['product.deleted', undefined],
      ],
    );
  });
});
