// Reads the activity log from the primary database for the activity feed. The log is a separate source, so its reads fail independently of
// other reads.

import type { ActivityEvent } from '../../activity/queries/activity-events.ts';
import { readActivityRange, readMatchingActivity } from '../../activity/queries/activity-events.ts';
import type { Market } from '../../reads/market.ts';
import { requireValue } from '../../reads/market-source.ts';
import type { StreamEntry, StreamFilter } from './stream-entry.ts';

/**
 * Entries of the log, and the state of the log at the moment of the read. `epoch`: which log it is. `oldest`: the smallest position that the log still has. `newest`:
 * the last position that was assigned. Positions may have gaps.
 */
export type LogRange = { epoch: string; oldest: number; newest: number; entries: StreamEntry[] };

/**
 * Reads at most `limit` entries after a position: those up to the position `last`, or those that pass a filter. Throws `unavailable` if the log
 * cannot be read.
 */
export type ReadLog = (
  range: { after: number; limit: number } & ({ last?: number } | { filter: StreamFilter }),
) => Promise<LogRange>;

/** `encode` returns an event as JSON on one line, always the same for the same event. */
export function createLogReader(market: Market, encode: (event: ActivityEvent) => string): ReadLog {
  return async ({ after, limit, ...choice }) => {
    const { events, ...state } = requireValue(
      await market.activityLog.read((db) => {
        if ('filter' in choice) return readMatchingActivity(db, { after, limit }, choice.filter);
        return readActivityRange(db, { after, last: choice.last ?? Number.MAX_SAFE_INTEGER, limit });
      }),
      'unavailable',
    );
    const entries = events.map((event) => {
      const { position, kind, collectionId, reorgIds, mergedAt } = event;
      return { position, kind, collectionId, reorgIds, loggedAt: mergedAt, json: encode(event) };
    });
    return { ...state, entries };
  };
}
