// How many tokens of a collection can be bought up to each price, and sold down to each price: as the steps of a table, and as the values of a chart.

import type { Amount } from '../../format/amount.ts';

/** Tokens that are for sale, or wanted, at one price each. */
export type Level = { price: Amount; units: bigint };
/** `upTo`: the last of the prices, and `sum` their sum. */
export type DepthStep = { upTo: Amount; tokens: number; sum: Amount };

/** Each step except the last includes one of these numbers of tokens. The last step includes all tokens. */
const SIZES = [1, 5, 10, 25, 50, 100, 200];

/** `levels`: the best price first. */
export function toDepthSteps(levels: readonly Level[]): DepthStep[] {
  const total = levels.reduce((sum, { units }) => sum + units, 0n);
  const sizes = [...SIZES.map(BigInt).filter((size) => size < total), total];
  return sizes.flatMap((tokens) => toStep(levels, tokens));
}

/** The sum in dollars is null if the dollar value of any price is unknown. */
function toStep(levels: readonly Level[], tokens: bigint): DepthStep[] {
  const [first] = levels;
  if (!first) return [];
  let left = tokens;
  let upTo = first.price;
  let sum: Amount = { raw: 0n, decimal: 0, currency: upTo.currency, usd: 0 };
  for (const { price, units } of levels) {
    if (left === 0n) break;
    const taken = units < left ? units : left;
    const count = Number(taken);
    left -= taken;
    upTo = price;
    sum = {
      ...sum,
      raw: sum.raw + price.raw * taken,
      decimal: sum.decimal + price.decimal * count,
      usd: sum.usd === null || price.usd === null ? null : sum.usd + price.usd * count,
    };
  }
  return [{ upTo, tokens: Number(tokens), sum }];
}

export type DepthCurves = {
  prices: number[];
  /** For each price: how many tokens cost at most this price. Null below the lowest ask. */
  asks: (number | null)[];
  /** For each price: how many tokens are wanted for at least this price. Null above the top bid. */
  bids: (number | null)[];
};

/** `asks`: the lowest price first. `bids`: the highest first. */
export function toDepthCurves(asks: readonly Level[], bids: readonly Level[]): DepthCurves {
  const prices = [...new Set([...asks, ...bids].map(({ price }) => price.decimal))].sort((a, b) => a - b);
  const known = (count: number) => (count === 0 ? null : count);
  return {
    prices,
    asks: prices.map((limit) => known(countWhile(asks, (price) => price <= limit))),
    bids: prices.map((limit) => known(countWhile(bids, (price) => price >= limit))),
  };
}

function countWhile(levels: readonly Level[], isWithin: (price: number) => boolean): number {
  let count = 0;
  for (const { price, units } of levels) {
    if (!isWithin(price.decimal)) break;
    count += Number(units);
  }
  return count;
}
