// What the reads of the marketplace interface share: the databases behind their sources, the chains, and the settings that
// are part of a rule. It must never know about HTTP, and never write but for the last-good floors and what was asked for.

import type { Clock } from '../core/clock.ts';
import type { Database } from '../database/port.ts';
import { createLane } from '../database/lane.ts';
import type { Address } from '../core/address.ts';
import type { Chain, Chains } from '../core/chains.ts';
import { ServiceError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Random } from '../core/random.ts';
import type { Result } from '../resilience/source.ts';
import { Source } from '../resilience/source.ts';
import type { MarketSource } from './market-source.ts';
import type { RateBook } from './dollar-rates.ts';
import { createRateBook } from './dollar-rates.ts';
import type { RecentViews } from './recent-views.ts';
import { createRecentViews } from './recent-views.ts';

export type MarketOptions = {
  main: Database;
  indexer: Database;
  chains: Chains;
  serviceName: string;
  platformFeeBps: number;
  custodyWallets: ReadonlyMap<Address, string>;
  sourceTimeoutMs: number;
  clock: Clock;
  random: Random;
  log: Log;
};

export type Market = Omit<MarketOptions, 'main' | 'indexer' | 'sourceTimeoutMs' | 'random'> & {
  /** Identity: without it there is no answer. */
  primary: MarketSource;
  /** The own order book, where an answer can do without it. */
  orderBook: MarketSource;
  lastGoodFloors: MarketSource;
  /** The indexer's reads. Each source reads tables of its own, so that one that hangs is not hidden by others that answer. */
  mirror: MarketSource;
  stats: MarketSource;
  analytics: MarketSource;
  askFloors: MarketSource;
  listedCounts: MarketSource;
  volumes: MarketSource;
  floorRanking: MarketSource;
  sales: MarketSource;
  tokenOverlay: MarketSource;
  buyerFloor: MarketSource;
  rates: RateBook;
  /** What readers ask for. */
  recentViews: RecentViews;
  /** Owns a write that the answer does not wait for; `close` waits for what is still under way. */
  background(work: () => Promise<unknown>): void;
  close(): Promise<void>;
};

/** The primary holds identity, without which nothing can be said: it is waited for longer than a source that can be missed. */
const PRIMARY_PATIENCE = 3;
/**
 * The embedded database has one connection, which an import holds for a batch at a time. It cannot be out of reach alone, so
 * a read that waits its turn is not taken for an outage.
 */
const EMBEDDED_PATIENCE = 5;

export function createMarket(options: MarketOptions): Market {
  const { main, indexer, sourceTimeoutMs, random, log, ...rest } = options;
  const sources: Source[] = [];
  const over = (name: string, db: Database, patience = 1): MarketSource => {
    const timeoutMs = sourceTimeoutMs * patience * (db.engine === 'embedded' ? EMBEDDED_PATIENCE : 1);
    const source = new Source({ name, timeoutMs, log, clock: options.clock, random });
    const lane = createLane();
    sources.push(source);
    return {
      name,
      timeoutMs,
      state: () => source.state(),
      read: (query, leftMs) => source.read((ms) => query(db.within(ms, lane)), leftMs),
    };
  };
  const underWay = new Set<Promise<void>>();
  return {
    ...rest,
    log,
    primary: over('primary', main, PRIMARY_PATIENCE),
    orderBook: over('order-book', main),
    lastGoodFloors: over('last-good-floors', main),
    mirror: over('indexer-mirror', indexer),
    stats: over('collection-stats', indexer),
    analytics: over('analytics', indexer),
    askFloors: over('ask-floors', indexer),
    listedCounts: over('listed-counts', indexer),
    volumes: over('volumes', indexer),
    floorRanking: over('floor-ranking', indexer),
    sales: over('sales', indexer),
    tokenOverlay: over('token-overlay', indexer),
    buyerFloor: over('buyer-floor', indexer),
    rates: createRateBook(over('rates', main), options.clock),
    recentViews: createRecentViews({ main, clock: options.clock }),
    background: (work) => {
      const task = work()
        .then(() => undefined)
        .catch((error: unknown) => log.warn('a background write failed', { error }))
        .finally(() => underWay.delete(task));
      underWay.add(task);
    },
    close: async () => {
      for (const source of sources) source.close();
      await Promise.all(underWay);
    },
  };
}

/** The value of a reading, or the failure that `code` names: for reads that an answer cannot do without. */
export function requireValue<T>(reading: Result<T>, code: 'unavailable' | 'upstream_error'): T {
  if (reading.ok) return reading.value;
  throw new ServiceError(
    code,
    code === 'unavailable'
      ? 'The service cannot reach its database, try again soon'
      : 'The index cannot be read, try again soon',
  );
}

/** Several reads of one source that have its deadline together. Time that passes between them does not count. */
export function withinOneDeadline(source: MarketSource): MarketSource['read'] {
  let leftMs = source.timeoutMs;
  return async (query) => {
    const startedAt = performance.now();
    const reading = await source.read(query, Math.max(0, leftMs));
    leftMs -= performance.now() - startedAt;
    return reading;
  };
}

/** The value of a reading, or null when its source failed. */
export function valueOrNull<T>(reading: Result<T>): T | null {
  return reading.ok ? reading.value : null;
}

export function chainOf(market: Pick<Market, 'chains'>, id: string | null): Chain | null {
  return id === null ? null : (market.chains.get(id) ?? null);
}
