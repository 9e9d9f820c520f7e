// Sends request bodies from which no product can be read, and valid bodies with unusual texts. products.test.ts runs this suite.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestStore } from '../support/service/shop.ts';
import { assertInvalidProduct, assertNothingStored } from '../support/service/shop.ts';

/** Declares the tests: a request with an unreadable body gets a 400 with the message 'Invalid product payload', and nothing is stored. */
export function describeProductBodies(store: TestStore): void {
  test('a description that looks like deeply nested JSON, or begins with U+FEFF, is stored unchanged', async () => {
    const shop = await store.shop();
    for (const description of ['['.repeat(2_001), '{"a":'.repeat(6_000), '\ufeffbegins with a byte order mark']) {
      const product = await shop.product({ name: `\ufeff${description.slice(0, 9)}`, description });
      assert.deepEqual([product.name, product.description], [`\ufeff${description.slice(0, 9)}`, description]);
      assert.deepEqual((await shop.ok('GET', `/products/${product.id}`)).data, product);
      const updated = await shop.ok('PUT', `/products/${product.id}`, { description: `${description}!` });
      assert.equal(updated.data.description, `${description}!`);
    }
    assert.equal((await shop.events()).length, 6);
  });

  describe('a request body', () => {
    const bytes = (...values: number[]) => Buffer.from(values);
    const wrap = (value: Buffer) => Buffer.concat([Buffer.from('{"price":1,"name":"'), value, Buffer.from('"}')]);
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const bodies: Record<string, string | Buffer> = {
      nothing: '',
      'malformed JSON': '{"name":"a","price":1',
      'two values': '{"name":"a","price":1}{}',
      'a trailing comma': '{"name":"a","price":1,}',
      'a number with a leading zero': '{"name":"a","price":01}',
      NaN: '{"name":"a","price":NaN}',
      'an array': '[{"name":"a","price":1}]',
      'a string': '"a"',
      'a number': '1',
      null: 'null',
      'invalid UTF-8': wrap(bytes(0xff)),
      'overlong UTF-8': wrap(bytes(0xc0, 0xaf)),
      'a surrogate in UTF-8': wrap(bytes(0xed, 0xa0, 0x80)),
      'UTF-8 that ends early': wrap(bytes(0xe2, 0x82)),
      'UTF-16': Buffer.from('{"name":"a","price":1}', 'utf16le'),
      'a control character': wrap(bytes(0x00)),
      'an escaped NUL': '{"name":"a\\u0000","price":1}',
      'a lone surrogate': '{"name":"\\ud800","price":1}',
      'a lone surrogate in a field name': '{"name":"a","price":1,"\\udfff":1}',
      'arrays 20,000 deep': deep,
      'a field 20,000 deep': `{"name":"a","price":1,"moreImages":${deep}}`,
      'a field named __proto__': '{"__proto__":{"name":"a","price":1}}',
    };
    for (const [name, body] of Object.entries(bodies)) {
      test(`create and update reject a body with a 400: ${name}`, async () => {
        const shop = await store.shop();
        const product = await shop.product();
        for (const [method, path] of [
          ['POST', '/products'],
          ['PUT', `/products/${product.id}`],
        ] as const) {
          const { status, body: response } = await shop.send(method, path, { body });
          assert.deepEqual(
            [status, response.error.code, response.error.message],
            [400, 'bad_request', 'Invalid product payload'],
          );
          assert.ok(response.error.details.length > 0);
        }
        assert.deepEqual((await shop.ok('GET', '/products')).pagination.count, 1);
        assert.deepEqual((await shop.ok('GET', `/products/${product.id}`)).data, product);
      });
    }

    test('a body whose content type is not JSON is rejected, even if its text is JSON', async () => {
      const shop = await store.shop();
      const body = '{"name":"a","price":1}';
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/xml',
        'multipart/form-data',
        'json',
        'x',
      ]) {
        assertInvalidProduct(await shop.send('POST', '/products', { body, headers: { 'content-type': type } }), '');
      }
      await assertNothingStored(shop);
      for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/merge-patch+json']) {
        assert.equal((await shop.send('POST', '/products', { body, headers: { 'content-type': type } })).status, 201);
      }
    });

    test('a body of more than 1 MiB is rejected', async () => {
      const shop = await store.shop();
      const response = await shop.send('POST', '/products', {
        body: { name: 'a', price: 1, description: 'x'.repeat(1_100_000) },
      });
      assertInvalidProduct(response, '');
      await assertNothingStored(shop);
    });

    test('the response to a body with thousands of unknown fields lists only the first errors', async () => {
      const shop = await store.shop();
      const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, 1]));
      const response = await shop.send('POST', '/products', { body });
      assert.equal(response.status, 400);
      assert.ok(response.text.length < 10_000);
    });
  });
}
