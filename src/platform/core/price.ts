// A price as the marketplace interface returns it. `raw` is the exact amount in base units, `decimal` the nearest double in native units.
// `usd` is null unless a recent rate is known.

import { toNativeNumber } from './amount.ts';
import type { Chain, Currency } from './chains.ts';

export type Price = { raw: string; decimal: number; currency: string; usd: number | null };

/** A price of the explore interface. One native unit is 10^decimals base units. */
export type DetailedPrice = Price & { decimals: number };

/** `usd`: dollars for one native unit. `at`: when the rate was observed, in milliseconds since the epoch. */
export type Rate = { symbol: string; usd: number; at: number };

/** The largest age of a rate. With an older rate, prices have no dollar value. */
export const RATE_AGE_MAX_MS = 15 * 60_000;

/** Rates by native symbol. */
export type Rates = ReadonlyMap<string, Rate>;

export function toPrice(raw: bigint, chain: Chain, rates: Rates, now: number): Price {
  const decimal = toNativeNumber(raw, chain.decimals);
  const rate = rates.get(chain.symbol);
  const usd = rate && now - rate.at <= RATE_AGE_MAX_MS ? roundUsd(decimal * rate.usd) : null;
  return { raw: raw.toString(), decimal, currency: chain.symbol, usd };
}

export function toDetailedPrice(raw: bigint, chain: Chain, rates: Rates, now: number): DetailedPrice {
  return { ...toPrice(raw, chain, rates, now), decimals: chain.decimals };
}

/** A price in a currency of CURRENCIES. No rate of such a currency is known. */
export function toPriceOfCurrency(
  raw: bigint,
  { symbol, decimals }: Currency,
  { hasDecimals }: { hasDecimals: boolean },
): Price | DetailedPrice {
  const price = { raw: raw.toString(), decimal: toNativeNumber(raw, decimals), currency: symbol, usd: null };
  return hasDecimals ? { ...price, decimals } : price;
}

/**
 * Rounds an amount of at least one dollar to cents, and a smaller amount to six significant digits. An amount whose number of cents is not a
 * safe integer is rounded to dollars. Returns null for an infinite amount and for NaN.
 */
export function roundUsd(usd: number): number | null {
  if (!Number.isFinite(usd)) return null;
  if (usd >= 1) return Number.isSafeInteger(Math.trunc(usd * 100)) ? Math.round(usd * 100) / 100 : Math.round(usd);
  return Number(usd.toPrecision(6));
}
