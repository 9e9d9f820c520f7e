// Creates shops and signs in to their pages, for the tests of these pages.

import type { Page } from 'playwright-core';
import type { StoreClient } from '../../client/src/store.ts';
import { createStoreClient } from '../../client/src/store.ts';
import type { TestService } from '../../test/support/service/service.ts';
import type { WatchedPage } from './browser.ts';
import { visit, waitUntilLoaded } from './browser.ts';

const ALL_SCOPES = ['products', 'inventory', 'webhooks'].flatMap((part) => [`${part}:read`, `${part}:write`]);

let shops = 0;

export type TestShop = { name: string; key: string; keyId: string; client: StoreClient };

/** Creates a shop. Returns a key with the given scopes, and a client whose key has all scopes. */
export async function newShop(service: TestService, scopes: readonly string[] = ALL_SCOPES): Promise<TestShop> {
  shops += 1;
  const name = `Corner shop ${shops}`;
  await service.operate('shops.create', { name });
  const newKey = async (keyScopes: readonly string[]): Promise<{ id: string; secret: string }> =>
    (await service.operate('keys.create', { shop: name, scopes: keyScopes })).body.result;
  const { id, secret } = await newKey(scopes);
  const client = createStoreClient({ baseUrl: service.url, apiKey: (await newKey(ALL_SCOPES)).secret });
  return { name, key: secret, keyId: id, client };
}

export async function signIn({ page, errors }: WatchedPage, url: string, key: string): Promise<void> {
  await visit(page, `${url}/shop`);
  await page.fill('[name=key]', key);
  await page.click('text=Sign in >> nth=-1');
  await page.waitForSelector('.session');
  await waitUntilLoaded(page);
  // To learn the scopes of the key, the page sends requests, some of which the service rejects. The browser logs each rejected
  // request as an error.
  errors.length = 0;
}

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
