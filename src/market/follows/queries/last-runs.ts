// Stores when each task last ran for each followed collection. Primary database.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, nullable, rowDecoder, text, timestamp } from '../../../platform/database/rows.ts';

/** Times in milliseconds. `triedAt`: when the task last ran. `doneAt`: when the task last succeeded, or null if it never has. */
export type LastRun = { triedAt: number; doneAt: number | null };

const decodeLastRun = rowDecoder('follow_run', {
  collectionId: column('collection_id', text),
  triedAt: column('tried_at', timestamp),
  doneAt: column('done_at', nullable(timestamp)),
});

/** The last runs of a task by collection id. A collection that the task has never tried is not in the map. */
export async function listLastRuns(db: Queryable, task: string): Promise<Map<string, LastRun>> {
  const rows = await db.query(`select collection_id, tried_at, done_at from main.follow_run where task = $1`, [task]);
  return new Map(rows.map(decodeLastRun).map(({ collectionId, ...run }) => [collectionId, run]));
}

/** Does nothing if the collection is no longer followed. Waits for a concurrent removal of the collection. */
export async function upsertLastRun(
  db: Queryable,
  run: { task: string; collectionId: string; at: number; isDone: boolean },
): Promise<void> {
  await db.query(
    `insert into main.follow_run as stored (task, collection_id, tried_at, done_at)
     select $1, collection_id, $3::timestamptz, case when $4 then $3::timestamptz end
     from main.follow where collection_id = $2 for key share
     on conflict (task, collection_id) do update
       set tried_at = excluded.tried_at, done_at = coalesce(excluded.done_at, stored.done_at)`,
    [run.task, run.collectionId, new Date(run.at), run.isDone],
  );
}

/** Deletes the last runs of a collection, so that the collection is due for every task. */
export async function deleteLastRuns(tx: Queryable, collectionId: string): Promise<void> {
  await tx.query(`delete from main.follow_run where collection_id = $1`, [collectionId]);
}
