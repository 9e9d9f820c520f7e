// Creates the feed of the stream. The feed reads the activity log and encodes each event as JSON in the public format.

import type { Log } from '../../../../platform/core/log.ts';
import type { Random } from '../../../../platform/core/random.ts';
import type { Market } from '../../../reads/market.ts';
import { ActivityFeed } from '../../stream/activity-feed.ts';
import type { ReadLog } from '../../stream/log-reader.ts';
import { createLogReader } from '../../stream/log-reader.ts';
import { toLogged } from '../../activity.ts';
import { toStreamContext, toWireActivity } from '../activity.ts';

export function createActivityFeed(options: { market: Market; random: Random; log: Log }): ActivityFeed {
  const { market, random, log } = options;
  return new ActivityFeed({ read: createFeedReader(market), random, log });
}

/** Reads the log with each event as it was when it got its offset: which events a later event takes back is not in them. */
export function createFeedReader(market: Market): ReadLog {
  const context = toStreamContext(market);
  return createLogReader(market, (event) =>
    JSON.stringify(toWireActivity(market, { ...toLogged(event), voidedBy: null }, context)),
  );
}
