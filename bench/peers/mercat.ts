// Starts the store interface of Mercat on PostgreSQL for the comparison with its peers. As in a real shop, requests have an API key, and
// changes are logged and recorded as events.

import path from 'node:path';
import { migrate } from '../../src/platform/database/migrate.ts';
import { createDatabase } from '../../src/platform/database/port.ts';
import { openPostgres } from '../../src/platform/database/postgres.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { startServer } from '../reads/hot-listings.ts';
import { openShop } from '../store/store.ts';
import type { Load, Peer, Row } from './peer.ts';
import { JSON_HEADERS, perProduct } from './peer.ts';

export const mercat: Peer = {
  name: 'Mercat',
  aim: null,
  start: async ({ databaseUrl, dir }) => {
    const { pool, close } = openPostgres(databaseUrl, createLog('warn'));
    const database = createDatabase(pool, { engine: 'postgresql', name: 'main', onClose: close });
    await migrate(database, 'main');
    const env = {
      DATA_DIR: path.join(dir, 'mercat'),
      DATABASE_URL: databaseUrl,
      PORT: '0',
      PRICE_SOURCES: 'none',
      STORE_RATE_LIMIT: '100000000',
    };
    const server = await startServer(['service'], env);
    const { authorization, productIds } = await openShop(database, server.url);
    await database.close();
    return { ...server, loads: toStoreLoads(server.url, authorization, productIds) };
  },
};

/** The requests of the store interface. */
export function toStoreLoads(url: string, authorization: string, productIds: readonly string[]): Record<Row, Load> {
  const headers = { authorization };
  const change = { headers: { ...headers, ...JSON_HEADERS } };
  const productPath = (index: number) => `/api/v1/products/${productIds[index]}`;
  const bodyOf = (value: object) => JSON.stringify(value);
  return {
    list: { url: `${url}/api/v1/products?limit=50`, headers },
    read: { url, headers, requests: perProduct((index) => ({ path: productPath(index) })) },
    update: {
      ...change,
      url,
      method: 'PUT',
      // The requests alternate between two texts, because a request with the stored text changes nothing.
      requests: ['one', 'two'].flatMap((description) =>
        perProduct((index) => ({ path: productPath(index), body: bodyOf({ description }) })),
      ),
    },
    stock: {
      ...change,
      url: `${url}/api/v1/inventory`,
      method: 'POST',
      requests: perProduct((index) => ({ body: bodyOf({ product_id: productIds[index], adjustment: -1 }) })),
    },
  };
}
