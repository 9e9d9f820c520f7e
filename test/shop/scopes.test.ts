// Tests the scopes that each operation of the store and the intake accepts. A request without a key, or with a key that has none of these
// scopes, is rejected before its parameters and its body are read.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SCOPES } from '../../src/shop/keys/scopes.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';

/** The scopes of each operation. A key needs one of them. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'GET /api/v1/products': ['products:read'],
  'POST /api/v1/products': ['products:write'],
  'POST /api/v1/products/batch': ['products:write'],
  'GET /api/v1/products/{productId}': ['products:read'],
  'PUT /api/v1/products/{productId}': ['products:write'],
  'DELETE /api/v1/products/{productId}': ['products:write'],
  'GET /api/v1/inventory': ['inventory:read'],
  'POST /api/v1/inventory': ['inventory:write'],
  'POST /api/v1/inventory/batch': ['inventory:write'],
  'GET /api/v1/inventory/adjustments': ['inventory:read'],
  'GET /api/v1/reservations': ['inventory:read'],
  'POST /api/v1/reservations': ['inventory:write'],
  'GET /api/v1/reservations/{reservationId}': ['inventory:read'],
  'POST /api/v1/reservations/{reservationId}/extend': ['inventory:write'],
  'POST /api/v1/reservations/{reservationId}/consume': ['inventory:write'],
  'POST /api/v1/reservations/{reservationId}/release': ['inventory:write'],
  'GET /api/v1/changes': ['products:read', 'inventory:read'],
  'GET /api/v1/webhooks': ['webhooks:read'],
  'POST /api/v1/webhooks': ['webhooks:write'],
  'GET /api/v1/webhooks/{webhookId}': ['webhooks:read'],
  'PUT /api/v1/webhooks/{webhookId}': ['webhooks:write'],
  'DELETE /api/v1/webhooks/{webhookId}': ['webhooks:write'],
  'POST /api/v1/webhooks/{webhookId}/rotate-secret': ['webhooks:write'],
  'POST /api/v1/webhooks/{webhookId}/test': ['webhooks:write'],
  'POST /api/v1/webhooks/{webhookId}/recover': ['webhooks:write'],
  'GET /api/v1/webhooks/{webhookId}/deliveries': ['webhooks:read'],
  'GET /api/v1/webhooks/{webhookId}/deliveries/{deliveryId}': ['webhooks:read'],
  'POST /api/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver': ['webhooks:write'],
  'POST /intake/v1/orders': ['orders:write'],
  'GET /intake/v1/orders/{orderId}': ['orders:write', 'intake:write'],
  'GET /intake/v1/orders/{orderId}/explain': ['orders:write', 'intake:write'],
  'POST /intake/v1/orders/{orderId}/cancel': ['orders:write', 'intake:write'],
  'POST /intake/v1/records': ['intake:write'],
};

let service: TestService;
before(async () => {
  const settings = { DATA_DIR: await directoryWithDatabase(), TRUST_PROXY: 'true' };
  service = await startTestService({ settings });
});
after(async () => {
  await service.close();
  await cleanUp();
});

const listOperations = async (document: string): Promise<string[]> => {
  const { paths } = (await (await fetch(service.url + document)).json()) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
};

test('every operation of the store and the intake is in the table', async () => {
  const operations = [
    ...(await listOperations('/api/v1/openapi.json')),
    ...(await listOperations('/intake/v1/openapi.json')),
  ];
  assert.deepEqual(operations.toSorted(), Object.keys(NEEDED).toSorted());
});

test('a key is admitted by an operation exactly when it has a scope of the operation', async () => {
  await service.operate('shops.create', { name: 'shop' });
  const keys: [scope: string, secret: string][] = [];
  for (const scope of SCOPES) {
    const { body } = await service.operate('keys.create', { shop: 'shop', scopes: [scope] });
    keys.push([scope, body.result.secret]);
  }
  const wrong: string[] = [];
  let senders = 0;
  for (const [operation, needed] of Object.entries(NEEDED)) {
    const [method = '', path = ''] = operation.split(' ');
    const send = async (authorization: string | null) => {
      senders += 1;
      const headers = {
        ...(authorization !== null && { authorization }),
        'content-type': 'application/json',
        // Each request comes from another client address, because failed authentications are limited for each address.
        'x-forwarded-for': `203.0.113.${senders % 250}`,
      };
      // The cancel has a signature here. A cancel without a signature is accepted only from a key with `intake:write`.
      const signed = path.endsWith('/cancel') ? { body: '{"signature":"0x00"}' } : {};
      const target = service.url + path.replaceAll(/\{\w+\}/g, 'unknown');
      const response = await fetch(target, { method, headers, ...signed });
      await response.text();
      return response.status;
    };
    for (const authorization of [null, 'Bearer mercat_live_unknown', `Basic ${btoa('a:b')}`]) {
      const status = await send(authorization);
      if (status !== 401) wrong.push(`${operation} with ${authorization}: ${status}`);
    }
    for (const [scope, secret] of keys) {
      const status = await send(`Bearer ${secret}`);
      const isAdmitted = status !== 401 && status !== 403;
      if (isAdmitted !== needed.includes(scope)) wrong.push(`${operation} with ${scope}: ${status}`);
    }
  }
  assert.deepEqual(wrong, []);
});
