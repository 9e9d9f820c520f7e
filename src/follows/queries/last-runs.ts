// When each task last had a turn with each followed collection. Primary database. By the clock of whoever had the turn.

import type { Queryable } from '../../database/port.ts';

/** Times in milliseconds; `doneAt` is null where no turn ever came to its end. */
export type LastRun = { triedAt: number; doneAt: number | null };

/** The turns of a task by collection id; a collection that never had one is missing. */
export async function listLastRuns(db: Queryable, task: string): Promise<Map<string, LastRun>> {
  const rows = await db.query<{ collection_id: string; tried_at: Date; done_at: Date | null }>(
    `select collection_id, tried_at, done_at from main.follow_turn where task = $1`,
    [task],
  );
  return new Map(
    rows.map((row) => [
      row.collection_id,
      { triedAt: row.tried_at.getTime(), doneAt: row.done_at === null ? null : row.done_at.getTime() },
    ]),
  );
}

/** Notes a turn, unless the collection is followed no more; waits for whoever is about to remove it. */
export async function upsertLastRun(
  db: Queryable,
  turn: { task: string; collectionId: string; at: number; isDone: boolean },
): Promise<void> {
  await db.query(
    `insert into main.follow_turn as stored (task, collection_id, tried_at, done_at)
     select $1, collection_id, $3::timestamptz, case when $4 then $3::timestamptz end
     from main.follow where collection_id = $2 for key share
     on conflict (task, collection_id) do update
       set tried_at = excluded.tried_at, done_at = coalesce(excluded.done_at, stored.done_at)`,
    [turn.task, turn.collectionId, new Date(turn.at), turn.isDone],
  );
}

/** Forgets the turns of a collection, so that every task has something to do with it at once. */
export async function deleteLastRuns(tx: Queryable, collectionId: string): Promise<void> {
  await tx.query(`delete from main.follow_turn where collection_id = $1`, [collectionId]);
}
