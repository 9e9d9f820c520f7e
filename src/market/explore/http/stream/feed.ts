// Creates the feed of the stream. The feed reads the activity log and encodes each event as JSON in the public format.

import type { Log } from '../../../../platform/core/log.ts';
import type { Random } from '../../../../platform/core/random.ts';
import type { Market } from '../../../reads/market.ts';
import { ActivityFeed } from '../../stream/activity-feed.ts';
import { createLogReader } from '../../stream/log-reader.ts';
import { toWireActivity } from '../activity.ts';

export function createActivityFeed(options: { market: Market; random: Random; log: Log }): ActivityFeed {
  const { market, random, log } = options;
  const read = createLogReader(market, (event) => JSON.stringify(toWireActivity(market, event)));
  return new ActivityFeed({ read, random, log });
}
