// The Price of the specification: an exact amount in base units, the same in native units, the currency, and dollars where a rate is
// known.

import { toNativeNumber } from './amount.ts';
import type { Chain } from './chains.ts';

export type Price = { raw: string; decimal: number; currency: string; usd: number | null };

/** Dollars for one native unit, as observed at a time. */
export type Rate = { symbol: string; usd: number; at: number };

/** A rate older than this gives no dollar value. */
export const RATE_AGE_MAX_MS = 15 * 60_000;

/** Rates by native symbol. */
export type Rates = ReadonlyMap<string, Rate>;

export function toPrice(raw: bigint, chain: Chain, rates: Rates, now: number): Price {
  const decimal = toNativeNumber(raw, chain.decimals);
  const rate = rates.get(chain.symbol);
  const usd = rate && now - rate.at <= RATE_AGE_MAX_MS ? roundUsd(decimal * rate.usd) : null;
  return { raw: raw.toString(), decimal, currency: chain.symbol, usd };
}

/** Cents from one dollar up, six significant digits below; null for what a double cannot hold. */
export function roundUsd(usd: number): number | null {
  if (!Number.isFinite(usd)) return null;
  if (usd >= 1) return Number.isSafeInteger(Math.trunc(usd * 100)) ? Math.round(usd * 100) / 100 : Math.round(usd);
  return Number(usd.toPrecision(6));
}
