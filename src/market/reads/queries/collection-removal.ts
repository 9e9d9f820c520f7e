// Deletes collections with all their rows. The tables are found by their column `collection_id`, so a table that is added later is
// included.

import type { Queryable } from '../../../platform/database/port.ts';
import { rowDecoder, safeInteger, text } from '../../../platform/database/rows.ts';
import { deleteStatedCoverage } from '../../index/queries/coverage.ts';

const decodeTable = rowDecoder('information_schema.columns', { name: text });
const decodeCount = rowDecoder('deleted rows', { count: safeInteger });

/** The number of deleted rows of each table. A key is the name of a table with its schema, such as `main.follow`. */
export type DeletedRows = ReadonlyMap<string, number>;

const decodeId = rowDecoder('collection', { id: text });

/** The collections that have a record, or changes in the activity log: readers of the stream may know them. */
export async function listKnownCollections(tx: Queryable, collectionIds: readonly string[]): Promise<string[]> {
  const rows = await tx.query(
    `select id from unnest($1::text[]) as removed (id)
     where exists (select from main.collection where collection.id = removed.id)
       or exists (select from main.activity where collection_id = removed.id and kind <> 'remove')`,
    [collectionIds],
  );
  return rows.map((row) => decodeId(row).id);
}

/**
 * Deletes the records, orders, followed names and figures of collections from the primary database. The transaction must have locked the
 * chains and the books of the collections, and the catalog.
 */
export async function deleteCollections(tx: Queryable, collectionIds: readonly string[]): Promise<DeletedRows> {
  await tx.query(
    `delete from main.order_cancel where order_id in (select id from main.book_order where collection_id = any($1))`,
    [collectionIds],
  );
  const deleted = await deleteRows(tx, 'main', collectionIds);
  return deleted.set('main.collection', await countDeleted(tx, 'main.collection where id = any($1)', collectionIds));
}

/** Deletes the rows of collections from the indexer database. The transaction must have locked the figures of the collections. */
export async function deleteObservations(tx: Queryable, collectionIds: readonly string[]): Promise<DeletedRows> {
  await deleteStatedCoverage(tx, collectionIds);
  return deleteRows(tx, 'indexer', collectionIds);
}

async function deleteRows(
  tx: Queryable,
  schema: 'main' | 'indexer',
  collectionIds: readonly string[],
): Promise<Map<string, number>> {
  const tables = await tx.query(
    `select format('%I.%I', columns.table_schema, columns.table_name) as name from information_schema.columns
     join information_schema.tables using (table_schema, table_name)
     where columns.table_schema = $1 and columns.column_name = 'collection_id' and tables.table_type = 'BASE TABLE'
     order by 1`,
    [schema],
  );
  const deleted = new Map<string, number>();
  for (const { name } of tables.map(decodeTable)) {
    deleted.set(name, await countDeleted(tx, `${name} where collection_id = any($1)`, collectionIds));
  }
  return deleted;
}

/** `target` is a table with a condition. */
async function countDeleted(tx: Queryable, target: string, collectionIds: readonly string[]): Promise<number> {
  const [row] = await tx.query(
    `with deleted as (delete from ${target} returning 1) select count(*)::int as count from deleted`,
    [collectionIds],
  );
  return decodeCount(row ?? {}).count;
}
