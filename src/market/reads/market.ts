// The class Market has what all reads of the marketplace interface share: the sources, the chains, and settings such as the platform fee. It
// must not depend on HTTP. It writes only the last buyer floors and the recent views.

import type { Address } from '../../platform/core/address.ts';
import type { Chain, Chains } from '../../platform/core/chains.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Random } from '../../platform/core/random.ts';
import type { Database } from '../../platform/database/port.ts';
import { DollarRates } from './dollar-rates.ts';
import { LastBuyerFloors } from './floors/last-buyer-floors.ts';
import { MarketSource } from './market-source.ts';
import { RecentViews } from './recent-views.ts';

export type MarketOptions = {
  main: Database;
  indexer: Database;
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
  readonly orderLists: MarketSource;
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
  readonly #sources: MarketSource[] = [];

  constructor({ main, indexer, sourceTimeoutMs, clock, random, log, ...rules }: MarketOptions) {
    this.chains = rules.chains;
    this.serviceName = rules.serviceName;
    this.platformFeeBps = rules.platformFeeBps;
    this.custodyWallets = rules.custodyWallets;
    this.clock = clock;
    const addSource = (name: string, db: Database, deadlines = 1): MarketSource => {
      const timeoutMs = sourceTimeoutMs * deadlines * (db.engine === 'embedded' ? EMBEDDED_DEADLINES : 1);
      const source = new MarketSource({ name, db, timeoutMs, clock, random, log });
      this.#sources.push(source);
      return source;
    };
    this.primary = addSource('primary', main, PRIMARY_DEADLINES);
    this.orderBook = addSource('order-book', main);
    this.mirror = addSource('indexer-mirror', indexer);
    this.stats = addSource('collection-stats', indexer);
    this.analytics = addSource('analytics', indexer);
    this.askFloors = addSource('ask-floors', indexer);
    this.volumes = addSource('volumes', indexer);
    this.ranking = addSource('ranking', indexer);
    this.sales = addSource('sales', indexer);
    this.tokenOverlay = addSource('token-overlay', indexer);
    this.buyerFloor = addSource('buyer-floor', indexer);
    this.holders = addSource('holders', indexer);
    this.history = addSource('history', indexer);
    this.tokenLists = addSource('token-lists', indexer);
    this.tokenBatches = addSource('token-batches', indexer);
    this.wallets = addSource('wallets', indexer);
    this.orderLists = addSource('order-lists', indexer);
    this.searches = addSource('searches', indexer);
    this.exploredOrders = addSource('explored-orders', main);
    this.activity = addSource('activity', main);
    this.pastSales = addSource('past-sales', indexer);
    this.activityLog = addSource('activity-log', main, PRIMARY_DEADLINES);
    this.lastBuyerFloors = new LastBuyerFloors(addSource('last-good-floors', main), clock);
    this.rates = new DollarRates(addSource('rates', main), clock);
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
