// Tells whether a database is empty: it has no marketplace records, and no backup was restored into it. An empty database may have shops
// and products.

import type { Queryable } from './port.ts';
import { boolean, rowDecoder } from './rows.ts';

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

/** The mark of a restored database. It is stored as the comment of the schema `main`. Backups do not contain this comment. */
const RESTORED = 'restored from a backup';

const decodeFound = rowDecoder('imported records', { found: boolean });

/** Whether the database is empty. Both schemas must be in this database. */
export async function isEmpty(db: Queryable): Promise<boolean> {
  const tests = TABLES.map((table) => `exists (select from ${table})`).join(' or ');
  const [row] = await db.query(
    `select ${tests} or obj_description('main'::regnamespace, 'pg_namespace') is not distinct from '${RESTORED}' as found`,
  );
  return row !== undefined && !decodeFound(row).found;
}

/** Marks a database as restored. The database then does not count as empty, even if the backup contained no records. */
export async function insertRestoredMark(tx: Queryable): Promise<void> {
  await tx.query(`comment on schema main is '${RESTORED}'`);
}
