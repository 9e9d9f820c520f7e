// Lands one batch of records: what is of the primary database in one transaction there, what is of the indexer in one
// there, and says what became of each kind. The two are apart, so that either may be landed again.

import type { Database, Queryable } from '../../database/port.ts';
import { listContractAddresses, upsertCollections } from '../../market/queries/collections.ts';
import { updateListingsOfEndedOrders } from '../../market/queries/listing-snapshots.ts';
import { upsertListings } from '../../market/queries/listings.ts';
import { listOwnOrderHashes } from '../../orders/queries/own-orders.ts';
import { upsertRates } from '../../market/queries/rates.ts';
import { upsertSales } from '../../market/queries/sales.ts';
import { upsertAnalytics, upsertStats } from '../../market/queries/stats.ts';
import { upsertTokens } from '../../market/queries/tokens.ts';
import type { UpsertCounts } from '../../database/upsert.ts';
import type { RecordKind } from '../records/kinds.ts';
import { ingestOrders, verifyOrders } from './orders.ts';
import type { RecordSender } from './products.ts';
import { ingestProducts } from './products.ts';
import type { Entry, IntakeRecord, LineRejection, RowOf } from '../records/parse.ts';
import { retireMirroredListings } from '../../market/mirrored-listings.ts';

export type Databases = { main: Database; indexer: Database };

export type IngestedBatch = {
  counts: Map<RecordKind, UpsertCounts>;
  refused: LineRejection[];
  /** Lines of listings that are orders of the own book: those rows are the ones that are shown, and these change nothing. */
  own: readonly number[];
};

export type IngestOptions = {
  now: number;
  /** Everything is done, and nothing is kept. */
  dryRun: boolean;
  sender?: RecordSender;
  /** Called when a part is committed. */
  onIngested: (landing: IngestedBatch) => void;
};

/** Collisions with other writers: the loser of a deadlock, of a serialization, or of a race for one slug tries again. */
const PASSING_CODES = new Set(['40001', '40P01', '23505']);
const ATTEMPTS_MAX = 4;
const OPERATOR: RecordSender = { keyId: null, shopId: null };

export async function ingestBatch(
  { main, indexer }: Databases,
  told: readonly Entry[],
  options: IngestOptions,
): Promise<void> {
  const { verified, forged } = await verifyOrders(told);
  if (forged.length > 0) options.onIngested({ counts: new Map(), refused: forged, own: [] });
  const entries = told.filter((entry) => entry.record.kind !== 'order' || verified.has(entry));
  const split = Object.groupBy(entries, ({ record }) => (isPrimary(record) ? 'primary' : 'observed'));
  const { primary = [], observed = [] } = split;
  const mints = observed.filter(({ record }) => mintOf(record) !== null);
  const hashed = observed.filter(({ record }) => orderOf(record) !== null);
  let stored: ReadonlyMap<string, string> = new Map();
  let ownOrders: ReadonlySet<string> = new Set();
  if (primary.length > 0 || mints.length > 0 || hashed.length > 0) {
    const landing = await transact(main, options.dryRun, async (tx) => {
      const landed = primary.length > 0 ? await ingestPrimary(tx, primary, options) : null;
      stored = await listContractAddresses(tx, [...new Set(mints.map(({ record }) => subjectOf(record) ?? ''))]);
      ownOrders = await listOwnOrderHashes(tx, [...new Set(hashed.flatMap(({ record }) => orderOf(record) ?? []))]);
      return landed;
    });
    const taken = primary.flatMap(({ record }) => takenOrderOf(record) ?? []);
    if (taken.length > 0 && !options.dryRun) await retireMirroredListings({ indexer }, taken, options.now);
    if (landing) options.onIngested(landing);
  }
  if (observed.length > 0) {
    const refused = mints.flatMap((entry) => refuseOtherCase(entry, stored));
    const own = hashed.flatMap(({ line, record }) => (ownOrders.has(orderOf(record) ?? '') ? [line] : []));
    const lines = new Set([...refused.map(({ line }) => line), ...own]);
    const accepted = observed.filter(({ line }) => !lines.has(line));
    const counts = await transact(indexer, options.dryRun, (tx) => ingestObserved(tx, accepted));
    const listings = counts.get('listing');
    if (listings) listings.unchanged += own.length;
    options.onIngested({ counts, refused, own });
  }
}

/** The collection that a record is about, or null. */
export function subjectOf(record: IntakeRecord): string | null {
  if (record.kind === 'rate' || record.kind === 'product') return null;
  return record.kind === 'collection' ? record.row.id : record.row.collectionId;
}

function isPrimary(record: IntakeRecord): boolean {
  return record.kind === 'collection' || record.kind === 'order' || record.kind === 'rate' || record.kind === 'product';
}

async function ingestPrimary(
  tx: Queryable,
  entries: readonly Entry[],
  { now, sender = OPERATOR }: Pick<IngestOptions, 'now' | 'sender'>,
): Promise<IngestedBatch> {
  const counts: IngestedBatch['counts'] = new Map();
  const changes = entries.filter(({ record }) => record.kind === 'collection');
  const { refused, ...landed } = await upsertCollections(tx, rowsOf(changes, 'collection'), now);
  counts.set('collection', landed);
  const { refused: refusedOrders, counts: landedOrders } = await ingestOrders(tx, entries, now);
  counts.set('order', landedOrders);
  counts.set('rate', await upsertRates(tx, rowsOf(entries, 'rate')));
  const products = entries.filter(({ record }) => record.kind === 'product');
  const landing = await ingestProducts(tx, rowsOf(products, 'product'), { now, sender });
  const { refused: refusedProducts, ...landedProducts } = landing;
  counts.set('product', landedProducts);
  const toRefusals = (kind: RecordKind, of: readonly Entry[], refusals: typeof refused): LineRejection[] =>
    refusals.map(({ index, reason }) => ({ line: of[index]?.line ?? 0, kind, reason }));
  return {
    counts,
    refused: [
      ...refusedOrders,
      ...toRefusals('collection', changes, refused),
      ...toRefusals('product', products, refusedProducts),
    ],
    own: [],
  };
}

async function ingestObserved(tx: Queryable, entries: readonly Entry[]): Promise<IngestedBatch['counts']> {
  const counts: IngestedBatch['counts'] = new Map();
  const listings = rowsOf(entries, 'listing');
  counts.set('listing', await upsertListings(tx, listings));
  await updateListingsOfEndedOrders(tx, listings);
  counts.set('sale', await upsertSales(tx, rowsOf(entries, 'sale')));
  counts.set('token', await upsertTokens(tx, rowsOf(entries, 'token')));
  counts.set('stats', await upsertStats(tx, rowsOf(entries, 'stats')));
  counts.set('analytics', await upsertAnalytics(tx, rowsOf(entries, 'analytics')));
  return counts;
}

function rowsOf<K extends RecordKind>(entries: readonly Entry[], kind: K): RowOf<K>[] {
  return entries.flatMap(({ record }) => (record.kind === kind ? [record.row as RowOf<K>] : []));
}

/** The signed order that a mirrored listing is, as `chain hash`, or null. */
function orderOf(record: IntakeRecord): string | null {
  if (record.kind !== 'listing' || record.row.orderHash === null) return null;
  return `${record.row.chain} ${record.row.orderHash}`;
}

/** The order that a record has brought into the own book, or null. */
function takenOrderOf(record: IntakeRecord): { chain: string; orderHash: string } | null {
  if (record.kind !== 'order' || !record.row.signed) return null;
  return { chain: record.row.chain, orderHash: record.row.signed.orderHash };
}

/** The collection mint as written, where letter case could tell two of them apart. */
function mintOf(record: IntakeRecord): string | null {
  if (!('contractAddress' in record.row)) return null;
  const address = record.row.contractAddress;
  return address === null || address.startsWith('0x') ? null : address;
}

/** Two mints that differ only in case would share a canonical id: the one that is stored keeps it. */
function refuseOtherCase({ line, record }: Entry, stored: ReadonlyMap<string, string>): LineRejection[] {
  const mint = stored.get(subjectOf(record) ?? '');
  if (mint === undefined || mint === mintOf(record)) return [];
  const reason = `contractAddress: differs only in letter case from ${mint}, which is stored`;
  return [{ line, kind: record.kind, reason }];
}

/** Runs the work in one transaction, again where it only collided with another writer, and rolls it back in a dry run. */
async function transact<T>(db: Database, dryRun: boolean, work: (tx: Queryable) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return dryRun ? await rehearse(db, work) : await db.transaction(work);
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !PASSING_CODES.has((error as { code?: string }).code ?? '')) throw error;
    }
  }
}

async function rehearse<T>(db: Database, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const rollback = new Error('dry run');
  let outcome: { result: T } | null = null;
  await db
    .transaction(async (tx) => {
      outcome = { result: await work(tx) };
      throw rollback;
    })
    .catch((error: unknown) => {
      if (error !== rollback) throw error;
    });
  return (outcome as unknown as { result: T }).result;
}
