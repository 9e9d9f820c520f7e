// Tests how long an API key works: until its expiry, its revocation, or the end of a rotation. Also tests when the time of last use is
// written, and how secrets are stored.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STORE_SCOPES } from '../../src/shop/keys/scopes.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../support/service/market.ts';
import { until } from '../support/until.ts';
import type { TestShop } from '../support/service/shop.ts';
import { forOneStore } from '../support/service/shop.ts';
import { fromNewAddress } from './key-requests.ts';

forOneStore('the lifetime of a key', (store) => {
  const works = async (shop: TestShop, secret: string) => {
    const { status } = await shop.send('GET', '/products', fromNewAddress({ secret }));
    assert.ok(status === 200 || status === 401);
    return status === 200;
  };

  test('a revoked key stops working within seconds, even on a node that has just cached it', async () => {
    const shop = await store.shop();
    const { id, secret } = await shop.newKey(['products:read']);
    assert.ok(await works(shop, secret));
    await store.operate('keys.revoke', { id });
    store.advance(5 * SECOND_MS);
    assert.ok(!(await works(shop, secret)));
    await store.operate('keys.revoke', { id });
  });

  test('a key works until its expiry, to the millisecond', async () => {
    const shop = await store.shop();
    const expiresAt = new Date(store.now() + HOUR_MS).toISOString();
    const { secret } = await shop.newKey(['products:read'], { expiresAt });
    store.advance(HOUR_MS - 1);
    assert.ok(await works(shop, secret));
    store.advance(1);
    assert.ok(!(await works(shop, secret)));
  });

  test('an expiry that is given as a duration is counted from the clock of the service', async () => {
    const shop = await store.shop();
    for (const [span, spanMs] of [
      ['12h', 12 * HOUR_MS],
      ['90d', 90 * DAY_MS],
    ] as const) {
      const { expiresAt } = await store.operate('keys.create', {
        shop: shop.id,
        scopes: ['products:read'],
        expiresAt: span,
      });
      assert.equal(expiresAt, new Date(store.now() + spanMs).toISOString());
    }
  });

  test('for a day after a rotation, both the old key and the new key work', async () => {
    const shop = await store.shop();
    const old = await shop.newKey(['products:read']);
    const { secret, id, scopes, shop: shopId } = await store.operate('keys.rotate', { id: old.id });
    assert.notEqual(id, old.id);
    assert.deepEqual([scopes, shopId], [['products:read'], shop.id]);
    store.advance(DAY_MS - 5 * SECOND_MS);
    assert.deepEqual([await works(shop, old.secret), await works(shop, secret)], [true, true]);
    store.advance(5 * SECOND_MS);
    assert.deepEqual([await works(shop, old.secret), await works(shop, secret)], [false, true]);
    await assert.rejects(store.operate('keys.rotate', { id: old.id }), /is no longer valid/);
  });

  test('a key that is rotated without an overlap stops working within seconds', async () => {
    const shop = await store.shop();
    const old = await shop.newKey(['products:read']);
    const { secret } = await store.operate('keys.rotate', { id: old.id, overlapMs: 0 });
    store.advance(5 * SECOND_MS);
    assert.deepEqual([await works(shop, old.secret), await works(shop, secret)], [false, true]);
  });

  test('rotation never lengthens the lifetime of a key that expires before the end of the overlap', async () => {
    const shop = await store.shop();
    const expiresAt = new Date(store.now() + HOUR_MS).toISOString();
    const old = await shop.newKey(['products:read'], { expiresAt });
    assert.equal((await store.operate('keys.rotate', { id: old.id })).expiresAt, expiresAt);
    const [listed] = (await store.operate('keys.list', { shop: shop.id })).filter((key: any) => key.id === old.id);
    assert.equal(listed.expiresAt, expiresAt);
  });

  test('rotating a key again during its overlap does not extend the overlap', async () => {
    const shop = await store.shop();
    const endOf = async (id: string) =>
      (await store.operate('keys.list', { shop: shop.id })).find((key: any) => key.id === id).expiresAt as string;
    const expiresAt = new Date(store.now() + 30 * DAY_MS).toISOString();
    for (const end of [null, expiresAt]) {
      const old = await shop.newKey(['products:read'], end === null ? {} : { expiresAt: end });
      const first = await store.operate('keys.rotate', { id: old.id, overlapMs: HOUR_MS });
      const overlapEnd = new Date(store.now() + HOUR_MS).toISOString();
      const second = await store.operate('keys.rotate', { id: old.id, overlapMs: DAY_MS });
      assert.deepEqual([first.expiresAt, second.expiresAt], [end, end]);
      assert.deepEqual([await endOf(old.id), await endOf(second.id)], [overlapEnd, end]);
      store.advance(HOUR_MS);
      const secrets = [old.secret, first.secret, second.secret];
      const working = await Promise.all(secrets.map((secret) => works(shop, secret)));
      assert.deepEqual(working, [false, true, true]);
    }
  });

  test('a key without a shop cannot have store scopes', async () => {
    const shop = await store.shop();
    const { secret } = await shop.newKey(['products:read', 'intake:write']);
    assert.ok(await works(shop, secret));
    for (const scope of STORE_SCOPES) {
      const mistake = store.operate('keys.create', { scopes: ['intake:write', scope] });
      await assert.rejects(mistake, (error: any) => error.exitCode === 2 && error.message.includes(scope));
    }
    const moved = store.query('update main.api_key set shop_id = null where shop_id = $1', [shop.id]);
    await assert.rejects(moved, /api_key_without_shop/);
  });

  test('the time of last use is written periodically, not for every request', async () => {
    const shop = await store.shop();
    const lastUsed = async () => (await store.operate('keys.list', { shop: shop.name }))[0].lastUsedAt as string | null;
    assert.equal(await lastUsed(), null);
    store.advance(MINUTE_MS);
    await shop.ok('GET', '/products');
    const first = new Date(store.now()).toISOString();
    await until(async () => (await lastUsed()) === first, 5_000, 'the time of last use was not written');
    store.advance(SECOND_MS);
    const writes = store.statements('update main.api_key');
    for (let request = 0; request < 20; request += 1) await shop.ok('GET', '/products');
    assert.equal(store.statements('update main.api_key'), writes);
    assert.equal(await lastUsed(), first);
    store.advance(MINUTE_MS);
    await shop.ok('GET', '/products');
    const second = new Date(store.now()).toISOString();
    await until(async () => (await lastUsed()) === second, 5_000, 'the time of last use was not written');
  });

  test('the requests of each key are counted by day, and no count is lost while they cannot be written', async () => {
    const shop = await store.shop();
    const other = await shop.newKey(['products:read']);
    const usage = async () => {
      const keys = (await store.operate('keys.usage', { shop: shop.name })) as { id: string; days: unknown[] }[];
      return new Map(keys.map(({ id, days }) => [id, days]));
    };
    const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
    const use = async (count: number) => {
      for (let request = 0; request < count; request += 1) await shop.ok('GET', '/products');
    };
    const counted = async (expected: unknown[]) =>
      until(
        async () => JSON.stringify((await usage()).get(shop.key.id)) === JSON.stringify(expected),
        5_000,
        'the requests were not counted',
      );
    const first = dayOf(store.now());
    await use(3);
    store.advance(MINUTE_MS);
    await use(1);
    await counted([{ day: first, requests: 4 }]);
    store.advance(DAY_MS);
    const second = dayOf(store.now());
    await store.query('alter table main.key_usage rename to key_usage_away');
    await use(2);
    store.advance(MINUTE_MS);
    await use(1);
    await until(
      () => store.service.logged.some((line) => line.includes('the uses of API keys could not be written')),
      5_000,
      'the failure was not logged',
    );
    await store.query('alter table main.key_usage_away rename to key_usage');
    store.advance(MINUTE_MS);
    await use(1);
    await counted([
      { day: first, requests: 4 },
      { day: second, requests: 4 },
    ]);
    assert.deepEqual((await usage()).get(other.id), []);
  });

  test('the row of a key has a prefix and a hash of its secret, and not the secret', async () => {
    const shop = await store.shop();
    const { secret, prefix } = shop.key;
    assert.match(secret, /^mercat_live_[0-9A-Za-z]{36}$/);
    assert.ok(secret.startsWith(prefix) && prefix.length <= 'mercat_live_'.length + 6);
    const rows = await store.query('select to_json(key)::text as text from main.api_key key where shop_id = $1', [
      shop.id,
    ]);
    assert.equal(rows.length, 1);
    assert.ok(!String(rows[0]?.['text']).includes(secret.slice(-30)));
    assert.ok(!JSON.stringify(await store.operate('keys.list', {})).includes(secret.slice(-30)));
  });
});
