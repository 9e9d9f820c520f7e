// Registers the operator's own feed as a vendor.

import { defineVendor } from '../vendor.ts';
import type { FeedAccess, FeedSettings } from './settings.ts';
import { FEED_SETTINGS, toTokenHeaders } from './settings.ts';

const FEED = 'feed';

export const feed = defineVendor<FeedSettings, FeedAccess>({
  name: FEED,
  settings: FEED_SETTINGS,
  enable: ({ url, ...rest }) => (url === null ? null : { url, ...rest }),
  probes: (access) => [
    { name: FEED, url: access.url, headers: toTokenHeaders(access), settings: 'FEED_URL and FEED_TOKEN' },
  ],
  createTasks: async (context, access, pace) => (await import('./tasks.ts')).createFeedTasks(context, access, pace),
});
