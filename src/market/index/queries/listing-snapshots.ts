// Listing snapshots, in the indexer database. A snapshot is a list of a collection's listings at a marketplace. Stored listings that are
// not in the list are retired.

import type { Queryable, Row } from '../../../platform/database/port.ts';
import { recordStateChanges } from '../../activity/queries/state-changes.ts';
import type { SnapshotDoubt } from '../../orders/snapshot-doubt.ts';
import { column, integer, nullable, rowDecoder, text, timestamp } from '../../../platform/database/rows.ts';

/** A list of a collection's listings at a marketplace: all listings, or all below a price. Times in milliseconds. */
export type ListingSnapshot = {
  source: string;
  collectionId: string;
  /** The keys of the listings in the list, each as 32 hexadecimal digits. */
  keys: readonly string[];
  /** Listings created at this time or later may be missing, because the marketplace may not report them immediately. */
  listedBefore: number;
  /** The time at which the list was complete. */
  takenAt: number;
  /**
   * In base units. The list has all listings whose buyer total (or price, if no buyer total is known) is below this amount. Null if the
   * list has all listings.
   */
  below: bigint | null;
};

/** The last list of all listings of a collection at a marketplace. */
export type FullSnapshot = { takenAt: number; listings: number; isAccepted: boolean };

const decodeFullSnapshot = rowDecoder('listing_snapshot', {
  takenAt: column('taken_at', timestamp),
  listings: integer,
  doubts: integer,
});

export async function findFullSnapshot(
  db: Queryable,
  { source, collectionId }: { source: string; collectionId: string },
): Promise<FullSnapshot | null> {
  const [row] = await db.query(
    `select taken_at, listings, doubts from indexer.listing_snapshot where source = $1 and collection_id = $2`,
    [source, collectionId],
  );
  if (!row) return null;
  const { takenAt, listings, doubts } = decodeFullSnapshot(row);
  return { takenAt, listings, isAccepted: doubts === 0 };
}

const decodeDoubt: (row: Row) => SnapshotDoubt = rowDecoder('listing_snapshot', {
  doubts: integer,
  doubtedSince: column('doubted_since', nullable(timestamp)),
});

/**
 * Returns the doubts about the lists before this list. Locks the stored row until the transaction ends, so that two lists of a collection
 * are applied one after the other.
 */
export async function claimListingSnapshot(tx: Queryable, snapshot: ListingSnapshot): Promise<SnapshotDoubt> {
  const [row] = await tx.query(
    `insert into indexer.listing_snapshot as stored (source, collection_id, taken_at, listings, retired, doubts)
     values ($1, $2, $3, 0, 0, 0)
     on conflict (source, collection_id) do update set source = stored.source
     returning doubts, doubted_since`,
    [toSnapshotSource(snapshot), snapshot.collectionId, new Date(snapshot.takenAt)],
  );
  return decodeDoubt(row ?? {});
}

export async function updateListingSnapshot(
  tx: Queryable,
  snapshot: ListingSnapshot,
  { retired, doubts, doubtedSince }: SnapshotDoubt & { retired: number },
): Promise<void> {
  await tx.query(
    `update indexer.listing_snapshot set taken_at = $3, listings = $4, retired = $5, doubts = $6, doubted_since = $7
     where source = $1 and collection_id = $2`,
    [
      toSnapshotSource(snapshot),
      snapshot.collectionId,
      new Date(snapshot.takenAt),
      snapshot.keys.length,
      retired,
      doubts,
      doubtedSince === null ? null : new Date(doubtedSince),
    ],
  );
}

/** Full and partial lists have separate rows, so that a doubt about a partial list does not count for full lists, and vice versa. */
function toSnapshotSource({ source, below }: ListingSnapshot): string {
  return below === null ? source : `${source} cheapest`;
}

const decodeKey = rowDecoder('listing', { key: text });

/**
 * Returns the keys of the active listings that a list should contain, as 32 hexadecimal digits. Listings created from `listedBefore` to
 * `takenAt` are left out, because the marketplace may not have reported them yet. A listing with a creation time after `takenAt` is not
 * left out, because such a creation time must be wrong.
 */
export async function listExpectedKeys(tx: Queryable, snapshot: ListingSnapshot): Promise<string[]> {
  const { source, collectionId, listedBefore, takenAt, below } = snapshot;
  const rows = await tx.query(
    `select replace(key::text, '-', '') as key from indexer.listing
     where collection_id = $1 and status = 'active' and source = $2 and (listed_at < $3 or listed_at > $4)
       and (expires_at is null or expires_at > $4) and ($5::numeric is null or coalesce(buyer_total_raw, price_raw) < $5)`,
    [collectionId, source, new Date(listedBefore), new Date(takenAt), below === null ? null : below.toString()],
  );
  return rows.map((row) => decodeKey(row).key);
}

const KEYS_MAX = 5_000;

const decodeAsset = rowDecoder('listing', { asset: text });

/** Sets the status `cancelled` and the time `retired_at` of the active listings with these keys. Returns the asset of each changed row. */
export async function updateRetiredListings(
  tx: Queryable,
  collectionId: string,
  { keys, at }: { keys: readonly string[]; at: number },
): Promise<string[]> {
  const retired: string[] = [];
  const sorted = keys.toSorted();
  for (let start = 0; start < sorted.length; start += KEYS_MAX) {
    const rows = await tx.query(
      `with before as materialized (
         select * from indexer.listing
         where collection_id = $3 and key = any($1::uuid[]) and status = 'active' and (expires_at is null or expires_at > $2)
       ), retired as (
         update indexer.listing as stored set status = 'cancelled', retired_at = $2 from before
         where stored.collection_id = $3 and stored.key = before.key returning false as inserted, stored.*
       ), ${recordStateChanges('listing', { written: 'retired', before: 'before', now: '$2' })}
       select asset from retired`,
      [sorted.slice(start, start + KEYS_MAX), new Date(at), collectionId],
    );
    for (const row of rows) retired.push(decodeAsset(row).asset);
  }
  return retired;
}
