// Everything that changes a shop, at the same moment: whatever the order, the stock, its log, the reservations and the feed of changes agree in the end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../devnet/random.ts';
import { forEachStore, inParallel } from '../support/service/shop.ts';
import type { TestShop } from '../support/service/shop.ts';
import { until } from '../support/until.ts';

const ACTIONS = 400;
const WRITERS = 24;
const WAIT_MS = 60_000;
const EVENTS = [
  'product.created',
  'product.updated',
  'product.deleted',
  'inventory.changed',
  'inventory.low',
  'inventory.out',
  'inventory.restocked',
  'reservation.created',
  'reservation.consumed',
  'reservation.released',
  'reservation.expired',
];
/** What a request may get here. A slow machine may answer that too many requests wait. */
const ALLOWED: ReadonlySet<number> = new Set([200, 201, 204, 400, 404, 409, 410, 412, 429, 503]);

forEachStore('a storm', (store) => {
  test('stock, log, reservations, feed and events agree after every kind of change at the same moment', async () => {
    const [shop, stranger] = [await store.shop(), await store.shop()];
    const random = createRandom(33);
    const products: string[] = [];
    const reservations: string[] = [];
    const imports: string[] = [];
    let made = 0;
    const add = async () => {
      made += 1;
      const fields = { sku: `NEW-${made}`, inventory: 20 + random.below(60), groupId: `g-${made % 3}` };
      const options = [{ name: 'No', value: String(made) }];
      products.push((await shop.product({ ...fields, options, name: `P ${made}` })).id);
    };
    for (let count = 0; count < 12; count += 1) await add();
    const { secret: intake } = await shop.newKey(['intake:write']);
    const one = (list: readonly string[]) => random.pick(list) ?? '';
    const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
      const answer = await shop.send(method, path, { body, headers });
      assert.ok(
        ALLOWED.has(answer.status),
        `${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`,
      );
      return answer;
    };
    const change = () => ({
      product_id: one(products),
      ...(random.happens(0.2) ? { set: random.below(80) } : { adjustment: random.below(21) - 10 }),
      clamp: random.happens(0.5),
    });
    const item = (id: string) => ({ product_id: id, quantity: 1 + random.below(3) });
    const actions: readonly (() => Promise<unknown>)[] = [
      () => send('POST', '/inventory', change()),
      () => send('POST', '/inventory/batch', { changes: Array.from({ length: 8 }, change) }),
      () => send('POST', '/inventory/batch?atomic=true', { changes: Array.from({ length: 3 }, change) }),
      ...Array.from({ length: 8 }, () => async () => {
        const items = random.shuffle(products).slice(0, 3).map(item);
        const { status, body } = await send('POST', '/reservations', { items });
        if (status === 201) reservations.push(body.data.id);
      }),
      () => send('POST', `/reservations/${one(reservations) || 'none'}/consume`),
      () =>
        send('POST', `/reservations/${one(reservations) || 'none'}/consume`, {
          items: [item(one(products))],
          remaining: 'hold',
        }),
      () => send('POST', `/reservations/${one(reservations) || 'none'}/release`),
      () => send('POST', `/reservations/${one(reservations) || 'none'}/extend`, { expiresInSeconds: 60 }),
      () =>
        store.query(
          `update main.reservation set expires_at = clock_timestamp() where id = $1 and state = 'held' and expires_at > clock_timestamp()`,
          [one(reservations)],
        ),
      () =>
        send('PUT', `/products/${one(products)}`, { groupId: `g-${random.below(3)}`, sku: `S-${random.below(20)}` }),
      () =>
        send('PUT', `/products/${one(products)}`, { inventory: random.below(50), trackInventory: random.happens(0.8) }),
      async () => {
        const path = `/products/${one(products)}`;
        const etag = (await send('GET', path)).headers.get('etag') ?? '"1"';
        await Promise.all(['3', '4'].map((price) => send('PUT', path, { price }, { 'if-match': etag })));
      },
      () =>
        send('POST', '/products/batch', {
          products: [
            { id: one(products), price: '5' },
            { sku: `S-${random.below(20)}`, inventory: 30 },
            { id: one(products), inventory: 9 },
          ],
        }),
      async () => {
        if (random.happens(0.5)) await send('DELETE', `/products/${one(products)}`);
        else await add();
      },
      async () => {
        const slug = `imported-${random.below(4)}`;
        const record = { kind: 'product', shop: shop.name, slug, name: slug, price: '5', inventory: random.below(40) };
        await fetch(`${store.service.url}/intake/v1/records`, {
          method: 'POST',
          headers: { authorization: `Bearer ${intake}`, 'content-type': 'application/x-ndjson' },
          body: `${JSON.stringify(record)}\n`,
        });
        const { data } = (await shop.send('GET', `/products?slug=${slug}`)).body;
        if (data?.[0]) products.push(data[0].id);
      },
      async () => {
        const { body } = await store.service.operate('imports.list', {});
        const last = body.result.find(({ id }: { id: string }) => !imports.includes(id));
        if (!last) return;
        imports.push(last.id);
        await store.service.operate('imports.undo', { id: last.id });
      },
      async () => {
        const { status, body } = await send('POST', '/webhooks', { url: 'https://example.com/hook', events: EVENTS });
        if (status === 201) await send('DELETE', `/webhooks/${body.data.id}`);
      },
      () => send('GET', `/changes?after=${random.below(50)}&limit=500`),
      () => stranger.send('POST', '/reservations', { body: { items: [item(one(products))] } }),
    ];
    await inParallel(
      [...Array.from({ length: ACTIONS }).keys()],
      WRITERS,
      () => random.pick(actions)?.() ?? Promise.resolve(),
    );

    const isOver = async () =>
      (
        await store.query(
          `select from main.reservation where shop_id = $1 and state = 'held' and expires_at <= clock_timestamp()`,
          [shop.id],
        )
      ).length === 0;
    await until(isOver, WAIT_MS, 'the stock of expired reservations does not return');
    await checkShop(shop);
    for (const { id } of await shop.walk('/reservations?status=held'))
      await send('POST', `/reservations/${id}/release`);
    await until(isOver, WAIT_MS, 'the stock of released reservations does not return');
    await checkShop(shop);
    assert.deepEqual(await stranger.walk('/reservations'), []);
  });

  async function checkShop(shop: TestShop): Promise<void> {
    const held = await store.query(
      `select product.id, reserved::integer, coalesce((
         select sum(held) from main.reservation_item as item join main.reservation on reservation.id = reservation_id
         where product_id = product.id and is_counted and state = 'held'), 0)::integer as held
       from main.product where shop_id = $1`,
      [shop.id],
    );
    assert.deepEqual(
      held.filter(({ reserved, held }) => reserved !== held),
      [],
      'what is reserved is not what reservations hold',
    );
    const orphans = await store.query(
      `select reservation.id from main.reservation join main.reservation_item as item on reservation_id = reservation.id
       where shop_id = $1 and state = 'held' and not exists (select from main.product where id = product_id)`,
      [shop.id],
    );
    assert.deepEqual(orphans, [], 'a reservation holds a product that was deleted');
    const chains = await store.query(
      `select * from (
         select id, product_id, previous, lag(next) over (partition by product_id order by id) as before from main.adjustment where shop_id = $1
       ) as entry where before <> previous`,
      [shop.id],
    );
    assert.deepEqual(chains, [], 'the log of a product is no chain');
    const levels = await store.query(
      `select id, inventory, (select next from main.adjustment where product_id = product.id order by adjustment.id desc limit 1) as logged
       from main.product where shop_id = $1`,
      [shop.id],
    );
    assert.deepEqual(
      levels.filter(({ inventory, logged }) => logged !== null && logged !== inventory),
      [],
    );
    const moved = await store.query(
      `select reservation_id, product_id, quantity, held, consumed, is_counted, (
         select coalesce(sum(previous - next), 0)::integer from main.adjustment
         where adjustment.reservation_id = item.reservation_id and adjustment.product_id = item.product_id) as taken
       from main.reservation_item as item join main.reservation on reservation.id = reservation_id
       where shop_id = $1 and exists (select from main.product where id = product_id)`,
      [shop.id],
    );
    assert.deepEqual(
      moved.filter(
        ({ is_counted, taken, held, consumed }) =>
          taken !== (is_counted === true ? Number(held) + Number(consumed) : 0),
      ),
      [],
      'a reservation has taken another number than it holds and has sold',
    );
    const copy = new Map<string, any>();
    const states = new Map<string, string>();
    const places: number[] = [];
    for (let after = 0, hasMore = true; hasMore;) {
      const { data, meta } = await shop.ok('GET', `/changes?after=${after}&limit=500`);
      for (const { sequence, type, productId, object } of data) {
        places.push(sequence);
        if (type === 'product.deleted') copy.delete(productId);
        else if (type.startsWith('product.')) copy.set(productId, object);
        else if (type.startsWith('reservation.')) states.set(object.id, object.status);
        else if (copy.has(productId)) copy.set(productId, { ...copy.get(productId), inventory: object.next });
      }
      ({ sequence: after, hasMore } = meta);
    }
    assert.deepEqual(
      places,
      Array.from({ length: places.length }, (_, index) => index + 1),
    );
    const toRow = ({ id, sku, price, groupId, inventory }: any) => [id, sku, price, groupId, inventory];
    const listed = await shop.walk('/products?status=any&order=asc');
    assert.deepEqual([...copy.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(toRow), listed.map(toRow));
    const wanted = (await shop.walk('/reservations')).map(({ id, status }) => [id, status]);
    assert.deepEqual(
      [...states].toSorted(([one], [other]) => (one < other ? 1 : -1)),
      wanted,
    );
  }
});
