// The list of collections: a page of the ranking, with what is known of each collection on it.

import { listCollectionsByIds } from './queries/collections.ts';
import { listCollectionStats, listCollectionVolumes } from './queries/stats.ts';
import type { Collection } from '../core/collection.ts';
import { readAskFloors, toAskFloor } from './ask-floor.ts';
import type { Market } from './market.ts';
import { chainOf, requireValue, valueOrNull } from './market.ts';
import type { Rank, RankingQuery, RankingReader } from './ranking.ts';
import { ranksAfter } from './ranking.ts';
import { toVolumeAllTime } from './volumes.ts';

export type CollectionSummary = {
  collection: Collection;
  askFloorRaw: bigint | null;
  volumeAllTime: number | null;
  supply: number | null;
  owners: number | null;
};

/** `degraded`: something is missing that a source would have known. */
export type CollectionPage = { summaries: CollectionSummary[]; next: Rank | null; degraded: boolean };

/** A page of collections after a place in the ranking. Throws `upstream_error` when the indexer cannot be read. */
export async function listCollections(
  market: Market,
  readRanking: RankingReader,
  query: RankingQuery & { after: Rank | null; limit: number },
): Promise<CollectionPage> {
  const following = ranksAfter(await readRanking(query), query.after);
  const page = following.slice(0, query.limit);
  const known = await readSummaries(
    market,
    page.map((rank) => rank.id),
  );
  return { ...known, next: following.length > page.length ? (page.at(-1) ?? null) : null };
}

async function readSummaries(market: Market, ids: string[]): Promise<Omit<CollectionPage, 'next'>> {
  const found = requireValue(await market.primary.read((db) => listCollectionsByIds(db, ids)), 'unavailable');
  const byId = new Map(found.map((collection) => [collection.id, collection]));
  const collections = ids.flatMap((id) => byId.get(id) ?? []);
  const [volumes, stats, floors] = await Promise.all([
    market.volumes.read((db) => listCollectionVolumes(db, ids)),
    market.stats.read((db) => listCollectionStats(db, ids)),
    readAskFloors(market, collections),
  ]);
  const volumeById = new Map(requireValue(volumes, 'upstream_error').map((volume) => [volume.collectionId, volume]));
  const statsById = valueOrNull(stats);
  const summaries = collections.map((collection) => ({
    collection,
    askFloorRaw: toAskFloor(floors, { id: collection.id, snapshotFloorRaw: collection.snapshot.floorRaw }),
    volumeAllTime: toVolumeAllTime(
      volumeById.get(collection.id),
      chainOf(market, collection.chain),
      collection.snapshot.volumeAllTime,
    ),
    supply: statsById?.get(collection.id)?.supply ?? collection.snapshot.supply,
    // Owners that cannot be read are unknown right now; the snapshot speaks only where the source has nothing to say.
    owners: statsById ? (statsById.get(collection.id)?.owners ?? collection.snapshot.owners) : null,
  }));
  return { summaries, degraded: !stats.ok || floors.degraded };
}
