// Counts the collections that have maintained figures. Indexer database.

import type { Queryable } from '../../../../platform/database/port.ts';
import { rowDecoder, safeInteger, text } from '../../../../platform/database/rows.ts';

const decodeCount = rowDecoder('collection_figures', { chain: text, count: safeInteger });

/** The numbers of collections by chain. `prefix`: how the ids of the counted collections begin. */
export async function countCollections(db: Queryable, prefix: string): Promise<Map<string, number>> {
  const rows = await db.query(
    `select split_part(collection_id, '_', 1) as chain, count(*) as count from indexer.collection_figures
     where starts_with(collection_id, $1) group by 1 order by 1`,
    [prefix],
  );
  return new Map(rows.map(decodeCount).map(({ chain, count }) => [chain, count]));
}
