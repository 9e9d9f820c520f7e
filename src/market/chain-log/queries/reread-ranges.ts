// Stores the blocks whose events are in the chain log but must be read from the chain again (sources/chains/reread.ts). Primary database.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, rowDecoder, safeInteger, text, timestamp } from '../../../platform/database/rows.ts';

/** Both ends are inclusive. `since`: when the first of the blocks was stored, in milliseconds. */
export type RereadRange = { id: number; chain: string; from: number; to: number; since: number };

type Blocks = { from: number; to: number };

const COLUMNS = 'id, chain, from_block, to_block, since';
const decodeRange = rowDecoder('reread_range', {
  id: safeInteger,
  chain: text,
  from: column('from_block', safeInteger),
  to: column('to_block', safeInteger),
  since: timestamp,
});

/** Sorted by chain and first block. */
export async function listRereadRanges(db: Queryable): Promise<RereadRange[]> {
  return (await db.query(`select ${COLUMNS} from main.reread_range order by chain, from_block, id`)).map(decodeRange);
}

/** The range of a chain that has been due for the longest time; null if none is due. */
export async function findDueReread(db: Queryable, chain: string, now: number): Promise<RereadRange | null> {
  const [row] = await db.query(
    `select ${COLUMNS} from main.reread_range where chain = $1 and due_at <= $2 order by due_at, id limit 1`,
    [chain, new Date(now)],
  );
  return row ? decodeRange(row) : null;
}

/**
 * Adds blocks. The ranges that overlap or adjoin them become one range: the first of these ranges is extended, so that a read of it goes on
 * while blocks are added at its end, and the others are removed.
 */
export async function insertReread(tx: Queryable, chain: string, { from, to }: Blocks, now: number): Promise<void> {
  await tx.query(
    `with merged as (
       select (array_agg(id order by from_block, id))[1] as id, least(min(from_block), $2) as from_block,
         greatest(max(to_block), $3) as to_block, least(min(since), $4) as since
       from main.reread_range where chain = $1 and from_block <= $3::bigint + 1 and to_block >= $2::bigint - 1
     ), removed as (
       delete from main.reread_range using merged
       where chain = $1 and reread_range.from_block <= $3::bigint + 1 and reread_range.to_block >= $2::bigint - 1 and reread_range.id <> merged.id
     ), extended as (
       update main.reread_range set from_block = merged.from_block, to_block = merged.to_block, since = merged.since
       from merged where reread_range.id = merged.id returning 1
     )
     insert into main.reread_range (chain, from_block, to_block, since, due_at)
     select $1, from_block, to_block, since, $4 from merged where not exists (select from extended)`,
    [chain, from, to, new Date(now)],
  );
}

/**
 * Removes the blocks of the range up to `readTo`, which have been read again. Returns false and changes nothing if the range has changed
 * otherwise.
 */
export async function updateRereadRange(tx: Queryable, { id, from }: RereadRange, readTo: number): Promise<boolean> {
  const values = [id, from, readTo];
  const ended = await tx.query(
    `delete from main.reread_range where id = $1 and from_block = $2 and to_block <= $3 returning 1`,
    values,
  );
  if (ended.length > 0) return true;
  const moved = await tx.query(
    `update main.reread_range set from_block = $3::bigint + 1 where id = $1 and from_block = $2 and to_block > $3 returning 1`,
    values,
  );
  return moved.length > 0;
}

/** Sets when the range is tried again. `dueAt` in milliseconds. */
export async function updateRereadDue(db: Queryable, { id }: RereadRange, dueAt: number): Promise<void> {
  await db.query(`update main.reread_range set due_at = $2 where id = $1`, [id, new Date(dueAt)]);
}

/** Removes the blocks after `ancestor`, which a reorganisation has orphaned. */
export async function deleteRereadsAfter(tx: Queryable, chain: string, ancestor: number): Promise<void> {
  await tx.query(`delete from main.reread_range where chain = $1 and from_block > $2`, [chain, ancestor]);
  await tx.query(`update main.reread_range set to_block = $2 where chain = $1 and to_block > $2`, [chain, ancestor]);
}
