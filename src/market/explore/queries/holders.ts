// Reads the holders of a collection, and counts them by their numbers of tokens. Indexer database.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, nullable, rowDecoder, safeInteger, text } from '../../../platform/database/rows.ts';

export type Holder = { owner: string; tokens: number };

const decodeHolder = rowDecoder('holder', { owner: text, tokens: safeInteger });

/** Returns at most `limit` holders. The holder with the most tokens comes first. */
export async function listLargestHolders(db: Queryable, collectionId: string, limit: number): Promise<Holder[]> {
  const rows = await db.query(
    `select owner, tokens from indexer.holder where collection_id = $1 order by tokens desc, owner limit $2`,
    [collectionId, limit],
  );
  return rows.map(decodeHolder);
}

/** `holders`: the number of holders that have at least `from` and at most `to` tokens. `to` is null if there is no upper limit. */
export type HolderRange = { from: number; to: number | null; holders: number };

const decodeRange = rowDecoder('holder range', {
  from: column('from_tokens', safeInteger),
  to: column('to_tokens', nullable(safeInteger)),
  holders: safeInteger,
});

/** Counts the holders whose number of tokens is within each range. */
export async function countHolders(
  db: Queryable,
  collectionId: string,
  ranges: readonly Omit<HolderRange, 'holders'>[],
): Promise<HolderRange[]> {
  const rows = await db.query(
    `select from_tokens, to_tokens, (
       select count(*) from indexer.holder
       where collection_id = $1 and tokens between from_tokens and coalesce(to_tokens, 9223372036854775807)
     ) as holders
     from unnest($2::bigint[], $3::bigint[]) as ranges (from_tokens, to_tokens) order by from_tokens`,
    [collectionId, ranges.map(({ from }) => from), ranges.map(({ to }) => to)],
  );
  return rows.map(decodeRange);
}
