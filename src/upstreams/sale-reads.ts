// Decides from which time the sales of a collection are read at a marketplace, and stores what a read has covered. A read begins before the
// newest stored sale and before the end of what is covered, so that consecutive reads leave no gap.

import { findCoverage } from '../market/queries/coverage.ts';
import { findNewestSaleTime } from '../market/queries/sales.ts';
import type { Coverage } from '../market/provenance/coverage.ts';
import type { UpstreamContext } from './context.ts';
import type { CollectionRun } from './followed-task.ts';
import type { ReversedEnd } from './ingester.ts';
import type { WalkGap } from './walk.ts';

/** A marketplace may report a sale up to this long after newer sales, so a read goes this much further back. */
const OVERLAP_MS = 15 * 60_000;
const SECOND_MS = 1_000;

/**
 * `since`: the time from which sales are read; null when no sale is stored and none was read before. `startedAt`: when the read began. In
 * milliseconds.
 */
export type SaleRead = {
  source: string;
  startedAt: number;
  since: number | null;
  covered: Coverage | null;
  rejectedBefore: number;
};

export async function beginSaleRead(
  { indexer, clock }: UpstreamContext,
  { follow, ingester }: CollectionRun,
  source: string,
): Promise<SaleRead> {
  const { collectionId } = follow;
  const covered = await findCoverage(indexer, { collectionId, subject: 'sales', source });
  // For the first read, sales that were read from a chain do not count: the marketplace may know the listings of these sales, and more
  // sales.
  const newest = await findNewestSaleTime(indexer, { source, collectionId, isReported: covered === null });
  const startedAt = clock();
  // `since` is never after the start of the read: a stored time in the future comes from a process with a wrong clock.
  const times = [newest, covered?.to ?? null].filter((time) => time !== null);
  const since = times.length === 0 ? null : Math.min(...times, startedAt) - OVERLAP_MS;
  return { source, startedAt, since, covered, rejectedBefore: ingester.rejectedRows() };
}

/**
 * Stores what a read has covered. `isFromBeginning`: the marketplace's list goes back to the collection's first sale. After a read that
 * stopped at a limit, the covered time begins at the oldest sale that was read. After a read with rejected rows, it begins at the start of
 * the read, because the rows may have been sales. After any other incomplete read nothing is stored, so the next read begins where this
 * read began.
 */
export async function concludeSaleRead(
  { follow, ingester }: CollectionRun,
  { source, startedAt, since, covered, rejectedBefore }: SaleRead,
  { end, isFromBeginning }: { end: ReversedEnd; isFromBeginning: boolean },
): Promise<void> {
  const { gap, oldest } = end;
  if (gap !== null && !LIMITS.has(gap)) return;
  const save = (from: number | null) =>
    ingester.saveCoverage({
      collectionId: follow.collectionId,
      subject: 'sales',
      source,
      from,
      to: startedAt,
    });
  if (ingester.rejectedRows() > rejectedBefore) return save(startedAt);
  // Further sales with the same second as the oldest sale may be on the page that was not read.
  const readFrom = oldest === null ? null : oldest + SECOND_MS;
  if (gap !== null) return readFrom === null ? undefined : save(readFrom);
  if (since === null) return isFromBeginning ? save(null) : save(oldest ?? startedAt);
  return save(covered && covered.to >= since ? covered.from : since);
}

const LIMITS: ReadonlySet<WalkGap> = new Set(['page limit', 'row limit']);
