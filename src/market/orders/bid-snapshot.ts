// Applies a complete list of a collection's bids at one marketplace: the active bids that are missing from it are retired, as listings are
// (market/index/listing-snapshot.ts). A retired bid becomes active again when the marketplace reports it again.

import type { Statements } from '../../platform/database/port.ts';
import { lockChainsAndBooks } from './book.ts';
import type { BidSnapshot } from './queries/bid-snapshots.ts';
import { findSnapshotDoubt, upsertBidSnapshot } from './queries/bid-snapshots.ts';
import { refreshTopBids } from './queries/book-figures.ts';
import { listReportedBidIds, retireBids } from './queries/reported-bids.ts';
import type { SnapshotLimits, SnapshotOutcome } from './snapshot-doubt.ts';
import { judgeSnapshot, NO_DOUBT } from './snapshot-doubt.ts';

export function applyBidSnapshot(
  main: Pick<Statements, 'transaction'>,
  snapshot: BidSnapshot & { chain: string },
  limits: SnapshotLimits,
): Promise<SnapshotOutcome> {
  const { source, collectionId, madeBefore, takenAt } = snapshot;
  return main.transaction(async (tx) => {
    await lockChainsAndBooks(tx, [snapshot]);
    const before = await findSnapshotDoubt(tx, snapshot);
    const expected = await listReportedBidIds(tx, { source, collectionId, madeBefore, now: takenAt });
    const present = new Set(snapshot.ids);
    const missing = expected.filter((id) => !present.has(id));
    const counts = { expected: expected.length, present: expected.length - missing.length, takenAt };
    const { isAccepted, ...doubt } = judgeSnapshot(counts, before ?? NO_DOUBT, limits);
    const retired = isAccepted ? await retireBids(tx, missing, takenAt) : 0;
    await refreshTopBids(tx, [collectionId], takenAt);
    await upsertBidSnapshot(tx, snapshot, { retired, ...doubt });
    return { retired, doubted: !isAccepted };
  });
}
