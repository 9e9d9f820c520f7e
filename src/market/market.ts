// The class Market has what all reads of the marketplace interface share: the sources, the chains, and settings such as the platform fee. It
// must not depend on HTTP. It writes only the last buyer floors and the recent views.

import type { Address } from '../core/address.ts';
import type { Chain, Chains } from '../core/chains.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Random } from '../core/random.ts';
import type { DatabaseReplicas } from '../database/open.ts';
import type { Database } from '../database/port.ts';
import type { ReplicaSet } from '../database/replicas/replica-set.ts';
import { ReplicatedReads } from '../database/replicas/replicated-reads.ts';
import { DollarRates } from './dollar-rates.ts';
import { LastBuyerFloors } from './floors/last-buyer-floors.ts';
import { MarketSource } from './market-source.ts';
import { RecentViews } from './recent-views.ts';

export type MarketOptions = {
  main: Database;
  indexer: Database;
  /** The replicas for public reads. Default: none. */
  replicas?: DatabaseReplicas | undefined;
  /** When this process most recently noticed a change of the data, by `performance.now()`. Needed with replicas. */
  changedAt?: () => number;
  chains: Chains;
  serviceName: string;
  platformFeeBps: number;
  /** Labels of the wallets that hold tokens of many owners, by address. */
  custodyWallets: ReadonlyMap<Address, string>;
  sourceTimeoutMs: number;
  clock: Clock;
  random: Random;
  log: Log;
};

/**
 * The deadline of the sources `primary` and `activity-log`, as a multiple of `sourceTimeoutMs`. The deadline of `primary` is longer because
 * most responses need a collection record.
 */
const PRIMARY_DEADLINES = 3;
/**
 * Deadlines on the embedded database, as a multiple of the deadlines on PostgreSQL. The embedded database has one connection, which an
 * import holds during each of its batches. The embedded database runs in this process and cannot be out of reach, so waiting for the
 * connection must not count as a failure.
 */
const EMBEDDED_DEADLINES = 5;

/** What several sources have in common. `replicated`: null if all reads use `db`. */
type SourceKind = { db: Database; replicated?: ReplicatedReads | null; deadlines?: number };

export class Market {
  readonly chains: Chains;
  readonly serviceName: string;
  readonly platformFeeBps: number;
  readonly custodyWallets: ReadonlyMap<Address, string>;
  readonly clock: Clock;
  /** Collection records. While they cannot be read, every response except the response for a token is a 503. */
  readonly primary: MarketSource;
  /** The own order book. If it cannot be read, the response is made without it. */
  readonly orderBook: MarketSource;
  // The reads of the indexer. Each kind of read is a source of its own, so that a kind that hangs leaves the other kinds unaffected.
  readonly mirror: MarketSource;
  readonly stats: MarketSource;
  readonly analytics: MarketSource;
  readonly askFloors: MarketSource;
  readonly volumes: MarketSource;
  readonly ranking: MarketSource;
  readonly sales: MarketSource;
  readonly tokenOverlay: MarketSource;
  readonly buyerFloor: MarketSource;
  readonly holders: MarketSource;
  readonly history: MarketSource;
  readonly tokenLists: MarketSource;
  readonly tokenBatches: MarketSource;
  readonly wallets: MarketSource;
  readonly searches: MarketSource;
  /** Reads of the own order book for the explore interface. */
  readonly exploredOrders: MarketSource;
  /** The activity log, for the activity lists of the explore interface. */
  readonly activity: MarketSource;
  /** Past sales for the explore interface. */
  readonly pastSales: MarketSource;
  /** The activity log, for the change stream of the explore interface. */
  readonly activityLog: MarketSource;
  // The next three are stored in the primary database.
  readonly lastBuyerFloors: LastBuyerFloors;
  readonly rates: DollarRates;
  readonly recentViews: RecentViews;
  /** Whether public reads may use replicas. */
  readonly hasReplicas: boolean;
  readonly #sources: MarketSource[] = [];

  constructor({ main, indexer, replicas, changedAt, sourceTimeoutMs, clock, random, log, ...rules }: MarketOptions) {
    this.chains = rules.chains;
    this.serviceName = rules.serviceName;
    this.platformFeeBps = rules.platformFeeBps;
    this.custodyWallets = rules.custodyWallets;
    this.clock = clock;
    this.hasReplicas = Boolean(replicas?.main ?? replicas?.indexer);
    const addSource = (name: string, { db, replicated = null, deadlines = 1 }: SourceKind): MarketSource => {
      const timeoutMs = sourceTimeoutMs * deadlines * (db.engine === 'embedded' ? EMBEDDED_DEADLINES : 1);
      const source = new MarketSource({ name, db, replicated, timeoutMs, clock, random, log });
      this.#sources.push(source);
      return source;
    };
    const toReplicated = (db: Database, set: ReplicaSet | null | undefined) =>
      set
        ? new ReplicatedReads({ primary: db, replicas: set, changedAt: changedAt ?? (() => performance.now()) })
        : null;
    const ofMain = { db: main, replicated: toReplicated(main, replicas?.main) };
    const ofIndexer = { db: indexer, replicated: toReplicated(indexer, replicas?.indexer) };
    this.primary = addSource('primary', { ...ofMain, deadlines: PRIMARY_DEADLINES });
    this.orderBook = addSource('order-book', ofMain);
    this.mirror = addSource('indexer-mirror', ofIndexer);
    this.stats = addSource('collection-stats', ofIndexer);
    this.analytics = addSource('analytics', ofIndexer);
    this.askFloors = addSource('ask-floors', ofIndexer);
    this.volumes = addSource('volumes', ofIndexer);
    this.ranking = addSource('ranking', ofIndexer);
    this.sales = addSource('sales', ofIndexer);
    this.tokenOverlay = addSource('token-overlay', ofIndexer);
    this.buyerFloor = addSource('buyer-floor', ofIndexer);
    this.holders = addSource('holders', ofIndexer);
    this.history = addSource('history', ofIndexer);
    this.tokenLists = addSource('token-lists', ofIndexer);
    this.tokenBatches = addSource('token-batches', ofIndexer);
    this.wallets = addSource('wallets', ofIndexer);
    this.searches = addSource('searches', ofIndexer);
    this.exploredOrders = addSource('explored-orders', ofMain);
    this.activity = addSource('activity', ofMain);
    this.pastSales = addSource('past-sales', ofIndexer);
    this.activityLog = addSource('activity-log', { db: main, deadlines: PRIMARY_DEADLINES });
    this.lastBuyerFloors = new LastBuyerFloors(addSource('last-good-floors', { db: main }), clock);
    this.rates = new DollarRates(addSource('rates', ofMain), clock);
    this.recentViews = new RecentViews(main, clock);
  }

  /** Null when `id` is null, or when no such chain is configured. */
  chainOf(id: string | null): Chain | null {
    return id === null ? null : (this.chains.get(id) ?? null);
  }

  /** `isOpen`: the breaker is open, so the source is not read at present. */
  sourceStates(): { name: string; isOpen: boolean }[] {
    return this.#sources.map((source) => ({ name: source.name, isOpen: source.isOpen() }));
  }

  /** Stops the timers of the sources, and waits for pending writes of last buyer floors. */
  async close(): Promise<void> {
    for (const source of this.#sources) source.close();
    await this.lastBuyerFloors.settled();
  }
}
