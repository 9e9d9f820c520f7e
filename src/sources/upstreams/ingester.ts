// Stores the records of vendors through the intake, as an import does. Counts the results for one run of a task, and retires listings and
// bids that no longer exist upstream.

import { saveCoverage } from '../../market/index/coverage.ts';
import { applyListingSnapshot } from '../../market/index/listing-snapshot.ts';
import { applyBidSnapshot } from '../../market/orders/bid-snapshot.ts';
import type { CollectionCoverage } from '../../market/index/queries/coverage.ts';
import type { ImportContext } from '../../intake/import.ts';
import type { IngestedPart } from '../../intake/ingest/batch.ts';
import { ingestBatch } from '../../intake/ingest/batch.ts';
import type { RecordContext } from '../../intake/records/identifiers.ts';
import type { NumberedRecord } from '../../intake/records/parse.ts';
import { parseRecord } from '../../intake/records/parse.ts';
import type { TaskResult } from '../../platform/tasks/task.ts';
import type { WalkEnd } from './walk.ts';
import { RejectionCounter } from './rejection-counter.ts';
import type { ParsedPage, SourceRecord } from './response-rows.ts';

/** A plain object in the public format (docs/records.md). It has not been validated. */
export type RawRecord = Readonly<Record<string, unknown>>;

const BATCH_ROWS_MAX = 500;
/** How many active listings and bids one run may see. Their keys are kept in memory, so a run that sees more fails. */
const SEEN_MAX = 1_000_000;
/**
 * A marketplace may report a listing up to this long after its creation. So a listing that is younger than this is not retired when a list
 * lacks it.
 */
export const LISTING_DELAY_MAX_MS = 2 * 60_000;

/**
 * A list is short when more than 20 listings of a collection are stored and the list lacks more than half of them. A short list is accepted
 * only if it is at least the third short list in a row, and the first of these lists is at least five minutes old.
 */
const SNAPSHOT_LIMITS = { smallBookMax: 20, shareLeftMin: 0.5, doubtsMin: 3, doubtMs: 5 * 60_000 };

/** What a list contains: all listings of a collection at a marketplace, or all with a buyer total below `below` (in base units). */
export type SeenListings = { source: string; collectionId: string; below?: bigint | null };

/** A list of all bids of a collection at a marketplace. */
export type SeenBids = { source: string; collectionId: string; chain: string };

/** `oldest`: the earliest `timestamp` of the records that were read, in milliseconds; null when no record has one. */
export type ReversedEnd = WalkEnd & { oldest: number | null };

/**
 * The ingester of one run. It must be created before the first request of the run, because the time of its creation counts as the start of
 * every list.
 */
export class Ingester {
  readonly #context: ImportContext;
  readonly #records: RecordContext;
  readonly #startedAt: number;
  readonly #counts = { read: 0, changed: 0, refused: 0, retired: 0 };
  readonly #rejections = new RejectionCounter();
  /** Keys of the active listings and ids of the active bids that were ingested, by kind, `source` and collection. */
  readonly #seen = new Map<string, Set<string>>();
  #seenCount = 0;
  readonly #seenMax: number;
  readonly #isImport: boolean;
  readonly #source: string | null;
  #unsupported = 0;

  /**
   * `isImport`: the records are the operator's own. As after an import, the sales and listings of each collection in the records then count
   * as complete up to now. `source`: the vendor that reports the records. `seenMax`: how many active listings and bids the run may see.
   */
  constructor(
    context: ImportContext,
    {
      isImport = false,
      source = null,
      seenMax = SEEN_MAX,
    }: { isImport?: boolean; source?: string | null; seenMax?: number } = {},
  ) {
    const { chains, serviceName, seaport, clock } = context;
    this.#context = context;
    this.#records = { chains, serviceName, seaport, now: clock };
    this.#startedAt = clock();
    this.#isImport = isImport;
    this.#source = source;
    this.#seenMax = seenMax;
  }

  /** Stores the records in batches. Rejects when a database fails, or when the signal aborts between batches. */
  async ingest(records: Iterable<RawRecord>, signal?: AbortSignal): Promise<void> {
    let batch: RawRecord[] = [];
    for (const record of records) {
      batch.push(record);
      if (batch.length < BATCH_ROWS_MAX) continue;
      await this.#ingestBatch(batch, signal);
      batch = [];
    }
    if (batch.length > 0) await this.#ingestBatch(batch, signal);
  }

  /** Ingests the records of a page and counts its rejected and unsupported rows. */
  async ingestPage({ records, rejected, unsupported }: ParsedPage, signal: AbortSignal): Promise<void> {
    for (const reason of rejected) this.reject(reason);
    for (const reason of unsupported) this.reject(`unsupported: ${reason}`);
    this.#unsupported += unsupported.length;
    await this.ingest(records, signal);
  }

  /** Ingests the pages of a walk (walk.ts) as they arrive. `change` is applied to each record first. Returns the end of the walk. */
  async ingestPages<End>(
    pages: AsyncGenerator<ParsedPage, End>,
    signal: AbortSignal,
    { change = (record) => record }: { change?: (record: SourceRecord) => SourceRecord } = {},
  ): Promise<End> {
    for (;;) {
      const page = await pages.next();
      if (page.done) return page.value;
      await this.ingestPage({ ...page.value, records: page.value.records.map(change) }, signal);
    }
  }

  /**
   * Collects all rows of a walk, and ingests them in reverse order after the walk has ended. The list begins with the newest row, so the
   * oldest rows are stored first. If the ingestion fails halfway, all rows that are older than the newest stored row are stored.
   * Ingests nothing when `isAccepted` returns false.
   */
  async ingestReversed(
    pages: AsyncGenerator<ParsedPage, WalkEnd>,
    signal: AbortSignal,
    isAccepted: (end: WalkEnd) => boolean = () => true,
  ): Promise<ReversedEnd> {
    const collected: ParsedPage[] = [];
    for (;;) {
      const page = await pages.next();
      if (!page.done) {
        collected.push(page.value);
        continue;
      }
      if (isAccepted(page.value)) {
        for (const parsed of collected.toReversed()) {
          await this.ingestPage({ ...parsed, records: parsed.records.toReversed() }, signal);
        }
      }
      return { ...page.value, oldest: findOldest(collected) };
    }
  }

  /** Counts a row that a mapper rejected. The reason must not contain a value of the row. */
  reject(reason: string, example: unknown = ''): void {
    this.#counts.read += 1;
    this.#reject(reason, example);
  }

  /**
   * Retires the active listings that this ingester has not seen. Must be called after all listings of the collection were ingested. With
   * `below`, only listings with a lower buyer total are retired, and only these must have been ingested. Returns false when so many
   * listings are missing that the list is not accepted yet.
   */
  async retireUnseen({ source, collectionId, below = null }: SeenListings): Promise<boolean> {
    const { indexer, chains, clock, onChanged } = this.#context;
    const keys = this.#seenOf('listing', source, collectionId);
    const listedBefore = this.#startedAt - LISTING_DELAY_MAX_MS;
    const snapshot = { source, collectionId, keys, listedBefore, takenAt: clock(), below };
    const { retired, doubted } = await applyListingSnapshot({ indexer, chains }, snapshot, SNAPSHOT_LIMITS);
    this.#counts.retired += retired;
    if (retired > 0) onChanged({ collectionIds: new Set([collectionId]), kinds: new Set(['listing']) });
    return !doubted;
  }

  /** As `retireUnseen`, for bids. All bids of the collection at the marketplace must have been ingested. */
  async retireUnseenBids({ source, collectionId, chain }: SeenBids): Promise<boolean> {
    const { main, clock, onChanged, copyCatalog } = this.#context;
    const ids = this.#seenOf('bid', source, collectionId);
    const madeBefore = this.#startedAt - LISTING_DELAY_MAX_MS;
    const snapshot = { source, collectionId, chain, ids, madeBefore, takenAt: clock() };
    const { retired, doubted } = await applyBidSnapshot(main, snapshot, SNAPSHOT_LIMITS);
    this.#counts.retired += retired;
    if (retired > 0) {
      await copyCatalog();
      onChanged({ collectionIds: new Set([collectionId]), kinds: new Set(['bid']) });
    }
    return !doubted;
  }

  #seenOf(kind: SeenKind, source: string, collectionId: string): string[] {
    return [...(this.#seen.get(toSeenKey(kind, source, collectionId)) ?? [])];
  }

  /** Must be called after the rows of the walk were ingested. */
  saveCoverage(coverage: Omit<CollectionCoverage, 'kind'>): Promise<void> {
    return saveCoverage(this.#context, [{ ...coverage, kind: 'scan' }]);
  }

  /** How many rows and records were read so far. Rejected rows count, unsupported rows do not. */
  readRows(): number {
    return this.#counts.read - this.#unsupported;
  }

  /** How many rows and records were rejected so far. Unsupported rows do not count. */
  rejectedRows(): number {
    return this.#counts.refused - this.#unsupported;
  }

  result({ problems = [], soon = false }: Pick<TaskResult, 'problems' | 'soon'> = {}): TaskResult {
    return { ...this.#counts, refusals: this.#rejections.list(), problems, ...(soon && { soon }) };
  }

  async #ingestBatch(batch: readonly RawRecord[], signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    this.#counts.read += batch.length;
    const records = this.#parse(batch);
    const notMirrored = new Set<number>();
    const onIngested = (part: IngestedPart) => {
      for (const { inserted, updated } of part.counts.values()) this.#counts.changed += inserted + updated;
      for (const { line, kind, reason } of part.rejections) {
        notMirrored.add(line);
        this.#reject(toReason(kind, reason), reason);
      }
      // A listing that mirrors an order of this service's own order book is not stored, because the order itself is served. Such a listing
      // does not count as seen. If it was stored before the order was known, `retireUnseen` therefore retires it.
      for (const line of part.ownOrderLines) notMirrored.add(line);
    };
    const now = this.#context.clock();
    await ingestBatch(this.#context, records, {
      now,
      dryRun: false,
      isImport: this.#isImport,
      // The feed is read again and again, so it has the sales up to now.
      salesUntil: now,
      ...(this.#source !== null && { source: this.#source }),
      onIngested,
    });
    this.#see(records.filter(({ line }) => !notMirrored.has(line)));
  }

  /** Returns the valid records of a batch. Counts the other records as rejected. */
  #parse(batch: readonly RawRecord[]): NumberedRecord[] {
    const records: NumberedRecord[] = [];
    for (const [line, values] of batch.entries()) {
      const parsed = parseRecord(this.#records, values);
      if (parsed.record) records.push({ line, record: parsed.record });
      else this.#reject(toReason(parsed.kind, parsed.reason), parsed.reason);
    }
    return records;
  }

  #see(records: readonly NumberedRecord[]): void {
    for (const { record } of records) {
      if ((record.kind !== 'listing' && record.kind !== 'bid') || record.row.status !== 'active') continue;
      const seenKey = toSeenKey(record.kind, record.row.source, record.row.collectionId);
      const keys = this.#seen.get(seenKey) ?? new Set();
      this.#seen.set(seenKey, keys);
      const key = record.kind === 'listing' ? record.row.key : record.row.id;
      if (keys.has(key)) continue;
      if (this.#seenCount === this.#seenMax)
        throw new Error(`the run has more than ${this.#seenMax} active listings and bids`);
      keys.add(key);
      this.#seenCount += 1;
    }
  }

  #reject(reason: string, example: unknown): void {
    this.#counts.refused += 1;
    this.#rejections.add(reason, example);
  }
}

function findOldest(pages: readonly ParsedPage[]): number | null {
  let oldest: number | null = null;
  for (const { timestamp } of pages.flatMap(({ records }) => records)) {
    const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
    if (!Number.isNaN(time) && (oldest === null || time < oldest)) oldest = time;
  }
  return oldest;
}

type SeenKind = 'listing' | 'bid';

function toSeenKey(kind: SeenKind, source: string, collectionId: string): string {
  return `${kind} ${source} ${collectionId}`;
}

/** The reason without the value that it quotes, so that rows with the same error but different values are counted together. */
function toReason(kind: string | null, reason: string): string {
  const [field = ''] = reason.split(/, not (?=["[{\d-]|null|true|false)/, 1);
  const withoutValues = field.replace(/"[^"]*"|\d{4,}/g, '…');
  return kind === null ? withoutValues : `${kind}: ${withoutValues}`;
}
