// Reads what the past floors of a collection are derived from, and stores the derived hours in its history, before the recorded ones. Indexer
// database.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, nullable, rowDecoder, text, timestamp } from '../../../platform/database/rows.ts';
import type { ListedOnce } from '../../orders/queries/past-orders.ts';
import { PAST_LISTING } from '../../orders/queries/past-orders.ts';
import type { PastHour } from '../floor-history.ts';

const decodeListing = rowDecoder('listing', PAST_LISTING);

export async function listPastListings(db: Queryable, collectionId: string, limit: number): Promise<ListedOnce[]> {
  const rows = await db.query(
    `select id, asset, price_raw, listed_at as opened_at, expires_at, coalesce(ended_at, closed_at) as ended_at, status, dormant
     from indexer.listing where collection_id = $1 and price_raw > 0 limit $2`,
    [collectionId, limit],
  );
  return rows.map(decodeListing);
}

const decodeSale = rowDecoder('sale', { listingId: column('listing_id', text), at: column('sold_at', timestamp) });

/** The time of the sale of each of the listings and orders, by their ids. In milliseconds. */
export async function listFillTimes(
  db: Queryable,
  collectionId: string,
  ids: readonly string[],
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db.query(
    `select listing_id, max(sold_at) as sold_at from indexer.sale where collection_id = $1 and listing_id = any($2) group by 1`,
    [collectionId, ids],
  );
  return new Map(rows.map(decodeSale).map(({ listingId, at }) => [listingId, at]));
}

const decodeId = rowDecoder('collection_figures', { id: column('collection_id', text) });

/** Those of the collections that have derived hours. */
export async function listWithDerivedHours(db: Queryable, collectionIds: readonly string[]): Promise<string[]> {
  const rows = await db.query(
    `select collection_id from indexer.collection_figures where collection_id = any($1) and recorded_from is not null`,
    [collectionIds],
  );
  return rows.map((row) => decodeId(row).id);
}

const decodeBegin = rowDecoder('market_hour', { at: nullable(timestamp) });

/** The first hour with recorded figures, in milliseconds. Null if nothing is recorded yet. */
export async function findRecordedFrom(tx: Queryable, collectionId: string): Promise<number | null> {
  const [row] = await tx.query(
    `select coalesce((select recorded_from from indexer.collection_figures where collection_id = $1),
       (select min(hour) from indexer.market_hour where collection_id = $1)) as at`,
    [collectionId],
  );
  return row ? decodeBegin(row).at : null;
}

/** Replaces the derived hours of the collection. Its figures must be locked. All hours are before `recordedFrom`. */
export async function replacePastHours(
  tx: Queryable,
  collectionId: string,
  { hours, recordedFrom }: { hours: readonly PastHour[]; recordedFrom: number },
): Promise<void> {
  const begin = new Date(recordedFrom);
  await tx.query(`delete from indexer.market_hour where collection_id = $1 and hour < $2`, [collectionId, begin]);
  await tx.query(
    `insert into indexer.market_hour (collection_id, hour, floor_high_raw, floor_low_raw, floor_close_raw, listed)
     select $1, * from unnest($2::timestamptz[], $3::numeric[], $4::numeric[], $5::numeric[], $6::bigint[])`,
    [
      collectionId,
      hours.map(({ hour }) => new Date(hour)),
      hours.map(({ highRaw }) => highRaw?.toString() ?? null),
      hours.map(({ lowRaw }) => lowRaw?.toString() ?? null),
      hours.map(({ closeRaw }) => closeRaw?.toString() ?? null),
      hours.map(({ listed }) => listed),
    ],
  );
  await tx.query(`update indexer.collection_figures set recorded_from = $2 where collection_id = $1`, [
    collectionId,
    hours.length === 0 ? null : begin,
  ]);
}
