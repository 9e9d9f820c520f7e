// The change stream of a serving process.

import { createActivityFeed } from '../market/explore/http/stream/feed.ts';
import { Subscriptions } from '../market/explore/http/stream/subscriptions.ts';
import { createStreamStatus } from '../market/explore/stream/status.ts';
import { ACTIVITY_CHANNEL } from '../market/activity/merge-notice.ts';
import type { StatusProvider } from '../platform/core/status.ts';
import { CHANGES_CHANNEL } from '../platform/database/change-notices.ts';
import { Notifications } from '../platform/database/notifications.ts';
import type { RejectionCounts } from '../platform/http/rejection-counts.ts';
import type { ServiceContext } from './context.ts';

export type OpenStream = { stream: Subscriptions; status: StatusProvider; close: () => Promise<void> };

/** Starts the change stream: the reader of the activity log, the subscriptions of clients, and the receiver of notices from the primary. */
export function openStream(context: ServiceContext, rejections: RejectionCounts): OpenStream {
  const { config, clock, random, log } = context;
  const feed = createActivityFeed(context);
  const limits = {
    connectionsMax: config.streamConnectionsMax,
    connectionsPerClient: config.streamConnectionsPerClient,
  };
  const stream = new Subscriptions({ feed, clock, random, rejections, limits });
  const notifications =
    config.databaseUrl === null
      ? null
      : new Notifications({
          url: config.databaseUrl,
          db: context.main,
          channels: { [ACTIVITY_CHANNEL]: () => feed.hint(), [CHANGES_CHANNEL]: context.onChangeNotice },
          onListen: () => {
            feed.hint();
            context.onChangeNotice(null);
          },
          log,
          random,
        });
  feed.run();
  notifications?.start();
  context.activityMerged.onMerged(() => feed.hint());
  const isListening = () => notifications && notifications.isListening;
  return {
    stream,
    status: createStreamStatus(feed, { counts: () => stream.counts, isListening }),
    close: async () => {
      stream.close();
      await Promise.all([feed.stop(), notifications?.close()]);
    },
  };
}
