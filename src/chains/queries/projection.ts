// Up to which sequence number each chain's log has been written into the indexer. Indexer database.

import type { Queryable } from '../../database/port.ts';
import { rowDecoder, safeInteger } from '../../database/rows.ts';

const decodeSeq = rowDecoder('indexer.chain_cursor', { seq: safeInteger });

/** The sequence number of the last log entry that was written to the indexer; 0 when none was. */
export async function findProjectedSeq(db: Queryable, chain: string): Promise<number> {
  const [row] = await db.query(`select seq from indexer.chain_cursor where chain = $1`, [chain]);
  return row ? decodeSeq(row).seq : 0;
}

/** Changes the stored number from `from` to `to`. Returns false, and changes nothing, when the stored number is not `from`. */
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
