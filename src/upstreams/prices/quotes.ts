// From what several price sources say of a currency to one dollar rate, or to none: a wrong price is worse than no price.

import type { Rate } from '../../core/price.ts';

/** Dollars for one native unit, as one source says. */
export type Quote = { source: string; usd: number };

export type PriceDecision = { usd: number } | { usd: null; why: 'unknown' | 'disagreement' | 'absurd' };

/** Two sources that are further apart than this share of the lower one tell of no price. */
export const DISAGREEMENT_MAX = 0.05;
/** No native currency costs more, or less. */
const USD_MAX = 10_000_000;
const USD_MIN = 1e-9;
/** A source that stands alone is not believed when the price has moved by more than this factor within minutes. */
export const LEAP_FACTOR_MAX = 2;
export const LEAP_MS = 15 * 60_000;

/**
 * The first source's price, when the others agree with it. `known` is the rate so far: a lone source that leaps away from it
 * is not believed until it is old.
 */
export function decidePrice(quotes: readonly Quote[], known: Rate | null, now: number): PriceDecision {
  const sane = quotes.filter(({ usd }) => usd >= USD_MIN && usd <= USD_MAX);
  const [first] = sane;
  if (!first) return { usd: null, why: quotes.length > 0 ? 'absurd' : 'unknown' };
  const prices = sane.map(({ usd }) => usd);
  const lowest = Math.min(...prices);
  if (Math.max(...prices) > lowest * (1 + DISAGREEMENT_MAX)) return { usd: null, why: 'disagreement' };
  const isLeap =
    sane.length === 1 &&
    known !== null &&
    now - known.at < LEAP_MS &&
    (first.usd > known.usd * LEAP_FACTOR_MAX || first.usd < known.usd / LEAP_FACTOR_MAX);
  return isLeap ? { usd: null, why: 'absurd' } : { usd: first.usd };
}
