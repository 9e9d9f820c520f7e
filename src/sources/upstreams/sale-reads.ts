// Decides from which time the sales of a collection are read at a marketplace, and stores the covered time: the time for which all sales of
// the marketplace are known. A read requests the sales since a time before the newest stored sale and before the end of the covered time, so
// that consecutive reads leave no gap.

import { findCoverage } from '../../market/index/queries/coverage.ts';
import { findNewestSaleTime } from '../../market/index/queries/sales.ts';
import type { Coverage } from '../../market/provenance/coverage.ts';
import type { UpstreamContext } from './context.ts';
import type { CollectionRun } from './followed-task.ts';
import type { ReversedEnd } from './ingester.ts';
import type { WalkGap } from './walk.ts';

/** A marketplace may report a sale up to this long after newer sales. So a read also covers this time before the newest stored sale. */
const OVERLAP_MS = 15 * 60_000;
const SECOND_MS = 1_000;

/**
 * `since`: the time from which sales are read. It is null when no sale is stored and no read was made before. `startedAt`: when the read
 * began. Both times are in milliseconds.
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
  // A stored sale that was read from a chain does not shorten the first read. The marketplace may have earlier sales that the chain's log
  // lacks, and the marketplace reports which listings were filled.
  const newest = await findNewestSaleTime(indexer, { source, collectionId, isReported: covered === null });
  const startedAt = clock();
  // A stored time in the future comes from a process with a wrong clock. So `since` is never later than the start of the read.
  const times = [newest, covered?.to ?? null].filter((time) => time !== null);
  const since = times.length === 0 ? null : Math.min(...times, startedAt) - OVERLAP_MS;
  return { source, startedAt, since, covered, rejectedBefore: ingester.rejectedRows() };
}

/**
 * Stores the time that a read has covered. `isFromBeginning`: the marketplace's list goes back to the collection's first sale. If the read
 * stopped at a limit, the covered time begins at the oldest sale that was read. If rows were rejected, the covered time begins when the
 * read began, because the rejected rows may have been sales. If the read was incomplete for another reason, the covered time is not changed.
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
  // The next page, which was not read, may have more sales of the same second as the oldest sale that was read.
  const readFrom = oldest === null ? null : oldest + SECOND_MS;
  if (gap !== null) return readFrom === null ? undefined : save(readFrom);
  if (since === null) return isFromBeginning ? save(null) : save(oldest ?? startedAt);
  return save(covered && covered.to >= since ? covered.from : since);
}

const LIMITS: ReadonlySet<WalkGap> = new Set(['page limit', 'row limit']);

/**
 * The problem of an incomplete read. Null if the read is complete, or if it is the first read and stopped at a limit: the first read goes back
 * only as far as the limits allow.
 */
export function describeIncompleteSales(
  { follow }: CollectionRun,
  { since }: SaleRead,
  { gap }: ReversedEnd,
): string | null {
  if (gap === null || (since === null && LIMITS.has(gap))) return null;
  return `${follow.collectionId}: sales are incomplete: ${gap}`;
}
