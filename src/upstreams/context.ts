// The dependencies of the tasks of vendors.

import type { Log } from '../core/log.ts';
import type { Random } from '../core/random.ts';
import type { ImportContext } from '../intake/import.ts';

export type UpstreamContext = ImportContext & {
  config: {
    vendors: readonly { readonly name: string; readonly isEnabled: boolean }[];
    /** RPC endpoints by chain id: sales and owners on these chains are read from the chain itself. */
    rpcUrls: ReadonlyMap<string, readonly string[]>;
    frozenChains: ReadonlySet<string>;
  };
  log: Log;
  random: Random;
};
