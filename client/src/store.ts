// The client of the store interface `/api/v1`: products, stock and webhooks of one shop. Do not use the API key in a web page that also runs
// third-party code.

import { createCalls } from './calls.ts';
import type { StoreMethods } from './generated/store.ts';
import { STORE_OPERATIONS } from './generated/store.ts';
import type { ClientOptions } from './transport.ts';
import { Transport } from './transport.ts';

export type * from './generated/store.ts';
export type { WriteOptions } from './calls.ts';
export type { CallOptions, ClientOptions } from './transport.ts';
export type { ClientErrorCode, ErrorCode, ErrorDetail, ServiceErrorCode } from './mercat-error.ts';
export { MercatError } from './mercat-error.ts';
export { Pages } from './pages.ts';

export type KeyedClientOptions = ClientOptions & { apiKey: string };

export type StoreClient = StoreMethods;

export function createStoreClient({ apiKey, headers, ...options }: KeyedClientOptions): StoreClient {
  const transport = new Transport({ ...options, headers: { ...headers, authorization: `Bearer ${apiKey}` } });
  return createCalls<StoreMethods>(transport, STORE_OPERATIONS, ({ body, headers: received }) => ({
    ...(body as object),
    etag: received.get('etag'),
    isReplay: received.get('idempotent-replayed') === 'true',
  }));
}
