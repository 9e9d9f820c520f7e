// A large, skewed set of rows for benchmarks. At full size (share 1) it has 20,000 collections, 20 million sales, 5 million listings and 10
// million tokens. SQL makes the rows from their numbers and a seed, so every run has the same rows. The rows of the large tables are inserted
// before the indexes are built, and the figures are computed from all rows at once. An import of the same records would give the same tables
// (test/bench/large-set.test.ts), except for the activity log and the history of floors, which begin when the set is made.

import { createChains } from '../../src/platform/core/chains.ts';
import { SCHEMAS, migrate } from '../../src/platform/database/migrate.ts';
import type { Database, Queryable } from '../../src/platform/database/port.ts';
import { copyCatalog } from '../../src/market/index/catalog.ts';
import type { CollectionAsset } from '../../src/market/index/queries/figures.ts';
import { LISTED } from '../../src/market/index/queries/figures.ts';
import { copyReportedTraits } from '../../src/market/index/queries/reported-traits.ts';
import { IS_COUNTED } from '../../src/market/index/queries/sale-rule.ts';
import { changeIndex, changeIndexDetails } from '../../src/market/index/change-index.ts';
import { refreshBookAssets } from '../../src/market/orders/queries/book-figures.ts';
import { say, timeMs } from '../support/measure.ts';
import type { LargeSize } from './large-set-rows.ts';
import { deriveSql, rowsSql } from './large-set-rows.ts';

export type LargeSetOptions = LargeSize & {
  /** The time of the newest sale and of the newest listing, in milliseconds. */
  now: number;
  /** Another seed makes other rows. */
  seed?: number;
  report?: (line: string) => void;
};

/** Fills a new database. */
export async function createLargeSet(database: Database, options: LargeSetOptions): Promise<void> {
  const { now, seed = 1, report = say, ...size } = options;
  for (const schema of SCHEMAS) await migrate(database, schema, { contracts: true });
  const phases: [name: string, () => Promise<unknown>][] = [];
  const rows = rowsSql({ ...size, now: new Date(now).toISOString(), seed });
  phases.push(['collections and own orders', () => runAll(database, rows.collections)]);
  for (const table of ['token', 'listing', 'sale'] as const) {
    phases.push([`${table}s`, () => fillTable(database, table, rows[table])]);
  }
  for (const [table, sql] of Object.entries(deriveSql({ listed: LISTED, counted: IS_COUNTED }))) {
    phases.push([table, () => fillTable(database, table, sql)]);
  }
  phases.push(
    ['other figures', () => runAll(database, rows.figures)],
    ['traits', () => deriveTraits(database)],
    ['own orders, ranks', () => deriveCatalog(database, now)],
    ['statistics', () => database.query('vacuum analyze')],
  );
  for (const [name, run] of phases) report(`  ${name}: ${((await timeMs(run)) / 1_000).toFixed(1)} s`);
  await database.query('drop table public.large');
}

async function runAll(database: Database, statements: readonly string[]): Promise<void> {
  await inOneTransaction(database, async (tx) => {
    for (const sql of statements) await tx.query(sql);
  });
}

/**
 * Inserts the rows of an empty table of the indexer. Its keys and indexes are dropped first and built last, because building an index takes
 * less time than changing it with every row. With `wal_level=minimal`, PostgreSQL writes no log
 * for rows of a table that the same transaction has truncated.
 */
async function fillTable(database: Database, table: string, insert: string): Promise<void> {
  await inOneTransaction(database, async (tx) => {
    const definitions = await dropIndexes(tx, table);
    await tx.query(`truncate indexer.${table}`);
    await tx.query(insert);
    for (const sql of definitions) await tx.query(sql);
    await tx.query(`analyze indexer.${table}`);
  });
}

async function inOneTransaction(database: Database, work: (tx: Queryable) => Promise<void>): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('set local statement_timeout = 0');
    await work(tx);
  });
}

/** Drops the keys and indexes of the table, and the foreign keys that refer to the table. Returns the statements that create them again. */
async function dropIndexes(tx: Queryable, table: string): Promise<string[]> {
  const name = `indexer.${table}`;
  const constraints = await tx.query(
    `select conrelid::regclass::text as of, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where (contype in ('p', 'u') and conrelid = $1::regclass) or (contype = 'f' and confrelid = $1::regclass)
     order by contype = 'f'`,
    [name],
  );
  const toConstraint = ({ of, name: constraint, definition }: Record<string, unknown>) =>
    `alter table ${String(of)} add constraint ${String(constraint)} ${String(definition)}`;
  for (const one of constraints.toReversed())
    await tx.query(`alter table ${String(one['of'])} drop constraint ${String(one['name'])}`);
  const indexes = await tx.query(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = $1::regclass`,
    [name],
  );
  for (const index of indexes) await tx.query(`drop index ${String(index['name'])}`);
  return [...indexes.map(({ definition }) => String(definition)), ...constraints.map(toConstraint)];
}

const TOKENS_AT_A_TIME = 2_000;

/** Copies the traits of the token rows to the tables of traits, with the function that imports use. */
async function deriveTraits(database: Database): Promise<void> {
  const rows = await database.query(
    `select collection_id, asset from indexer.token where traits is not null order by collection_id, asset`,
  );
  const tokens = rows.map(toCollectionAsset);
  for (let start = 0; start < tokens.length; start += TOKENS_AT_A_TIME) {
    const part = tokens.slice(start, start + TOKENS_AT_A_TIME);
    const ids = part.map(({ collectionId }) => collectionId);
    await database.transaction((tx) => changeIndexDetails(tx, ids, () => copyReportedTraits(tx, part)));
  }
}

const toCollectionAsset = (row: Record<string, unknown>): CollectionAsset => ({
  collectionId: String(row['collection_id']),
  asset: String(row['asset']),
});

const COLLECTIONS_AT_A_TIME = 1_000;
const NO_LIMIT = { timeoutMs: 10 * 60_000, batchesMax: Number.POSITIVE_INFINITY };

/** Derives the figures of own orders, copies them and the collection records to the indexer, and computes the ranking keys. */
async function deriveCatalog(database: Database, now: number): Promise<void> {
  const chains = createChains();
  const clock = () => now;
  const ordered = (
    await database.query(
      `select collection_id, token_id as asset from main.book_order order by collection_id, token_id`,
    )
  ).map(toCollectionAsset);
  for (let start = 0; start < ordered.length; start += TOKENS_AT_A_TIME) {
    const part = ordered.slice(start, start + TOKENS_AT_A_TIME);
    await database.transaction((tx) => refreshBookAssets(tx, part, now));
  }
  await copyCatalog({ main: database, indexer: database, chains, clock }, NO_LIMIT);
  const ids = (await database.query(`select collection_id from indexer.collection_figures order by 1`)).map((row) =>
    String(row['collection_id']),
  );
  for (let start = 0; start < ids.length; start += COLLECTIONS_AT_A_TIME) {
    const collectionIds = ids.slice(start, start + COLLECTIONS_AT_A_TIME);
    const change = { collectionIds, refresh: { chains, now } };
    await database.transaction((tx) => changeIndex(tx, change, () => Promise.resolve()));
  }
}
