// What the workers are given: all that chains and upstreams need, and the vendors whose tasks they run.

import type { ChainContext } from '../chains/context.ts';
import type { UpstreamContext } from '../upstreams/context.ts';
import type { ConfiguredVendor } from '../upstreams/vendor.ts';

export type WorkerContext = ChainContext &
  Omit<UpstreamContext, 'config'> & {
    config: Omit<UpstreamContext['config'], 'vendors'> & { vendors: readonly ConfiguredVendor[] };
  };
