// Decides on one dollar rate from the quotes of several vendors, or on no rate, because a wrong price is worse than no price.

import type { Rate } from '../../core/price.ts';

/** Dollars for one native unit. */
export type Quote = { source: string; usd: number };

/** `unknown`: there is no quote. `disagreement`: the quotes differ too much. `absurd`: no quote is plausible. */
export type PriceDecision = { usd: number } | { usd: null; why: 'unknown' | 'disagreement' | 'absurd' };

/** Two quotes that differ by more than this share of the lower quote give no rate. */
export const DISAGREEMENT_MAX = 0.05;
/** Quotes above USD_MAX or below USD_MIN are ignored, because no native currency has such a price. */
const USD_MAX = 10_000_000;
const USD_MIN = 1e-9;
/** A single quote is not accepted when it differs by more than this factor from a stored rate that is younger than LEAP_MS. */
export const LEAP_FACTOR_MAX = 2;
export const LEAP_MS = 15 * 60_000;

/**
 * Accepts the first quote if the other quotes agree with it. `known` is the stored rate. A single quote that differs from it by more than
 * LEAP_FACTOR_MAX is not accepted until the stored rate has the age LEAP_MS.
 */
export function decidePrice(quotes: readonly Quote[], known: Rate | null, now: number): PriceDecision {
  const plausible = quotes.filter(({ usd }) => usd >= USD_MIN && usd <= USD_MAX);
  const [first] = plausible;
  if (!first) return { usd: null, why: quotes.length > 0 ? 'absurd' : 'unknown' };
  const prices = plausible.map(({ usd }) => usd);
  const lowest = Math.min(...prices);
  if (Math.max(...prices) > lowest * (1 + DISAGREEMENT_MAX)) return { usd: null, why: 'disagreement' };
  const isLeap =
    plausible.length === 1 &&
    known !== null &&
    now - known.at < LEAP_MS &&
    (first.usd > known.usd * LEAP_FACTOR_MAX || first.usd < known.usd / LEAP_FACTOR_MAX);
  return isLeap ? { usd: null, why: 'absurd' } : { usd: first.usd };
}
