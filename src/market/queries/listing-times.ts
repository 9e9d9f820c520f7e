// What the mirror already has of a source, so that a source that tells no times, or only all at once, can be kept up with:
// since when its listings are known, where it has any, and its newest sale. Indexer database.

import type { Queryable } from '../../database/port.ts';

/** An active listing as it is known. Times in milliseconds. */
export type KnownListing = { mint: string; priceRaw: string; seller: string; listedAt: number };

/** Active listings of a collection at a source by their ids. */
export async function listKnownListings(
  db: Queryable,
  { source, collectionId }: { source: string; collectionId: string },
): Promise<Map<string, KnownListing>> {
  const rows = await db.query<{ id: string; asset: string; price_raw: string; seller: string; listed_at: Date }>(
    `select id, asset, price_raw, seller, listed_at from indexer.listing
     where collection_id = $1 and source = $2 and status = 'active'`,
    [collectionId, source],
  );
  return new Map(
    rows.map((row) => [
      row.id,
      { mint: row.asset, priceRaw: row.price_raw, seller: row.seller, listedAt: row.listed_at.getTime() },
    ]),
  );
}

/** The collections of which a source has active listings. */
export async function listCollectionsListedAt(db: Queryable, source: string): Promise<string[]> {
  const rows = await db.query<{ collection_id: string }>(
    `select distinct collection_id from indexer.listing where source = $1 and status = 'active' order by collection_id`,
    [source],
  );
  return rows.map((row) => row.collection_id);
}

/** When a source last told of a sale in a collection; null when it never did. */
export async function findNewestSaleTime(
  db: Queryable,
  { source, collectionId }: { source: string; collectionId: string },
): Promise<number | null> {
  const [row] = await db.query<{ sold_at: Date }>(
    `select sold_at from indexer.sale where collection_id = $1 and source = $2 order by sold_at desc limit 1`,
    [collectionId, source],
  );
  return row?.sold_at.getTime() ?? null;
}
