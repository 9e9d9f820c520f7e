// /api/v1/reservations: what a reservation takes from the stock, how it ends, and who may see it. The time of a reservation is that of the
// database, so a test lets one expire by setting its time in the database.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { endDueReservations } from '../../src/shop/reservations/reservations.ts';
import { forEachStore, inParallel } from '../support/service/shop.ts';
import type { TestShop, TestStore } from '../support/service/shop.ts';
import { until } from '../support/until.ts';

const WAIT_MS = 30_000;

forEachStore('reservations', (store) => {
  const reserve = async (shop: TestShop, items: readonly (readonly [string, number])[], more: object = {}) =>
    (await shop.ok('POST', '/reservations', { items: toItems(items), ...more }, 201)).data;

  describe('a reservation', () => {
    test('a reservation takes its items from the stock, and its events, log entries and versions are those of a change', async () => {
      const shop = await store.shop();
      const [mug, cup] = [await shop.product({ inventory: 12 }), await shop.product({ name: 'Cup', inventory: 5 })];
      const made = await shop.send('POST', '/reservations', {
        body: {
          items: toItems([
            [mug.id, 3],
            [cup.id, 5],
          ]),
          reference: 'cart-1',
        },
      });
      assert.equal(made.status, 201, made.text);
      const { data } = made.body;
      assert.equal(made.headers.get('location'), `/api/v1/reservations/${data.id}`);
      assert.deepEqual(
        [data.status, data.reference, data.endedAt, Date.parse(data.expiresAt) - Date.parse(data.createdAt)],
        ['held', 'cart-1', null, 900_000],
      );
      assert.deepEqual(data.items, [
        { productId: mug.id, name: 'Mug', quantity: 3, held: 3, consumed: 0 },
        { productId: cup.id, name: 'Cup', quantity: 5, held: 5, consumed: 0 },
      ]);
      assert.deepEqual(await levels(store, [mug.id, cup.id]), [
        [9, 3],
        [0, 5],
      ]);
      const log = await shop.walk(`/inventory/adjustments?product_id=${mug.id}`);
      assert.deepEqual(
        log.map((entry) => [entry.previous, entry.next, entry.source, entry.reason, entry.keyId, entry.reservationId]),
        [[12, 9, 'reservation', 'Reserved', shop.key.id, data.id]],
      );
      assert.deepEqual(
        (await shop.events()).slice(2).map((event) => [event.type, event.data.id ?? event.data.productId]),
        [
          ['inventory.low', mug.id],
          ['reservation.created', data.id],
        ],
      );
      assert.deepEqual((await shop.ok('GET', `/reservations/${data.id}`)).data, data);
      const { headers } = await shop.send('GET', `/products/${mug.id}`);
      assert.equal(headers.get('etag'), '"2"');
    });

    test('a reservation holds all items or none, and the error names every short item', async () => {
      const shop = await store.shop();
      const products = [
        await shop.product({ inventory: 5 }),
        await shop.product({ inventory: 1 }),
        await shop.product(),
      ];
      const [first, second, third] = products.map(({ id }) => id) as [string, string, string];
      const { status, body } = await shop.send('POST', '/reservations', {
        body: {
          items: toItems([
            [first, 5],
            [second, 2],
            [third, 1],
          ]),
        },
      });
      assert.deepEqual([status, body.error.code], [409, 'insufficient_stock']);
      assert.deepEqual(body.error.details, [
        { path: 'items.1.quantity', message: `the stock of ${second} is 1, less than 2` },
        { path: 'items.2.quantity', message: `the stock of ${third} is 0, less than 1` },
      ]);
      assert.deepEqual(await levels(store, [first, second, third]), [
        [5, 0],
        [1, 0],
        [0, 0],
      ]);
      assert.deepEqual((await shop.ok('GET', '/reservations')).data, []);
    });

    test('a product whose stock is not counted can be reserved without limit', async () => {
      const shop = await store.shop();
      const file = await shop.product({ type: 'digital', inventory: 1 });
      const { id, items } = await reserve(shop, [[file.id, 7]]);
      assert.equal(items[0].held, 7);
      await shop.ok('PUT', `/products/${file.id}`, { trackInventory: true });
      await shop.ok('POST', `/reservations/${id}/release`);
      assert.deepEqual(await levels(store, [file.id]), [[1, 0]]);
    });

    test('of many concurrent reservations of the last units, exactly as many succeed as there are units', async () => {
      const shop = await store.shop();
      const [mug, cup] = [await shop.product({ inventory: 25 }), await shop.product({ inventory: 100 })];
      const statuses = await inParallel([...Array.from({ length: 60 }).keys()], 30, async (index) => {
        const items: [string, number][] = [
          [mug.id, 1],
          [cup.id, 1],
        ];
        const body = { items: toItems(index % 2 === 0 ? items : items.toReversed()) };
        return (await shop.send('POST', '/reservations', { body })).status;
      });
      assert.deepEqual(
        [201, 409].map((one) => statuses.filter((status) => status === one).length),
        [25, 35],
      );
      assert.deepEqual(await levels(store, [mug.id, cup.id]), [
        [0, 25],
        [75, 25],
      ]);
    });

    test('an item names its product by SKU or external id, and one product cannot be named twice', async () => {
      const shop = await store.shop();
      const mug = await shop.product({ inventory: 12, sku: 'MUG', externalId: 'erp 1' });
      const cup = await shop.product({ inventory: 12, externalId: 'erp 2' });
      const items = [
        { sku: 'MUG', quantity: 2 },
        { externalId: 'erp 2', quantity: 1 },
      ];
      const { data } = await shop.ok('POST', '/reservations', { items }, 201);
      assert.deepEqual(
        data.items.map((item: any) => item.productId),
        [mug.id, cup.id],
      );
      const part = { items: [{ externalId: 'erp 1', quantity: 1 }], remaining: 'hold' };
      await shop.ok('POST', `/reservations/${data.id}/consume`, part);
      assert.deepEqual(await levels(store, [mug.id, cup.id]), [
        [10, 1],
        [11, 1],
      ]);
      for (const [wrong, status, path] of [
        [[items[0], { product_id: mug.id, quantity: 1 }], 400, 'items.1.product_id'],
        [[{ sku: 'MUG', externalId: 'erp 1', quantity: 1 }], 400, 'items.0.externalId'],
        [[{ sku: 'a\0', quantity: 1 }], 400, 'items.0.sku'],
        [[items[0], { sku: 'CUP', quantity: 1 }], 404, 'items.1'],
      ] as const) {
        const answer = await shop.send('POST', '/reservations', { body: { items: wrong } });
        assert.deepEqual([answer.status, answer.body.error.details[0].path], [status, path], JSON.stringify(wrong));
      }
      const stranger = await store.shop();
      assert.equal((await stranger.send('POST', '/reservations', { body: { items } })).status, 404);
    });

    test('a wrong body is a 400, also if the reservation does not exist', async () => {
      const shop = await store.shop();
      const item = { product_id: (await shop.product()).id, quantity: 1 };
      const consume = async (items: object[]) =>
        (await shop.send('POST', '/reservations/rsv_0/consume', { body: { items } })).status;
      assert.deepEqual([await consume([item, item]), await consume([item])], [400, 404]);
      // A 400 comes before a 404, also if no product has the name.
      const unknown = { sku: 'no product', quantity: 1 };
      assert.deepEqual([await consume([unknown, unknown]), await consume([unknown])], [400, 404]);
    });

    test('a repeated request with an Idempotency-Key reserves once', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 9 });
      const request = { body: { items: toItems([[id, 4]]) }, headers: { 'idempotency-key': 'a' } };
      const [first, second] = [
        await shop.send('POST', '/reservations', request),
        await shop.send('POST', '/reservations', request),
      ];
      assert.equal(first.text, second.text);
      assert.deepEqual([second.status, second.headers.get('idempotent-replayed')], [201, 'true']);
      assert.deepEqual(await levels(store, [id]), [[5, 4]]);
    });
  });

  describe('the end of a reservation', () => {
    test('a consumed reservation leaves the stock as it is, and cannot be changed any more', async () => {
      const shop = await store.shop();
      const mug = await shop.product({ inventory: 12 });
      const { id } = await reserve(shop, [[mug.id, 3]]);
      const { data } = await shop.ok('POST', `/reservations/${id}/consume`);
      assert.deepEqual([data.status, data.items[0].held, data.items[0].consumed], ['consumed', 0, 3]);
      assert.ok(data.endedAt >= data.createdAt);
      assert.deepEqual(await levels(store, [mug.id]), [[9, 0]]);
      for (const [action, body] of [
        ['consume', {}],
        ['release', undefined],
        ['extend', { expiresInSeconds: 60 }],
      ]) {
        const again = await shop.send('POST', `/reservations/${id}/${action as string}`, { body });
        assert.deepEqual([again.status, again.body.error.code], [409, 'conflict'], again.text);
        assert.deepEqual(again.body.error.details, [{ path: 'status', message: 'is consumed' }]);
      }
      assert.deepEqual(await levels(store, [mug.id]), [[9, 0]]);
      assert.equal((await shop.walk('/inventory/adjustments')).length, 1);
    });

    test('of a part that is consumed, the rest returns to the stock or stays held', async () => {
      const shop = await store.shop();
      const [mug, cup] = [await shop.product({ inventory: 10 }), await shop.product({ inventory: 10 })];
      const { id } = await reserve(shop, [
        [mug.id, 6],
        [cup.id, 2],
      ]);
      const consume = (body: unknown) => shop.send('POST', `/reservations/${id}/consume`, { body });
      const kept = (await consume({ items: toItems([[mug.id, 2]]), remaining: 'hold' })).body.data;
      assert.deepEqual(
        [kept.status, kept.endedAt, kept.items.map((item: any) => [item.held, item.consumed])],
        [
          'held',
          null,
          [
            [4, 2],
            [2, 0],
          ],
        ],
      );
      assert.deepEqual(await levels(store, [mug.id, cup.id]), [
        [4, 4],
        [8, 2],
      ]);
      const excess = await consume({ items: toItems([[mug.id, 5]]) });
      assert.deepEqual(
        [excess.status, excess.body.error.details],
        [409, [{ path: 'items.0', message: '5 is more than the 4 that are held' }]],
      );
      const foreign = await consume({ items: toItems([[`prod_${'0'.repeat(32)}`, 1]]) });
      assert.equal(foreign.status, 400);
      const ended = (await consume({ items: toItems([[mug.id, 1]]) })).body.data;
      assert.deepEqual(
        [ended.status, ended.items.map((item: any) => [item.held, item.consumed])],
        [
          'consumed',
          [
            [0, 3],
            [0, 0],
          ],
        ],
      );
      assert.deepEqual(await levels(store, [mug.id, cup.id]), [
        [7, 0],
        [10, 0],
      ]);
    });

    test('a released reservation returns its stock', async () => {
      const shop = await store.shop();
      const mug = await shop.product({ inventory: 12 });
      const { id } = await reserve(shop, [[mug.id, 12]]);
      const { data } = await shop.ok('POST', `/reservations/${id}/release`);
      assert.deepEqual([data.status, data.items[0].held, data.items[0].consumed], ['released', 0, 0]);
      assert.deepEqual(await levels(store, [mug.id]), [[12, 0]]);
      const [entry] = await shop.walk('/inventory/adjustments');
      assert.deepEqual([entry.previous, entry.next, entry.reservationId], [0, 12, id]);
      assert.deepEqual((await shop.events()).at(-1), { type: 'reservation.released', data });
    });

    test('an extension counts from now and never makes the time shorter', async () => {
      const shop = await store.shop();
      const mug = await shop.product({ inventory: 12 });
      const made = await reserve(shop, [[mug.id, 1]], { expiresInSeconds: 600 });
      const extend = async (expiresInSeconds: number) =>
        (await shop.ok('POST', `/reservations/${made.id}/extend`, { expiresInSeconds })).data.expiresAt;
      assert.equal(await extend(30), made.expiresAt);
      const later = Date.parse(await extend(1_200));
      assert.ok(later >= Date.parse(made.createdAt) + 1_200_000);
    });

    test('an expired reservation cannot be consumed before its stock has returned, and its stock returns once', async () => {
      const shop = await store.shop();
      const mug = await shop.product({ inventory: 12 });
      const { id } = await reserve(shop, [[mug.id, 5]]);
      await store.query(`update main.reservation set expires_at = clock_timestamp() where id = $1`, [id]);
      const consumed = await shop.send('POST', `/reservations/${id}/consume`);
      assert.deepEqual(
        [consumed.status, consumed.body.error.details],
        [409, [{ path: 'status', message: 'is expired' }]],
      );
      await until(async () => (await levels(store, [mug.id]))[0]?.[0] === 12, WAIT_MS, 'the stock does not return');
      assert.equal(await endDueReservations(store.main, 10), 0);
      const { data } = await shop.ok('GET', `/reservations/${id}`);
      assert.deepEqual([data.status, data.endedAt, data.items[0].held], ['expired', data.expiresAt, 0]);
      assert.deepEqual(await levels(store, [mug.id]), [[12, 0]]);
      const [entry] = await shop.walk('/inventory/adjustments');
      assert.deepEqual(
        [entry.adjustment, entry.source, entry.keyId, entry.reservationId],
        [5, 'reservation', null, id],
      );
      assert.deepEqual(
        (await shop.events()).filter(({ type }) => type === 'reservation.expired').map(({ data }) => data),
        [data],
      );
    });

    test('while a product stays locked, the sweep ends, so that the next one returns the stock of other products', async (t) => {
      if (store.main.engine === 'embedded')
        return t.skip('one connection: no reservation can end while a transaction is open');
      const shop = await store.shop();
      const [mug, cup] = [await shop.product({ inventory: 10 }), await shop.product({ inventory: 10 })];
      const [first, second] = [await reserve(shop, [[mug.id, 1]]), await reserve(shop, [[cup.id, 1]])];
      const expire = ({ id }: { id: string }) =>
        store.query(`update main.reservation set expires_at = clock_timestamp() where id = $1`, [id]);
      await store.main.transaction(async (tx) => {
        await tx.query(`select from main.product where id = $1 for update`, [mug.id]);
        await expire(first);
        let hasEnded = false;
        void endDueReservations(store.main, 10).then(() => (hasEnded = true));
        await until(() => hasEnded, WAIT_MS, 'the sweep waits for the product that stays locked');
        await expire(second);
        await endDueReservations(store.main, 10);
        assert.deepEqual(await levels(store, [cup.id]), [[10, 0]]);
      });
      await until(async () => (await levels(store, [mug.id]))[0]?.[0] === 10, WAIT_MS, 'the stock does not return');
    });

    test('the deletion of a product releases its reservations, and the stock of their other products returns', async () => {
      const shop = await store.shop();
      const [mug, cup] = [await shop.product({ inventory: 10 }), await shop.product({ inventory: 10 })];
      const [both, other] = [
        await reserve(shop, [
          [mug.id, 3],
          [cup.id, 4],
        ]),
        await reserve(shop, [[cup.id, 1]]),
      ];
      await shop.ok('DELETE', `/products/${mug.id}`);
      const consumed = await shop.send('POST', `/reservations/${both.id}/consume`);
      assert.deepEqual([consumed.status, consumed.body.error.details[0].message], [409, 'is released']);
      await until(async () => (await levels(store, [cup.id]))[0]?.[0] === 9, WAIT_MS, 'the stock does not return');
      const { data } = await shop.ok('GET', `/reservations/${both.id}`);
      assert.deepEqual([data.status, data.items.map((item: any) => item.name)], ['released', [null, 'Mug']]);
      assert.equal((await shop.ok('GET', `/reservations/${other.id}`)).data.status, 'held');
      assert.deepEqual(await levels(store, [cup.id]), [[9, 1]]);
    });
  });

  describe('lists and input', () => {
    test('reservations are listed by status, reference and product, newest first, in pages', async () => {
      const shop = await store.shop();
      const [mug, cup] = [await shop.product({ inventory: 50 }), await shop.product({ inventory: 50 })];
      const first = await reserve(shop, [[mug.id, 1]], { reference: 'a' });
      const second = await reserve(
        shop,
        [
          [mug.id, 1],
          [cup.id, 1],
        ],
        { reference: 'b' },
      );
      const third = await reserve(shop, [[cup.id, 1]], { reference: 'a' });
      await shop.ok('POST', `/reservations/${third.id}/release`);
      const list = async (query: string) => (await shop.walk(`/reservations?${query}`)).map(({ id }) => id);
      assert.deepEqual(await list('limit=1'), [third.id, second.id, first.id]);
      assert.deepEqual(await list('status=held'), [second.id, first.id]);
      assert.deepEqual(await list('status=released'), [third.id]);
      assert.deepEqual(await list('reference=a&limit=1'), [third.id, first.id]);
      assert.deepEqual(await list(`product_id=${cup.id}`), [third.id, second.id]);
      assert.deepEqual(await list(`product_id=${cup.id}&status=held`), [second.id]);
      assert.deepEqual(await list('product_id=x'), []);
      const { nextCursor } = (await shop.ok('GET', '/reservations?limit=1')).pagination;
      assert.equal((await shop.send('GET', `/reservations?status=held&cursor=${nextCursor}`)).status, 400);
      const unstorable = await shop.send('GET', '/reservations?reference=a%00');
      assert.deepEqual([unstorable.status, unstorable.body.error.details[0].path], [400, 'reference']);
    });

    test('invalid reservations are rejected with every mistake by its path', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 9 });
      const item = { product_id: id, quantity: 1 };
      for (const [body, path] of [
        [[], ''],
        [{}, 'items'],
        [{ items: [] }, 'items'],
        [{ items: Array.from({ length: 101 }, () => item) }, 'items'],
        [{ items: ['x'] }, 'items.0'],
        [{ items: [item, { product_id: id, quantity: 2 }] }, 'items.1.product_id'],
        [{ items: [{ quantity: 1 }] }, 'items.0.product_id'],
        [{ items: [{ product_id: id }] }, 'items.0.quantity'],
        [{ items: [{ product_id: id, quantity: 0 }] }, 'items.0.quantity'],
        [{ items: [{ product_id: id, quantity: 1.5 }] }, 'items.0.quantity'],
        [{ items: [{ product_id: id, quantity: 2 ** 31 }] }, 'items.0.quantity'],
        [{ items: [{ ...item, price: 1 }] }, 'items.0.price'],
        [{ items: [item], expiresInSeconds: 29 }, 'expiresInSeconds'],
        [{ items: [item], expiresInSeconds: 604_801 }, 'expiresInSeconds'],
        [{ items: [item], reference: '' }, 'reference'],
        [{ items: [item], reference: 'a\0' }, 'reference'],
        [{ items: [item], note: 'x' }, 'note'],
      ] as const) {
        const { status, body: answer } = await shop.send('POST', '/reservations', { body });
        assert.deepEqual([status, answer.error.details[0].path], [400, path], JSON.stringify(body));
      }
      const made = await reserve(shop, [[id, 1]]);
      for (const [action, body, path] of [
        ['extend', {}, 'expiresInSeconds'],
        ['extend', { expiresInSeconds: '60' }, 'expiresInSeconds'],
        ['consume', { remaining: 'keep' }, 'remaining'],
        ['consume', { items: [] }, 'items'],
        ['release', { items: [item] }, 'items'],
      ] as const) {
        const { status, body: answer } = await shop.send('POST', `/reservations/${made.id}/${action}`, { body });
        assert.deepEqual([status, answer.error.details[0].path], [400, path], JSON.stringify(body));
      }
      const missing = await shop.send('POST', '/reservations', {
        body: { items: [item, { product_id: `prod_${'0'.repeat(32)}`, quantity: 1 }] },
      });
      assert.deepEqual([missing.status, missing.body.error.details[0].path], [404, 'items.1']);
      assert.deepEqual(await levels(store, [id]), [[8, 1]]);
    });

    test('reading needs inventory:read and changing needs inventory:write', async () => {
      const shop = await store.shop();
      const mug = await shop.product({ inventory: 9 });
      const { id } = await reserve(shop, [[mug.id, 1]]);
      const [reader, writer] = [await shop.newKey(['inventory:read']), await shop.newKey(['inventory:write'])];
      for (const path of ['/reservations', `/reservations/${id}`]) {
        assert.equal((await shop.send('GET', path, { secret: reader.secret })).status, 200);
        assert.equal((await shop.send('GET', path, { secret: writer.secret })).status, 403);
      }
      const items = toItems([[mug.id, 1]]);
      for (const [path, body, status] of [
        ['/reservations', { items }, 201],
        [`/reservations/${id}/extend`, { expiresInSeconds: 60 }, 200],
        [`/reservations/${id}/consume`, { items, remaining: 'hold' }, 200],
        [`/reservations/${id}/release`, undefined, 409],
      ] as const) {
        assert.equal((await shop.send('POST', path, { body, secret: reader.secret })).status, 403);
        assert.equal((await shop.send('POST', path, { body, secret: writer.secret })).status, status, path);
      }
    });

    test('to another shop, a reservation looks like one that does not exist, and its products cannot be reserved', async () => {
      const [shop, stranger] = [await store.shop(), await store.shop()];
      const mug = await shop.product({ inventory: 9 });
      const { id } = await reserve(shop, [[mug.id, 1]], { reference: 'r' });
      const request = async (reservation: string, product: string) => {
        const path = `/reservations/${reservation}`;
        const items = toItems([[product, 1]]);
        const answers = [
          await stranger.send('GET', path),
          await stranger.send('POST', `${path}/extend`, { body: { expiresInSeconds: 60 } }),
          await stranger.send('POST', `${path}/consume`, { body: {} }),
          await stranger.send('POST', `${path}/consume`, { body: { items } }),
          await stranger.send('POST', `${path}/release`),
          await stranger.send('POST', '/reservations', { body: { items } }),
          await stranger.send('GET', `/reservations?product_id=${product}`),
          await stranger.send('GET', '/reservations?reference=r'),
        ];
        return answers.map(({ status, text, headers }) => [status, text, [...headers.keys()].toSorted()]);
      };
      const answers = await request(id, mug.id);
      assert.deepEqual(answers, await request(`rsv_${'0'.repeat(32)}`, `prod_${'0'.repeat(32)}`));
      assert.deepEqual(
        answers.map(([status]) => status),
        [404, 404, 404, 404, 404, 404, 200, 200],
      );
      const { nextCursor } = { ...(await shop.ok('GET', '/reservations?limit=1')).pagination };
      assert.equal(nextCursor, null);
      await reserve(shop, [[mug.id, 1]]);
      const page = await shop.ok('GET', '/reservations?limit=1');
      assert.equal((await stranger.send('GET', `/reservations?cursor=${page.pagination.nextCursor}`)).status, 400);
      assert.deepEqual((await shop.ok('GET', `/reservations/${id}`)).data.status, 'held');
      assert.deepEqual(await stranger.events(), []);
    });
  });
});

const toItems = (items: readonly (readonly [string, number])[]) =>
  items.map(([product_id, quantity]) => ({ product_id, quantity }));

/** What can be sold and what is reserved of each product. */
async function levels(store: TestStore, ids: readonly string[]): Promise<[number, number][]> {
  const rows = await store.query(
    'select id, inventory, reserved::int as reserved from main.product where id = any ($1)',
    [ids],
  );
  return ids.map((id) => {
    const row = rows.find((one) => one['id'] === id);
    return [row?.['inventory'] as number, row?.['reserved'] as number];
  });
}
