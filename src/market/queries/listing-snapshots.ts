// How mirrored listings end without a record of their own saying so: missing from a whole snapshot of their marketplace, or
// because another marketplace tells that the same order has ended. Indexer database. It never ends a row that was listed
// while the snapshot was being taken.

import type { Database, Queryable } from '../../database/port.ts';

/** A snapshot of what a marketplace lists of a collection: of all, or of the cheapest. Times in milliseconds. */
export type ListingSnapshot = {
  source: string;
  collectionId: string;
  /** The keys of its listings, as 32 digits in hex. */
  keys: readonly string[];
  /** Listings from this time on may be missing because the marketplace did not show them yet. */
  listedBefore: number;
  takenAt: number;
  /** What costs the buyer less than this in all it has to have; null where it has all. Base units. */
  below: bigint | null;
};

/** When a snapshot is suspiciously short, and when it is believed all the same. */
export type SnapshotLimits = {
  /** Books of up to so many listings may shrink to any size at once. */
  smallBookMax: number;
  /** The share of a larger book that has to be left. */
  shareLeftMin: number;
  /** So often in a row, for so long, a short snapshot has to come back to be believed. */
  doubtsMin: number;
  doubtMs: number;
};

export type SnapshotOutcome = {
  retired: number;
  /** True when the snapshot was so short that nothing was retired for now. */
  doubted: boolean;
};

/** Retires the active listings that a snapshot does not have. They are active again when they are told again. */
export function updateVanishedListings(
  indexer: Database,
  snapshot: ListingSnapshot,
  limits: SnapshotLimits,
): Promise<SnapshotOutcome> {
  return indexer.transaction(async (tx) => {
    const before = await claimSnapshot(tx, snapshot);
    const known = await listOlderActive(tx, snapshot);
    // Compared here: how many rows there are on either side is nothing that a database could guess.
    const seen = new Set(snapshot.keys);
    const vanished = known.filter((key) => !seen.has(key));
    const left = known.length - vanished.length;
    const isShort = known.length > limits.smallBookMax && left < known.length * limits.shareLeftMin;
    const doubts = isShort ? before.doubts + 1 : 0;
    const doubtedSince = isShort ? (before.doubtedSince ?? snapshot.takenAt) : null;
    const isAccepted =
      doubtedSince === null || (doubts >= limits.doubtsMin && snapshot.takenAt - doubtedSince >= limits.doubtMs);
    const retired = isAccepted ? await retire(tx, vanished, snapshot.takenAt) : 0;
    await tx.query(
      `update indexer.listing_snapshot set taken_at = $3, listings = $4, retired = $5, doubts = $6, doubted_since = $7
       where source = $1 and collection_id = $2`,
      [
        toSnapshotSource(snapshot),
        snapshot.collectionId,
        new Date(snapshot.takenAt),
        snapshot.keys.length,
        retired,
        isAccepted ? 0 : doubts,
        isAccepted || doubtedSince === null ? null : new Date(doubtedSince),
      ],
    );
    return { retired, doubted: !isAccepted };
  });
}

/** What the last look at all listings of a collection at a marketplace came to. */
export type FullSnapshot = { takenAt: number; listings: number; isAccepted: boolean };

export async function findFullSnapshot(
  db: Queryable,
  { source, collectionId }: { source: string; collectionId: string },
): Promise<FullSnapshot | null> {
  const [row] = await db.query<{ taken_at: Date; listings: number; doubts: number }>(
    `select taken_at, listings, doubts from indexer.listing_snapshot where source = $1 and collection_id = $2`,
    [source, collectionId],
  );
  return row ? { takenAt: row.taken_at.getTime(), listings: row.listings, isAccepted: row.doubts === 0 } : null;
}

type Doubt = { doubts: number; doubtedSince: number | null };

/** Takes the row of a snapshot for this transaction, so that two of one collection follow each other. */
async function claimSnapshot(tx: Queryable, snapshot: ListingSnapshot): Promise<Doubt> {
  const [row] = await tx.query<{ doubts: number; doubted_since: Date | null }>(
    `insert into indexer.listing_snapshot as stored (source, collection_id, taken_at, listings, retired, doubts)
     values ($1, $2, $3, 0, 0, 0)
     on conflict (source, collection_id) do update set source = stored.source
     returning doubts, doubted_since`,
    [toSnapshotSource(snapshot), snapshot.collectionId, new Date(snapshot.takenAt)],
  );
  return { doubts: row?.doubts ?? 0, doubtedSince: row?.doubted_since?.getTime() ?? null };
}

/** A part that is believed says nothing for or against a whole one that is not, or the other way round. */
function toSnapshotSource({ source, below }: ListingSnapshot): string {
  return below === null ? source : `${source} cheapest`;
}

/**
 * The keys of the active listings that a snapshot has to have, as 32 digits in hex. What is told to be of a later time than now
 * was not listed while the snapshot was taken: its time is wrong.
 */
async function listOlderActive(tx: Queryable, snapshot: ListingSnapshot): Promise<string[]> {
  const { source, collectionId, listedBefore, takenAt, below } = snapshot;
  const rows = await tx.query<{ key: string }>(
    `select replace(key::text, '-', '') as key from indexer.listing
     where collection_id = $1 and status = 'active' and source = $2 and (listed_at < $3 or listed_at > $4)
       and (expires_at is null or expires_at > $4) and ($5::numeric is null or coalesce(buyer_total_raw, price_raw) < $5)`,
    [collectionId, source, new Date(listedBefore), new Date(takenAt), below === null ? null : below.toString()],
  );
  return rows.map((row) => row.key);
}

/** Keys in one statement. */
const RETIRED_AT_ONCE = 5_000;

async function retire(tx: Queryable, keys: readonly string[], at: number): Promise<number> {
  let retired = 0;
  const sorted = keys.toSorted();
  for (let start = 0; start < sorted.length; start += RETIRED_AT_ONCE) {
    const rows = await tx.query(
      `update indexer.listing set status = 'cancelled', retired_at = $2
       where key = any($1::uuid[]) and status = 'active' returning 1`,
      [sorted.slice(start, start + RETIRED_AT_ONCE), new Date(at)],
    );
    retired += rows.length;
  }
  return retired;
}

/** Retires the active listings of the given orders of a chain, in all marketplaces. */
export async function updateListingsOfOwnOrders(
  db: Queryable,
  chain: string,
  { orderHashes, at }: { orderHashes: readonly string[]; at: number },
): Promise<void> {
  await db.query(
    `update indexer.listing set status = 'cancelled', retired_at = $3
     where chain = $1 and order_hash = any($2) and status = 'active'`,
    [chain, [...orderHashes].sort(), new Date(at)],
  );
}

/** A listing that names its order. */
export type OrderedListing = { chain: string; orderHash: string | null };

/**
 * Ends the active listings of the given orders where another marketplace has told that the order was filled or cancelled. That
 * one no longer lists it says nothing of the order.
 */
export async function updateListingsOfEndedOrders(tx: Queryable, listings: readonly OrderedListing[]): Promise<void> {
  const hashes = [...new Set(listings.flatMap(({ orderHash }) => orderHash ?? []))].sort();
  if (hashes.length === 0) return;
  await tx.query(
    `with ended as (
       select distinct on (chain, order_hash, asset) chain, order_hash, collection_id, asset, status, tx
       from indexer.listing
       where order_hash = any($1) and status in ('filled', 'cancelled') and retired_at is null
       order by chain, order_hash, asset, status desc, key
     )
     update indexer.listing as twin set status = ended.status, tx = coalesce(twin.tx, ended.tx), retired_at = null
     from ended
     where twin.order_hash = ended.order_hash and twin.chain = ended.chain and twin.collection_id = ended.collection_id
       and twin.asset = ended.asset and (twin.status = 'active' or twin.retired_at is not null)`,
    [hashes],
  );
}
