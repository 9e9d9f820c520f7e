// Chooses the dollar rate of a currency from the quotes of several vendors. Chooses no rate if the quotes are doubtful, because a wrong
// price is worse than no price.

import type { Rate } from '../../../platform/core/price.ts';

/** Dollars for one native unit. */
export type Quote = { source: string; usd: number };

/**
 * `unknown`: there is no quote. `disagreement`: the quotes differ too much. `absurd`: no quote is plausible, or the only plausible quote
 * differs too much from the stored rate.
 */
export type PriceDecision = { usd: number } | { usd: null; why: 'unknown' | 'disagreement' | 'absurd' };

/** If two quotes differ by more than this share of the lower quote, no rate is chosen. */
const DISAGREEMENT_MAX = 0.05;
/** Quotes above USD_MAX or below USD_MIN are ignored, because no native currency has such a price. */
const USD_MAX = 10_000_000;
const USD_MIN = 1e-9;
/** A single quote is not accepted when it differs by more than this factor from a stored rate that is younger than LEAP_MS. */
const LEAP_FACTOR_MAX = 2;
export const LEAP_MS = 15 * 60_000;

/** Accepts the first quote if the other quotes agree with it. `known` is the stored rate, with which a single quote is compared. */
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
