// Stores the changes of metadata that contracts announce (ERC-4906, and the event URI of ERC-1155). The follower of a chain stores the
// announcements in the primary database. The task that reads metadata then makes the announced tokens due in the indexer database.

import type { Queryable } from '../../../platform/database/port.ts';
import { amount, column, rowDecoder, safeInteger, text } from '../../../platform/database/rows.ts';

/** Token ids from `from` to `to`, both included. */
export type TokenRange = { collectionId: string; from: bigint; to: bigint };

/** Stores announcements, except those that are already stored and not yet processed. Primary database. */
export async function insertMetadataAnnouncements(tx: Queryable, ranges: readonly TokenRange[]): Promise<void> {
  if (ranges.length === 0) return;
  await tx.query(
    `insert into main.metadata_announcement (collection_id, from_id, to_id)
     select distinct * from unnest($1::text[], $2::numeric[], $3::numeric[]) as announced (collection_id, from_id, to_id)
     order by 1, 2, 3 on conflict do nothing`,
    toColumns(ranges),
  );
}

const decodeAnnouncement = rowDecoder('metadata_announcement', {
  seq: safeInteger,
  collectionId: column('collection_id', text),
  from: column('from_id', amount),
  to: column('to_id', amount),
});

export type MetadataAnnouncement = ReturnType<typeof decodeAnnouncement>;

/** The oldest first. Primary database. */
export async function listMetadataAnnouncements(db: Queryable, limit: number): Promise<MetadataAnnouncement[]> {
  const rows = await db.query(
    `select seq, collection_id, from_id::text, to_id::text from main.metadata_announcement order by seq limit $1`,
    [limit],
  );
  return rows.map(decodeAnnouncement);
}

/** Primary database. */
export async function deleteMetadataAnnouncements(
  db: Queryable,
  announced: readonly MetadataAnnouncement[],
): Promise<void> {
  await db.query(`delete from main.metadata_announcement where seq = any($1::bigint[])`, [
    announced.map(({ seq }) => seq),
  ]);
}

/**
 * The shortest time between the last read of metadata and a read that an announced change causes. Without this limit, a contract could
 * cause requests with each block.
 */
const REFRESH_MS_MIN = 10 * 60_000;

/**
 * Makes the metadata of tokens due, because their contract has announced a change. If the last read of a token succeeded, the token is due now, or
 * REFRESH_MS_MIN after this read if that is later. If the last read failed, the token is due REFRESH_MS_MIN from now, unless it is due earlier.
 * Indexer database. A Citus cluster refuses expressions that depend on the time zone of the session,
 * such as the sum of an interval and a time with a zone. So the interval is added to a time without a zone.
 */
export async function updateMetadataDue(tx: Queryable, ranges: readonly TokenRange[], now: number): Promise<void> {
  if (ranges.length === 0) return;
  await tx.query(
    `update indexer.token_metadata as stored set attempts = 0, due_at = case
         when stored.failure is null
         then greatest($4::timestamptz, (stored.fetched_at at time zone 'UTC' + $5 * interval '1 ms') at time zone 'UTC')
         else least(stored.due_at, $6::timestamptz) end
     from unnest($1::text[], $2::numeric[], $3::numeric[]) as announced (collection_id, from_id, to_id)
     where stored.collection_id = announced.collection_id and (stored.due_at is null or stored.failure is not null)
       and stored.asset::numeric between announced.from_id and announced.to_id`,
    [...toColumns(ranges), new Date(now), REFRESH_MS_MIN, new Date(now + REFRESH_MS_MIN)],
  );
}

/**
 * Makes the metadata of collections due, because their contracts have announced a change (ERC-7572). The metadata is due now, or
 * REFRESH_MS_MIN after its last successful read if that is later. Primary database.
 */
export async function updateCollectionMetadataDue(
  tx: Queryable,
  collectionIds: readonly string[],
  now: number,
): Promise<void> {
  if (collectionIds.length === 0) return;
  await tx.query(
    `update main.collection_metadata set due_at = least(due_at,
       greatest($2::timestamptz, coalesce(fetched_at, 'epoch') + $3 * interval '1 ms'))
     where collection_id = any($1)`,
    [collectionIds, new Date(now), REFRESH_MS_MIN],
  );
}

function toColumns(ranges: readonly TokenRange[]): unknown[] {
  return [
    ranges.map(({ collectionId }) => collectionId),
    ranges.map(({ from }) => from.toString()),
    ranges.map(({ to }) => to.toString()),
  ];
}
