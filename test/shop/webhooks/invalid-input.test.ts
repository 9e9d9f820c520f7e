// Invalid bodies and parameters of /api/v1/webhooks get a 400, and nothing is stored.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forOneStore } from '../../support/service/shop.ts';

const PUBLIC_URL = 'https://hooks.example.com/mercat';

forOneStore('invalid webhooks', (store) => {
  test('an invalid body or parameter gets a 400 and stores nothing; for an invalid field the response names the field', async () => {
    const shop = await store.shop();
    const invalid: [unknown, string][] = [
      [undefined, ''],
      [{}, 'url'],
      [{ url: null }, 'url'],
      [{ url: 'https://a:b@example.com/' }, 'url'],
      [{ url: `https://example.com/${'a'.repeat(2_048)}` }, 'url'],
      [{ url: PUBLIC_URL, events: [] }, 'events'],
      [{ url: PUBLIC_URL, events: ['*'] }, 'events'],
      [{ url: PUBLIC_URL, events: ['product.created', 'order.paid'] }, 'events'],
      [{ url: PUBLIC_URL, description: 'x'.repeat(501) }, 'description'],
      [{ url: PUBLIC_URL, enabled: true }, 'enabled'],
      [`{"url":"${PUBLIC_URL}","__proto__":{}}`, '__proto__'],
      ['{', ''],
    ];
    for (const [body, path] of invalid) {
      const response = await shop.send('POST', '/webhooks', body === undefined ? {} : { body });
      assert.equal(response.status, 400, JSON.stringify(body));
      assert.equal(response.body.error.message, 'Invalid webhook payload');
      assert.equal(response.body.error.details[0].path, path, JSON.stringify(body));
    }
    assert.equal((await shop.ok('GET', '/webhooks')).count, 0);

    const { id } = (await shop.ok('POST', '/webhooks', { url: PUBLIC_URL, description: 'x'.repeat(500) }, 201)).data;
    for (const body of [{ url: null }, { events: null }, { enabled: 'yes' }, { enabled: 0 }, { nonsense: 1 }]) {
      assert.equal((await shop.send('PUT', `/webhooks/${id}`, { body })).status, 400, JSON.stringify(body));
    }
    const unknownFields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, 1]));
    for (const [method, path] of [
      ['POST', '/webhooks'],
      ['PUT', `/webhooks/${id}`],
      ['POST', `/webhooks/${id}/recover`],
    ] as const) {
      const response = await shop.send(method, path, { body: unknownFields });
      assert.equal(response.status, 400);
      assert.ok(response.text.length < 10_000, 'the response lists too many of the 5,000 unknown fields');
      const unreadable = await shop.send(method, path, { body: '{' });
      assert.deepEqual([unreadable.status, unreadable.body.error.message], [400, 'Invalid webhook payload']);
    }
    for (const since of [
      undefined,
      null,
      5,
      '',
      'yesterday',
      '2026-01-01',
      '2026-01-01T00:00:00',
      '2026-13-01T00:00:00Z',
      '2026-02-30T00:00:00Z',
    ]) {
      const response = await shop.send('POST', `/webhooks/${id}/recover`, { body: { since } });
      assert.equal(response.status, 400, String(since));
    }
    for (const query of [
      'limit=0',
      'limit=101',
      'limit=x',
      'state=lost',
      'cursor=',
      'cursor=abc',
      'state=dead&state=dead',
    ]) {
      assert.equal((await shop.send('GET', `/webhooks/${id}/deliveries?${query}`)).status, 400, query);
    }
  });
});
