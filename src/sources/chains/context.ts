// The context of the functions that follow and audit chains.

import type { OnChanged } from '../../platform/core/collection-versions.ts';
import type { Chains } from '../../platform/core/chains.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Random } from '../../platform/core/random.ts';
import type { Database } from '../../platform/database/port.ts';
import type { FollowedChains } from './followed-chains.ts';
import type { ChainSettings } from './settings.ts';

export type ChainContext = {
  main: Database;
  indexer: Database;
  chains: Chains;
  followed: FollowedChains;
  serviceName: string;
  config: ChainSettings;
  clock: Clock;
  log: Log;
  /** Returns numbers from 0 up to, but not including, 1. */
  random: Random;
  onChanged: OnChanged;
  /** Copies the changes of own orders to the indexer. Called after a commit that evaluated orders. Must not reject. */
  copyCatalog: () => Promise<void>;
};
