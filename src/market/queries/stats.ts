// The stats of a collection: owners, supply and listed count, from the newest stats record. Owners and supply that no record has
// are counted from the tokens. Indexer database. Unknown is null, never zero.

import type { Queryable, Row } from '../../database/port.ts';
import { column, nullable, rowDecoder, safeInteger, text } from '../../database/rows.ts';
import type { UpsertCounts } from '../../database/upsert.ts';
import type { ObservedRecord } from './newest-record.ts';
import { listRecordFloors, upsertNewest } from './newest-record.ts';

/** `listedCount` is null when the stats record has none; the caller then counts the listings. */
export type CollectionStats = { owners: number | null; supply: number | null; listedCount: number | null };

const decodeRow = rowDecoder('collection_stats', {
  tokens: safeInteger,
  holders: safeInteger,
  owners: nullable(safeInteger),
  supply: nullable(safeInteger),
  listedCount: column('listed_count', nullable(safeInteger)),
});

function decodeStats(row: Row): CollectionStats {
  const { tokens, holders, owners, supply, listedCount } = decodeRow(row);
  return {
    owners: owners ?? (holders > 0 ? holders : null),
    supply: supply ?? (tokens > 0 ? tokens : null),
    listedCount,
  };
}

export async function findCollectionStats(db: Queryable, collectionId: string): Promise<CollectionStats> {
  const [row] = await db.query(
    `select (select count(*) from indexer.token where collection_id = $1 and not burned) as tokens,
       (select count(distinct owner) from indexer.token where collection_id = $1) as holders,
       stats.owners, stats.supply, stats.listed_count
     from (values (1)) as one (one)
     left join indexer.collection_stats as stats on stats.collection_id = $1`,
    [collectionId],
  );
  return decodeStats(row ?? {});
}

const decodeId = rowDecoder('collection_stats', { id: text });

/** The stats of each of the given collections, by id. */
export async function listCollectionStats(
  db: Queryable,
  collectionIds: readonly string[],
): Promise<Map<string, CollectionStats>> {
  const rows = await db.query(
    `select wanted.id, counted.tokens, counted.holders, stats.owners, stats.supply, stats.listed_count
     from unnest($1::text[]) as wanted (id)
     left join indexer.collection_stats as stats on stats.collection_id = wanted.id
     cross join lateral (
       select count(*) as tokens, count(distinct owner) as holders from indexer.token where collection_id = wanted.id and not burned
     ) as counted`,
    [collectionIds],
  );
  return new Map(rows.map((row) => [decodeId(row).id, decodeStats(row)]));
}

/** The floors of the stats records that have a floor: base units by collection id. */
export function listStatsFloors(db: Queryable, collectionIds: readonly string[]): Promise<Map<string, bigint>> {
  return listRecordFloors(db, 'collection_stats', collectionIds);
}

/** An incoming stats record. */
export type NewStats = ObservedRecord & {
  owners: number | null;
  listedCount: number | null;
  supply: number | null;
  floorRaw: bigint | null;
};

export function upsertStats(tx: Queryable, stats: readonly NewStats[]): Promise<UpsertCounts> {
  return upsertNewest(tx, stats, {
    table: 'collection_stats',
    columns: { owners: 'bigint', listed_count: 'bigint', supply: 'bigint', floor_raw: 'numeric' },
    toColumns: (row) => ({
      owners: row.owners,
      listed_count: row.listedCount,
      supply: row.supply,
      floor_raw: row.floorRaw?.toString(),
    }),
  });
}
