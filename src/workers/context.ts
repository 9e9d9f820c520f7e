// The dependencies of the workers: those of the chains and the upstreams, and the vendors whose tasks they run.

import type { ChainContext } from '../chains/context.ts';
import type { UpstreamContext } from '../upstreams/context.ts';
import type { ConfiguredVendor } from '../upstreams/vendor.ts';

export type WorkerContext = ChainContext &
  Omit<UpstreamContext, 'config'> & {
    config: Omit<UpstreamContext['config'], 'vendors'> & { vendors: readonly ConfiguredVendor[] };
  };
