// Reads the facts from which snapshots of collections are made (indexer database), and stores the snapshots (primary database).

import type { CollectionSnapshot } from '../../../platform/core/collection.ts';
import type { Queryable, Row } from '../../../platform/database/port.ts';
import {
  amount,
  boolean,
  column,
  double,
  nullable,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import type { ListingFacts, ReportedListings } from '../../index/listing-figures.ts';
import type { Coverage } from '../../provenance/coverage.ts';
import { insertCatalogChanges } from '../../index/queries/catalog.ts';
import { coverageList, coverageSql } from '../../index/queries/coverage.ts';

/**
 * Amounts are in base units, but `analytics.volumeAllTime` is in native units. `stats` is null if the collection has no stats record,
 * `analytics` if the collection has no analytics record.
 */
export type SnapshotFacts = {
  collectionId: string;
  own: NonNullable<ListingFacts['own']>;
  mirror: NonNullable<ListingFacts['mirror']>;
  tokens: number;
  chainTokens: number;
  holders: number;
  stats: (ReportedListings & { owners: number | null; supply: number | null }) | null;
  analytics: { at: number; floorRaw: bigint | null; volumeAllTime: number | null; salesAllTime: number | null } | null;
  volumeRaw: bigint;
  sales: number;
  /** How many of the stored sales cannot be read. */
  unread: number;
  coverage: Coverage[];
};

const decodeFigures = rowDecoder('collection_figures', {
  collectionId: column('collection_id', text),
  mirrorFloorRaw: column('mirror_floor_raw', nullable(amount)),
  mirroredAssets: column('listed_assets', safeInteger),
  ownFloorRaw: column('own_floor_raw', nullable(amount)),
  ownAssets: column('own_listed_assets', safeInteger),
  ownKnown: column('own_known', boolean),
  tokens: safeInteger,
  chainTokens: column('chain_tokens', safeInteger),
  holders: safeInteger,
  volumeRaw: column('volume_raw', amount),
  sales: safeInteger,
  unread: safeInteger,
  coverage: coverageList,
});
const decodeStats = rowDecoder('collection_stats', {
  at: column('stats_at', nullable(timestamp)),
  floorRaw: column('stats_floor_raw', nullable(amount)),
  owners: nullable(safeInteger),
  supply: nullable(safeInteger),
  listedCount: column('listed_count', nullable(safeInteger)),
});
const decodeAnalytics = rowDecoder('collection_analytics', {
  at: column('analytics_at', nullable(timestamp)),
  floorRaw: column('analytics_floor_raw', nullable(amount)),
  volumeAllTime: column('volume_all_time', nullable(double)),
  salesAllTime: column('sales_all_time', nullable(safeInteger)),
});

function decodeFacts(row: Row): SnapshotFacts {
  const stats = decodeStats(row);
  const analytics = decodeAnalytics(row);
  const { ownFloorRaw, ownAssets, ownKnown, mirrorFloorRaw, mirroredAssets, ...figures } = decodeFigures(row);
  return {
    ...figures,
    own: { ask: ownFloorRaw, assets: ownAssets, known: ownKnown },
    mirror: { ask: mirrorFloorRaw, assets: mirroredAssets, coverage: figures.coverage },
    stats: stats.at === null ? null : { ...stats, at: stats.at },
    analytics: analytics.at === null ? null : { ...analytics, at: analytics.at },
  };
}

/** The result leaves out collections without figures in the indexer database. */
export async function listSnapshotFacts(db: Queryable, collectionIds: readonly string[]): Promise<SnapshotFacts[]> {
  const rows = await db.query(
    `select figures.collection_id, figures.mirror_floor_raw, figures.listed_assets, figures.own_floor_raw,
       figures.own_listed_assets, figures.own_known, figures.tokens, figures.chain_tokens,
       figures.holders, coalesce(total.volume_raw, 0) as volume_raw, coalesce(total.sales, 0) as sales, coalesce(total.unread, 0) as unread,
       stats.at as stats_at, stats.floor_raw as stats_floor_raw, stats.owners, stats.supply, stats.listed_count,
       analytics.at as analytics_at, analytics.floor_raw as analytics_floor_raw, analytics.volume_all_time,
       analytics.sales_all_time, ${coverageSql('figures.collection_id', ['listings', 'sales', 'tokens', 'owners'])} as coverage
     from indexer.collection_figures as figures
     left join indexer.sale_total as total on total.collection_id = figures.collection_id
     left join indexer.collection_stats as stats on stats.collection_id = figures.collection_id
     left join indexer.collection_analytics as analytics on analytics.collection_id = figures.collection_id
     where figures.collection_id = any($1)`,
    [collectionIds],
  );
  return rows.map(decodeFacts);
}

const decodeId = rowDecoder('collection', { id: text });

/** Returns the ids of the collections whose snapshot changed. */
export async function updateSnapshots(
  tx: Queryable,
  snapshots: ReadonlyMap<string, CollectionSnapshot>,
): Promise<string[]> {
  const rows = [...snapshots].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const updated = await tx.query(
    `update main.collection as stored set snapshot_floor_raw = incoming.floor_raw, snapshot_volume = incoming.volume,
       snapshot_supply = incoming.supply, snapshot_owners = incoming.owners
     from unnest($1::text[], $2::numeric[], $3::float8[], $4::bigint[], $5::bigint[])
       as incoming (id, floor_raw, volume, supply, owners)
     where stored.id = incoming.id
       and (stored.snapshot_floor_raw, stored.snapshot_volume, stored.snapshot_supply, stored.snapshot_owners)
         is distinct from (incoming.floor_raw, incoming.volume, incoming.supply, incoming.owners)
     returning stored.id`,
    [
      rows.map(([id]) => id),
      rows.map(([, { floorRaw }]) => floorRaw?.toString() ?? null),
      rows.map(([, { volumeAllTime }]) => volumeAllTime),
      rows.map(([, { supply }]) => supply),
      rows.map(([, { owners }]) => owners),
    ],
  );
  const ids = updated.map((row) => decodeId(row).id);
  await insertCatalogChanges(tx, ids);
  return ids;
}
