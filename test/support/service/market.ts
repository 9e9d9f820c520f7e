// Starts a service on each engine for contract tests. A test can move the clock of the service forward. All tests of a file use one service.
// Each test makes its own collections and records.

import { after, before, describe } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import type { Databases } from '../../../src/platform/database/open.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { findOrInsertSecret } from '../../../src/platform/database/secrets.ts';
import type { RateLimits } from '../../../src/platform/http/rate-limit.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { lockFigures } from '../../../src/market/index/queries/figures.ts';
import { upsertTokenMetadata } from '../../../src/market/index/queries/token-metadata.ts';
import { toEvmAddress, toSolanaAddress } from '../../../sample/random.ts';
import type { TestEngine } from '../engines/each-engine.ts';
import { forEachEngine, forOneEngine } from '../engines/each-engine.ts';
import type { TestService } from './service.ts';
import { startTestService } from './service.ts';
import { SecretKeys } from '../../../src/platform/core/secret-keys.ts';

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/**
 * The time at which the clock of every test market starts. It is not on the hour. The ends of periods such as the last 24 hours
 * then fall in the middle of an hour.
 */
export const START = Date.UTC(2026, 6, 1, 12, 34, 56, 789);

export const UINT256_MAX = 2n ** 256n - 1n;
export const SELLER = toEvmAddress('seller');
export const BUYER = toEvmAddress('buyer');
export const SOLANA_SELLER = toSolanaAddress('seller');
export const SOLANA_BUYER = toSolanaAddress('buyer');

/** A copy of a response of the explore interface without the `decimals` of its prices, which `/v1` does not have. */
export function withoutDecimals(value: any): any {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutDecimals);
  const fields = Object.entries(value).filter(([name]) => name !== 'decimals');
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutDecimals(field)]));
}

export type TestMarket = TestService & {
  now(): number;
  /** Moves the clock forward. The clock never goes back, because the tests of a file share it. */
  advance(ms: number): void;
  /** The time `ms` milliseconds before now, in ISO 8601. */
  ago(ms: number): string;
  /** The primary of the service. */
  main(): Database;
  /** The indexer database of the service. It may be a different database from the primary. */
  indexer(): Database;
  /** Stores the traits of tokens, by asset, as the readers of metadata do. Responses that are cached already are not dropped. */
  describe(subject: TestCollection, traits: Readonly<Record<string, TraitValues>>): Promise<void>;
};

/** The value, or the values, of each trait. */
export type TraitValues = Readonly<Record<string, string | readonly string[]>>;

/** So long that no response is degraded because the machine is busy. */
const SOURCE_TIMEOUT_MS = '30000';

type MarketOptions = {
  settings?: Record<string, string>;
  limits?: RateLimits;
  /** Called with the settings of the service before the service starts. */
  prepare?: (settings: Record<string, string>) => Promise<void>;
};
type MarketSuite = (market: TestMarket) => void;

/** Declares `suite` once for each engine, with one service. The hooks and tests of the suite may use the market. */
export function forEachMarket(name: string, options: MarketOptions, suite: MarketSuite): void {
  forEachEngine(name, (engine) => describeMarket(engine, options, suite));
}

/** Like `forEachMarket`, for rules that the engine cannot change (`forOneEngine`). */
export function forOneMarket(name: string, options: MarketOptions, suite: MarketSuite): void {
  forOneEngine(name, (engine) => describeMarket(engine, options, suite));
}

function describeMarket(engine: TestEngine, options: MarketOptions, suite: MarketSuite): void {
  const { settings = {}, limits } = options;
  // The inner suite closes the service before the engine removes its database.
  describe('service', () => {
    let now = START;
    let databases: Databases | null = null;
    const opened = () => {
      if (!databases) throw new Error('the service has not started: use its databases only in tests and hooks');
      return databases;
    };
    const main = () => opened().main;
    const indexer = () => opened().indexer;
    const clock = {
      now: () => now,
      advance: (ms: number) => void (now += ms),
      ago: (ms: number) => new Date(now - ms).toISOString(),
      main,
      indexer,
      describe: (subject: TestCollection, traits: Readonly<Record<string, TraitValues>>) =>
        storeTraits(indexer(), { collectionId: subject.id, at: now }, traits),
    };
    const market = { ...clock } as TestMarket;
    before(async () => {
      const all = { SOURCE_TIMEOUT_MS, ...(await engine.settings()), ...settings };
      await options.prepare?.(all);
      const service = await startTestService({
        settings: all,
        clock: clock.now,
        open: async (config, log) => (databases = await openDatabases(config, log)),
        ...(limits && { limits }),
      });
      Object.assign(market, service);
    });
    after(() => market.close());
    suite(market);
  });
}

async function storeTraits(
  indexer: Database,
  { collectionId, at }: { collectionId: string; at: number },
  traits: Readonly<Record<string, TraitValues>>,
): Promise<void> {
  const none = { name: null, image: null, description: null, host: null, uriDigest: null };
  const tokens = Object.entries(traits).map(([asset, values]) => ({
    ...none,
    asset,
    traits: Object.entries(values).flatMap(([name, some]) =>
      [some].flat().map((value) => ({ name, value, kind: 'text' as const })),
    ),
  }));
  await indexer.transaction(async (tx) => {
    await lockFigures(tx, [collectionId]);
    await upsertTokenMetadata(tx, tokens, { collectionId, source: 'chain', at });
  });
}

type Fields = Record<string, unknown>;

/** A new collection, with functions that make valid records about it. */
export type TestCollection = {
  chain: string;
  address: string;
  id: string;
  slug: string;
  path: string;
  collection(more?: Fields): Fields;
  order(tokenId: string, priceRaw: bigint | number | string, more?: Fields): Fields;
  listing(asset: string, priceRaw: bigint | number | string, more?: Fields): Fields;
  sale(asset: string, price: bigint | number | string, more?: Fields): Fields;
  token(asset: string, more?: Fields): Fields;
  stats(more: Fields): Fields;
  analytics(more: Fields): Fields;
};

let collectionCount = 0;
const DAY_BEFORE = new Date(START - DAY_MS).toISOString();

/** Makes a collection that no other test uses. `fields` are added to its collection record. */
export function newCollection(fields: Fields & { chain?: string; slug?: string } = {}): TestCollection {
  collectionCount += 1;
  const { chain = 'ethereum', slug = `collection-${collectionCount}` } = fields;
  const solana = chain === 'solana';
  const address = (solana ? toSolanaAddress : toEvmAddress)('collection', String(collectionCount));
  const place = { chain, contractAddress: address };
  const item = (asset: string) => ({ ...place, ...(solana ? { mint: asset } : { tokenId: asset }) });
  const seller = solana ? SOLANA_SELLER : SELLER;
  return {
    chain,
    address,
    id: `${chain}_${address.toLowerCase()}`,
    slug,
    path: `/v1/collections/${encodeURIComponent(slug)}`,
    collection: (more = {}) => ({ kind: 'collection', ...place, slug, name: `Name of ${slug}`, ...fields, ...more }),
    order: (tokenId, priceRaw, more = {}) => ({
      kind: 'order',
      ...item(tokenId),
      priceRaw: String(priceRaw),
      seller,
      createdAt: DAY_BEFORE,
      ...more,
    }),
    listing: (asset, priceRaw, more = {}) => ({
      kind: 'listing',
      source: 'opensea',
      ...item(asset),
      priceRaw: String(priceRaw),
      seller,
      timestamp: DAY_BEFORE,
      ...more,
    }),
    sale: (asset, price, more = {}) => ({
      kind: 'sale',
      source: 'opensea',
      ...item(asset),
      price: String(price),
      timestamp: DAY_BEFORE,
      ...more,
    }),
    token: (asset, more = {}) => ({ kind: 'token', ...item(asset), ...more }),
    stats: (more) => ({ kind: 'stats', ...place, ...more }),
    analytics: (more) => ({ kind: 'analytics', ...place, ...more }),
  };
}

/** A Solana mint that is derived from a name. */
export function mintOf(...name: string[]): string {
  return toSolanaAddress('asset', ...name);
}

/**
 * The secret with which a service with these settings authenticates its paging cursors. Call this function before the service
 * starts.
 */
export async function readCursorSecret(settings: Record<string, string>): Promise<Buffer> {
  const { main, close } = await openDatabases(readConfig(settings), createLog('silent'));
  try {
    await migrate(main, 'main');
    return await findOrInsertSecret(main, 'cursors', new SecretKeys([]));
  } finally {
    await close();
  }
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
