// Applies a snapshot of a marketplace's listings: active listings that are missing from it are retired, unless the snapshot is
// so short that the upstream has probably failed half-way. A retired listing is active again when it comes in again.

import type { Database } from '../database/port.ts';
import type { ListingSnapshot, SnapshotDoubt } from './queries/listing-snapshots.ts';
import {
  claimListingSnapshot,
  listExpectedKeys,
  updateListingSnapshot,
  updateRetiredListings,
} from './queries/listing-snapshots.ts';

/** When a snapshot counts as short, and when a short one is accepted all the same. */
export type SnapshotLimits = {
  /** A book of up to this many listings may shrink to any size at once. */
  smallBookMax: number;
  /** The share of a larger book that must remain. */
  shareLeftMin: number;
  /** A short snapshot is accepted when it is at least this one in a row, */
  doubtsMin: number;
  /** and the first of them is at least this old. */
  doubtMs: number;
};

/** `doubted`: the snapshot was not accepted, and nothing was retired. */
export type SnapshotOutcome = { retired: number; doubted: boolean };

export function applyListingSnapshot(
  indexer: Database,
  snapshot: ListingSnapshot,
  limits: SnapshotLimits,
): Promise<SnapshotOutcome> {
  return indexer.transaction(async (tx) => {
    const before = await claimListingSnapshot(tx, snapshot);
    const expected = await listExpectedKeys(tx, snapshot);
    // Compared here, not in SQL: the planner cannot estimate the size of either side.
    const present = new Set(snapshot.keys);
    const missing = expected.filter((key) => !present.has(key));
    const counts = { expected: expected.length, present: expected.length - missing.length };
    const { isAccepted, ...doubt } = judgeSnapshot({ ...counts, takenAt: snapshot.takenAt }, before, limits);
    const retired = isAccepted ? await updateRetiredListings(tx, missing, snapshot.takenAt) : 0;
    await updateListingSnapshot(tx, snapshot, { retired, ...doubt });
    return { retired, doubted: !isAccepted };
  });
}

const NO_DOUBT: SnapshotDoubt = { doubts: 0, doubtedSince: null };

/** `expected`: how many active listings the snapshot should contain. `present`: how many of them it contains. */
export function judgeSnapshot(
  { expected, present, takenAt }: { expected: number; present: number; takenAt: number },
  before: SnapshotDoubt,
  limits: SnapshotLimits,
): SnapshotDoubt & { isAccepted: boolean } {
  const isShort = expected > limits.smallBookMax && present < expected * limits.shareLeftMin;
  if (!isShort) return { ...NO_DOUBT, isAccepted: true };
  const doubts = before.doubts + 1;
  const doubtedSince = before.doubtedSince ?? takenAt;
  const isAccepted = doubts >= limits.doubtsMin && takenAt - doubtedSince >= limits.doubtMs;
  return isAccepted ? { ...NO_DOUBT, isAccepted } : { doubts, doubtedSince, isAccepted };
}
