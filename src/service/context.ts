// Builds the service's context. The server, the workers, and commands that run without a server use the same context, so that the same
// settings give the same result.

import { MergeNotice } from '../market/activity/merge-notice.ts';
import { ActivityMerger } from '../market/activity/merge.ts';
import type { Config } from './config.ts';
import { FollowedChains } from '../sources/chains/followed-chains.ts';
import type { Change, OnChanged } from '../platform/core/collection-versions.ts';
import { CollectionVersions } from '../platform/core/collection-versions.ts';
import type { Chains } from '../platform/core/chains.ts';
import { createChains } from '../platform/core/chains.ts';
import type { Clock } from '../platform/core/clock.ts';
import { systemClock } from '../platform/core/clock.ts';
import type { Random } from '../platform/core/random.ts';
import { SecretKeys } from '../platform/core/secret-keys.ts';
import { systemRandom } from '../platform/core/random.ts';
import type { Log } from '../platform/core/log.ts';
import { ChangeNotices } from '../platform/database/change-notices.ts';
import type { Databases } from '../platform/database/open.ts';
import type { Database } from '../platform/database/port.ts';
import type { FairQueue } from '../platform/resilience/fair-queue.ts';
import { createPartLane } from '../intake/ingest/divide-batch.ts';
import { Market } from '../market/reads/market.ts';
import { Catalog } from '../market/index/catalog.ts';
import { retireMirroredListings } from '../market/index/retire-listings.ts';
import type { MoreDeployments } from '../market/orders/seaport/deployments.ts';
import { listTokensWithTraits } from '../market/explore/tokens-with-traits.ts';
import type { OrderKey } from '../market/orders/order-id.ts';
import type { ListTokensWithTraits } from '../market/orders/token-sets.ts';

export type ServiceContext = {
  config: Config;
  log: Log;
  clock: Clock;
  random: Random;
  main: Database;
  indexer: Database;
  chains: Chains;
  serviceName: string;
  /** The keys that encrypt secrets in the database. */
  secretKeys: SecretKeys;
  /** The deployments of Seaport that the settings add to those that the program knows. */
  seaport: MoreDeployments;
  /** The chains with endpoints in the settings, each with its reader. */
  followed: FollowedChains;
  market: Market;
  /** Gives each change of a collection a number. The response cache recognises outdated responses by these numbers. */
  changes: CollectionVersions;
  onChanged: OnChanged;
  /** Receives a notice of a change (`ChangeNotices`), or null when notices may have been lost. */
  onChangeNotice: (payload: string | null) => void;
  retireMirroredListings: (orders: readonly OrderKey[], at: number) => Promise<void>;
  listTokensWithTraits: ListTokensWithTraits;
  /** Copies committed changes of collections and own orders to the indexer. Never rejects: a task repeats a failed copy. */
  copyCatalog: () => Promise<void>;
  /** The share of the connections of the indexer that all imports and tasks of this process use together to store records. */
  partLane: FairQueue;
  /** Merges committed changes of the market into the activity log. Never rejects: a task repeats a failed merge. */
  mergeActivity: () => Promise<void>;
  /** Announces that this process has merged changes into the activity log. */
  activityMerged: MergeNotice;
  /** Closes the parts that the context created, but not the databases: the caller opened and closes them. */
  close(): Promise<void>;
};

export type ContextOptions = {
  config: Config;
  log: Log;
  clock?: Clock;
  random?: Random;
  databases: Pick<Databases, 'main' | 'indexer'>;
};

/** Builds the context on open databases. Sends no query and starts no worker. */
export function createContext(options: ContextOptions): ServiceContext {
  const { config, log, clock = systemClock, random = systemRandom } = options;
  const { main, indexer } = options.databases;
  const chains = createChains(config.extraChain, config.currencies);
  const changes = new CollectionVersions();
  const market = new Market({ ...config, main, indexer, chains, clock, random, log });
  const followed = new FollowedChains({ config, chains, log, clock, random });
  const catalog = new Catalog({ main, indexer, chains, clock, log, random });
  const activityMerged = new MergeNotice();
  const notices = new ChangeNotices({ main, log });
  const merger = new ActivityMerger({ main, indexer, clock, log, random, activityMerged });
  return {
    config,
    log,
    clock,
    random,
    main,
    indexer,
    chains,
    serviceName: config.serviceName,
    secretKeys: new SecretKeys(config.secretsKeys),
    seaport: config.extraSeaport,
    followed,
    market,
    changes,
    onChanged: (change) => {
      noteChange({ market, changes }, change);
      notices.send(change);
      void merger.merge();
    },
    onChangeNotice: (payload) => {
      const change = payload === null ? 'everything' : notices.read(payload);
      if (change !== null) noteChange({ market, changes }, change);
    },
    retireMirroredListings: (orders, at) => retireMirroredListings({ indexer, chains }, orders, at),
    listTokensWithTraits: (collectionId, traits, limit) =>
      listTokensWithTraits(market, collectionId, { traits, limit }),
    copyCatalog: () => catalog.copy(),
    partLane: createPartLane(indexer),
    mergeActivity: () => merger.merge(),
    activityMerged,
    close: async () => {
      followed.close();
      catalog.close();
      await notices.close();
      await merger.close();
      await market.close();
    },
  };
}

/**
 * Marks cached responses as outdated. A new dollar rate, or a change whose collections are not known, outdates all responses. Any other change
 * outdates only the responses about its collections.
 */
function noteChange(
  { market, changes }: { market: Market; changes: CollectionVersions },
  change: Change | 'everything',
): void {
  if (change === 'everything' || change.kinds.has('rate')) {
    market.rates.expire();
    changes.noteEverything();
  } else if (change.collectionIds.size > 0) changes.note(change.collectionIds);
}
