// Helps the tests of API keys. Gives each request a new client address, and checks responses with the status 401.

import assert from 'node:assert/strict';
import type { StoreRequest, TestShop } from '../support/service/shop.ts';

let clients = 0;
/** Gives each request a client address of its own, because failed authentications are counted by address. */
export const fromNewAddress = (request: StoreRequest = {}): StoreRequest => {
  clients += 1;
  const address = `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`;
  return { ...request, headers: { 'x-forwarded-for': address, ...request.headers } };
};

/** Fails unless the response is the 401 for a missing or invalid key. */
export function assertUnauthorized({ status, body, headers }: Awaited<ReturnType<TestShop['send']>>): void {
  assert.deepEqual([status, body.error], [401, { code: 'unauthorized', message: 'Missing or invalid API key' }]);
  assert.equal(headers.get('www-authenticate'), 'Bearer');
}
