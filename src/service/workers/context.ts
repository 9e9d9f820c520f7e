// The context of the workers. It combines the contexts of the chains and of the upstreams, and adds the configured vendors and the market. The
// workers store figures that they read from the market.

import type { MergeNotice } from '../../market/activity/merge-notice.ts';
import type { ChainContext } from '../../sources/chains/context.ts';
import type { MetadataSettings } from '../../sources/metadata/settings.ts';
import type { Market } from '../../market/reads/market.ts';
import type { UpstreamContext } from '../../sources/upstreams/context.ts';
import type { ConfiguredVendor } from '../../sources/upstreams/vendor.ts';

export type WorkerContext = ChainContext &
  Omit<UpstreamContext, 'config'> & {
    config: Omit<UpstreamContext['config'], 'vendors'> & {
      vendors: readonly ConfiguredVendor[];
      /** For how many days the activity log is kept. */
      activityRetentionDays: number;
    } & MetadataSettings;
    market: Market;
    /** Announces changes that were merged into the activity log. */
    activityMerged?: MergeNotice;
  };
