// What following chains and auditing them depend on.

import type { OnChanged } from '../core/collection-versions.ts';
import type { Chains } from '../core/chains.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Random } from '../core/random.ts';
import type { Database } from '../database/port.ts';
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
  /** From 0 up to 1. */
  random: Random;
  onChanged: OnChanged;
};
