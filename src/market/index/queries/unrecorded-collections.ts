// Finds the collections that have rows in the indexer database but no collection record. These collections are not served.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, rowDecoder, text } from '../../../platform/database/rows.ts';

const UNRECORDED_MAX = 100;

const decodeId = rowDecoder('collection_figures', { id: column('collection_id', text) });

/** Collections with listed own orders, listings, sales, tokens or reported figures, but without a collection record. At most UNRECORDED_MAX. */
export async function listUnrecordedCollections(db: Queryable): Promise<string[]> {
  const hasRow = ['listing', 'sale', 'token', 'collection_stats', 'collection_analytics']
    .map((table) => `exists (select from indexer.${table} as t where t.collection_id = figures.collection_id)`)
    .join(' or ');
  const rows = await db.query(
    `select collection_id from indexer.collection_figures as figures
     where not recorded and (own_listed_assets > 0 or ${hasRow}) order by collection_id limit $1`,
    [UNRECORDED_MAX],
  );
  return rows.map((row) => decodeId(row).id);
}
