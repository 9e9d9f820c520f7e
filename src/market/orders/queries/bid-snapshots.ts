// Stores when the bids of a collection at a marketplace were last listed completely, and whether that list was accepted. Primary database.

import type { Queryable, Row } from '../../../platform/database/port.ts';
import { column, integer, nullable, rowDecoder, timestamp } from '../../../platform/database/rows.ts';
import type { SnapshotDoubt } from '../snapshot-doubt.ts';

/** A complete list of a collection's bids at a marketplace. Times in milliseconds. */
export type BidSnapshot = {
  source: string;
  collectionId: string;
  /** The ids of the bids in the list. */
  ids: readonly string[];
  /** Bids made at this time or later may be missing, because the marketplace may not report them immediately. */
  madeBefore: number;
  /** The time at which the list was complete. */
  takenAt: number;
};

const decodeDoubt: (row: Row) => SnapshotDoubt = rowDecoder('bid_snapshot', {
  doubts: integer,
  doubtedSince: column('doubted_since', nullable(timestamp)),
});

/** The doubts about the lists before this one. The lock of the collection's order book lets one list after the other be applied. */
export async function findSnapshotDoubt(
  tx: Queryable,
  { source, collectionId }: Pick<BidSnapshot, 'source' | 'collectionId'>,
): Promise<SnapshotDoubt | null> {
  const [row] = await tx.query(
    `select doubts, doubted_since from main.bid_snapshot where source = $1 and collection_id = $2`,
    [source, collectionId],
  );
  return row ? decodeDoubt(row) : null;
}

export async function upsertBidSnapshot(
  tx: Queryable,
  { source, collectionId, ids, takenAt }: BidSnapshot,
  { retired, doubts, doubtedSince }: SnapshotDoubt & { retired: number },
): Promise<void> {
  await tx.query(
    `insert into main.bid_snapshot (source, collection_id, taken_at, bids, retired, doubts, doubted_since)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (source, collection_id) do update set taken_at = excluded.taken_at, bids = excluded.bids,
       retired = excluded.retired, doubts = excluded.doubts, doubted_since = excluded.doubted_since`,
    [
      source,
      collectionId,
      new Date(takenAt),
      ids.length,
      retired,
      doubts,
      doubtedSince === null ? null : new Date(doubtedSince),
    ],
  );
}
