// Starts two simple peers, with which the store is compared. json-server keeps the products in memory and in one file, and checks no API
// keys. Prism responds with the examples of our OpenAPI document.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/free-port.ts';
import { toStoreLoads } from './mercat.ts';
import type { Peer } from './peer.ts';
import { JSON_HEADERS, PRODUCTS, installPeer, perProduct, startPeer } from './peer.ts';

const STORE_DOCUMENT = fileURLToPath(new URL('../../openapi/store.json', import.meta.url));

export const jsonServer: Peer = {
  name: 'json-server 0.17',
  aim: 1,
  start: async ({ dir }) => {
    const home = await installPeer('plain');
    const file = path.join(dir, 'json-server.json');
    const products = Array.from({ length: PRODUCTS }, (_, index) => ({
      id: index + 1,
      name: `Product ${index}`,
      description: null,
      price: '19.90',
      inventory: 1_000_000,
      collections: ['bench'],
      createdAt: '2026-01-01T00:00:00Z',
    }));
    writeFileSync(file, JSON.stringify({ products }));
    const url = `http://127.0.0.1:${await freePort()}`;
    const program = path.join(home, 'node_modules/json-server/lib/cli/bin.js');
    const args = [program, '--quiet', '--host', '127.0.0.1', '--port', new URL(url).port, file];
    const server = await startPeer(process.execPath, args, home, {}, `${url}/products/1`);
    const productPath = (index: number) => `/products/${index + 1}`;
    const change = (body: object) => ({
      url,
      method: 'PATCH',
      headers: JSON_HEADERS,
      requests: perProduct((index) => ({ path: productPath(index), body: JSON.stringify(body) })),
    });
    return {
      ...server,
      loads: {
        list: { url: `${url}/products?_page=1&_limit=50` },
        read: { url, requests: perProduct((index) => ({ path: productPath(index) })) },
        update: change({ description: 'new' }),
        stock: change({ inventory: 999_999 }),
      },
    };
  },
};

export const prism: Peer = {
  name: 'Prism 5.16, examples only',
  aim: null,
  start: async () => {
    const home = await installPeer('plain');
    const url = `http://127.0.0.1:${await freePort()}`;
    const program = path.join(home, 'node_modules/@stoplight/prism-cli/dist/index.js');
    const args = [
      program,
      'mock',
      STORE_DOCUMENT,
      '--multiprocess=false',
      '--host',
      '127.0.0.1',
      '--port',
      new URL(url).port,
    ];
    const server = await startPeer(process.execPath, args, home, {}, url);
    return {
      ...server,
      loads: toStoreLoads(
        url,
        'Bearer sk_example',
        perProduct(() => 'prod_example'),
      ),
    };
  },
};
