// How far each chain has been read, and its newest blocks. Primary database. Whoever changes what a chain decides holds the
// lock on the chain's row, so that nobody judges an order by a state that is about to change.

import type { BlockHeader } from '../chain-event.ts';
import type { Queryable, Row } from '../../database/port.ts';
import type { Hex } from '../../core/evm.ts';

/** `time` in milliseconds. */
export type ChainCursor = {
  chain: string;
  number: number;
  hash: Hex;
  time: number;
  /** Raised whenever what is followed changes. */
  revision: number;
  /** Reorganisations seen so far. */
  reorgs: number;
  /** Why the chain stands still, when it does. */
  note: string | null;
  updatedAt: number;
};

type Block = Pick<BlockHeader, 'number' | 'hash' | 'time'>;

const COLUMNS = `chain, block_number, block_hash, block_time, revision, reorgs, note, updated_at`;

/** Where a chain stands, or null before its first step. `lock`: held until the transaction ends. */
export async function findChainCursor(
  db: Queryable,
  chain: string,
  lock?: 'for update' | 'for share',
): Promise<ChainCursor | null> {
  const [row] = await db.query(`select ${COLUMNS} from main.chain_cursor where chain = $1 ${lock ?? ''}`, [chain]);
  return row ? toChainCursor(row) : null;
}

export async function listChainCursors(db: Queryable): Promise<ChainCursor[]> {
  return (await db.query(`select ${COLUMNS} from main.chain_cursor order by chain`)).map(toChainCursor);
}

/** Begins a chain at a block. A chain that has begun stays where it is. */
export async function insertChainCursor(tx: Queryable, chain: string, at: Block, now: number): Promise<void> {
  await tx.query(
    `insert into main.chain_cursor (chain, block_number, block_hash, block_time, updated_at)
     values ($1, $2, $3, $4, $5) on conflict (chain) do nothing`,
    [chain, at.number, at.hash, new Date(at.time), new Date(now)],
  );
}

/** Moves a chain on, or back to an ancestor. */
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

/** Says why a chain stands still. */
export async function updateChainNote(db: Queryable, chain: string, note: string): Promise<void> {
  await db.query(`update main.chain_cursor set note = $2 where chain = $1 and note is distinct from $2`, [chain, note]);
}

export async function upsertChainBlocks(tx: Queryable, chain: string, blocks: readonly Block[]): Promise<void> {
  await tx.query(
    `insert into main.chain_block (chain, number, hash, time)
     select $1, * from unnest($2::bigint[], $3::text[], $4::timestamptz[])
     on conflict (chain, number) do update set hash = excluded.hash, time = excluded.time`,
    [
      chain,
      blocks.map((block) => block.number),
      blocks.map((block) => block.hash),
      blocks.map((block) => new Date(block.time)),
    ],
  );
}

/** The kept blocks of a chain up to a number, newest first. */
export async function listChainBlocks(
  db: Queryable,
  chain: string,
  options: { upTo: number; limit: number },
): Promise<Block[]> {
  const rows = await db.query(
    `select number, hash, time from main.chain_block where chain = $1 and number <= $2 order by number desc limit $3`,
    [chain, options.upTo, options.limit],
  );
  return rows.map((row) => ({
    number: Number(row['number']),
    hash: row['hash'] as Hex,
    time: (row['time'] as Date).getTime(),
  }));
}

/** Forgets the blocks after an ancestor, and those that are older than any reorganisation reaches. */
export async function deleteChainBlocks(
  tx: Queryable,
  chain: string,
  { after, before }: { after: number; before: number },
): Promise<void> {
  await tx.query(`delete from main.chain_block where chain = $1 and (number > $2 or number < $3)`, [
    chain,
    after,
    before,
  ]);
}

function toChainCursor(row: Row): ChainCursor {
  return {
    chain: row['chain'] as string,
    number: Number(row['block_number']),
    hash: row['block_hash'] as Hex,
    time: (row['block_time'] as Date).getTime(),
    revision: Number(row['revision']),
    reorgs: Number(row['reorgs']),
    note: row['note'] as string | null,
    updatedAt: (row['updated_at'] as Date).getTime(),
  };
}
