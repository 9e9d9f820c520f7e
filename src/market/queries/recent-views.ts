// What readers asked for lately of the collections that are followed, and when a marketplace was last asked about a token that
// they saw. Primary database. What nobody follows is not written down: nothing would be done about it.

import type { AssetId } from '../../core/address.ts';
import type { Queryable } from '../../database/port.ts';

/** A collection that was asked for, or one token of it. Time in milliseconds. */
export type Shown = { collectionId: string; asset: AssetId | null; at: number };

/** Notes what was shown; a time is never turned back. */
export async function upsertRecentViews(db: Queryable, shown: readonly Shown[]): Promise<void> {
  await db.query(
    `insert into main.shown as stored (collection_id, asset, shown_at)
     select told.collection_id, told.asset, max(told.at)
     from unnest($1::text[], $2::text[], $3::timestamptz[]) as told (collection_id, asset, at)
     join main.follow using (collection_id)
     group by 1, 2 order by told.collection_id collate "C", told.asset collate "C"
     on conflict (collection_id, asset) do update set shown_at = greatest(stored.shown_at, excluded.shown_at)`,
    [
      shown.map(({ collectionId }) => collectionId),
      shown.map(({ asset }) => asset ?? ''),
      shown.map(({ at }) => new Date(at)),
    ],
  );
}

/** The collections that were asked for since a time, they themselves or a token of them. */
export async function listViewedCollections(db: Queryable, since: number): Promise<Set<string>> {
  const rows = await db.query<{ collection_id: string }>(
    `select distinct collection_id from main.shown where shown_at > $1`,
    [new Date(since)],
  );
  return new Set(rows.map((row) => row.collection_id));
}

/**
 * Tokens of the given collections that were asked for since a time and not looked at since another: first those that never were,
 * then whatever was asked for last.
 */
export async function listViewedTokens(
  db: Queryable,
  { collectionIds, shownSince, lookedBefore, now, limit }: ViewedTokensQuery,
): Promise<{ collectionId: string; asset: AssetId }[]> {
  const rows = await db.query<{ collection_id: string; asset: string }>(
    `select collection_id, asset from main.shown
     where collection_id = any($1) and asset <> '' and shown_at > $2 and (looked_at is null or looked_at < $3 or looked_at > $5)
     order by looked_at is not null, shown_at desc, collection_id, asset limit $4`,
    [collectionIds, new Date(shownSince), new Date(lookedBefore), limit, new Date(now)],
  );
  return rows.map((row) => ({ collectionId: row.collection_id, asset: row.asset as AssetId }));
}

export type ViewedTokensQuery = {
  collectionIds: readonly string[];
  shownSince: number;
  lookedBefore: number;
  /** A look of a later time was noted by a clock that was wrong. */
  now: number;
  limit: number;
};

/** Notes that a marketplace was asked about tokens of a collection, whatever it said. */
export async function updateViewedTokensRefreshed(
  db: Queryable,
  { collectionId, assets, at }: { collectionId: string; assets: readonly AssetId[]; at: number },
): Promise<void> {
  // Taken in the order in which upsertRecentViews takes them: each would wait for a row of the other.
  await db.query(
    `update main.shown as stored set looked_at = $3
     from (select collection_id, asset from main.shown where collection_id = $1 and asset = any($2)
           order by collection_id, asset for update) as held
     where stored.collection_id = held.collection_id and stored.asset = held.asset`,
    [collectionId, [...assets], new Date(at)],
  );
}

/** Forgets what was last asked for before a time, so many at most; returns how many. */
export async function deleteOldViews(db: Queryable, before: number, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from main.shown where (collection_id, asset) in (
       select collection_id, asset from main.shown where shown_at < $1 order by shown_at limit $2 for update skip locked)
     returning 1`,
    [new Date(before), limit],
  );
  return rows.length;
}
