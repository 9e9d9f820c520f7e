// Reads the activity log from the primary database for the feed, through a source of its own.

import type { ActivityEvent } from '../../activity/queries/activity-events.ts';
import { readActivityRange } from '../../activity/queries/activity-events.ts';
import type { Market } from '../../market/market.ts';
import { requireValue } from '../../market/market-source.ts';
import type { StreamEntry } from './stream-entry.ts';

/** Entries of the log, with its oldest kept and its last assigned position at the same moment. Positions may have gaps. */
export type LogRange = { oldest: number; newest: number; entries: StreamEntry[] };

/** Reads at most `limit` entries after a position, up to the position `last`. Throws `unavailable` if the log cannot be read. */
export type ReadLog = (range: { after: number; last?: number; limit: number }) => Promise<LogRange>;

/** `encode` returns an event as JSON on one line, always the same for the same event. */
export function createLogReader(market: Market, encode: (event: ActivityEvent) => string): ReadLog {
  return async ({ after, last = Number.MAX_SAFE_INTEGER, limit }) => {
    const { events, ...state } = requireValue(
      await market.activityLog.read((db) => readActivityRange(db, { after, last, limit })),
      'unavailable',
    );
    const entries = events.map((event) => {
      const { position, kind, collectionId, mergedAt } = event;
      return { position, kind, collectionId, loggedAt: mergedAt, json: encode(event) };
    });
    return { ...state, entries };
  };
}
