// The one constructor of what every part of the program is made of. The server, the workers and every command use it, so that
// the same work under the same settings has the same result wherever it runs.

import type { Config } from './config.ts';
import { FollowedChains } from './chains/followed-chains.ts';
import type { Change, OnChanged } from './core/collection-versions.ts';
import { CollectionVersions } from './core/collection-versions.ts';
import type { Chains } from './core/chains.ts';
import { createChains } from './core/chains.ts';
import type { Clock } from './core/clock.ts';
import { systemClock } from './core/clock.ts';
import type { Random } from './core/random.ts';
import { systemRandom } from './core/random.ts';
import type { Log } from './core/log.ts';
import type { Databases } from './database/open.ts';
import type { Database } from './database/port.ts';
import { Market } from './market/market.ts';
import { retireMirroredListings } from './market/mirrored-listings.ts';
import type { MoreDeployments } from './orders/seaport/deployments.ts';
import type { OrderKey } from './orders/order-id.ts';

export type ServiceContext = {
  config: Config;
  log: Log;
  clock: Clock;
  /** From 0 up to 1. */
  random: Random;
  main: Database;
  indexer: Database;
  chains: Chains;
  serviceName: string;
  /** Deployments of Seaport besides the known ones. */
  seaport: MoreDeployments;
  /** The chains that have endpoints, each with its reader. */
  followed: FollowedChains;
  market: Market;
  /** What cached responses are checked against. */
  changes: CollectionVersions;
  onChanged: OnChanged;
  retireMirroredListings: (orders: readonly OrderKey[], at: number) => Promise<void>;
  /** Stops what the context runs by itself. The databases stay open: they belong to whoever opened them. */
  close(): Promise<void>;
};

export type ContextOptions = {
  config: Config;
  log: Log;
  clock?: Clock;
  random?: Random;
  databases: Pick<Databases, 'main' | 'indexer'>;
};

/** Builds the context on open databases. It queries nothing and starts nothing. */
export function createContext(options: ContextOptions): ServiceContext {
  const { config, log, clock = systemClock, random = systemRandom } = options;
  const { main, indexer } = options.databases;
  const chains = createChains(config.extraChain);
  const market = new Market({ ...config, main, indexer, chains, clock, random, log });
  const followed = new FollowedChains({ config, chains, log, clock, random });
  const changes = new CollectionVersions();
  return {
    config,
    log,
    clock,
    random,
    main,
    indexer,
    chains,
    serviceName: config.serviceName,
    seaport: config.extraSeaport,
    followed,
    market,
    changes,
    onChanged: (change) => noteChange({ market, changes }, change),
    retireMirroredListings: (orders, at) => retireMirroredListings({ indexer }, orders, at),
    close: async () => {
      followed.close();
      await market.close();
    },
  };
}

/** Dollar rates are part of every response; any other record is part of those about its collection. */
function noteChange(
  { market, changes }: { market: Market; changes: CollectionVersions },
  { collectionIds, kinds }: Change,
): void {
  if (kinds.has('rate')) {
    market.rates.expire();
    changes.noteEverything();
  } else if (collectionIds.size > 0) changes.note(collectionIds);
}
