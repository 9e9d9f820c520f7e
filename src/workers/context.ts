// What the workers are made of: all that chains and upstreams need.

import type { ChainContext } from '../chains/context.ts';
import type { UpstreamContext } from '../upstreams/context.ts';

export type WorkerContext = ChainContext & UpstreamContext;
