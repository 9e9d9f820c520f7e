// What the routes of the marketplace interface are given.

import type { Changes } from '../../core/changes.ts';
import type { Clock } from '../../core/clock.ts';
import type { ResponseCache } from '../../http/response-cache.ts';
import type { Market } from '../market.ts';

export type MarketplaceContext = {
  market: Market;
  changes: Changes;
  responses: ResponseCache;
  clock: Clock;
  /** The key that authenticates cursors, the same on every node. */
  cursorSecret: Buffer;
  /** The address at which callers reach the service. */
  baseUrl: () => string;
  /** The version of the program. */
  version: string;
};
