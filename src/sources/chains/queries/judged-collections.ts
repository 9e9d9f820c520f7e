// Stores which collections have mirrored listings that are judged by the log of their chain. Indexer database. The projection writes these
// rows for the writers of listings, which cannot read the follows in the primary database.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, nullable, oneOf, rowDecoder, safeInteger, text, timestamp } from '../../../platform/database/rows.ts';

/** A listing's place in the order in which the stored listings of a collection are judged. */
export type ListingPlace = { asset: string; key: string };

export type JudgedCollection = {
  collectionId: string;
  /** `joining`: its stored listings are being judged. `leaving`: its dormant listings are being made visible again. */
  state: 'joining' | 'joined' | 'leaving';
  /** When the follow of the collection was created, in milliseconds. */
  followedAt: number;
  /**
   * The last sequence number of the chain's log when the follow joined. Up to this number the log has the complete past of the collection.
   */
  joinedSeq: number;
  /** The last listing that was judged in the state `joining`; null before the first listing is judged. */
  after: ListingPlace | null;
};

const decodeRow = rowDecoder('judged_collection', {
  collectionId: column('collection_id', text),
  state: oneOf(['joining', 'joined', 'leaving']),
  followedAt: column('followed_at', timestamp),
  joinedSeq: column('joined_seq', safeInteger),
  asset: column('after_asset', nullable(text)),
  key: column('after_key', nullable(text)),
});

/** Sorted by id. */
export async function listJudgedCollections(db: Queryable, chain: string): Promise<JudgedCollection[]> {
  const rows = await db.query(
    `select collection_id, state, followed_at, joined_seq, after_asset, after_key from indexer.judged_collection
     where chain = $1 order by collection_id`,
    [chain],
  );
  return rows.map((row) => {
    const { asset, key, ...collection } = decodeRow(row);
    return { ...collection, after: asset === null || key === null ? null : { asset, key } };
  });
}

const decodeChain = rowDecoder('judged_collection', { chain: text });

export async function listJudgedChains(db: Queryable): Promise<string[]> {
  return (await db.query(`select distinct chain from indexer.judged_collection`)).map((row) => decodeChain(row).chain);
}

export async function upsertJudgedCollections(
  tx: Queryable,
  chain: string,
  collections: readonly JudgedCollection[],
): Promise<void> {
  await tx.query(
    `insert into indexer.judged_collection (collection_id, chain, state, followed_at, joined_seq, after_asset, after_key)
     select collection_id, $1, state, followed_at, joined_seq, after_asset, after_key
     from unnest($2::text[], $3::text[], $4::timestamptz[], $5::bigint[], $6::text[], $7::uuid[])
       as given (collection_id, state, followed_at, joined_seq, after_asset, after_key)
     order by collection_id collate "C"
     on conflict (collection_id) do update set state = excluded.state, followed_at = excluded.followed_at,
       joined_seq = excluded.joined_seq, after_asset = excluded.after_asset, after_key = excluded.after_key`,
    [
      chain,
      collections.map(({ collectionId }) => collectionId),
      collections.map(({ state }) => state),
      collections.map(({ followedAt }) => new Date(followedAt)),
      collections.map(({ joinedSeq }) => joinedSeq),
      collections.map(({ after }) => after?.asset ?? null),
      collections.map(({ after }) => after?.key ?? null),
    ],
  );
}

/** The log no longer tells how many units of the listings are bought. */
export async function deleteJudgedCollection(tx: Queryable, collectionId: string): Promise<void> {
  await tx.query(
    `update indexer.listing set filled_quantity = null where collection_id = $1 and filled_quantity is not null`,
    [collectionId],
  );
  await tx.query(`delete from indexer.judged_collection where collection_id = $1`, [collectionId]);
}
