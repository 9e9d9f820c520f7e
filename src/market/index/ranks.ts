// Computes the ranking keys of a collection: its volumes, numbers of sales, ask floor, changes of the floor, and listed count. Volumes and the
// floor are in the native currency of the chain. The same rules choose the values of the keys and the values that responses show.

import type { Chain } from '../../platform/core/chains.ts';
import { toListingFigures } from './listing-figures.ts';
import type { ShortWindow, TradeFacts, TradeFigures } from '../provenance/trade.ts';
import { SHORT_WINDOWS, TRADE_WINDOW_MS, toFloorChanges, toTradeFigures, toWindowValues } from '../provenance/trade.ts';
import type { RankFacts, Ranks } from './queries/ranks.ts';

const MINUTE_MS = 60_000;
/** How often the keys are computed again while sales leave the window of an hour, and otherwise while anything leaves a window. */
const STEP_MS = { hour: MINUTE_MS, other: 10 * MINUTE_MS } as const;

/**
 * `chain` is null when the collection has no configured chain. Then the unit of the floor is unknown, and the floor is null. `floors`: the floor at
 * the beginning of each window. `now` in ms.
 */
export function toRanks(
  facts: RankFacts,
  {
    trade,
    floors,
    chain,
    now,
  }: { trade: TradeFacts | null; floors: Record<ShortWindow, bigint | null>; chain: Chain | null; now: number },
): Ranks {
  const { snapshotVolume, salesComplete } = facts;
  const figures = toTradeFigures(trade, { decimals: chain?.decimals ?? null, snapshotVolume, salesComplete }, now);
  const { volume, sales } = figures;
  const { floor, listedCount: listed } = chain ? toListingFigures(facts, now) : { floor: null, listedCount: null };
  const ends = [...Object.values(volume), ...Object.values(sales), floor, listed].flatMap(
    (figure) => figure?.validUntil ?? [],
  );
  const { point } = facts;
  const movedAt = point && point.floorRaw === (floor?.value ?? null) ? point.at : now;
  const step = toStep(trade, { figures, movedAt, now });
  if (step !== null) ends.push((Math.floor(now / step) + 1) * step);
  return {
    floor: floor?.value ?? null,
    volume: toWindowValues(volume),
    sales: toWindowValues(sales),
    change: toFloorChanges(floor?.value ?? null, floors),
    listed: listed?.value ?? null,
    validUntil: ends.length === 0 ? null : Math.min(...ends),
  };
}

/**
 * The keys of windows change although nothing is written: a sale or an earlier floor leaves a window, or the chain of the collection is read again
 * after an interruption. `movedAt`: when the floor last changed. Null if neither can happen.
 */
function toStep(
  trade: TradeFacts | null,
  { figures, movedAt, now }: { figures: TradeFigures; movedAt: number; now: number },
): number | null {
  if (trade && trade.sums.sales.oneHour > 0) return STEP_MS.hour;
  const hasMoved = movedAt > now - TRADE_WINDOW_MS.thirtyDay - TRADE_WINDOW_MS.oneHour;
  const isInterrupted =
    trade !== null &&
    trade.coverage.some(({ kind }) => kind === 'chain') &&
    SHORT_WINDOWS.some((name) => figures.sales[name] === null);
  return hasMoved || isInterrupted || (trade?.sums.sales.thirtyDay ?? 0) > 0 ? STEP_MS.other : null;
}
