// The dependencies of the routes of the marketplace interface.

import type { CollectionVersions } from '../../../platform/core/collection-versions.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import type { ResponseCache } from '../../../platform/http/response-cache.ts';
import type { Market } from '../market.ts';

export type MarketplaceContext = {
  market: Market;
  changes: CollectionVersions;
  responses: ResponseCache;
  clock: Clock;
  /** The key that authenticates paging cursors, the same on every node. */
  cursorSecret: Buffer;
  baseUrl: () => string;
  version: string;
};
