// Keeps each listing window for a second, so that the pages of one list come from one window. A window is not used again after one of its
// listings has expired or its collection has changed. A window for which a source failed is never used again.

import { LRUCache } from 'lru-cache';
import type { CollectionVersions } from '../../platform/core/collection-versions.ts';
import type { Collection } from '../../platform/core/collection.ts';
import type { ListingWindow } from './listing-window.ts';
import { readListingWindow } from './listing-window.ts';
import type { Market } from './market.ts';

const FRESH_MS = 1_000;
const WINDOWS_MAX = 300;

/** `readAt`: when the read of the window began. `version`: the number of the latest change of any collection at that time. */
type Entry = { version: number; readAt: number; window: Promise<ListingWindow> };

export class ListingWindowCache {
  readonly #market: Market;
  readonly #changes: CollectionVersions;
  readonly #entries = new LRUCache<string, Entry>({ max: WINDOWS_MAX });

  constructor(market: Market, changes: CollectionVersions) {
    this.#market = market;
    this.#changes = changes;
  }

  /** Concurrent reads of a collection share one window, unless a source failed. */
  async read(collection: Collection): Promise<ListingWindow> {
    const now = this.#market.clock();
    const entry = this.#entries.get(collection.id);
    if (entry && entry.version >= this.#changes.versionOf(collection.id) && isFresh(entry, now)) {
      const window = await entry.window;
      if (!window.degraded && isValid(window, this.#market.clock())) return window;
    }
    const version = this.#changes.latest();
    const window = readListingWindow(this.#market, collection);
    this.#entries.set(collection.id, { version, readAt: now, window });
    return window;
  }
}

/** If the clock was set back, `readAt` may be later than now. Such a window is not fresh. */
function isFresh({ readAt }: Entry, now: number): boolean {
  return readAt <= now && now - readAt < FRESH_MS;
}

function isValid({ validUntil }: ListingWindow, now: number): boolean {
  return validUntil === null || validUntil > now;
}
