// Reads and writes the merged activity log, `main.activity`, in the primary database. A transaction locks `main.activity_head` before it
// assigns positions, and holds the lock until it commits. So no position appears that is smaller than a position that was already read.

import type { Queryable } from '../../../platform/database/port.ts';
import { boolean, column, list, rowDecoder, safeInteger, text, timestamp } from '../../../platform/database/rows.ts';
import type { ChangeOrigin } from '../market-change.ts';
import { ACTIVITY_CHANNEL } from '../merge-notice.ts';
import type { ChangeBatch } from './market-changes.ts';
import { changesFrom } from './market-changes.ts';

/**
 * `position`: the last assigned position; 0 if no position has been assigned. `oldest`: from this position on, all changes are kept; before it,
 * only changes of floors. `revision` and `merged` are used only if the indexer has a database of its own. `revision` counts the merges of the
 * indexer's changes and the removals of collections. `merged` lists the sequence numbers of the changes that the last merge has read, until these changes are deleted in the indexer.
 */
export type ActivityHead = { position: number; oldest: number; revision: number; merged: number[] };

const decodeHead = rowDecoder('activity_head', {
  position: safeInteger,
  oldest: safeInteger,
  revision: safeInteger,
  merged: list(safeInteger),
});

const HEAD_COLUMNS = 'position, oldest, revision, to_json(merged) as merged';

export async function findActivityHead(db: Queryable): Promise<ActivityHead> {
  const [row] = await db.query(`select ${HEAD_COLUMNS} from main.activity_head`);
  return decodeHead(row ?? {});
}

/** No other transaction can assign positions until this transaction ends. */
export async function lockActivityHead(tx: Queryable): Promise<ActivityHead> {
  const [row] = await tx.query(`select ${HEAD_COLUMNS} from main.activity_head for update`);
  return decodeHead(row ?? {});
}

/** After the commit, PostgreSQL notifies all processes that the head was updated. */
export async function updateActivityHead(
  tx: Queryable,
  head: Pick<ActivityHead, 'position' | 'revision' | 'merged'>,
): Promise<void> {
  await tx.query(
    `with updated as (
       update main.activity_head set position = $1, revision = $2, merged = $3::bigint[] returning position
     ) select pg_notify('${ACTIVITY_CHANNEL}', '') from updated`,
    [head.position, head.revision, head.merged],
  );
}

/**
 * Empties `merged`. Must be called after the indexer has deleted the changes that `merged` lists. Does nothing if the stored revision is no longer
 * `revision`.
 */
export async function clearMerged(db: Queryable, revision: number): Promise<void> {
  await db.query(`update main.activity_head set merged = '{}' where revision = $1`, [revision]);
}

const LOG_COLUMNS = `kind, at, chain, collection_id, asset, price_raw, from_account, to_account, order_id, marketplace, tx, reason,
  block_number, log_index, quantity, payment, tokens, fact`;

type MergeOptions = { origin: ChangeOrigin; after: number; now: number };

const decodeCount = rowDecoder('activity', { count: safeInteger });

const decodeMoved = rowDecoder('activity', {
  moved: safeInteger,
  added: safeInteger,
  isReorg: column('is_reorg', boolean),
});

/**
 * Moves at most `limit` changes, the oldest first, from `market_change` of the schema `origin` to the log, after the position `after`. The
 * schema must be in the primary database. Changes that are not new (`isNew`) are deleted, but not appended to the log. Stops before a change of
 * the kind `reorg`. `moved`: how many changes were taken from the schema, including those that are not new; `added`: how many of them were
 * appended. `isReorg`: the next change is of the kind `reorg`. The head must be locked. `now` in milliseconds. All changes that the statement
 * sees between the oldest and the newest change of the batch belong to the batch. Therefore the statement deletes this range of `seq`, which
 * PostgreSQL finds through the index. With a join, PostgreSQL would read the complete table, which has many deleted rows during an import.
 */
export async function moveChanges(
  tx: Queryable,
  { origin, after, now }: MergeOptions,
  limit: number,
): Promise<{ moved: number; added: number; isReorg: boolean }> {
  const [row] = await tx.query(
    `with oldest as (
       select * from ${origin}.market_change order by seq limit $1
     ), batch as (
       select * from oldest where seq < coalesce((select min(seq) from oldest where kind = 'reorg'), 9223372036854775807)
     ), removed as (
       delete from ${origin}.market_change as stored
       where seq between (select min(seq) from batch) and (select max(seq) from batch)
     ), added as (
       insert into main.activity (position, merged_at, origin, ${LOG_COLUMNS})
       select $2::bigint + row_number() over (order by seq), $3, $4, ${LOG_COLUMNS} from batch
       where ${isNew('batch')}
       returning 1
     ) select (select count(*) from batch) as moved, (select count(*) from added) as added,
       exists (select from oldest where kind = 'reorg') as is_reorg`,
    [limit, after, new Date(now), origin],
  );
  return decodeMoved(row ?? {});
}

/**
 * The SQL condition for the changes that are appended: changes without a fact (see MarketChange), and changes whose fact is not in the log or
 * was taken back.
 * Without this condition, an indexer that is rebuilt would append the same sales and transfers again.
 */
const isNew = (change: string) => `(${change}.fact is null or not exists (
  select from main.activity as known where known.fact = ${change}.fact and known.voided_by is null))`;

/**
 * Appends the new changes of a batch (`isNew`) after the position `after`, and returns how many rows were appended. The head must be
 * locked. `now` in milliseconds.
 */
export async function insertActivity(
  tx: Queryable,
  { rows }: ChangeBatch,
  { origin, after, now }: MergeOptions,
): Promise<number> {
  const [row] = await tx.query(
    `with added as (
       insert into main.activity (position, merged_at, origin, ${LOG_COLUMNS})
       select $2::bigint + row_number() over (order by seq), $3, $4, ${LOG_COLUMNS} from ${changesFrom('$1')}
       where ${isNew('incoming')}
       returning 1
     ) select count(*) as count from added`,
    [rows, after, new Date(now), origin],
  );
  return decodeCount(row ?? {}).count;
}

/**
 * Marks the rows that a change of the kind `reorg` takes back, appends that change and returns 1. If the change takes no row back, appends
 * nothing and returns 0. The head must be locked.
 */
export async function insertReorgActivity(
  tx: Queryable,
  { rows }: ChangeBatch,
  { origin, after, now }: MergeOptions,
): Promise<number> {
  const [row] = await tx.query(
    `with reorg as (
       select * from ${changesFrom('$1')}
     ), taken_back as (
       select position from main.activity as stored join reorg on stored.chain = reorg.chain and stored.block_number > reorg.block_number
       where reorg.block_number is not null and stored.block_number is not null and voided_by is null and origin = $4
       union all
       select position from main.activity as stored
       where fact = any((select facts from reorg)::text[]) and voided_by is null
     ), voided as (
       update main.activity as stored set voided_by = $2::bigint + 1 from taken_back
       where stored.position = taken_back.position returning stored.position, stored.collection_id
     ), added as (
       insert into main.activity (position, merged_at, origin, voids, reorg_ids, ${LOG_COLUMNS})
       select $2::bigint + 1, $3, $4, (select array_agg(position order by position) from voided),
         (select array_agg(distinct collection_id) filter (where collection_id is not null) from voided), ${LOG_COLUMNS}
       from reorg where exists (select from voided)
       returning 1
     ) select count(*) as count from added`,
    [rows, after, new Date(now), origin],
  );
  return decodeCount(row ?? {}).count;
}

const decodeFact = rowDecoder('activity', { fact: text });

/** The facts of the transfers of these blocks that were not taken back. */
export async function listTransferFacts(db: Queryable, chain: string, blocks: readonly number[]): Promise<string[]> {
  const rows = await db.query(
    `select fact from main.activity where chain = $1 and block_number = any($2::bigint[])
       and kind in ('mint', 'transfer', 'burn') and voided_by is null and fact is not null`,
    [chain, blocks],
  );
  return rows.map((row) => decodeFact(row).fact);
}

const decodeRemoved = rowDecoder('activity', { collectionId: column('collection_id', text) });

/** Those of the collections whose removal is in the log, or waits to be merged. */
export async function listRemoved(db: Queryable, collectionIds: readonly string[]): Promise<string[]> {
  const rows = await db.query(
    `select collection_id from main.activity where collection_id = any($1) and kind = 'remove'
     union select collection_id from main.market_change where collection_id = any($1) and kind = 'remove'`,
    [collectionIds],
  );
  return rows.map((row) => decodeRemoved(row).collectionId);
}

/**
 * Deletes the changes of collections from the log, except that the collection was removed, and increments `revision`. A merge may already have read changes of these collections from
 * an indexer in a database of its own. When such a merge finds the new revision, it writes nothing and reads the changes again.
 */
export async function deleteActivityOf(tx: Queryable, collectionIds: readonly string[]): Promise<void> {
  await lockActivityHead(tx);
  await tx.query(`update main.activity_head set revision = revision + 1`);
  await tx.query(`delete from main.activity where collection_id = any($1) and kind <> 'remove'`, [collectionIds]);
}

/** Whether `deleteOldActivity` would find rows that were merged before `before`, in milliseconds. Takes no lock. */
export async function hasOldActivity(db: Queryable, before: number): Promise<boolean> {
  const rows = await db.query(
    `select from main.activity_head as head cross join lateral (
       select merged_at from main.activity where position >= head.oldest order by position limit 1) as first
     where first.merged_at < $1`,
    [new Date(before)],
  );
  return rows.length > 0;
}

const decodeAge = rowDecoder('activity', { position: safeInteger, mergedAt: column('merged_at', timestamp) });

/**
 * Finds at most `limit` of the oldest rows that were merged before `before`, in milliseconds, and moves `oldest` behind them. Deletes these
 * rows except changes of floors, which are the only exact record of past floors: the history of a collection has only one row for each hour.
 * Returns how many rows were found.
 */
export async function deleteOldActivity(tx: Queryable, before: number, limit: number): Promise<number> {
  const { oldest } = await lockActivityHead(tx);
  const rows = await tx.query(
    `select position, merged_at from main.activity where position >= $1 order by position limit $2`,
    [oldest, limit],
  );
  const kept = rows.map(decodeAge).findIndex(({ mergedAt }) => mergedAt >= before);
  const last = rows.map(decodeAge).at(kept < 0 ? -1 : kept - 1);
  if (kept === 0 || !last) return 0;
  await tx.query(`delete from main.activity where position between $1 and $2 and kind <> 'floor'`, [
    oldest,
    last.position,
  ]);
  await tx.query(`update main.activity_head set oldest = $1`, [last.position + 1]);
  return kept < 0 ? rows.length : kept;
}
