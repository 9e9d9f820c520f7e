// What the routes of the store interface share.

import type { IncomingMessage } from 'node:http';
import type { KeyRing } from '../keys/keys.ts';
import type { Database } from '../../database/port.ts';
import type { Store } from '../context.ts';
import type { RateLimiter } from '../../http/rate-limit.ts';

export type StoreContext = {
  store: Store & { main: Database };
  keys: KeyRing;
  /** The key that authenticates cursors, the same on every node. */
  cursorSecret: Buffer;
  clientAddress: (request: IncomingMessage) => string;
  /** Counts requests by key, and failed authentications by client address. */
  limiter: RateLimiter<StoreBucket>;
};

export type StoreBucket = 'key' | 'failure';

/** What a request may take of the database's time in all: one that hangs is answered then, and holds no connection any more. */
export const REQUEST_TIMEOUT_MS = 5_000;

/** Failed authentications a minute, per client address. */
export const FAILURES_A_MINUTE_MAX = 60;
