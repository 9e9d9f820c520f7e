// Stores the metadata of collections that was read from their contracts. Primary database.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, integer, nullable, rowDecoder, text } from '../../../platform/database/rows.ts';

const decodeDue = rowDecoder('collection_metadata', { collectionId: column('collection_id', text), attempts: integer });

/** `attempts`: failed reads in a row. */
export type DueCollection = ReturnType<typeof decodeDue>;

/** Returns those of the given collections whose metadata was never read or is due again. */
export async function listDueCollectionMetadata(
  db: Queryable,
  collectionIds: readonly string[],
  now: number,
): Promise<DueCollection[]> {
  const rows = await db.query(
    `select wanted.id as collection_id, coalesce(attempts, 0) as attempts from unnest($1::text[]) as wanted (id)
     left join main.collection_metadata as stored on stored.collection_id = wanted.id
     where stored.collection_id is null or stored.due_at <= $2 order by stored.due_at nulls first, wanted.id`,
    [collectionIds, new Date(now)],
  );
  return rows.map(decodeDue);
}

/**
 * The document and the royalty. If the document could not be read, `document` is null: the stored fields of the document are kept, and if
 * `royaltyBps` is null too, the stored royalty is kept.
 */
export type CollectionRead = {
  collectionId: string;
  document: { name: string | null; image: string | null; banner: string | null; description: string | null } | null;
  royaltyBps: number | null;
  failure: string | null;
  host: string | null;
  uriDigest: string | null;
  attempts: number;
  dueAt: number;
  at: number;
};

const decodeName = rowDecoder('collection_metadata', { changed: text });

/** Returns whether a served field changed. Stores nothing if the collection is no longer followed. */
export async function upsertCollectionMetadata(db: Queryable, read: CollectionRead): Promise<boolean> {
  const { collectionId, document, royaltyBps, failure, host, uriDigest, attempts, dueAt, at } = read;
  const fields = 'name, image, banner, description, royalty_bps';
  const rows = await db.query(
    `with before as (select ${fields} from main.collection_metadata where collection_id = $1),
     written as (
       insert into main.collection_metadata as stored
         (collection_id, ${fields}, failure, host, uri_digest, attempts, due_at, fetched_at)
       select collection_id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, case when $12 then $13::timestamptz end
       from main.follow where collection_id = $1 for key share
       on conflict (collection_id) do update set
         name = case when $12 then excluded.name else stored.name end,
         image = case when $12 then excluded.image else stored.image end,
         banner = case when $12 then excluded.banner else stored.banner end,
         description = case when $12 then excluded.description else stored.description end,
         royalty_bps = case when $12 then excluded.royalty_bps
           else coalesce(excluded.royalty_bps, stored.royalty_bps) end,
         failure = excluded.failure, host = excluded.host,
         uri_digest = excluded.uri_digest, attempts = excluded.attempts, due_at = excluded.due_at,
         fetched_at = coalesce(excluded.fetched_at, stored.fetched_at)
       returning ${fields}
     )
     select 'changed' as changed from written left join before on true
     where (written.*) is distinct from (before.*)`,
    [
      collectionId,
      document?.name ?? null,
      document?.image ?? null,
      document?.banner ?? null,
      document?.description ?? null,
      royaltyBps,
      failure,
      host,
      uriDigest,
      attempts,
      new Date(dueAt),
      document !== null,
      new Date(at),
    ],
  );
  return rows.map(decodeName).length > 0;
}

const decodeFailure = rowDecoder('collection_metadata', {
  collectionId: column('collection_id', text),
  failure: text,
  host: nullable(text),
});

export type CollectionFailure = ReturnType<typeof decodeFailure>;

export async function listCollectionFailures(
  db: Queryable,
  collectionIds: readonly string[],
): Promise<CollectionFailure[]> {
  const rows = await db.query(
    `select collection_id, failure, host from main.collection_metadata
     where collection_id = any($1) and failure is not null order by collection_id`,
    [collectionIds],
  );
  return rows.map(decodeFailure);
}
