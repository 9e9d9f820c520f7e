// The steps of the listing depth. Each step says how many of the cheapest tokens it includes, the highest of their prices, and the sum of
// their prices.

import type { Amount } from '../../format/amount.ts';

export type DepthStep = { upTo: Amount; tokens: number; sum: Amount };

/** Each step except the last includes one of these numbers of tokens. The last step includes all tokens. */
const SIZES = [1, 5, 10, 25, 50, 100, 200];

/** `prices` are the asks, lowest first. */
export function toDepthSteps(prices: readonly Amount[]): DepthStep[] {
  const sizes = [...SIZES.filter((size) => size < prices.length), prices.length];
  return sizes.flatMap((tokens) => {
    const upTo = prices[tokens - 1];
    return upTo ? [{ upTo, tokens, sum: sumOf(prices.slice(0, tokens), upTo.currency) }] : [];
  });
}

/** The sum in dollars is null if the dollar value of any price is unknown. */
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
