// The dependencies of the functions in src/shop, and the caller for whom they run. This file must not depend on HTTP.

import type { Clock } from '../platform/core/clock.ts';
import type { Statements } from '../platform/database/port.ts';
import type { Log } from '../platform/core/log.ts';
import type { SecretKeys } from '../platform/core/secret-keys.ts';

export type ShopContext = {
  /** The primary database. */
  main: Statements;
  clock: Clock;
  log: Log;
  /** The text with which every API key begins. */
  serviceName: string;
  /** The keys that encrypt the secrets of webhooks in the database. */
  secretKeys: SecretKeys;
};

/** The API key of a request and the shop of the key. `shopId` is null for a key without a shop. */
export type Caller = { keyId: string; shopId: string | null; scopes: ReadonlySet<string> };

/** A caller whose key belongs to a shop. The store interface rejects every other caller. */
export type ShopCaller = Caller & { shopId: string };
