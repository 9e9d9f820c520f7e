// Records which rows imports insert and change, and reads and deletes these records. Each database records the changes of its own tables,
// in the transaction that changes the rows.

import type { Queryable } from '../../platform/database/port.ts';
import type { OrderKind } from '../../market/activity/queries/state-changes.ts';
import { recordRemovals, recordStateChanges } from '../../market/activity/queries/state-changes.ts';
import { boolean, column, nullable, oneOf, rowDecoder, safeInteger, text } from '../../platform/database/rows.ts';
import type { WriteRecording } from '../../platform/database/write-recording.ts';
import type { TrackedKind } from './tracked-tables.ts';
import {
  hashSql,
  isEarlierRow,
  keyCondition,
  keySql,
  restoreSql,
  storedRowSql,
  tableOf,
  TRACKED_KINDS,
  TRACKED_TABLES,
} from './tracked-tables.ts';

export type ImportSchema = 'main' | 'indexer';

/** A stored row as JSON text. The text is never parsed here, because the numbers of a row may have 78 digits. */
export type RowImage = { key: string; image: string };

const decodeImage = rowDecoder('row image', { key: text, image: text });

export async function listRowImages(tx: Queryable, kind: TrackedKind, keys: readonly string[]): Promise<RowImage[]> {
  const rows = await tx.query(
    `select wanted.key, stored.row_text as image from unnest($1::text[]) as wanted (key) cross join lateral (
       ${storedRowSql(kind, ', to_jsonb(stored)::text as row_text')} ${TRACKED_TABLES[kind].isLocked ? 'for update' : ''}) as stored`,
    [keys],
  );
  return rows.map(decodeImage);
}

const decodeClosed = rowDecoder('import_log', { closed: boolean });

/**
 * Locks an import until the transaction ends, so that an undo waits for the transaction. Other transactions of the import do not wait. Returns
 * false if an undo has closed the import. The transaction must then be rolled back.
 */
export async function lockOpenImport(tx: Queryable, schema: ImportSchema, importId: string): Promise<boolean> {
  const lock = `select closed from ${schema}.import_log where import_id = $1 for share`;
  let [row] = await tx.query(lock, [importId]);
  if (!row) {
    await tx.query(`insert into ${schema}.import_log (import_id) values ($1) on conflict do nothing`, [importId]);
    [row] = await tx.query(lock, [importId]);
  }
  return row !== undefined && !decodeClosed(row).closed;
}

/** Identifies a change. Later changes of an import have higher numbers. */
type ChangeId = { importId: string; seq: number };

/**
 * Returns the SQL with which a writing statement also records its rows: the inserted rows, and the updated rows with their images from before
 * the update. The statement must write rows of the kind `kind`. The caller must make sure that no other transaction changes these rows at the
 * same time.
 */
export function toWriteRecording(kind: TrackedKind, { importId, seq }: ChangeId): WriteRecording {
  return {
    toSql: ({ written, before }, first) => `, recorded as (
       insert into ${TRACKED_TABLES[kind].schema}.import_change (import_id, seq, kind, rows, keys, hashes, images)
       select $${first}, $${first + 1}, $${first + 2}, count(*), array_agg(wanted.key), array_agg(wanted.hash),
         array_agg(earlier.image)
       from (select ${keySql(kind)} as key, ${hashSql(kind)} as hash, inserted from ${written} as stored) as wanted
       left join (select ${keySql(kind)} as key, to_jsonb(stored) as image from ${before} as stored) as earlier
         on earlier.key = wanted.key and not wanted.inserted
       having count(*) > 0
     )`,
    params: [importId, seq, kind],
  };
}

/** Records the rows with these keys that were inserted, or differ from their image in `before`. */
export async function insertImportChange(
  tx: Queryable,
  { importId, seq, kind, keys }: ChangeId & { kind: TrackedKind; keys: readonly string[] },
  before: readonly RowImage[],
): Promise<void> {
  const { schema } = TRACKED_TABLES[kind];
  await tx.query(
    `with changed as (
       select wanted.key, ${hashSql(kind)} as hash, before.image::jsonb as image
       from unnest($4::text[]) as wanted (key) cross join lateral (${storedRowSql(kind, ', to_jsonb(stored) as stored_image')}) as stored
       left join unnest($5::text[], $6::text[]) as before (key, image) on before.key = wanted.key
       where before.image is null or before.image::jsonb <> stored.stored_image
     )
     insert into ${schema}.import_change (import_id, seq, kind, rows, keys, hashes, images)
     select $1, $2, $3, count(*), array_agg(key), array_agg(hash), array_agg(image)
     from changed having count(*) > 0`,
    [importId, seq, kind, keys, before.map(({ key }) => key), before.map(({ image }) => image)],
  );
}

/**
 * Closes an import, so that its process cannot change further rows of this database. If a transaction of the import is in progress, waits
 * for the end of the transaction.
 */
export async function closeImportLog(db: Queryable, schema: ImportSchema, importId: string): Promise<void> {
  await db.query(
    `insert into ${schema}.import_log (import_id, closed) values ($1, true)
     on conflict (import_id) do update set closed = true`,
    [importId],
  );
}

/** One recorded change: rows of one kind that one batch has inserted or changed. */
export type ImportChange = { seq: number; kind: TrackedKind };

const decodeChange = rowDecoder('import_change', { seq: safeInteger, kind: oneOf(TRACKED_KINDS) });

/**
 * The newest change of an import whose number is below `before`. If `before` is null, the newest of all. Locks the change until the
 * transaction ends.
 */
export async function findLastChange(
  tx: Queryable,
  schema: ImportSchema,
  { importId, before }: { importId: string; before: number | null },
): Promise<ImportChange | null> {
  const [row] = await tx.query(
    `select seq, kind from ${schema}.import_change where import_id = $1 and ($2::bigint is null or seq < $2)
     order by seq desc limit 1 for update`,
    [importId, before],
  );
  return row ? decodeChange(row) : null;
}

/**
 * A row of a change. `image` is the row before the change as JSON text. It is null if the import inserted the row. `state`: whether the row
 * is as the import left it, was changed since, or no longer exists.
 */
export type ChangedRow = { key: string; image: string | null; state: 'same' | 'changed' | 'missing' };

const decodeChangedRow = rowDecoder('import_change', {
  key: text,
  image: nullable(text),
  state: oneOf(['same', 'changed', 'missing']),
});

/** Compares the rows of a change with the stored rows. Locks the stored rows if their kind has `isLocked`. */
export async function listChangedRows(
  tx: Queryable,
  importId: string,
  { seq, kind }: ImportChange,
): Promise<ChangedRow[]> {
  const { schema, isLocked } = TRACKED_TABLES[kind];
  const wanted = `${schema}.import_change as change, unnest(change.keys, change.hashes, change.images) as wanted (key, hash, image)`;
  const isThis = `change.import_id = $1 and change.seq = $2`;
  if (isLocked) {
    await tx.query(
      `select 1 from ${wanted}, ${tableOf(kind)} as stored where ${isThis} and ${keyCondition(kind)}
       order by wanted.key for update of stored`,
      [importId, seq],
    );
  }
  const rows = await tx.query(
    `with wanted as materialized (
       select wanted.key, wanted.image::text as image, wanted.hash from ${wanted} where ${isThis}
     ), found as materialized (
       select wanted.key, stored.current_hash from wanted
       cross join lateral (${storedRowSql(kind, `, ${hashSql(kind)} as current_hash`)}) as stored
     )
     select wanted.key, wanted.image, case when found.current_hash is null then 'missing'
       when found.current_hash = wanted.hash then 'same' else 'changed' end as state
     from wanted left join found on found.key = wanted.key order by wanted.key`,
    [importId, seq],
  );
  return rows.map(decodeChangedRow);
}

const decodeKey = rowDecoder('import_change', { key: text });

export async function listKeysOfChange(
  tx: Queryable,
  importId: string,
  { seq, kind }: ImportChange,
): Promise<string[]> {
  const rows = await tx.query(
    `select unnest(keys) as key from ${TRACKED_TABLES[kind].schema}.import_change where import_id = $1 and seq = $2`,
    [importId, seq],
  );
  return rows.map((row) => decodeKey(row).key);
}

const decodeCollectionId = rowDecoder('import_change', { collectionId: column('collection_id', text) });

/** The collections of the stored rows of a change. The table of the rows must have the column `collection_id`. */
export async function listCollectionsOfChange(
  tx: Queryable,
  importId: string,
  change: ImportChange,
): Promise<string[]> {
  const rows = await tx.query(
    `select distinct stored.collection_id from unnest($1::text[]) as wanted (key)
     join ${tableOf(change.kind)} as stored on ${keyCondition(change.kind)}`,
    [await listKeysOfChange(tx, importId, change)],
  );
  return rows.map((row) => decodeCollectionId(row).collectionId);
}

/**
 * Deletes rows. Figures that are computed from the rows are not changed. `now`, in milliseconds, is the time of the changes of the market that are
 * recorded for orders and listings.
 */
export async function deleteTrackedRows(
  tx: Queryable,
  kind: TrackedKind,
  { keys, now }: { keys: readonly string[]; now: number },
): Promise<void> {
  if (keys.length === 0) return;
  const orderKind = toOrderKind(kind);
  await tx.query(
    `with deleted as (
       delete from ${tableOf(kind)} as stored using unnest($1::text[]) as wanted (key) where ${keyCondition(kind)} returning stored.*
     )${orderKind ? `, ${recordRemovals(orderKind, { deleted: 'deleted', now: '$2' })}` : ''}
     select count(*) from deleted`,
    orderKind ? [keys, new Date(now)] : [keys],
  );
}

/** Sets the columns of stored rows to the values in their images. Otherwise as `deleteTrackedRows`. */
export async function restoreTrackedRows(
  tx: Queryable,
  kind: TrackedKind,
  { rows, now }: { rows: readonly RowImage[]; now: number },
): Promise<void> {
  if (rows.length === 0) return;
  const orderKind = toOrderKind(kind);
  const images = [rows.map(({ key }) => key), rows.map(({ image }) => image)];
  await tx.query(
    `with wanted as (
       select * from unnest($1::text[], $2::text[]) as wanted (key, image)
     ), before as materialized (
       select stored.* from wanted cross join lateral (${storedRowSql(kind)}) as stored
     ), earlier as materialized (
       select earlier.* from before as stored join wanted on wanted.key = ${keySql(kind)}
       cross join lateral jsonb_populate_record(null::${tableOf(kind)}, to_jsonb(stored) || wanted.image::jsonb) as earlier
     ), restored as (
       update ${tableOf(kind)} as stored set ${restoreSql(kind)} from earlier where ${isEarlierRow(kind)}
       returning false as inserted, stored.*
     )${orderKind ? `, ${recordStateChanges(orderKind, { written: 'restored', before: 'before', now: '$3' })}` : ''}
     select count(*) from restored`,
    orderKind ? [...images, new Date(now)] : images,
  );
}

/** The kind of order of the rows. Null for other rows. A reported bid is a row of the order book. */
function toOrderKind(kind: TrackedKind): OrderKind | null {
  if (kind === 'bid') return 'order';
  return kind === 'listing' || kind === 'order' ? kind : null;
}

/** Removes all rows from the record of a change except the rows with these keys. Deletes the change if no row is left. */
export async function keepChangedRows(
  tx: Queryable,
  importId: string,
  { seq, kind }: ImportChange,
  keys: readonly string[],
): Promise<void> {
  const table = `${TRACKED_TABLES[kind].schema}.import_change`;
  if (keys.length === 0) {
    await tx.query(`delete from ${table} where import_id = $1 and seq = $2`, [importId, seq]);
    return;
  }
  await tx.query(
    `update ${table} as change set rows = kept.rows, keys = kept.keys, hashes = kept.hashes, images = kept.images
     from (
       select count(*) as rows, array_agg(wanted.key) as keys, array_agg(wanted.hash) as hashes,
         array_agg(wanted.image) as images
       from ${table} as stored, unnest(stored.keys, stored.hashes, stored.images) as wanted (key, hash, image)
       where stored.import_id = $1 and stored.seq = $2 and wanted.key = any($3)
     ) as kept
     where change.import_id = $1 and change.seq = $2`,
    [importId, seq, keys],
  );
}

const decodeRecorded = rowDecoder('import_change', {
  importId: column('import_id', text),
  kind: oneOf(TRACKED_KINDS),
  rows: safeInteger,
});

/** The number of recorded rows of each kind in this database, for each import. These rows can still be undone. */
export async function listRecordedRows(
  db: Queryable,
  schema: ImportSchema,
  importIds: readonly string[],
): Promise<{ importId: string; kind: TrackedKind; rows: number }[]> {
  const rows = await db.query(
    `select import_id, kind, sum(rows)::bigint as rows from ${schema}.import_change
     where import_id = any($1) group by import_id, kind order by import_id, kind`,
    [importIds],
  );
  return rows.map(decodeRecorded);
}

/** Deletes the recorded changes of imports in this database. The imports cannot be undone after that. */
export async function deleteImportChanges(
  tx: Queryable,
  schema: ImportSchema,
  importIds: readonly string[],
): Promise<void> {
  await tx.query(`delete from ${schema}.import_change where import_id = any($1)`, [importIds]);
  await tx.query(`delete from ${schema}.import_log where import_id = any($1)`, [importIds]);
}
