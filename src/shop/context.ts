// What the rules of the store share. It must never know about HTTP.

import type { Clock } from '../core/clock.ts';
import type { Statements } from '../database/port.ts';
import type { Log } from '../core/log.ts';

export type Store = { main: Statements; clock: Clock; log: Log; serviceName: string };

/** Who asks: the key, and the shop that it belongs to. Keys of the intake may belong to none. */
export type Caller = { keyId: string; shopId: string | null; scopes: ReadonlySet<string> };

/** A caller in a shop, the only one that the rules of the store act for. */
export type ShopCaller = Caller & { shopId: string };
