// The stats of a collection: owners, supply and listed count, from the newest stats record. Owners and supply that no record has
// are the maintained numbers of holders and tokens. Indexer database. Unknown is null, never zero.

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

/** The stats of a collection. */
export async function findCollectionStats(db: Queryable, collectionId: string): Promise<CollectionStats> {
  const stats = await listCollectionStats(db, [collectionId]);
  return stats.get(collectionId) ?? { owners: null, supply: null, listedCount: null };
}

const decodeId = rowDecoder('collection_stats', { id: text });

/** The stats of each of the given collections, by id. */
export async function listCollectionStats(
  db: Queryable,
  collectionIds: readonly string[],
): Promise<Map<string, CollectionStats>> {
  const rows = await db.query(
    `select wanted.id, coalesce(figures.tokens, 0) as tokens, coalesce(figures.holders, 0) as holders,
       stats.owners, stats.supply, stats.listed_count
     from unnest($1::text[]) as wanted (id)
     left join lateral (select * from indexer.collection_figures where collection_id = wanted.id limit 1) as figures on true
     left join lateral (select * from indexer.collection_stats where collection_id = wanted.id limit 1) as stats on true`,
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
