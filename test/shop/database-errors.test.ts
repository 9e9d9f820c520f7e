// Errors of the database that are independent of the request, such as a full disk. The response is a 503, and the request can be
// repeated.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { forEachStore } from '../support/service/shop.ts';

const SQLSTATES = {
  'a full disk': '53100',
  'no memory': '53200',
  'a failed read or write of a file': '58030',
  'a replica that was not promoted yet': '25006',
  'a statement that an operator has cancelled': '57014',
};

forEachStore('a database that cannot do its work', (store) => {
  afterEach(() => store.query('drop trigger if exists fail on main.product'));

  for (const [what, code] of Object.entries(SQLSTATES)) {
    test(`${what}: a write gets a 503 with Retry-After, stores nothing, and can be repeated later`, async () => {
      const shop = await store.shop();
      await store.query(`create or replace function main.fail() returns trigger language plpgsql as
        $$ begin raise exception 'the database fails' using errcode = '${code}'; end $$`);
      await store.query('create trigger fail before insert on main.product for each row execute function main.fail()');
      const create = () =>
        shop.send('POST', '/products', { body: { name: 'Mug', price: '1' }, headers: { 'idempotency-key': code } });
      const { status, headers, body, text } = await create();
      assert.deepEqual([status, body.error.code], [503, 'unavailable'], text);
      assert.ok(Number(headers.get('retry-after')) > 0);
      assert.doesNotMatch(text, /the database fails/);
      await store.query('drop trigger fail on main.product');
      assert.equal((await create()).status, 201);
      assert.equal((await shop.walk('/products')).length, 1);
    });
  }
});
