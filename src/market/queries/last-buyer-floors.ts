// The last buyer floors that could be resolved, kept in the primary so that they outlive a process and an indexer.

import type { Queryable } from '../../database/port.ts';

export type LastBuyerFloor = { raw: bigint; observedAt: number };

/** The last-good buyer floor observed at or after `since` (milliseconds), or null. */
export async function findLastBuyerFloor(
  db: Queryable,
  collectionId: string,
  since: number,
): Promise<LastBuyerFloor | null> {
  const [row] = await db.query<{ floor_raw: string; observed_at: Date }>(
    `select floor_raw, observed_at from main.last_buyer_floor where collection_id = $1 and observed_at >= $2`,
    [collectionId, new Date(since)],
  );
  return row ? { raw: BigInt(row.floor_raw), observedAt: row.observed_at.getTime() } : null;
}

/** Keeps a resolved buyer floor; one observed later by another process stays. */
export async function upsertLastBuyerFloor(db: Queryable, collectionId: string, floor: LastBuyerFloor): Promise<void> {
  await db.query(
    `insert into main.last_buyer_floor as kept (collection_id, floor_raw, observed_at) values ($1, $2, $3)
     on conflict (collection_id) do update set floor_raw = excluded.floor_raw, observed_at = excluded.observed_at
     where kept.observed_at < excluded.observed_at`,
    [collectionId, floor.raw.toString(), new Date(floor.observedAt)],
  );
}

/** Forgets the floor of a collection that was seen, at `seenAt`, to have no listing at all; one observed later stays. */
export async function deleteLastBuyerFloor(db: Queryable, collectionId: string, seenAt: number): Promise<void> {
  await db.query(`delete from main.last_buyer_floor where collection_id = $1 and observed_at <= $2`, [
    collectionId,
    new Date(seenAt),
  ]);
}
