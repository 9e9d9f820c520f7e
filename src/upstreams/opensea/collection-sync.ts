// The work of the task `opensea-collections` on one collection: its record and its statistics.

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
  for (const record of page.records) records.push(await completeStored(context, follow, record));
  await ingester.ingestPage({ ...page, records }, signal);
  // A followed chain has the sales and owners itself.
  if (isChainFollowed(context, follow)) return;
  const stats = await readOpenSeaStats(upstream, collection, { at: context.clock(), signal });
  const withSupplies = stats.records.map((record) => withSupply(withoutFloor(record), page.records));
  await ingester.ingestPage({ ...stats, records: withSupplies }, signal);
}

/** The part of a record that is not stored yet: what the operator or the chain set is kept. */
async function completeStored(context: UpstreamContext, follow: Follow, record: SourceRecord): Promise<SourceRecord> {
  const [stored] = await listCollectionsByIds(context.main, [follow.collectionId]);
  if (!stored) return record;
  const { snapshot, createdAt: _, ...fields } = record;
  const isNamed = stored.name.toLowerCase() !== stored.contractAddress;
  const missing = Object.entries(fields).filter(([field]) => IDENTITY.has(field) || !isStored(stored, field));
  const completed: Record<string, unknown> = { ...Object.fromEntries(missing), ...(isNamed && { name: stored.name }) };
  if (stored.snapshot.supply === null && snapshot !== undefined) completed['snapshot'] = snapshot;
  if (await isSlugTaken(context, completed['slug'])) delete completed['slug'];
  return { ...completed, kind: record.kind };
}

const IDENTITY: ReadonlySet<string> = new Set(['kind', 'chain', 'contractAddress', 'name']);

function isStored(stored: Collection, field: string): boolean {
  const values: Readonly<Record<string, unknown>> = stored;
  return (values[field] ?? null) !== null;
}

async function isSlugTaken({ main }: UpstreamContext, slug: unknown): Promise<boolean> {
  if (typeof slug !== 'string') return false;
  return (await listCollectionsByName(main, { id: '', slug, address: '' })).length > 0;
}

/** With the supply of the collection's record. The number of stored tokens may be lower: it grows while tokens are read. */
function withSupply(stats: SourceRecord, collections: readonly SourceRecord[]): SourceRecord {
  const snapshot = collections[0]?.['snapshot'];
  const isObject = typeof snapshot === 'object' && snapshot !== null && 'supply' in snapshot;
  return stats.kind === 'stats' && isObject ? { ...stats, supply: snapshot.supply } : stats;
}

/** The floor is computed from the listings, which are fresher and include the own order book. */
function withoutFloor(record: SourceRecord): SourceRecord {
  const { floorRaw: _, ...rest } = record;
  return { ...rest, kind: record.kind };
}
