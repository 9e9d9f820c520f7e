// Starts Medusa 2 with seeded products. The requests use its administration interface, with a secret key.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import type { Peer } from './peer.ts';
import { JSON_HEADERS, PRODUCTS, installPeer, perProduct, runToEnd, startPeer } from './peer.ts';

type Seeded = { key: string; locationId: string; productIds: string[]; itemIds: string[] };

export const medusa: Peer = {
  name: 'Medusa 2.21',
  aim: 20,
  start: async ({ databaseUrl, dir }) => {
    const home = await installPeer('medusa');
    const cli = path.join(home, 'node_modules/@medusajs/cli/cli.js');
    const seeded = path.join(dir, 'medusa.json');
    const env = { DATABASE_URL: databaseUrl, SEEDED: seeded, PRODUCTS: String(PRODUCTS) };
    await runToEnd(process.execPath, [cli, 'db:migrate'], home, env);
    await runToEnd(process.execPath, [cli, 'exec', 'seed.js'], home, env);
    const { key, locationId, productIds, itemIds } = JSON.parse(readFileSync(seeded, 'utf8')) as Seeded;
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const args = [cli, 'start', '--host', '127.0.0.1', '--port', String(port)];
    const server = await startPeer(process.execPath, args, home, env, `${url}/health`);
    const headers = { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` };
    const change = { url, method: 'POST', headers: { ...headers, ...JSON_HEADERS } };
    const productPath = (index: number) => `/admin/products/${productIds[index]}`;
    return {
      ...server,
      loads: {
        list: { url: `${url}/admin/products?limit=50`, headers },
        read: { url, headers, requests: perProduct((index) => ({ path: productPath(index) })) },
        update: {
          ...change,
          requests: perProduct((index) => ({ path: productPath(index), body: JSON.stringify({ description: 'new' }) })),
        },
        stock: {
          ...change,
          requests: perProduct((index) => ({
            path: `/admin/inventory-items/${itemIds[index]}/location-levels/${locationId}`,
            body: JSON.stringify({ stocked_quantity: 999_999 }),
          })),
        },
      },
    };
  },
};
