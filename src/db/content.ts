// Whether a database holds anything that came from outside.

import type { Queryable } from './database.ts';

const TABLES = [
  'main.collection',
  'main.book_order',
  'main.rate',
  'indexer.listing',
  'indexer.sale',
  'indexer.token',
  'indexer.collection_stats',
  'indexer.collection_analytics',
];

/** True when no record of any kind has ever landed. Both schemas have to be in this database. */
export async function isEmpty(db: Queryable): Promise<boolean> {
  const tests = TABLES.map((table) => `exists (select from ${table})`).join(' or ');
  const [row] = await db.query<{ found: boolean }>(`select ${tests} as found`);
  return row?.found === false;
}
