// What the tasks of upstreams are made of.

import type { Log } from '../core/log.ts';
import type { Random } from '../core/random.ts';
import type { ImportContext } from '../intake/import.ts';

export type UpstreamContext = ImportContext & {
  config: {
    vendors: readonly { readonly name: string; readonly isEnabled: boolean }[];
    /** Endpoints by chain id: what is read from a chain itself needs no marketplace. */
    rpcUrls: ReadonlyMap<string, readonly string[]>;
    frozenChains: ReadonlySet<string>;
  };
  log: Log;
  /** From 0 up to 1: spreads what would otherwise happen at once. */
  random: Random;
};
