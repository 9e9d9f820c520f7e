// Applies the list of a collection's listings at one marketplace: all listings, or all below a price. Active listings that are missing from
// the list are retired (cancelled, with `retired_at`), unless so many are missing that the list is probably incomplete. A retired listing
// becomes active again when the marketplace reports it again.

import type { Database } from '../../platform/database/port.ts';
import type { Chains } from '../../platform/core/chains.ts';
import type { ListingSnapshot, SnapshotDoubt } from './queries/listing-snapshots.ts';
import {
  claimListingSnapshot,
  listExpectedKeys,
  updateListingSnapshot,
  updateRetiredListings,
} from './queries/listing-snapshots.ts';
import { changeIndex } from './change-index.ts';

/**
 * A list is short when more than `smallBookMax` listings were expected and less than the share `shareLeftMin` of them is present. A short
 * list is accepted only if `doubtsMin` or more lists in a row were short, this list included. The first of these lists must be at least
 * `doubtMs` old.
 */
export type SnapshotLimits = { smallBookMax: number; shareLeftMin: number; doubtsMin: number; doubtMs: number };

/** `doubted`: the list was short and was not accepted, so nothing was retired. */
export type SnapshotOutcome = { retired: number; doubted: boolean };

export function applyListingSnapshot(
  { indexer, chains }: { indexer: Database; chains: Chains },
  snapshot: ListingSnapshot,
  limits: SnapshotLimits,
): Promise<SnapshotOutcome> {
  return indexer.transaction(async (tx) => {
    const { collectionId, takenAt } = snapshot;
    const change = { collectionIds: [collectionId], refresh: { chains, now: takenAt } };
    const { assets, doubted } = await changeIndex(tx, change, async () => {
      const before = await claimListingSnapshot(tx, snapshot);
      const expected = await listExpectedKeys(tx, snapshot);
      // The keys are not compared in SQL, because the planner cannot estimate the number of keys on either side.
      const present = new Set(snapshot.keys);
      const missing = expected.filter((key) => !present.has(key));
      const counts = { expected: expected.length, present: expected.length - missing.length };
      const { isAccepted, ...doubt } = judgeSnapshot({ ...counts, takenAt }, before, limits);
      const retired = isAccepted ? await updateRetiredListings(tx, collectionId, { keys: missing, at: takenAt }) : [];
      await updateListingSnapshot(tx, snapshot, { retired: retired.length, ...doubt });
      const assets = retired.map((asset) => ({ collectionId, asset }));
      return { assets, doubted: !isAccepted };
    });
    return { retired: assets.length, doubted };
  });
}

const NO_DOUBT: SnapshotDoubt = { doubts: 0, doubtedSince: null };

/**
 * `expected`: how many active listings the list should contain. `present`: how many of these listings the list contains. `before`: the
 * short lists directly before this list.
 */
function judgeSnapshot(
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
