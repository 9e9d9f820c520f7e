// The dependencies of the workers: the dependencies of the chains and of the upstreams, and the vendors whose tasks the workers run.

import type { ChainContext } from '../chains/context.ts';
import type { UpstreamContext } from '../upstreams/context.ts';
import type { ConfiguredVendor } from '../upstreams/vendor.ts';

export type WorkerContext = ChainContext &
  Omit<UpstreamContext, 'config'> & {
    config: Omit<UpstreamContext['config'], 'vendors'> & { vendors: readonly ConfiguredVendor[] };
  };
