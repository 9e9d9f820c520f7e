// Reads the list of collections. A page of the list is a page of the ranking, with the record and the stats of each of its collections.

import { listCollectionsByIds } from './queries/collections.ts';
import { listHoldingFacts } from '../index/queries/stats.ts';
import { listVolumeFacts } from '../index/queries/analytics.ts';
import type { Collection } from '../../platform/core/collection.ts';
import { readFloorFacts, toFloorFigures } from './floors/floor-reads.ts';
import type { Market } from './market.ts';
import { requireValue, valueOrNull } from './market-source.ts';
import type { RankKey } from '../index/queries/ranks.ts';
import type { RankingQuery } from './ranking.ts';
import { readRanking } from './ranking.ts';
import { toHoldingFigures } from '../provenance/holdings.ts';
import { toVolumeAllTime } from './volumes.ts';

export type CollectionSummary = {
  collection: Collection;
  askFloorRaw: bigint | null;
  volumeAllTime: number | null;
  supply: number | null;
  owners: number | null;
};

/** `next`: the key after which the following page begins; null on the last page. `degraded`: a source failed. */
export type CollectionPage = { summaries: CollectionSummary[]; next: RankKey | null; degraded: boolean };

/** Throws `unavailable` when the collection records cannot be read, and `upstream_error` when the ranking or the volumes cannot be read. */
export async function listCollections(
  market: Market,
  query: RankingQuery & { after: RankKey | null; limit: number },
): Promise<CollectionPage> {
  const following = await readRanking(market, query, { after: query.after, limit: query.limit + 1 });
  const page = following.slice(0, query.limit);
  const summaries = await readSummaries(
    market,
    page.map((key) => key.id),
  );
  return { ...summaries, next: following.length > page.length ? (page.at(-1) ?? null) : null };
}

/** The summaries of collections, in the order of the ids. Throws like `listCollections`. */
export async function readSummaries(market: Market, ids: string[]): Promise<Omit<CollectionPage, 'next'>> {
  const found = requireValue(await market.primary.read((db) => listCollectionsByIds(db, ids)), 'unavailable');
  const byId = new Map(found.map((collection) => [collection.id, collection]));
  const collections = ids.flatMap((id) => byId.get(id) ?? []);
  const [volumes, holdings, floors] = await Promise.all([
    market.volumes.read((db) => listVolumeFacts(db, ids)),
    market.stats.read((db) => listHoldingFacts(db, ids)),
    readFloorFacts(market, collections),
  ]);
  const volumeById = requireValue(volumes, 'upstream_error');
  const holdingsById = valueOrNull(holdings);
  const now = market.clock();
  const summaries = collections.map((collection) => {
    const { snapshot, tokensComplete, salesComplete } = collection;
    const chain = market.chainOf(collection.chain);
    const facts = holdingsById?.get(collection.id) ?? null;
    const { supply, owners } = toHoldingFigures(facts, { snapshot, tokensComplete }, now);
    const { floor } = toFloorFigures(floors, collection, now);
    return {
      collection,
      askFloorRaw: floor?.value ?? null,
      volumeAllTime: toVolumeAllTime(
        volumeById.get(collection.id),
        { chain, snapshotVolume: snapshot.volumeAllTime, salesComplete },
        now,
      ),
      supply: supply?.value ?? null,
      owners: owners?.value ?? null,
    };
  });
  return { summaries, degraded: !holdings.ok || floors.degraded };
}
