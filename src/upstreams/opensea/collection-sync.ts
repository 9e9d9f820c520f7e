// Processes one collection for the task `opensea-collections`: fetches and stores its record and its statistics.

import type { Follow } from '../../follows/queries/follows.ts';
import { listCollectionsByIds, listCollectionsByName } from '../../market/queries/collections.ts';
import type { Collection } from '../../core/collection.ts';
import type { UpstreamContext } from '../context.ts';
import type { SourceRecord } from '../response-rows.ts';
import { readOpenSeaCollection, readOpenSeaStats } from './collection.ts';
import type { OpenSeaRun } from './run.ts';
import { isChainFollowed } from './run.ts';

export async function syncCollection(context: UpstreamContext, run: OpenSeaRun): Promise<void> {
  const { upstream, follow, collection, ingester, signal } = run;
  const page = await readOpenSeaCollection(upstream, collection, { signal });
  const records: SourceRecord[] = [];
  for (const record of page.records) records.push(await withoutStored(context, follow, record));
  await ingester.ingestPage({ ...page, records }, signal);
  // On a followed chain, sales and owners come from the chain, so OpenSea's statistics are not used.
  if (isChainFollowed(context, follow)) return;
  const stats = await readOpenSeaStats(upstream, collection, { at: context.clock(), signal });
  const withSupplies = stats.records.map((record) => withSupply(withoutFloor(record), page.records));
  await ingester.ingestPage({ ...stats, records: withSupplies }, signal);
}

/** Removes the fields that the stored collection has already, because the operator or the chain may have set them. */
async function withoutStored(context: UpstreamContext, follow: Follow, record: SourceRecord): Promise<SourceRecord> {
  const [stored] = await listCollectionsByIds(context.main, [follow.collectionId]);
  if (!stored) return record;
  const { snapshot, createdAt: _, ...fields } = record;
  // A collection that was added without a name has its address as its name.
  const isNamed = stored.name.toLowerCase() !== stored.contractAddress;
  const missing = Object.entries(fields).filter(([field]) => IDENTITY.has(field) || !isStored(stored, field));
  const rest: Record<string, unknown> = { ...Object.fromEntries(missing), ...(isNamed && { name: stored.name }) };
  if (stored.snapshot.supply === null && snapshot !== undefined) rest['snapshot'] = snapshot;
  if (await isSlugInUse(context, rest['slug'])) delete rest['slug'];
  return { ...rest, kind: record.kind };
}

/** Fields that every collection record must have. */
const IDENTITY: ReadonlySet<string> = new Set(['kind', 'chain', 'contractAddress', 'name']);

function isStored(stored: Collection, field: string): boolean {
  const values: Readonly<Record<string, unknown>> = stored;
  return (values[field] ?? null) !== null;
}

async function isSlugInUse({ main }: UpstreamContext, slug: unknown): Promise<boolean> {
  if (typeof slug !== 'string') return false;
  return (await listCollectionsByName(main, { id: '', slug, address: '' })).length > 0;
}

/**
 * Adds the supply in the collection's record to the statistics. Statistics without a supply are served with the number of stored tokens,
 * which is too low until all tokens have been read.
 */
function withSupply(stats: SourceRecord, collections: readonly SourceRecord[]): SourceRecord {
  const snapshot = collections[0]?.['snapshot'];
  const isObject = typeof snapshot === 'object' && snapshot !== null && 'supply' in snapshot;
  return stats.kind === 'stats' && isObject ? { ...stats, supply: snapshot.supply } : stats;
}

/** Removes OpenSea's floor. The served floor is computed from the stored listings and the order book, which are fresher. */
function withoutFloor(record: SourceRecord): SourceRecord {
  const { floorRaw: _, ...rest } = record;
  return { ...rest, kind: record.kind };
}
