// Reads collections with all figures of a market table: the figures of `/v1`, the buyer floor, and the changes of floor and volume.
// The number of statements does not depend on the number of collections.

import type { Collection } from '../../platform/core/collection.ts';
import type { CollectionDetail } from '../reads/collection.ts';
import { readDetailFacts, toCollectionDetail } from '../reads/collection.ts';
import type { Market } from '../reads/market.ts';
import { requireValue, valueOrNull } from '../reads/market-source.ts';
import { toRatio, toVolumeChanges } from '../provenance/trade.ts';
import { listDoubleWindows } from '../index/queries/analytics.ts';
import { listCollectionsByIds } from '../reads/queries/collections.ts';
import type { RankKey } from '../index/queries/ranks.ts';
import type { RankingQuery } from '../reads/ranking.ts';
import { readRanking } from '../reads/ranking.ts';
import { resolveCollection } from '../reads/resolve-collection.ts';
import { listFloorsAt } from './queries/history.ts';

const HOUR_MS = 60 * 60_000;
const STEP_MS = 6 * HOUR_MS;
/** The number of floors in a sparkline. With a floor for every six hours, a sparkline covers the last seven days. */
export const SPARKLINE_LENGTH = 28;
const STEPS_PER_DAY = 4;

/** The relative changes in the last 24 hours and in the last seven days: 0.05 is 5 % more. Null when unknown. */
export type Changes = { twentyFourHour: number | null; sevenDay: number | null };

/** Amounts in base units. `degraded`: a source could not be read. */
export type MarketCollection = {
  detail: CollectionDetail;
  floorChange: Changes;
  volumeChange: Changes;
  sparkline: (bigint | null)[];
  degraded: boolean;
};

export type MarketCollectionPage = { collections: MarketCollection[]; next: RankKey | null };

/** Throws `unavailable` when the collection records cannot be read, and `upstream_error` when the ranking cannot be read. */
export async function listMarketCollections(
  market: Market,
  query: RankingQuery & { after: RankKey | null; limit: number },
): Promise<MarketCollectionPage> {
  const following = await readRanking(market, query, { after: query.after, limit: query.limit + 1 });
  const page = following.slice(0, query.limit);
  const ids = page.map(({ id }) => id);
  const found = requireValue(await market.primary.read((db) => listCollectionsByIds(db, ids)), 'unavailable');
  const byId = new Map(found.map((collection) => [collection.id, collection]));
  const collections = await readMarketCollections(
    market,
    ids.flatMap((id) => byId.get(id) ?? []),
  );
  return { collections, next: following.length > page.length ? (page.at(-1) ?? null) : null };
}

/** Throws `not_found` when `id` names no collection, and `unavailable` when the collection records cannot be read. */
export async function readMarketCollection(market: Market, id: string): Promise<MarketCollection> {
  const [figures] = await readMarketCollections(market, [await resolveCollection(market, id)]);
  if (!figures) throw new Error(`the figures of ${id} are missing`);
  return figures;
}

async function readMarketCollections(market: Market, collections: readonly Collection[]): Promise<MarketCollection[]> {
  const ids = collections.map(({ id }) => id);
  const now = market.clock();
  const times = Array.from({ length: SPARKLINE_LENGTH + 1 }, (_, index) => now - (SPARKLINE_LENGTH - index) * STEP_MS);
  const [facts, doubles, floors] = await Promise.all([
    readDetailFacts(market, collections),
    market.analytics.read((db) => listDoubleWindows(db, ids, now)),
    market.history.read((db) => listFloorsAt(db, ids, times)),
  ]);
  const doublesById = valueOrNull(doubles);
  const floorsById = valueOrNull(floors);
  const isComplete = doubles.ok && floors.ok;
  return collections.map((collection): MarketCollection => {
    const { id } = collection;
    const detail = toCollectionDetail(market, collection, facts);
    const trade = facts.trade?.get(id);
    const doubleRaw = doublesById?.get(id);
    const recorded = floorsById?.get(id) ?? [];
    return {
      detail,
      floorChange: toFloorChanges(detail.floor?.value ?? null, recorded),
      volumeChange:
        trade && doubleRaw
          ? toVolumeChanges(trade, { figures: detail, doubleRaw, now: facts.now })
          : { sevenDay: null, twentyFourHour: null },
      sparkline: times.slice(1).map((_, index) => recorded[index + 1] ?? null),
      degraded: detail.degraded || !isComplete,
    };
  });
}

/** `recorded`: the floor seven days ago, and then the floor after each six hours up to the present. The earliest floor is first. */
function toFloorChanges(present: bigint | null, recorded: readonly (bigint | null)[]): Changes {
  const changeSince = (earlier: bigint | null | undefined) =>
    present === null || earlier === null || earlier === undefined ? null : toRatio(present, earlier);
  return {
    twentyFourHour: changeSince(recorded.at(-1 - STEPS_PER_DAY)),
    sevenDay: changeSince(recorded.at(-1 - 7 * STEPS_PER_DAY)),
  };
}
