// Stores a position for each chain: the sequence number up to which the chain's log has been written into the indexer. Indexer database.
// Every transaction that writes data from the log moves the position. If two processes have read the same position, only one of them can
// write.

import type { Queryable } from '../../../platform/database/port.ts';
import { rowDecoder, safeInteger } from '../../../platform/database/rows.ts';

/** `seq`: the sequence number of the last log entry that was written, 0 before the first. `revision`: how often the position was moved. */
export type ProjectedPosition = { seq: number; revision: number };

const decodePosition = rowDecoder('indexer.chain_cursor', { seq: safeInteger, revision: safeInteger });

export async function findProjectedPosition(db: Queryable, chain: string): Promise<ProjectedPosition> {
  const [row] = await db.query(`select seq, revision from indexer.chain_cursor where chain = $1`, [chain]);
  return row ? decodePosition(row) : { seq: 0, revision: 0 };
}

/**
 * Moves the position from `from` to the sequence number `to`, and locks it until the transaction ends. Returns false and changes nothing
 * when the stored position is not `from`.
 */
export async function updateProjectedPosition(
  tx: Queryable,
  chain: string,
  { from, to }: { from: ProjectedPosition; to: number },
): Promise<boolean> {
  const rows = await tx.query(
    `insert into indexer.chain_cursor as stored (chain, seq, revision) values ($1, $4, 1)
     on conflict (chain) do update set seq = excluded.seq, revision = stored.revision + 1
       where stored.seq = $2 and stored.revision = $3
     returning 1`,
    [chain, from.seq, from.revision, to],
  );
  return rows.length > 0;
}
