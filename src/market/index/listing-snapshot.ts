// Applies the list of a collection's listings at one marketplace: all listings, or all below a price. Active listings that are missing from
// the list are retired (cancelled, with `retired_at`), unless so many are missing that the list is probably incomplete. A retired listing
// becomes active again when the marketplace reports it again.

import type { Database } from '../../platform/database/port.ts';
import type { Chains } from '../../platform/core/chains.ts';
import type { SnapshotLimits, SnapshotOutcome } from '../orders/snapshot-doubt.ts';
import { judgeSnapshot } from '../orders/snapshot-doubt.ts';
import type { ListingSnapshot } from './queries/listing-snapshots.ts';
import {
  claimListingSnapshot,
  listExpectedKeys,
  updateListingSnapshot,
  updateRetiredListings,
} from './queries/listing-snapshots.ts';
import { changeIndex } from './change-index.ts';

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
