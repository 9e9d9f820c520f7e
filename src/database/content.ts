// Whether a database holds anything that came from outside.

import type { Queryable } from './port.ts';

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

/** Kept as the comment of the schema: no row of a backup could say it of the database that it came into. */
const RESTORED = 'restored from a backup';

/** True when no record of any kind has ever landed, not even by a restore. Both schemas have to be in this database. */
export async function isEmpty(db: Queryable): Promise<boolean> {
  const tests = TABLES.map((table) => `exists (select from ${table})`).join(' or ');
  const [row] = await db.query<{ found: boolean }>(
    `select ${tests} or obj_description('main'::regnamespace, 'pg_namespace') is not distinct from '${RESTORED}' as found`,
  );
  return row?.found === false;
}

/** Says of a database that what it holds came from a backup, even where that is nothing. */
export async function insertRestoredMark(tx: Queryable): Promise<void> {
  await tx.query(`comment on schema main is '${RESTORED}'`);
}
