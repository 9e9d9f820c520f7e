// Computes the ranking keys of a collection: its all-time volume, its ask floor and its listed count. The volume and the floor are in the native
// currency of the chain. The same rules choose the values of the keys and the values that responses show.

import type { Chain } from '../../platform/core/chains.ts';
import { toListingFigures } from './listing-figures.ts';
import { toVolumeFigure } from '../provenance/trade.ts';
import type { RankFacts, Ranks } from './queries/ranks.ts';

/**
 * `chain` is null when the collection has no configured chain. Then the unit of the floor is unknown, and the floor is null. `now` in ms.
 */
export function toRanks(facts: RankFacts, { chain, now }: { chain: Chain | null; now: number }): Ranks {
  const volume = toVolumeFigure(
    facts,
    {
      decimals: chain?.decimals ?? null,
      snapshotVolume: facts.snapshotVolume,
      salesComplete: facts.salesComplete,
    },
    now,
  );
  const { floor, listedCount: listed } = chain ? toListingFigures(facts, now) : { floor: null, listedCount: null };
  const ends = [volume, floor, listed].flatMap((figure) => figure?.validUntil ?? []);
  return {
    volume: volume?.value ?? null,
    floor: floor?.value ?? null,
    listed: listed?.value ?? null,
    validUntil: ends.length === 0 ? null : Math.min(...ends),
  };
}
