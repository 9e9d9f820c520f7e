// Support for tests of the intake: a service context on a test database, valid records, and functions that import records. Other
// functions empty and dump the tables that an import writes to.

import assert from 'node:assert/strict';
import type { Database } from '../../../src/platform/database/port.ts';
import { repeatAborted } from '../../../src/platform/database/port.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { readConfig } from '../../../src/service/config.ts';
import type { ServiceContext } from '../../../src/service/context.ts';
import { createContext } from '../../../src/service/context.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { ImportContext, ImportOptions } from '../../../src/intake/import.ts';
import { importRecords } from '../../../src/intake/import.ts';
import type { ImportSummary } from '../../../src/intake/import-summary.ts';
import type { CatalogContext } from '../../../src/market/index/catalog.ts';
import { copyCatalog } from '../../../src/market/index/catalog.ts';
import { LOG_TABLES } from './every-table.ts';

export const NOW = Date.UTC(2026, 5, 1);
export const SERVICE = 'mercat';
export const EVM = '0x00000000000000000000000000000000000000aa';
export const SELLER = '0x00000000000000000000000000000000000000b1';
export const MINT = 'So11111111111111111111111111111111111111112';
export const ASSET = '3kxh9JnBdktEyJDopKFnwzg3yaFQT1kbR8BoyvvPuAAy';

export const recordContext = { chains: createChains(), serviceName: SERVICE, seaport: new Map(), now: () => NOW };

/**
 * Makes a service context with the function that the program itself uses. Both databases of the context are `db`. `overrides`
 * replaces parts of the context, also the databases.
 */
export function toContext(
  db: Database,
  { settings = {}, ...overrides }: Partial<ServiceContext> & { settings?: Record<string, string> } = {},
): ServiceContext {
  const databases = { main: overrides.main ?? db, indexer: overrides.indexer ?? db };
  const config = readConfig(settings);
  const { clock = () => NOW } = overrides;
  const context = createContext({ config, log: createLog('silent'), clock, random: () => 0.5, databases });
  // The copy of a service gives up after a second, which is too short on a busy machine.
  const copy = () => completeCatalog(context).catch(() => {});
  return { ...context, copyCatalog: copy, ...overrides };
}

/** A valid listing record, with the given fields replaced. The functions below do the same for the other kinds of records. */
export const listing = (fields: object = {}) => ({
  kind: 'listing',
  source: 'opensea',
  chain: 'ethereum',
  contractAddress: EVM,
  tokenId: '1',
  priceRaw: '100',
  seller: SELLER,
  id: 'L1',
  timestamp: '2026-05-01T00:00:00Z',
  ...fields,
});

/** A valid record of a bid for any token of the collection, with the given fields replaced. */
export const bid = (fields: object = {}) => ({
  kind: 'bid',
  source: 'opensea',
  chain: 'ethereum',
  contractAddress: EVM,
  priceRaw: '100',
  proceedsRaw: '95',
  buyer: SELLER,
  id: 'B1',
  timestamp: '2026-05-01T00:00:00Z',
  ...fields,
});

export const order = (fields: object = {}) => ({
  kind: 'order',
  chain: 'ethereum',
  contractAddress: EVM,
  tokenId: '1',
  priceRaw: '100',
  seller: SELLER,
  createdAt: '2026-05-01T00:00:00Z',
  ...fields,
});

export const sale = (fields: object = {}) => ({
  kind: 'sale',
  source: 'opensea',
  chain: 'ethereum',
  contractAddress: EVM,
  tokenId: '1',
  price: '100',
  timestamp: '2026-05-01T10:30:00Z',
  ...fields,
});

export const token = (fields: object = {}) => ({
  kind: 'token',
  chain: 'ethereum',
  contractAddress: EVM,
  tokenId: '1',
  ...fields,
});

export const collection = (fields: object = {}) => ({
  kind: 'collection',
  chain: 'ethereum',
  contractAddress: EVM,
  slug: 'aa',
  name: 'Collection A',
  ...fields,
});

export const product = (fields: object = {}) => ({
  kind: 'product',
  shop: 's',
  name: 'Mug',
  price: '19.90',
  ...fields,
});

export function toNdjson(records: Iterable<unknown>): string {
  return [...records].map((record) => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`).join('');
}

/** The text or bytes as a stream, in chunks of the given size. */
export async function* toChunks(content: string | Uint8Array, chunkSize = 10_000): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(content);
  for (let offset = 0; offset < bytes.length; offset += chunkSize) yield bytes.subarray(offset, offset + chunkSize);
}

type ReportedLine = { line: number; reason: string };

export type Imported = { summary: ImportSummary; refused: ReportedLine[]; conflicts: ReportedLine[] };

/** Imports the content. Returns the summary, the rejected lines and the conflicts. Fails unless their counts agree. */
export async function runImport(
  context: ImportContext,
  content: string | Uint8Array,
  options: Partial<ImportOptions> = {},
): Promise<Imported> {
  const refused: ReportedLine[] = [];
  const conflicts: ReportedLine[] = [];
  const summary = await importRecords(context, toChunks(content), {
    format: 'ndjson',
    ...options,
    onEvent: (event) => {
      if (event.event === 'refused') refused.push({ line: event.line, reason: event.reason });
      if (event.event === 'conflict') conflicts.push({ line: event.line, reason: event.reason });
      return options.onEvent?.(event);
    },
  });
  const { read, inserted, updated, unchanged, conflict } = summary;
  assert.equal(read, inserted + updated + unchanged + conflict + summary.refused);
  assert.equal(summary.refused, refused.length);
  assert.equal(conflict, conflicts.length);
  return { summary, refused, conflicts };
}

/**
 * Imports records that must all be accepted. Returns the row counts `[inserted, updated, unchanged]`. A record in conflict with a stored
 * sale counts as unchanged.
 */
export async function ingest(db: Database, ...records: unknown[]): Promise<[number, number, number]> {
  const { summary, refused } = await runImport(toContext(db), toNdjson(records));
  assert.deepEqual(refused, []);
  return [summary.inserted, summary.updated, summary.unchanged + summary.conflict];
}

const COPY_LIMITS = { timeoutMs: 120_000, batchesMax: 100 };

/**
 * Copies the changes of collections and own orders to the indexer, however long this takes. An import waits for its copy only for a second,
 * which is too short on a slow machine. The task `catalog` then makes the copy, but few tests run it.
 */
export async function completeCatalog(context: CatalogContext): Promise<void> {
  await copyCatalog(context, COPY_LIMITS);
}

const TABLES = [
  'main.collection',
  'main.book_order',
  'main.rate',
  'indexer.listing',
  'indexer.sale',
  'indexer.sale_hour',
  'indexer.sale_total',
  'indexer.token',
  'indexer.token_metadata',
  'indexer.token_trait',
  'indexer.rarity_rank',
  'indexer.collection_stats',
  'indexer.collection_analytics',
  'indexer.collection_figures',
  'indexer.listed_asset',
  'indexer.own_asset',
  'indexer.holder',
  'indexer.coverage',
  'main.book_asset',
  'main.collection_book',
  'main.book_start',
  'main.catalog_change',
] as const;

export type TableName = (typeof TABLES)[number];

/** Empties the tables in TABLES and LOG_TABLES, and `indexer.collection_rarity`. */
export async function emptyTables(db: Database): Promise<void> {
  // A read that is still in progress on the server may hold one of the tables.
  const tables = [...LOG_TABLES, ...TABLES].join(', ');
  await repeatAborted(() =>
    db.transaction(async (tx) => {
      await tx.query(`truncate ${tables}, indexer.collection_rarity`);
      await tx.query('insert into main.activity_head default values');
    }),
  );
}

const SYNC_TABLES = [
  'main.follow',
  'main.sync_task',
  'main.recent_view',
  'main.bid_snapshot',
  'indexer.listing_snapshot',
];

/** Empties the same tables as `emptyTables`, and the tables in which tasks keep their own state. */
export async function emptySyncTables(db: Database): Promise<void> {
  await emptyTables(db);
  for (const table of SYNC_TABLES) await db.query(`delete from ${table}`);
}

/**
 * The rows of the tables in TABLES, in a fixed order, without the parts that `dumpSql` leaves out. If two dumps are equal, no record has
 * changed between them.
 */
export async function dumpTables(db: Database): Promise<Record<string, unknown[]>> {
  const dump: Record<string, unknown[]> = {};
  for (const table of TABLES) dump[table] = (await db.query(dumpSql(table))).map((r) => r['row']);
  return dump;
}

/** The ranking keys that the sweep computes. */
const SWEPT_KEYS = [
  `'sales_rank'`,
  ...['volume', 'sales', 'change'].flatMap((figure) =>
    ['hour', 'day', 'week', 'month'].map((window) => `'${figure}_${window}_rank'`),
  ),
];

function dumpSql(table: TableName): string {
  // `to_time` is left out. It is the time of an import or of a read, and does not come from a record.
  if (table === 'indexer.coverage') {
    return `select (collection_id, subject, source, kind, from_time)::text as row from ${table} order by 1`;
  }
  // `fetched_at` is the time of an import.
  if (table === 'indexer.token_metadata') {
    return `select (to_jsonb(t) - 'fetched_at')::text as row from ${table} as t order by 1`;
  }
  // A transaction may lock the figures of a collection and then write nothing. The lock creates a blank row of figures, which is left out.
  const isBlank = `listed_assets + own_listed_assets + tokens + holders = 0 and not recorded
    and volume_rank = '-Infinity' and floor_rank = '-Infinity'`;
  // Left out are the time at which the figures were recorded in the history, and what depends on the present, on `to_time` and on the last sweep.
  if (table === 'indexer.collection_figures') {
    return `select (to_jsonb(t) - array['point_at', 'ranks_valid_until', ${SWEPT_KEYS.join(', ')}])::text as row from ${table} as t where not (${isBlank}) order by 1`;
  }
  return `select t::text as row from ${table} as t order by 1`;
}
