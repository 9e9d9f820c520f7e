// The section `stream` of the service's status.

import type { StatusProvider } from '../../core/status.ts';
import type { ActivityFeed } from './activity-feed.ts';

/** Figures of all connections of a process. */
export type StreamCounts = {
  subscribers: number;
  /** Bytes in memory that clients have not read. */
  bufferedBytes: number;
  eventsSent: number;
  slowReaders: number;
  /**
   * The longest time in the last one or two minutes from the merge of an event into the log until the event was sent. Only events that are
   * merged after the connection began count. Null if none was sent.
   */
  lagMs: number | null;
};

/** `isListening`: whether notifications of the database arrive in this process. Null if the database has none. */
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
