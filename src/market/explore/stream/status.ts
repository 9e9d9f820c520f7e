// The section `stream` of the service's status.

import type { StatusProvider } from '../../../platform/core/status.ts';
import type { ActivityFeed } from './activity-feed.ts';

/** Counts of all stream connections of one process. */
export type StreamCounts = {
  subscribers: number;
  /** Bytes in memory that clients have not read. */
  bufferedBytes: number;
  eventsSent: number;
  /** How many clients were disconnected because they read too slowly. */
  slowReaders: number;
  /**
   * The slowest event of the last one or two minutes took this long from its merge into the activity log until it was sent. An event that was
   * merged before its receiver connected does not count. Null if no event counts.
   */
  lagMs: number | null;
};

/** `isListening`: whether this process receives the notifications of the database. Null if the database sends no notifications. */
export function createStreamStatus(
  feed: ActivityFeed,
  { counts, isListening }: { counts: () => StreamCounts; isListening: () => boolean | null },
): StatusProvider {
  return {
    section: 'stream',
    read: async () => ({ offset: feed.offset, ...counts(), listening: isListening() }),
  };
}
