// What every rule of the shop context is given, and who calls it. It must not know about HTTP.

import type { Clock } from '../core/clock.ts';
import type { Statements } from '../database/port.ts';
import type { Log } from '../core/log.ts';

export type ShopContext = {
  /** The primary database. */
  main: Statements;
  clock: Clock;
  log: Log;
  /** The first part of every API key. */
  serviceName: string;
};

/** The API key that a request carries, and the shop that the key belongs to. Keys of the intake may belong to no shop. */
export type Caller = { keyId: string; shopId: string | null; scopes: ReadonlySet<string> };

/** A caller whose key belongs to a shop. The store interface serves no other. */
export type ShopCaller = Caller & { shopId: string };
