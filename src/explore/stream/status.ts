// The section `stream` of the service's status.

import type { StatusProvider } from '../../core/status.ts';
import type { ActivityFeed } from './activity-feed.ts';

/** What the connections of a process have in common. */
export type StreamCounts = {
  subscribers: number;
  /** Bytes in memory that clients have not read. */
  bufferedBytes: number;
  eventsSent: number;
  slowReaders: number;
  /** The longest time from the log to a connection in the last minute, of connections that wait for new events. Null: no event was sent. */
  lagMs: number | null;
};

/** `isListening`: whether notifications of the database are received. Null if the database has none. */
export function createStreamStatus(
  feed: ActivityFeed,
  { counts, isListening }: { counts: () => StreamCounts; isListening: () => boolean | null },
): StatusProvider {
  return {
    section: 'stream',
    read: async () => {
      return { offset: feed.offset, ...counts(), listening: isListening() };
    },
  };
}
