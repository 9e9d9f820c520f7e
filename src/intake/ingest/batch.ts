// Stores one batch of records and reports the results. Records of the primary database are written in one transaction. Then records of the
// indexer are written, in one transaction or in several at the same time (divide-batch.ts), and then reported bids. If only some transactions
// are committed, storing the same batch again completes the batch.

import type { Chains } from '../../platform/core/chains.ts';
import type { OnChanged } from '../../platform/core/collection-versions.ts';
import { nextSlice } from '../../platform/core/slices.ts';
import type { Databases } from '../../platform/database/open.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { isAborted, repeatAborted } from '../../platform/database/port.ts';
import type { PreparedRows, UpsertRejection, UpsertCounts } from '../../platform/database/upsert.ts';
import type { FairQueue } from '../../platform/resilience/fair-queue.ts';
import type { RecordWrites } from '../../platform/database/write-recording.ts';
import { retireMirroredListings } from '../../market/index/retire-listings.ts';
import { listContractAddresses, upsertCollections } from '../../market/reads/queries/collections.ts';
import type { CollectionCoverage } from '../../market/index/queries/coverage.ts';
import { upsertCoverage } from '../../market/index/queries/coverage.ts';
import type { CollectionAsset } from '../../market/index/queries/figures.ts';
import { changeIndex } from '../../market/index/change-index.ts';
import type { NewListing } from '../../market/index/queries/listing-writes.ts';
import {
  listListingsOfOtherAssets,
  listSharedOrderHashes,
  prepareListings,
  updateListingsOfEndedOrders,
  updateTermsOfSharedOrders,
  upsertListings,
} from '../../market/index/queries/listing-writes.ts';
import { upsertRates } from '../../market/reads/queries/rates.ts';
import { upsertStats } from '../../market/index/queries/stats.ts';
import { upsertAnalytics } from '../../market/index/queries/analytics.ts';
import { copyReportedTraits } from '../../market/index/queries/reported-traits.ts';
import type { NewSale } from '../../market/index/queries/sales.ts';
import type { NewToken } from '../../market/index/queries/tokens.ts';
import { prepareTokens, upsertTokens } from '../../market/index/queries/tokens.ts';
import type { RefreshContext } from '../../market/index/change-index.ts';
import type { OrderKey } from '../../market/orders/order-id.ts';
import { toOrderKeyText } from '../../market/orders/order-id.ts';
import { listOrderIdsByHash } from '../../market/orders/queries/stored-orders.ts';
import type { BatchTransaction } from '../batch-size.ts';
import { quoteValue } from '../records/fields.ts';
import type { RecordKind } from '../records/kinds.ts';
import type { IntakeRecord, LineRejection, NumberedRecord, RowOf } from '../records/parse.ts';
import { collectionIdOf } from '../records/parse.ts';
import type { ChangeLog } from '../undo/change-log.ts';
import { trackNothing } from '../undo/change-log.ts';
import type { RecordLocation } from './created-collections.ts';
import { createCollections, listLocations } from './created-collections.ts';
import { divideByCollection } from './divide-batch.ts';
import { findTokensOfBids, ingestBids } from './bids.ts';
import { ingestOrders, verifyOrders } from './orders.ts';
import type { Importer } from './products.ts';
import { ingestProducts } from './products.ts';
import { ingestSales, prepareReportedSales } from './sales.ts';

export type IngestContext = Pick<Databases, 'main' | 'indexer'> & {
  chains: Chains;
  onChanged: OnChanged;
  /** Copies collection records, this service's own orders and the top bids to the indexer. Called after a commit. Must not reject. */
  copyCatalog: () => Promise<void>;
  /** Each transaction of the indexer holds a place of this lane while it runs (divide-batch.ts). */
  partLane: FairQueue;
};

/** The result of one part of a batch: the records that one transaction stored, or the orders and bids that were rejected before. */
export type IngestedPart = {
  counts: Map<RecordKind, UpsertCounts>;
  rejections: LineRejection[];
  /**
   * Sales that are already stored with different facts, and listings that are already stored with another token. If `isImport` is false, they are
   * counted as unchanged and are not in this list.
   */
  conflicts: LineRejection[];
  /**
   * The lines of mirrored listings and reported bids whose order is stored in the primary database. Such a record is counted as unchanged and
   * is not written, because the stored order is served in its place.
   */
  ownOrderLines: readonly number[];
  /** The ids of the collections for which a record was created. */
  createdCollections: readonly string[];
};

export type IngestOptions = {
  now: number;
  /** Rolls back each transaction after its last statement. */
  dryRun: boolean;
  /**
   * True for an import and for the operator's own feed. Their listings of a collection are taken as complete at `now`, or at the start of the
   * import if `changes` is given. Their sales are taken as complete up to `salesUntil`. This coverage is stored. False for records of a
   * marketplace: the task that reads the marketplace stores the coverage.
   */
  isImport: boolean;
  /** In milliseconds. Absent: up to the newest sale of the collection. */
  salesUntil?: number;
  /** The marketplace that reported the records. Absent for an import and for the operator's own feed. */
  source?: string;
  /** Whether a sale replaces a stored sale with the same identity but different facts. */
  replace?: boolean;
  /** Whether each collection without a collection record gets one, with the address as the name. */
  createCollections?: boolean;
  importer?: Importer;
  /** Records the changes of an import for an undo. If absent, nothing is recorded. */
  changes?: ChangeLog;
  /** Called with the result of each part after its commit, or after its rollback in a dry run. */
  onIngested: (part: IngestedPart) => void;
  /** Called once, when all records are stored, with the longest transaction of the batch in either database. */
  onTransaction?: (transaction: BatchTransaction) => void;
};

/** A batch whose rows for the indexer are folded (rows with the same key become one row), sorted and encoded. */
export type PreparedBatch = {
  records: readonly NumberedRecord[];
  now: number;
  parts: readonly PreparedPart[];
};

type PrepareOptions = Pick<IngestOptions, 'now' | 'source' | 'replace'>;

/**
 * Prepares a batch for `ingestPrepared`. This is most of the work of this process for a batch. It needs no database, so it can be done while the
 * database stores the previous batch. It is done in pieces, so that the process can serve requests between two pieces. `now` in milliseconds.
 */
export async function prepareBatch(
  { indexer }: { indexer: Pick<Database, 'engine' | 'pool'> },
  records: readonly NumberedRecord[],
  options: PrepareOptions,
): Promise<PreparedBatch> {
  const indexed = records.filter(({ record }) => !isPrimary(record) && record.kind !== 'bid');
  const parts: PreparedPart[] = [];
  for (const part of divideByCollection(indexed, indexer)) parts.push(await preparePart(part, options));
  return { records, now: options.now, parts };
}

export async function ingestBatch(
  context: IngestContext,
  records: readonly NumberedRecord[],
  options: IngestOptions,
): Promise<void> {
  await ingestPrepared(context, await prepareBatch(context, records, options), options);
}

/** Stores a batch, which must have been prepared with the same options. */
export async function ingestPrepared(
  context: IngestContext,
  { records, now, parts }: PreparedBatch,
  given: Omit<IngestOptions, 'now'>,
): Promise<void> {
  const transactions: BatchTransaction[] = [];
  const options = { ...given, now, onTransaction: (one: BatchTransaction) => void transactions.push(one) };
  const report = (part: IngestedPart, of = records) => {
    options.onIngested(part);
    if (!options.dryRun) notifyChanged(context, of, part);
  };
  const { verified, rejections } = await verifyOrders(records);
  if (rejections.length > 0)
    report({ counts: new Map(), rejections, conflicts: [], ownOrderLines: [], createdCollections: [] });
  const primary = verified.filter(({ record }) => isPrimary(record));
  const bids = verified.filter(({ record }) => record.kind === 'bid');
  const indexed = parts.flatMap((part) => part.records);
  const { part, known } = await ingestPrimaryPart(context, { primary, indexed, bids }, options);
  if (part) report(part);
  await ingestIndexedParts(context, parts, { known, ...options, onPart: report });
  // After the tokens of the batch, because a bid may name its tokens by their traits.
  if (bids.length > 0) report(await ingestBidPart(context, bids, options));
  if (transactions.length > 0) given.onTransaction?.(toLongest(transactions));
}

/**
 * Combines the transactions of a batch into one with the longest duration, which decides about the size of the next batch. A shorter
 * transaction must not decide, because it may only have looked up a few rows.
 */
function toLongest(transactions: readonly BatchTransaction[]): BatchTransaction {
  return {
    ms: Math.max(...transactions.map(({ ms }) => ms)),
    isAwaited: transactions.some(({ isAwaited }) => isAwaited),
  };
}

/** The records of some collections, except records of the primary database, and the rows that were made from these records. */
type PreparedPart = {
  records: readonly NumberedRecord[];
  listings: PreparedRows<NewListing>;
  /** Null if stored sales may be replaced. */
  sales: PreparedRows<NewSale> | null;
  tokens: PreparedRows<NewToken>;
};

async function preparePart(
  records: readonly NumberedRecord[],
  { now, source = IMPORTED.source, replace = false }: PrepareOptions,
): Promise<PreparedPart> {
  await nextSlice();
  const tokens = rowsOf(records, 'token').map((row) => ({
    ...row,
    raritySource: row.rarityRank === null ? null : source,
  }));
  return {
    records,
    listings: await prepareListings(rowsOf(records, 'listing'), now),
    sales: replace ? null : await prepareReportedSales(rowsOf(records, 'sale'), now),
    tokens: await prepareTokens(tokens),
  };
}

/**
 * The primary database holds what this service decides itself. The indexer holds what was observed elsewhere. Reported bids are in neither part of a batch:
 * they are stored beside the bids of the service, but after the tokens of the batch.
 */
function isPrimary({ kind }: IntakeRecord): boolean {
  return kind === 'collection' || kind === 'order' || kind === 'rate' || kind === 'product';
}

/** Rows of the primary database by which records for the indexer are checked. */
type KnownInPrimary = {
  /** The stored contract addresses of collections, by collection id. */
  contractAddresses: ReadonlyMap<string, string>;
  /** The ids of stored orders, by the text of the order key. */
  orderIds: ReadonlyMap<string, string>;
};

async function ingestPrimaryPart(
  { main, indexer, chains, copyCatalog }: IngestContext,
  { primary, indexed, bids }: Record<'primary' | 'indexed' | 'bids', readonly NumberedRecord[]>,
  options: IngestOptions,
): Promise<{ part: IngestedPart | null; known: KnownInPrimary }> {
  const collectionIds = indexed.flatMap(({ record }) =>
    caseSensitiveAddressOf(record) === null ? [] : (collectionIdOf(record) ?? []),
  );
  const orderKeys = indexed.flatMap(({ record }) => mirroredOrderOf(record) ?? []);
  const located = options.createCollections ? listLocations([...primary, ...indexed, ...bids]) : [];
  if (primary.length + located.length + collectionIds.length + orderKeys.length === 0) {
    return { part: null, known: { contractAddresses: new Map(), orderIds: new Map() } };
  }
  const stored = await transact(main, options, async (tx) => ({
    part: primary.length + located.length > 0 ? await writePrimary(tx, primary, { ...options, located }) : null,
    known: {
      contractAddresses: await listContractAddresses(tx, [...new Set(collectionIds)]),
      orderIds: await listOrderIdsByHash(tx, orderKeys),
    },
  }));
  const orders = primary.flatMap(({ record }) => signedOrderOf(record) ?? []);
  if (orders.length > 0 && !options.dryRun) {
    await retireMirroredListings({ indexer, chains }, orders, options.now, options.changes?.recordTo('listing'));
  }
  const hasCatalog =
    (stored.part?.createdCollections.length ?? 0) > 0 ||
    primary.some(({ record }) => record.kind === 'collection' || record.kind === 'order');
  if (hasCatalog && !options.dryRun) await copyCatalog();
  return stored;
}

/**
 * Stores the parts at the same time, each in a transaction of its own. After a failure, the other parts are still stored and reported. Rejects with
 * the first failure when all transactions have ended.
 */
async function ingestIndexedParts(
  context: IngestContext,
  parts: readonly PreparedPart[],
  options: {
    known: KnownInPrimary;
    onPart: (part: IngestedPart, records: readonly NumberedRecord[]) => void;
  } & IngestOptions,
): Promise<void> {
  const ingested = parts.map(async (part) => {
    options.onPart(await ingestIndexedPart(context, part, options), part.records);
  });
  for (const result of await Promise.allSettled(ingested)) if (result.status === 'rejected') throw result.reason;
}

async function ingestIndexedPart(
  { indexer, chains, partLane }: IngestContext,
  prepared: PreparedPart,
  { known, ...options }: { known: KnownInPrimary } & IngestOptions,
): Promise<IngestedPart> {
  const found = findOmitted(prepared.records, known);
  const kept = omit(prepared.records, found);
  const accepted = kept.length === prepared.records.length ? prepared : await preparePart(kept, options);
  const coverage = options.isImport ? toImportedCoverage(accepted.records, options) : [];
  const store = () => transact(indexer, options, (tx) => writeIndexed(tx, accepted, { ...options, chains, coverage }));
  const { counts, conflicts } = await partLane.take(store);
  options.changes?.noteCovered(coverage);
  const listings = counts.get('listing');
  if (listings) listings.unchanged += found.ownOrderLines.length;
  return { counts, conflicts, ...found, createdCollections: [] };
}

type Omitted = Pick<IngestedPart, 'rejections' | 'ownOrderLines'>;

/** Stores reported bids. Rejects those on Solana whose contract address differs from the stored address of its collection in letter case only. */
async function ingestBidPart(
  { main, indexer, onChanged, copyCatalog }: IngestContext,
  records: readonly NumberedRecord[],
  options: IngestOptions,
): Promise<IngestedPart> {
  const { now, dryRun, changes } = options;
  const { bids, rejections } = await findTokensOfBids(indexer, records, { now, dryRun });
  const caseSensitive = records.filter(({ record }) => caseSensitiveAddressOf(record) !== null);
  const ids = new Set(caseSensitive.flatMap(({ record }) => collectionIdOf(record) ?? []));
  const { otherCase, stored } = await transact(main, options, async (tx) => {
    const known = await listContractAddresses(tx, [...ids]);
    const otherCase = caseSensitive.flatMap((entry) => rejectOtherCase(entry, known));
    const rejected = new Set(otherCase.map(({ line }) => line));
    const accepted = bids.filter(({ line }) => !rejected.has(line));
    return { otherCase, stored: await ingestBids(tx, accepted, { now, record: changes?.recordTo('bid') }) };
  });
  if (!dryRun && stored.counts.inserted + stored.counts.updated > 0) await copyCatalog();
  if (!dryRun && stored.changedSets.size > 0) onChanged({ collectionIds: stored.changedSets, kinds: new Set(['bid']) });
  return {
    counts: new Map([['bid', stored.counts]]),
    rejections: [...rejections, ...otherCase],
    conflicts: [],
    ownOrderLines: stored.ownLines,
    createdCollections: [],
  };
}

/** Finds the records that must not be written because of rows in the primary database. */
function findOmitted(records: readonly NumberedRecord[], { contractAddresses, orderIds }: KnownInPrimary): Omitted {
  return {
    rejections: records.flatMap((entry) => (isPrimary(entry.record) ? [] : rejectOtherCase(entry, contractAddresses))),
    ownOrderLines: records.flatMap(({ line, record }) => {
      const order = mirroredOrderOf(record);
      return order && orderIds.has(toOrderKeyText(order)) ? [line] : [];
    }),
  };
}

function omit(records: readonly NumberedRecord[], { rejections, ownOrderLines }: Omitted): readonly NumberedRecord[] {
  const lines = new Set([...rejections.map(({ line }) => line), ...ownOrderLines]);
  return lines.size === 0 ? records : records.filter(({ line }) => !lines.has(line));
}

async function writePrimary(
  tx: Queryable,
  records: readonly NumberedRecord[],
  {
    now,
    importer = 'operator',
    changes,
    located,
  }: Pick<IngestOptions, 'now' | 'importer' | 'changes'> & { located: readonly RecordLocation[] },
): Promise<IngestedPart> {
  const track = changes?.track ?? trackNothing;
  const collections = records.filter(({ record }) => record.kind === 'collection');
  const collectionRows = rowsOf(collections, 'collection');
  const collectionIds = collectionRows.map(({ id }) => id);
  const { rejections: collectionRejections, ...collectionCounts } = await track(tx, 'collection', collectionIds, () =>
    upsertCollections(tx, collectionRows, now),
  );
  const createdCollections = await createCollections(tx, located, { now, track });
  const orders = await ingestOrders(tx, records, { now, track });
  const rates = rowsOf(records, 'rate');
  const symbols = rates.map(({ symbol }) => symbol);
  const rateCounts = await track(tx, 'rate', symbols, () => upsertRates(tx, rates));
  const products = records.filter(({ record }) => record.kind === 'product');
  const { rejections: productRejections, ...productCounts } = await ingestProducts(tx, rowsOf(products, 'product'), {
    now,
    importer,
    track,
  });
  return {
    counts: new Map<RecordKind, UpsertCounts>([
      ['collection', collectionCounts],
      ['order', orders.counts],
      ['rate', rateCounts],
      ['product', productCounts],
    ]),
    rejections: [
      ...orders.rejections,
      ...toLineRejections('collection', collections, collectionRejections),
      ...toLineRejections('product', products, productRejections),
    ],
    conflicts: [],
    ownOrderLines: [],
    createdCollections,
  };
}

function toLineRejections(
  kind: RecordKind,
  records: readonly NumberedRecord[],
  rejections: readonly UpsertRejection[],
): LineRejection[] {
  return rejections.map(({ index, reason }) => ({ line: records[index]?.line ?? 0, kind, reason }));
}

type IndexedOptions = RefreshContext &
  Pick<IngestOptions, 'isImport' | 'changes'> & { coverage: readonly CollectionCoverage[] };

async function writeIndexed(
  tx: Queryable,
  { records, ...prepared }: PreparedPart,
  { chains, now, isImport, changes, coverage }: IndexedOptions,
): Promise<Pick<IngestedPart, 'counts' | 'conflicts'>> {
  const collectionIds = records.flatMap(({ record }) => collectionIdOf(record) ?? []);
  return changeIndex(tx, { collectionIds, refresh: { chains, now } }, async () => {
    const counts = new Map<RecordKind, UpsertCounts>();
    const listings = await writeListings(tx, prepared.listings, { now, record: changes?.recordTo('listing') });
    const ofOtherTokens = isImport && listings.counts.unchanged > 0 ? await findListingConflicts(tx, records) : [];
    counts.set('listing', { ...listings.counts, unchanged: listings.counts.unchanged - ofOtherTokens.length });
    const sales = await ingestSales(tx, records, {
      prepared: prepared.sales,
      now,
      isImport,
      ...(changes && { changes }),
    });
    counts.set('sale', sales.counts);
    counts.set('token', await upsertTokens(tx, prepared.tokens, changes?.recordTo('token')));
    await copyReportedTraits(
      tx,
      prepared.tokens.rows.filter(({ traits }) => traits !== null),
    );
    counts.set('stats', await upsertStats(tx, rowsOf(records, 'stats'), changes?.recordTo('stats')));
    const analytics = rowsOf(records, 'analytics');
    counts.set('analytics', await upsertAnalytics(tx, analytics, changes?.recordTo('analytics')));
    await changes?.recordCoverage(tx, coverage);
    await upsertCoverage(tx, coverage);
    return { counts, conflicts: [...ofOtherTokens, ...sales.conflicts], assets: listings.assets };
  });
}

/** Finds the listings whose id is that of a stored listing of another token. Called after the upsert, so every listing is stored. */
async function findListingConflicts(tx: Queryable, records: readonly NumberedRecord[]): Promise<LineRejection[]> {
  const keyOf = ({ collectionId, key }: { collectionId: string; key: string }) => `${collectionId} ${key}`;
  const others = await listListingsOfOtherAssets(tx, rowsOf(records, 'listing'));
  const assets = new Map(others.map((stored) => [keyOf(stored), stored.asset]));
  return records.flatMap(({ line, record }) => {
    if (record.kind !== 'listing') return [];
    const stored = assets.get(keyOf(record.row));
    if (stored === undefined || stored === record.row.asset) return [];
    const reason = `this listing is stored with token ${quoteValue(stored)}, not ${quoteValue(record.row.asset)}`;
    return [{ line, kind: 'listing', reason }];
  });
}

/** Writes listings, and updates other listings of the same orders. Returns the assets of all these listings. */
async function writeListings(
  tx: Queryable,
  listings: PreparedRows<NewListing>,
  { now, record }: { now: number; record: RecordWrites | undefined },
): Promise<{ counts: UpsertCounts; assets: CollectionAsset[] }> {
  const counts = await upsertListings(tx, listings, { now, record });
  const hashes = await listSharedOrderHashes(tx, listings.rows);
  const orders = { hashes, collectionIds: [...new Set(listings.rows.map(({ collectionId }) => collectionId))] };
  const shared = await updateTermsOfSharedOrders(tx, orders, record);
  const ended = await updateListingsOfEndedOrders(tx, orders, { now, record });
  return { counts, assets: [...listings.rows, ...shared, ...ended] };
}

/**
 * Returns one row of coverage for each collection with imported sales, and one for each collection with imported listings. Coverage that an import
 * with a change log has already stored is left out.
 */
function toImportedCoverage(
  records: readonly NumberedRecord[],
  { now, changes, salesUntil }: Pick<IngestOptions, 'now' | 'changes' | 'salesUntil'>,
): CollectionCoverage[] {
  const present = changes?.startedAt ?? now;
  const ends = { sales: new Map<string, number>(), listings: new Map<string, number>() };
  for (const { record } of records) {
    const collectionId = collectionIdOf(record);
    if (collectionId === null) continue;
    if (record.kind === 'listing') ends.listings.set(collectionId, present);
    if (record.kind !== 'sale') continue;
    // A sale in the future does not say that the sales before it are known.
    const to = Math.min(salesUntil ?? record.row.soldAt, present);
    ends.sales.set(collectionId, Math.max(to, ends.sales.get(collectionId) ?? to));
  }
  return COVERED_SUBJECTS.flatMap((subject) =>
    [...ends[subject]].map(([collectionId, to]) => ({ ...IMPORTED, collectionId, subject, to })),
  ).filter((row) => !changes?.isCovered(row));
}

const COVERED_SUBJECTS = ['sales', 'listings'] as const;

const IMPORTED = { source: 'import', kind: 'imported', from: null } as const;

function rowsOf<K extends RecordKind>(records: readonly NumberedRecord[], kind: K): RowOf<K>[] {
  return records.flatMap(({ record }) => (record.kind === kind ? [record.row as RowOf<K>] : []));
}

/** The key of the signed order behind a mirrored listing. Null for a record of another kind, and for a listing without an order hash. */
function mirroredOrderOf(record: IntakeRecord): OrderKey | null {
  if (record.kind !== 'listing' || record.row.orderHash === null) return null;
  return { chain: record.row.chain, orderHash: record.row.orderHash };
}

function signedOrderOf(record: IntakeRecord): OrderKey | null {
  if (record.kind !== 'order' || !record.row.signed) return null;
  return { chain: record.row.chain, orderHash: record.row.signed.orderHash };
}

/** The contract address of a record if it is a Solana address, which is case-sensitive. Null for an EVM address or no address. */
function caseSensitiveAddressOf(record: IntakeRecord): string | null {
  if (!('contractAddress' in record.row)) return null;
  const address = record.row.contractAddress;
  return address === null || address.startsWith('0x') ? null : address;
}

/**
 * Rejects a record whose contract address differs from the stored address of its collection in letter case only. The collection id is in
 * lower case, so both addresses give the same id. The id belongs to the address that was stored first.
 */
function rejectOtherCase({ line, record }: NumberedRecord, stored: ReadonlyMap<string, string>): LineRejection[] {
  const storedAddress = stored.get(collectionIdOf(record) ?? '');
  if (storedAddress === undefined || storedAddress === caseSensitiveAddressOf(record)) return [];
  const reason = `contractAddress: differs only in letter case from ${storedAddress}, which is stored`;
  return [{ line, kind: record.kind, reason }];
}

/** Reports the kinds of which a record was inserted or updated, with the collections of all records of these kinds. */
function notifyChanged(
  { onChanged }: Pick<IngestContext, 'onChanged'>,
  records: readonly NumberedRecord[],
  { counts, createdCollections }: IngestedPart,
): void {
  const kinds = new Set([...counts].flatMap(([kind, { inserted, updated }]) => (inserted + updated > 0 ? [kind] : [])));
  const collectionIds = new Set(createdCollections);
  if (createdCollections.length > 0) kinds.add('collection');
  if (kinds.size === 0) return;
  for (const { record } of records) {
    const collectionId = kinds.has(record.kind) ? collectionIdOf(record) : null;
    if (collectionId !== null) collectionIds.add(collectionId);
  }
  onChanged({ collectionIds, kinds });
}

const UNIQUE_VIOLATION = '23505';

/** Runs `work` in one transaction, and repeats the transaction after a conflict with another writer. Rolls back a dry run. */
function transact<T>(
  db: Database,
  { dryRun, onTransaction }: Pick<IngestOptions, 'dryRun' | 'onTransaction'>,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  const measured = async (tx: Queryable): Promise<T> => {
    const startedAt = performance.now();
    const result = await work(tx);
    const isAwaited = db.engine === 'embedded' && db.pool().waiting > 0;
    onTransaction?.({ ms: performance.now() - startedAt, isAwaited });
    return result;
  };
  return repeatAborted(() => (dryRun ? transactAndRollBack(db, measured) : db.transaction(measured)), {
    // Another writer may insert the same row between a read and an insert. The repetition then reads that row.
    isRepeated: (error) => isAborted(error) || (error as { code?: unknown }).code === UNIQUE_VIOLATION,
  });
}

async function transactAndRollBack<T>(db: Database, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const { promise: result, resolve } = Promise.withResolvers<T>();
  const rollback = new Error('dry run');
  try {
    await db.transaction(async (tx) => {
      resolve(await work(tx));
      throw rollback;
    });
  } catch (error) {
    if (error !== rollback) throw error;
  }
  return result;
}
