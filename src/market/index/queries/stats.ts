// Reads what the indexer database knows about the tokens of a collection: the newest stats record, the maintained numbers of tokens and
// holders, and the coverage (`coverage.ts`). Also stores stats records.

import { toKnownPrice } from '../../../platform/core/amount.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { amount, column, nullable, rowDecoder, safeInteger, text, timestamp } from '../../../platform/database/rows.ts';
import type { UpsertCounts } from '../../../platform/database/upsert.ts';
import type { ReportedListings } from '../listing-figures.ts';
import type { HoldingFacts } from '../../provenance/holdings.ts';
import { coverageList, coverageSql } from './coverage.ts';
import { narrowToOne } from './figures.ts';
import type { ObservedRecord } from './newest-record.ts';
import type { RecordWrites } from '../../../platform/database/write-recording.ts';
import { upsertNewest } from './newest-record.ts';

const decodeFacts = rowDecoder('collection_stats', {
  id: text,
  tokens: safeInteger,
  chainTokens: column('chain_tokens', safeInteger),
  holders: safeInteger,
  at: nullable(timestamp),
  owners: nullable(safeInteger),
  supply: nullable(safeInteger),
  coverage: coverageList,
});

/** Returns an entry for each collection id. */
export async function listHoldingFacts(
  db: Queryable,
  collectionIds: readonly string[],
): Promise<Map<string, HoldingFacts>> {
  const rows = await db.query(
    narrowToOne(
      `with found as materialized (
       select home.*, stats.at, stats.owners, stats.supply,
         ${coverageSql('home.collection_id', ['tokens', 'owners'])} as coverage
       from unnest($1::text[]) as wanted (id)
       cross join lateral (
         select collection_id, tokens, chain_tokens, holders from indexer.collection_figures
         where collection_id = wanted.id group by collection_id) as home
       left join lateral (
         select * from indexer.collection_stats as stored where stored.collection_id = home.collection_id limit 1) as stats on true
     )
     select wanted.id, coalesce(tokens, 0) as tokens, coalesce(chain_tokens, 0) as chain_tokens, coalesce(holders, 0) as holders,
       at, owners, supply, coalesce(coverage, '[]') as coverage
     from unnest($1::text[]) as wanted (id) left join found on found.collection_id = wanted.id`,
      collectionIds,
    ),
    [collectionIds],
  );
  return new Map(
    rows.map(decodeFacts).map(({ id, at, owners, supply, ...facts }) => {
      const record = at === null ? null : { at, owners, supply };
      return [id, { ...facts, record }];
    }),
  );
}

const decodeListings = rowDecoder('collection_stats', {
  id: column('collection_id', text),
  at: timestamp,
  floorRaw: column('floor_raw', nullable(amount)),
  listedCount: column('listed_count', nullable(safeInteger)),
});

/** What stored stats records tell of the listings, by collection id. */
export async function listStatsListings(
  db: Queryable,
  collectionIds: readonly string[],
): Promise<Map<string, ReportedListings>> {
  const rows = await db.query(
    `select collection_id, at, floor_raw, listed_count from indexer.collection_stats where collection_id = any($1)`,
    [collectionIds],
  );
  return new Map(rows.map(decodeListings).map(({ id, ...listings }) => [id, listings]));
}

export type NewStats = ObservedRecord & {
  owners: number | null;
  listedCount: number | null;
  supply: number | null;
  /** A floor of 0 is stored as unknown. */
  floorRaw: bigint | null;
};

export function upsertStats(tx: Queryable, stats: readonly NewStats[], record?: RecordWrites): Promise<UpsertCounts> {
  return upsertNewest(tx, stats, {
    record,
    table: 'collection_stats',
    columns: {
      owners: { bigint: (row) => row.owners },
      listed_count: { bigint: (row) => row.listedCount },
      supply: { bigint: (row) => row.supply },
      floor_raw: { numeric: (row) => toKnownPrice(row.floorRaw) },
    },
  });
}
