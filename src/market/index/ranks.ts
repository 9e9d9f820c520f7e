// Computes the ranking keys of a collection: its volumes, numbers of sales, ask floor, changes of the floor, and listed count. Volumes and the
// floor are in the native currency of the chain. The same rules choose the values of the keys and the values that responses show.

import type { Chain } from '../../platform/core/chains.ts';
import { toListingFigures } from './listing-figures.ts';
import type { ShortWindow, TradeFacts, TradeFigures } from '../provenance/trade.ts';
import {
  SHORT_WINDOWS,
  TRADE_WINDOW_MS,
  toFloorChanges,
  toTradeFigures,
  toVolumeFigure,
  toWindowValues,
} from '../provenance/trade.ts';
import type { RankFacts, Ranks, WindowRanks } from './queries/ranks.ts';

const MINUTE_MS = 60_000;
/** How often the keys are computed again while sales leave the window of an hour, and otherwise while anything leaves a window. */
const STEP_MS = { hour: MINUTE_MS, other: 10 * MINUTE_MS } as const;

/**
 * `chain` is null when the collection has no configured chain. Then the unit of the floor is unknown, and the floor is null. `now` in ms.
 */
export function toRanks(facts: RankFacts, context: { chain: Chain | null; now: number }): Ranks {
  const { volume, floor, listed } = toFigures(facts, context);
  return { volume: volume?.value ?? null, floor: floor?.value ?? null, listed: listed?.value ?? null };
}

function toFigures(facts: RankFacts, { chain, now }: { chain: Chain | null; now: number }) {
  const { snapshotVolume, salesComplete } = facts;
  const volume = toVolumeFigure(facts, { decimals: chain?.decimals ?? null, snapshotVolume, salesComplete }, now);
  const { floor, listedCount: listed } = chain ? toListingFigures(facts, now) : { floor: null, listedCount: null };
  return { volume, floor, listed };
}

/** `floors`: the floor at the beginning of each window. The point of the history in `facts` must be that of the present floor. */
export function toWindowRanks(
  facts: RankFacts,
  {
    trade,
    floors,
    chain,
    now,
  }: { trade: TradeFacts | null; floors: Record<ShortWindow, bigint | null>; chain: Chain | null; now: number },
): WindowRanks {
  const { snapshotVolume, salesComplete, pointAt } = facts;
  const figures = toTradeFigures(trade, { decimals: chain?.decimals ?? null, snapshotVolume, salesComplete }, now);
  const { volume, sales } = figures;
  const { floor, ...others } = toFigures(facts, { chain, now });
  const ends = [...Object.values(volume), ...Object.values(sales), floor, ...Object.values(others)].flatMap(
    (figure) => figure?.validUntil ?? [],
  );
  const step = toStep(trade, { figures, movedAt: pointAt, now });
  if (step !== null) ends.push((Math.floor(now / step) + 1) * step);
  return {
    volume: toWindowValues(volume),
    sales: toWindowValues(sales),
    change: toFloorChanges(floor?.value ?? null, floors),
    validUntil: ends.length === 0 ? null : Math.min(...ends),
  };
}

/**
 * The keys of windows change although nothing is written: a sale or an earlier floor leaves a window, or the chain of the collection is read again
 * after an interruption. `movedAt`: when the floor last changed; null if it never did. Null if neither can happen.
 */
function toStep(
  trade: TradeFacts | null,
  { figures, movedAt, now }: { figures: TradeFigures; movedAt: number | null; now: number },
): number | null {
  if (trade && trade.sums.sales.oneHour > 0) return STEP_MS.hour;
  const hasMoved = movedAt !== null && movedAt > now - TRADE_WINDOW_MS.thirtyDay - TRADE_WINDOW_MS.oneHour;
  const isInterrupted =
    trade !== null &&
    trade.coverage.some(({ kind }) => kind === 'chain') &&
    SHORT_WINDOWS.some((name) => figures.sales[name] === null);
  return hasMoved || isInterrupted || (trade?.sums.sales.thirtyDay ?? 0) > 0 ? STEP_MS.other : null;
}
