// Makes uncached responses of the marketplace interface in this process, without an HTTP server. A read is the work from the parsed request
// to the bytes of the response. The statements of a read can be recorded, and be run again without the service. Benchmarks and the
// test of the query plans use this file.

import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import { readConfig } from '../../src/service/config.ts';
import type { ServiceContext } from '../../src/service/context.ts';
import { createContext } from '../../src/service/context.ts';
import { createLog } from '../../src/platform/core/log.ts';
import type { Database, Row, Statements } from '../../src/platform/database/port.ts';
import type { CachedResponse } from '../../src/platform/http/cached-response.ts';
import { splitQuery } from '../../src/platform/http/query.ts';
import { ResponseCache } from '../../src/platform/http/response-cache.ts';
import { registerMarketplace } from '../../src/market/reads/http/routes.ts';
import { SORTS } from '../../src/market/reads/ranking.ts';

/** `after`: the positions, in the recording, of the statements whose results the service had before it sent this statement. */
export type RecordedStatement = { sql: string; params: readonly unknown[]; isPrepared: boolean; after: number[] };

/** Makes the response again, without any cached response or listing window. */
export type ColdRead = () => Promise<CachedResponse>;

const NO_DEADLINE_MS = 60_000;

export class ColdReads {
  readonly #app: FastifyInstance;
  readonly #context: ServiceContext;
  readonly #recorder: StatementRecorder;
  readonly #responses: ObservedCache;

  private constructor(parts: {
    app: FastifyInstance;
    context: ServiceContext;
    recorder: StatementRecorder;
    responses: ObservedCache;
  }) {
    this.#app = parts.app;
    this.#context = parts.context;
    this.#recorder = parts.recorder;
    this.#responses = parts.responses;
  }

  /** `now`: the clock of the service, in milliseconds. The caller closes the database. */
  static async open(database: Database, { now = Date.now }: { now?: () => number } = {}): Promise<ColdReads> {
    const recorder = new StatementRecorder(database);
    const config = readConfig({ SOURCE_TIMEOUT_MS: String(NO_DEADLINE_MS) });
    const databases = { main: recorder.database, indexer: recorder.database };
    const context = createContext({ config, log: createLog('warn'), clock: now, databases });
    const responses = new ObservedCache(context.changes, now);
    const marketplace = {
      market: context.market,
      changes: context.changes,
      responses,
      clock: now,
      cursorSecret: Buffer.alloc(32, 1),
      baseUrl: () => 'http://127.0.0.1',
      version: 'bench',
    };
    const app = fastify({ routerOptions: { maxParamLength: 500, querystringParser: splitQuery } });
    await app.register((scope) => registerMarketplace(scope, marketplace, context.chains));
    await app.ready();
    return new ColdReads({ app, context, recorder, responses });
  }

  /** Prepares the read of a path of `/v1`. Throws if the response is not a 200. The returned read throws if its response is degraded. */
  async prepare(path: string): Promise<ColdRead> {
    this.#context.changes.noteEverything();
    const { statusCode, body } = await this.#app.inject(path);
    const compute = this.#responses.lastCompute;
    if (statusCode !== 200 || !compute) throw new Error(`${path}: ${statusCode} ${body}`);
    return async () => {
      this.#context.changes.noteEverything();
      const response = await compute();
      if (response.degraded) throw new Error(`${path}: the response is degraded`);
      return response;
    };
  }

  /** Runs a read, and returns the statements that it sends. */
  record(read: ColdRead): Promise<RecordedStatement[]> {
    return this.#recorder.record(read);
  }

  async close(): Promise<void> {
    await this.#app.close();
    await this.#context.close();
  }
}

/** A response cache that gives access to the last computation. */
class ObservedCache extends ResponseCache {
  lastCompute: (() => Promise<CachedResponse>) | null = null;

  override get(key: string, compute: () => Promise<CachedResponse>): Promise<CachedResponse> {
    this.lastCompute = compute;
    return super.get(key, compute);
  }
}

/** Runs recorded statements without the service. Each statement waits for the statements that its `after` names. */
export async function runStatements(database: Database, statements: readonly RecordedStatement[]): Promise<void> {
  const results: Promise<unknown>[] = [];
  for (const { sql, params, isPrepared, after } of statements) {
    const run = () => (isPrepared ? database.queryPrepared(sql, params) : database.query(sql, params));
    const needed = after.flatMap((number) => results[number] ?? []);
    results.push(needed.length === 0 ? run() : Promise.all(needed).then(run));
  }
  await Promise.all(results);
}

/** Passes statements to a database, and keeps those that are sent while a read is recorded. */
export class StatementRecorder {
  readonly database: Database;
  #kept: (RecordedStatement & { isDone: boolean })[] | null = null;

  constructor(database: Database) {
    const toStatements = (statements: Statements): Statements => ({
      query: <R extends Row>(sql: string, params: readonly unknown[] = []) =>
        this.#keep({ sql, params, isPrepared: false }, () => statements.query<R>(sql, params)),
      queryPrepared: <R extends Row>(sql: string, params: readonly unknown[]) =>
        this.#keep({ sql, params, isPrepared: true }, () => statements.queryPrepared<R>(sql, params)),
      transaction: statements.transaction,
    });
    this.database = {
      ...database,
      ...toStatements(database),
      within: (timeoutMs, lane) => toStatements(database.within(timeoutMs, lane)),
    };
  }

  async record(read: () => Promise<unknown>): Promise<RecordedStatement[]> {
    const kept: (RecordedStatement & { isDone: boolean })[] = [];
    this.#kept = kept;
    try {
      await read();
    } finally {
      this.#kept = null;
    }
    return kept.map(({ sql, params, isPrepared, after }) => ({ sql, params, isPrepared, after }));
  }

  async #keep<T>(statement: Omit<RecordedStatement, 'after'>, run: () => Promise<T>): Promise<T> {
    if (!this.#kept) return run();
    const after = this.#kept.flatMap(({ isDone }, number) => (isDone ? [number] : []));
    const recorded = { ...statement, after, isDone: false };
    this.#kept.push(recorded);
    const result = await run();
    recorded.isDone = true;
    return result;
  }
}

/** A collection of the large set, with a token that is listed and was sold. */
export type ReadCollection = { id: string; slug: string; chain: string; contractAddress: string; asset: string };

/** The reads of one collection, by name. */
export function readsOfCollection({ id, chain, contractAddress, asset }: ReadCollection): Record<string, string> {
  return {
    'listing window': `/v1/collections/${id}/listings`,
    'sales page': `/v1/collections/${id}/sales`,
    'sales page of 100': `/v1/collections/${id}/sales?limit=100`,
    token: `/v1/tokens/${chain}/${contractAddress}/${asset}`,
    detail: `/v1/collections/${id}`,
    floor: `/v1/collections/${id}/floor`,
  };
}

/** The reads of the collection list, by name. */
export const LIST_READS: Readonly<Record<string, string>> = Object.fromEntries(
  SORTS.map((sort) => [`list by ${sort}`, `/v1/collections?sort=${sort}`]),
);

/** The most rows that one step of a query plan of an uncached read may read, and the most that it may sort. */
export const COLD_PLAN_LIMITS = { rowsMax: 700, sortMax: 300 };

/**
 * Finds two of the collections that have own orders, a full listing window and full sales pages: the one with the most listed assets and the
 * one with the fewest. Their `asset` is a token that is listed and was sold.
 */
export async function findReadCollections(
  database: Database,
): Promise<{ largest: ReadCollection; tail: ReadCollection }> {
  const find = async (direction: 'asc' | 'desc') => {
    const [row] = await database.query(
      `select id, slug, collection.chain, contract_address, (
         select asset from indexer.listed_asset as listed where collection_id = id and exists (
           select from indexer.sale where sale.collection_id = id and sale.asset = listed.asset)
         order by asset limit 1) as asset
       from indexer.collection_figures as figures join main.collection on id = figures.collection_id
       join indexer.sale_total as total on total.collection_id = id
       where listed_assets >= 300 and total.sales >= 200 and own_listed_assets >= 100
       order by listed_assets ${direction} limit 1`,
    );
    if (!row) throw new Error('the set has no collection with full pages');
    return {
      id: String(row['id']),
      slug: String(row['slug']),
      chain: String(row['chain']),
      contractAddress: String(row['contract_address']),
      asset: String(row['asset']),
    };
  };
  return { largest: await find('desc'), tail: await find('asc') };
}
