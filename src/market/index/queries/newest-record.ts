// Two tables of the indexer database hold the newest stats record and the newest analytics record of each collection. This file writes and
// reads these tables.

import type { Queryable } from '../../../platform/database/port.ts';
import type { RowColumns } from '../../../platform/database/row-source.ts';
import { haveSameColumns } from '../../../platform/database/row-source.ts';
import { amount, column, rowDecoder, text, timestamp } from '../../../platform/database/rows.ts';
import type { UpsertCounts } from '../../../platform/database/upsert.ts';
import type { RecordWrites } from '../../../platform/database/write-recording.ts';
import type { ReportedFloor } from '../listing-figures.ts';
import { columnsOf, upsertRows } from '../../../platform/database/upsert.ts';

type RecordTable = 'collection_stats' | 'collection_analytics';

/**
 * `at` is when a record was observed, in milliseconds. For a record without a time, `at` is the time of its import, and `atReported` is
 * false.
 */
export type ObservedRecord = { collectionId: string; at: number; atReported: boolean };

/**
 * A record replaces all columns of the stored record of its collection, unless the stored record is newer. If a record has no time, and its
 * columns equal the stored columns, it counts as unchanged: only the stored `at` moves forward to the time of the import.
 */
export function upsertNewest<R extends ObservedRecord>(
  tx: Queryable,
  rows: readonly R[],
  { table, columns, record }: { table: RecordTable; columns: RowColumns<R>; record: RecordWrites | undefined },
): Promise<UpsertCounts> {
  const names = Object.keys(columns);
  return upsertRows(tx, rows, {
    keyOf: (row) => row.collectionId,
    fold: (earlier, later) => {
      if (later.at < earlier.at) return earlier;
      return !later.atReported && haveSameColumns(columns, earlier, later) ? earlier : later;
    },
    columns: {
      collection_id: { text: (row) => row.collectionId },
      at: { timestamptz: (row) => row.at },
      at_reported: { boolean: (row) => row.atReported },
      ...columns,
    },
    record,
    written: 'written',
    sql: `before as materialized (
        select stored.* from incoming cross join lateral (
          select * from indexer.${table} as stored where stored.collection_id = incoming.collection_id group by collection_id) as stored
      ), same as materialized (
        select stored.collection_id from before as stored join incoming as excluded on excluded.collection_id = stored.collection_id
        where not at_reported and (${columnsOf('stored', names)}) is not distinct from (${columnsOf('excluded', names)})
      ), upserted as (insert into indexer.${table} as stored (collection_id, ${names.join(', ')}, at)
      select collection_id, ${names.join(', ')}, at
      from incoming as excluded
      where at_reported or collection_id not in (select collection_id from same)
      on conflict (collection_id) do update
        set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}, at = excluded.at
      where excluded.at >= stored.at
        and (${columnsOf('stored', names)}, stored.at) is distinct from (${columnsOf('excluded', names)}, excluded.at)
      returning (xmax = 0) as inserted, stored.*
      ), confirmed as (
        update indexer.${table} as stored set at = excluded.at
        from incoming as excluded
        where not at_reported and excluded.collection_id = stored.collection_id and excluded.at > stored.at
          and (${columnsOf('stored', names)}) is not distinct from (${columnsOf('excluded', names)})
        returning false as inserted, stored.*
      ), written as (
        select * from upserted union all select * from confirmed
      )`,
  });
}

const decodeFloor = rowDecoder('floor of a record', {
  collectionId: column('collection_id', text),
  floorRaw: column('floor_raw', amount),
  at: timestamp,
});

/** Returns the floors by collection id. Records without a floor are left out. */
export async function listRecordFloors(
  db: Queryable,
  table: RecordTable,
  collectionIds: readonly string[],
): Promise<Map<string, ReportedFloor>> {
  const rows = await db.query(
    `select collection_id, floor_raw, at from indexer.${table} where collection_id = any($1) and floor_raw is not null`,
    [collectionIds],
  );
  return new Map(rows.map(decodeFloor).map(({ collectionId, ...floor }) => [collectionId, floor]));
}
