// The last known buyer floor of each collection. It is in the primary database, so it can be read while the indexer database is down.

import type { Queryable } from '../../../platform/database/port.ts';
import { amount, column, nullable, rowDecoder, text, timestamp } from '../../../platform/database/rows.ts';

/**
 * `raw`: the lowest total of a buyer. `askRaw`: the ask floor of the same moment; null if an earlier version stored the floor. Both are in base
 * units. `observedAt` in milliseconds.
 */
export type LastBuyerFloor = { raw: bigint; askRaw: bigint | null; observedAt: number };

const decodeListed = rowDecoder('last_buyer_floor', {
  collectionId: column('collection_id', text),
  raw: column('floor_raw', amount),
  askRaw: column('ask_raw', nullable(amount)),
  observedAt: column('observed_at', timestamp),
});

/** The stored floors that were observed at or after `since` (milliseconds), by collection id. */
export async function listLastBuyerFloors(
  db: Queryable,
  collectionIds: readonly string[],
  since: number,
): Promise<Map<string, LastBuyerFloor>> {
  const rows = await db.query(
    `select collection_id, floor_raw, ask_raw, observed_at from main.last_buyer_floor
     where collection_id = any($1) and observed_at >= $2`,
    [collectionIds, new Date(since)],
  );
  return new Map(rows.map(decodeListed).map(({ collectionId, ...floor }) => [collectionId, floor]));
}

const decodeTime = rowDecoder('last_buyer_floor', {
  collectionId: column('collection_id', text),
  observedAt: column('observed_at', timestamp),
});

/**
 * When the stored floors of the given collections were observed, in milliseconds. A collection without a stored floor is missing from the
 * result.
 */
export async function listLastBuyerFloorTimes(
  db: Queryable,
  collectionIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db.query(
    `select collection_id, observed_at from main.last_buyer_floor where collection_id = any($1)`,
    [collectionIds],
  );
  return new Map(rows.map(decodeTime).map(({ collectionId, observedAt }) => [collectionId, observedAt]));
}

/** Does nothing if a later floor is stored or the collection was removed meanwhile. */
export async function upsertLastBuyerFloor(db: Queryable, collectionId: string, floor: LastBuyerFloor): Promise<void> {
  await db.query(
    `insert into main.last_buyer_floor as stored (collection_id, floor_raw, ask_raw, observed_at)
     select id, $2::numeric, $3::numeric, $4::timestamptz from main.collection where id = $1 for key share
     on conflict (collection_id) do update
     set floor_raw = excluded.floor_raw, ask_raw = excluded.ask_raw, observed_at = excluded.observed_at
     where stored.observed_at < excluded.observed_at`,
    [collectionId, floor.raw.toString(), floor.askRaw?.toString() ?? null, new Date(floor.observedAt)],
  );
}

/** Deletes the floor of a collection that had no listing at `observedAt`, unless a later floor is stored. */
export async function deleteLastBuyerFloor(db: Queryable, collectionId: string, observedAt: number): Promise<void> {
  await db.query(`delete from main.last_buyer_floor where collection_id = $1 and observed_at <= $2`, [
    collectionId,
    new Date(observedAt),
  ]);
}
