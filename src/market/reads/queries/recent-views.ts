// Stores and lists the recent views of followed collections and of their tokens, and the time at which a viewed token was last refreshed
// from a marketplace. Views of collections that are not followed are not stored, because no task would use them. Primary database.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { assetId, column, rowDecoder, text } from '../../../platform/database/rows.ts';

/** `asset` is null for a view of the collection itself. Time in milliseconds. */
export type RecentView = { collectionId: string; asset: AssetId | null; at: number };

/** Stores views. The time of a stored view is never replaced by an earlier time. */
export async function upsertRecentViews(db: Queryable, views: readonly RecentView[]): Promise<void> {
  await db.query(
    `insert into main.recent_view as stored (collection_id, asset, viewed_at)
     select incoming.collection_id, incoming.asset, max(incoming.at)
     from unnest($1::text[], $2::text[], $3::timestamptz[]) as incoming (collection_id, asset, at)
     join main.follow using (collection_id)
     group by 1, 2 order by incoming.collection_id collate "C", incoming.asset collate "C"
     on conflict (collection_id, asset) do update set viewed_at = greatest(stored.viewed_at, excluded.viewed_at)`,
    [
      views.map(({ collectionId }) => collectionId),
      views.map(({ asset }) => asset),
      views.map(({ at }) => new Date(at)),
    ],
  );
}

const collectionId = column('collection_id', text);
const decodeViewedCollection = rowDecoder('recent_view', { collectionId });
const decodeViewedToken = rowDecoder('recent_view', { collectionId, asset: assetId });

/** The collections that were viewed after `since`, or of which a token was viewed after `since`. */
export async function listViewedCollections(db: Queryable, since: number): Promise<Set<string>> {
  const rows = await db.query(`select distinct collection_id from main.recent_view where viewed_at > $1`, [
    new Date(since),
  ]);
  return new Set(rows.map((row) => decodeViewedCollection(row).collectionId));
}

/**
 * Tokens of the given collections that were viewed after `viewedSince`, and were not refreshed between `refreshedBefore` and `now`. First the
 * tokens that were never refreshed, then the others, each group sorted by the time of the view, the latest first.
 */
export async function listViewedTokens(
  db: Queryable,
  { collectionIds, viewedSince, refreshedBefore, now, limit }: ViewedTokensQuery,
): Promise<{ collectionId: string; asset: AssetId }[]> {
  const rows = await db.query(
    `select collection_id, asset from main.recent_view
     where collection_id = any($1) and asset is not null and viewed_at > $2
       and (refreshed_at is null or refreshed_at < $3 or refreshed_at > $5)
     order by refreshed_at is not null, viewed_at desc, collection_id, asset limit $4`,
    [collectionIds, new Date(viewedSince), new Date(refreshedBefore), limit, new Date(now)],
  );
  return rows.map(decodeViewedToken);
}

export type ViewedTokensQuery = {
  collectionIds: readonly string[];
  viewedSince: number;
  refreshedBefore: number;
  /** The present time. A refresh that is stored with a later time does not count: the process that stored it had a wrong clock. */
  now: number;
  limit: number;
};

/** Stores that tokens of a collection were requested from a marketplace at the time `at`, whatever the response was. */
export async function updateViewedTokensRefreshed(
  db: Queryable,
  { collectionId, assets, at }: { collectionId: string; assets: readonly AssetId[]; at: number },
): Promise<void> {
  // Rows are locked in the order in which upsertRecentViews writes them, so that the two statements cannot deadlock.
  await db.query(
    `update main.recent_view as stored set refreshed_at = $3
     from (select collection_id, asset from main.recent_view where collection_id = $1 and asset = any($2)
           order by collection_id, asset for update) as held
     where stored.collection_id = held.collection_id and stored.asset = held.asset`,
    [collectionId, [...assets], new Date(at)],
  );
}

/** Deletes at most `limit` views from before a time. Returns how many were deleted. */
export async function deleteOldViews(db: Queryable, before: number, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from main.recent_view where ctid = any(array(
       select ctid from main.recent_view where viewed_at < $1 order by viewed_at limit $2 for update skip locked))
     returning 1`,
    [new Date(before), limit],
  );
  return rows.length;
}
