// Processes one collection for the task `opensea-collections`: fetches and stores OpenSea's record of the collection, and its statistics.

import type { Follow } from '../../../market/follows/queries/follows.ts';
import { listCollectionsByName, listRecordedCollections } from '../../../market/reads/queries/collections.ts';
import { BoundedMap } from '../../../platform/core/bounded-map.ts';
import type { Collection } from '../../../platform/core/collection.ts';
import type { UpstreamContext } from '../context.ts';
import type { ParsedPage, SourceRecord } from '../response-rows.ts';
import { findOpenSeaContract, readOpenSeaCollection, readOpenSeaStats } from './collection.ts';
import type { OpenSeaRun } from './run.ts';

/** A record is fetched again after this time. Statistics are fetched in each run. */
const RECORD_MS = 60 * 60_000;
/** The most collections for which values of the last record are kept in memory. */
const RECORDS_MAX = 10_000;

/**
 * Fetches the statistics of a collection in each run, and its record once an hour. The supply comes with the record but is stored with the
 * statistics, so it is kept in memory between the runs.
 */
export class CollectionRefresh {
  readonly #records = new BoundedMap<string, { at: number; supply: number | null; standard: string | null }>(
    RECORDS_MAX,
  );

  async refresh(context: UpstreamContext, run: OpenSeaRun): Promise<void> {
    const { upstream, follow, collection, ingester, signal } = run;
    const key = `${follow.collectionId} ${collection.slug}`;
    const now = context.clock();
    const last = this.#records.get(key);
    const isFresh = last !== undefined && last.at <= now && now - last.at < RECORD_MS;
    const { supply } = !run.isFull && isFresh ? last : await this.#refreshRecord(context, run, key);
    const stats = await readOpenSeaStats(upstream, collection, { at: now, signal });
    const records = stats.records.map((record) => withSupply(withoutSecondFloor(record), supply));
    await ingester.ingestPage({ ...stats, records }, signal);
  }

  async #refreshRecord(context: UpstreamContext, run: OpenSeaRun, key: string): Promise<{ supply: number | null }> {
    const { upstream, follow, collection, ingester, signal } = run;
    const page = await readOpenSeaCollection(upstream, collection, { signal });
    const records: SourceRecord[] = [];
    const standard = await this.#findStandard(context, run, key);
    for (const record of page.records) {
      records.push(
        await withoutStored(context, follow, { ...record, ...(standard !== null && { tokenStandard: standard }) }),
      );
    }
    await ingester.ingestPage({ ...page, records }, signal);
    const refreshed = { at: context.clock(), supply: readSupply(page), standard };
    this.#records.set(key, refreshed);
    return refreshed;
  }

  /**
   * The token standard that OpenSea reports for the contract. Fetched once for each collection while the process runs, and only if the
   * stored collection has no token standard.
   */
  async #findStandard({ main }: UpstreamContext, run: OpenSeaRun, key: string): Promise<string | null> {
    const { upstream, follow, collection, signal } = run;
    const known = this.#records.get(key);
    if (known) return known.standard;
    const [stored] = await listRecordedCollections(main, [follow.collectionId]);
    if (stored && stored.tokenStandard !== null) return null;
    return (await findOpenSeaContract(upstream, collection, { signal }))?.tokenStandard ?? null;
  }
}

function readSupply({ records }: ParsedPage): number | null {
  const snapshot = records[0]?.['snapshot'];
  const isObject = typeof snapshot === 'object' && snapshot !== null && 'supply' in snapshot;
  return isObject && typeof snapshot.supply === 'number' ? snapshot.supply : null;
}

/**
 * Removes the floor from an analytics record. A floor in an analytics record means that it was computed from all listings of the collection. The
 * floor of OpenSea is only reported, so it is stored with the stats record alone.
 */
function withoutSecondFloor(record: SourceRecord): SourceRecord {
  if (record.kind !== 'analytics') return record;
  const { floorRaw: _, ...rest } = record;
  return { ...rest, kind: record.kind };
}

/** OpenSea's record of the collection has the supply, which OpenSea's statistics lack. */
function withSupply(record: SourceRecord, supply: number | null): SourceRecord {
  return record.kind === 'stats' && supply !== null ? { ...record, supply } : record;
}

/** Removes the fields that the stored collection has already: the operator or the chain may have set them. */
async function withoutStored(context: UpstreamContext, follow: Follow, record: SourceRecord): Promise<SourceRecord> {
  const [stored] = await listRecordedCollections(context.main, [follow.collectionId]);
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

const IDENTITY: ReadonlySet<string> = new Set(['kind', 'chain', 'contractAddress', 'name']);

function isStored(stored: Collection, field: string): boolean {
  const values: Readonly<Record<string, unknown>> = stored;
  return (values[field] ?? null) !== null;
}

async function isSlugInUse({ main }: UpstreamContext, slug: unknown): Promise<boolean> {
  if (typeof slug !== 'string') return false;
  return (await listCollectionsByName(main, [{ id: '', slug, address: '' }])).length > 0;
}
