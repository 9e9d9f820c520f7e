// What the rules of the store share. It must never know about HTTP.

import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import type { Log } from '../log.ts';

export type Store = { main: Database; clock: Clock; log: Log; serviceName: string };

/** Who asks: the key, and the shop that it belongs to. */
export type Caller = { keyId: string; shopId: string; scopes: ReadonlySet<string> };
