// Writes the history of the floor, of the number of listed assets and of the top bid of each collection. The history has a point for each change, and a row
// for each hour with a change. Indexer database. The transaction that changes the figures also writes the points and the hours, and holds
// the lock on the figures (`changeIndex`).

import type { Queryable } from '../../../platform/database/port.ts';
import { column, rowDecoder, text } from '../../../platform/database/rows.ts';

/**
 * Common table expressions that insert a point for each row of `changed`, and insert or update the hours of these points. `changed` is the
 * name of an expression in the same statement that has the columns collection_id, at, floor_raw, listed and top_bid_raw. The expression `points` returns
 * the keys of the new points.
 */
export const addPointsSql = (changed: string): string => `points as (
       insert into indexer.market_point (collection_id, at, floor_raw, listed, top_bid_raw)
       select collection_id, at, floor_raw, listed, top_bid_raw from ${changed} returning collection_id, key
     ), hours as (
       insert into indexer.market_hour as stored (collection_id, hour, floor_high_raw, floor_low_raw, floor_close_raw, listed, top_bid_raw)
       select collection_id, date_trunc('hour', at, 'UTC'), floor_raw, floor_raw, floor_raw, listed, top_bid_raw from ${changed}
       on conflict (collection_id, hour) do update set floor_high_raw = greatest(stored.floor_high_raw, excluded.floor_high_raw),
         floor_low_raw = least(stored.floor_low_raw, excluded.floor_low_raw), floor_close_raw = excluded.floor_close_raw,
         listed = excluded.listed, top_bid_raw = excluded.top_bid_raw
     )`;

/**
 * The SQL expression for the `fact` of a point: the text that identifies the floor change of the point in the activity log. To take the
 * floor change back, a later change of the kind `reorg` names this fact. `key` is the column with the key of the point.
 */
export const pointFactSql = (key: string): string => `'floor ' || ${key}::text`;

const decodeTaken = rowDecoder('market_point', { collectionId: column('collection_id', text), fact: text });

/**
 * Deletes the points of the collections at or after `since`, in milliseconds, and corrects the hours. The last point before `since` becomes
 * the last point of its collection again. So `updateRanks` adds a point if the present figures differ from that point. Returns the facts of
 * the deleted points. The figures must be locked.
 */
export async function deletePointsSince(
  tx: Queryable,
  collectionIds: readonly string[],
  since: number,
): Promise<string[]> {
  const rows = await tx.query(
    `delete from indexer.market_point where collection_id = any($1) and at >= $2
     returning collection_id, ${pointFactSql('key')} as fact`,
    [collectionIds, new Date(since)],
  );
  const taken = rows.map(decodeTaken);
  if (taken.length === 0) return [];
  const touched = [...new Set(taken.map(({ collectionId }) => collectionId))].sort();
  const values = [touched, new Date(since)];
  await tx.query(
    `delete from indexer.market_hour where collection_id = any($1) and hour >= date_trunc('hour', $2::timestamptz, 'UTC')`,
    values,
  );
  await tx.query(
    `insert into indexer.market_hour (collection_id, hour, floor_high_raw, floor_low_raw, floor_close_raw, listed, top_bid_raw)
     select collection_id, date_trunc('hour', $2::timestamptz, 'UTC'), max(floor_raw), min(floor_raw),
       (array_agg(floor_raw order by at desc, seq desc))[1], (array_agg(listed order by at desc, seq desc))[1],
       (array_agg(top_bid_raw order by at desc, seq desc))[1]
     from indexer.market_point
     where collection_id = any($1) and at >= date_trunc('hour', $2::timestamptz, 'UTC') group by collection_id`,
    values,
  );
  await tx.query(
    `update indexer.collection_figures as figures set point_floor_raw = last.floor_close_raw, point_listed = last.listed,
       point_top_bid_raw = last.top_bid_raw
     from indexer.collection_figures as touched left join lateral (
       select floor_close_raw, listed, top_bid_raw from indexer.market_hour as hour
       where hour.collection_id = touched.collection_id order by hour desc limit 1
     ) as last on true
     where figures.collection_id = touched.collection_id and touched.collection_id = any($1)`,
    [touched],
  );
  return taken.map(({ fact }) => fact);
}

/** Deletes at most `limit` points before `before`, in milliseconds. The hours keep their figures. Returns the number of deleted points. */
export async function deleteOldPoints(db: Queryable, before: number, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from indexer.market_point as stored using (
       select collection_id, at, seq from indexer.market_point where at < $1 order by at limit $2) as old
     where stored.collection_id = old.collection_id and stored.at = old.at and stored.seq = old.seq returning 1`,
    [new Date(before), limit],
  );
  return rows.length;
}
