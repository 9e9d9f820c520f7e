// The part of the service's context that the tasks of vendors use.

import type { Log } from '../../platform/core/log.ts';
import type { Random } from '../../platform/core/random.ts';
import type { ImportContext } from '../../intake/import.ts';

export type UpstreamContext = ImportContext & {
  config: {
    vendors: readonly { readonly name: string; readonly isEnabled: boolean }[];
  };
  log: Log;
  random: Random;
};
