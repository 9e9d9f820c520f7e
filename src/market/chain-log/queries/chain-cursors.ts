// Stores how far each chain has been read, and the hashes of recent blocks. Primary database. A transaction that applies blocks locks the
// cursor of the chain. A transaction that stores or cancels an order waits for this lock.

import type { Hex } from '../../../platform/core/evm.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { column, hex, nullable, rowDecoder, safeInteger, text, timestamp } from '../../../platform/database/rows.ts';
import type { BlockHeader } from '../chain-event.ts';

/** The last block of a chain that was read and applied. Times in milliseconds. */
export type ChainCursor = {
  chain: string;
  number: number;
  hash: Hex;
  time: number;
  /** Incremented when a collection joins the live stream of the chain, and when a collection is no longer followed. */
  revision: number;
  /** The number of reorganisations since the chain was first followed. */
  reorgs: number;
  /** Why no further block is read; null while the chain is read normally. */
  note: string | null;
  updatedAt: number;
};

type Block = Pick<BlockHeader, 'number' | 'hash' | 'time'>;

const COLUMNS = `chain, block_number, block_hash, block_time, revision, reorgs, note, updated_at`;
const decodeCursor = rowDecoder('chain_cursor', {
  chain: text,
  number: column('block_number', safeInteger),
  hash: column('block_hash', hex),
  time: column('block_time', timestamp),
  revision: safeInteger,
  reorgs: safeInteger,
  note: nullable(text),
  updatedAt: column('updated_at', timestamp),
});

/** The cursor of a chain, or null if the chain has never been followed. With `lock`, the cursor stays locked until the transaction ends. */
export async function findChainCursor(
  db: Queryable,
  chain: string,
  lock?: 'for update' | 'for share',
): Promise<ChainCursor | null> {
  const [row] = await db.query(`select ${COLUMNS} from main.chain_cursor where chain = $1 ${lock ?? ''}`, [chain]);
  return row ? decodeCursor(row) : null;
}

export async function listChainCursors(db: Queryable): Promise<ChainCursor[]> {
  return (await db.query(`select ${COLUMNS} from main.chain_cursor order by chain`)).map(decodeCursor);
}

/** Stores the first cursor of a chain. An existing cursor is kept. */
export async function insertChainCursor(tx: Queryable, chain: string, at: Block, now: number): Promise<void> {
  await tx.query(
    `insert into main.chain_cursor (chain, block_number, block_hash, block_time, updated_at)
     values ($1, $2, $3, $4, $5) on conflict (chain) do nothing`,
    [chain, at.number, at.hash, new Date(at.time), new Date(now)],
  );
}

/** Moves the cursor forward, or in a reorganisation back to the common ancestor. */
export async function updateChainCursor(
  tx: Queryable,
  chain: string,
  at: Block,
  { now, reorg = false }: { now: number; reorg?: boolean },
): Promise<void> {
  await tx.query(
    `update main.chain_cursor set block_number = $2, block_hash = $3, block_time = $4, updated_at = $5, note = null,
       reorgs = reorgs + $6 where chain = $1`,
    [chain, at.number, at.hash, new Date(at.time), new Date(now), reorg ? 1 : 0],
  );
}

export async function updateChainRevision(tx: Queryable, chain: string): Promise<void> {
  await tx.query(`update main.chain_cursor set revision = revision + 1 where chain = $1`, [chain]);
}

/** Stores why a chain cannot be read any further. */
export async function updateChainNote(db: Queryable, chain: string, note: string): Promise<void> {
  await db.query(`update main.chain_cursor set note = $2 where chain = $1 and note is distinct from $2`, [chain, note]);
}

/** `now`: when the blocks are applied, in milliseconds. */
export async function upsertChainBlocks(
  tx: Queryable,
  chain: string,
  blocks: readonly Block[],
  now: number,
): Promise<void> {
  await tx.query(
    `insert into main.chain_block (chain, number, hash, time, applied_at)
     select $1, number, hash, time, $5 from unnest($2::bigint[], $3::text[], $4::timestamptz[]) as block (number, hash, time)
     on conflict (chain, number) do update set hash = excluded.hash, time = excluded.time, applied_at = excluded.applied_at`,
    [
      chain,
      blocks.map((block) => block.number),
      blocks.map((block) => block.hash),
      blocks.map((block) => new Date(block.time)),
      new Date(now),
    ],
  );
}

const decodeBlock = rowDecoder('chain_block', { number: safeInteger, hash: hex, time: timestamp });

/** The stored blocks of a chain up to and including block `upTo`, newest first; without `limit`, all of them. */
export async function listChainBlocks(
  db: Queryable,
  chain: string,
  options: { upTo: number; limit?: number },
): Promise<Block[]> {
  const rows = await db.query(
    `select number, hash, time from main.chain_block where chain = $1 and number <= $2 order by number desc limit $3`,
    [chain, options.upTo, options.limit ?? null],
  );
  return rows.map(decodeBlock);
}

const decodeApplied = rowDecoder('chain_block', { since: nullable(timestamp) });

/** The earliest time at which a stored block after block `number` was applied, in milliseconds. Null if it is not known. */
export async function findAppliedAfter(db: Queryable, chain: string, number: number): Promise<number | null> {
  const [row] = await db.query(
    `select min(applied_at) as since from main.chain_block where chain = $1 and number > $2`,
    [chain, number],
  );
  return row ? decodeApplied(row).since : null;
}

export async function deleteChainBlocksAfter(tx: Queryable, chain: string, number: number): Promise<void> {
  await tx.query(`delete from main.chain_block where chain = $1 and number > $2`, [chain, number]);
}

/**
 * Deletes old stored blocks. Blocks from `number` onward are kept. Of the earlier blocks, those from before `since` are deleted, and those
 * between `since` and `denseSince` are thinned out: of each `interval` block numbers, only the lowest stored block is kept. Times in
 * milliseconds.
 */
export async function deleteOldChainBlocks(
  tx: Queryable,
  chain: string,
  { number, denseSince, since, interval }: { number: number; denseSince: number; since: number; interval: number },
): Promise<void> {
  await tx.query(
    `delete from main.chain_block as stored where chain = $1 and number < $2 and time < $3
       and (time < $4 or exists (select from main.chain_block as kept where kept.chain = $1
         and kept.number >= stored.number / $5::bigint * $5::bigint and kept.number < stored.number))`,
    [chain, number, new Date(denseSince), new Date(since), interval],
  );
}
