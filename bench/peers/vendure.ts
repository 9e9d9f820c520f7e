// Measures the admin API of Vendure 3 with the session of an administrator. Vendure has no operation that adds to a stock, so each stock
// request sets the stock to a number.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import type { Peer } from './peer.ts';
import { JSON_HEADERS, PRODUCTS, installPeer, perProduct, runToEnd, startPeer } from './peer.ts';

const FIELDS = 'id createdAt updatedAt name slug description enabled variants { id sku price stockOnHand }';
const LOGIN = 'mutation { login(username: "bench", password: "bench") { __typename } }';
const LIST = `{ products(options: { take: 50 }) { totalItems items { ${FIELDS} } } }`;
const READ = `query ($id: ID!) { product(id: $id) { ${FIELDS} } }`;
const UPDATE = `mutation ($id: ID!) {
  updateProduct(input: { id: $id, translations: [{ languageCode: en, description: "new" }] }) { id }
}`;
const STOCK = `mutation ($id: ID!) { updateProductVariants(input: [{ id: $id, stockOnHand: 999999 }]) { id stockOnHand } }`;

export const vendure: Peer = {
  name: 'Vendure 3.7',
  aim: 20,
  start: async ({ databaseUrl, dir }) => {
    const home = await installPeer('vendure');
    const seeded = path.join(dir, 'vendure.json');
    const port = await freePort();
    const env = { DATABASE_URL: databaseUrl, SEEDED: seeded, PRODUCTS: String(PRODUCTS), PORT: String(port) };
    await runToEnd(process.execPath, ['seed.cjs'], home, { ...env, SYNCHRONIZE: 'yes' });
    const { productIds, variantIds } = JSON.parse(readFileSync(seeded, 'utf8')) as Record<string, string[]>;
    const url = `http://127.0.0.1:${port}/admin-api`;
    const server = await startPeer(process.execPath, ['start.cjs'], home, env, `http://127.0.0.1:${port}/health`);
    const toBody = (query: string, variables = {}) => JSON.stringify({ query, variables });
    const response = await fetch(url, { method: 'POST', headers: JSON_HEADERS, body: toBody(LOGIN) });
    const headers = { ...JSON_HEADERS, authorization: `Bearer ${response.headers.get('vendure-auth-token')}` };
    const forEach = (query: string, ids: readonly string[] = []) => ({
      url,
      method: 'POST',
      headers,
      requests: perProduct((index) => ({ body: toBody(query, { id: ids[index] }) })),
    });
    return {
      ...server,
      loads: {
        list: { url, method: 'POST', headers, requests: [{ body: toBody(LIST) }] },
        read: forEach(READ, productIds),
        update: forEach(UPDATE, productIds),
        stock: forEach(STOCK, variantIds),
      },
    };
  },
};
