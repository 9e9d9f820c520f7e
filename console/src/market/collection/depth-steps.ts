// Steps of the depth of listings: how many tokens cost up to a price, and what they cost together.

import type { Amount } from '../../format/amount.ts';

export type DepthStep = { upTo: Amount; tokens: number; sum: Amount };

/** The sizes at which the depth is stated, besides that of all listings. */
const SIZES = [1, 5, 10, 25, 50, 100, 200];

/** `prices` are the asks, lowest first. */
export function toDepthSteps(prices: readonly Amount[]): DepthStep[] {
  const sizes = [...SIZES.filter((size) => size < prices.length), prices.length];
  return sizes.flatMap((tokens) => {
    const upTo = prices[tokens - 1];
    return upTo ? [{ upTo, tokens, sum: sumOf(prices.slice(0, tokens), upTo.currency) }] : [];
  });
}

/** The dollars are unknown if those of one price are. */
function sumOf(prices: readonly Amount[], currency: string): Amount {
  let sum: Amount = { raw: 0n, decimal: 0, currency, usd: 0 };
  for (const { raw, decimal, usd } of prices) {
    sum = {
      raw: sum.raw + raw,
      decimal: sum.decimal + decimal,
      currency,
      usd: sum.usd === null || usd === null ? null : sum.usd + usd,
    };
  }
  return sum;
}
