// The part of the service's context that the tasks of vendors use.

import type { Log } from '../core/log.ts';
import type { Random } from '../core/random.ts';
import type { ImportContext } from '../intake/import.ts';

export type UpstreamContext = ImportContext & {
  config: {
    vendors: readonly { readonly name: string; readonly isEnabled: boolean }[];
    /** RPC endpoints by chain id. A collection that is followed on one of these chains has its sales and owners from the chain. */
    rpcUrls: ReadonlyMap<string, readonly string[]>;
    /** Ids of the chains that are not followed although they may have RPC endpoints. */
    frozenChains: ReadonlySet<string>;
  };
  log: Log;
  random: Random;
};
