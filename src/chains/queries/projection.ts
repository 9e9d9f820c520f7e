// Up to where the primary's log of each chain has been written into the indexer database.

import type { Queryable } from '../../database/port.ts';

/** The last entry that was written, in the order of arrival; 0 before the first. `lock`: held until the transaction ends. */
export async function findProjectedSeq(db: Queryable, chain: string, lock?: 'for update'): Promise<number> {
  const [row] = await db.query<{ seq: string }>(`select seq from indexer.chain_cursor where chain = $1 ${lock ?? ''}`, [
    chain,
  ]);
  return Number(row?.seq ?? 0);
}

/** Moves on from `from`; false when somebody else has moved on already. */
export async function updateProjectedSeq(
  tx: Queryable,
  chain: string,
  { from, to }: { from: number; to: number },
): Promise<boolean> {
  const rows = await tx.query(
    `insert into indexer.chain_cursor as stored (chain, seq) values ($1, $3)
     on conflict (chain) do update set seq = excluded.seq where stored.seq = $2 returning 1`,
    [chain, from, to],
  );
  return rows.length > 0;
}
