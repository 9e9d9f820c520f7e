// Listing windows kept for a moment, so that the pages of one walk are cut from one snapshot. Never longer than a window is
// true: until its first listing expires, or an import touches its collection. One that misses a source is not kept at all.

import { LRUCache } from 'lru-cache';
import type { Collection } from '../core/collection.ts';
import type { Changes } from '../core/changes.ts';
import type { ListingWindow } from './listings.ts';
import { readListingWindow } from './listings.ts';
import type { Market } from './market.ts';

export type ListingWindowReader = (collection: Collection) => Promise<ListingWindow>;

const FRESH_MS = 1_000;
const WINDOWS_MAX = 300;

export function createListingWindowReader(market: Market, changes: Changes): ListingWindowReader {
  type Entry = { version: number; readAt: number; reading: Promise<ListingWindow> };
  const entries = new LRUCache<string, Entry>({ max: WINDOWS_MAX });
  return async (collection) => {
    const now = market.clock();
    const entry = entries.get(collection.id);
    if (entry && entry.version >= changes.versionOf(collection.id) && now - entry.readAt < FRESH_MS) {
      const window = await entry.reading;
      if (!window.degraded && isTrue(window, market.clock())) return window;
    }
    const reading = readListingWindow(market, collection);
    entries.set(collection.id, { version: changes.latest(), readAt: now, reading });
    return reading;
  };
}

function isTrue({ trueUntil }: ListingWindow, now: number): boolean {
  return trueUntil === null || trueUntil > now;
}
