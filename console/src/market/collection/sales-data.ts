// Computes the data that the chart of sales draws.

import { toEdge } from './chart-edge.ts';

type Sale = { timestamp: string; price: { decimal: number } };

export type SalesData = {
  /** Seconds since the epoch, oldest first. */
  times: number[];
  prices: number[];
  /** The upper end of the axis: greater prices are drawn there. */
  edge: number;
  /** How many prices are greater than the edge. */
  clipped: number;
  /**
   * The time from the first to the last sale is divided into PERIODS periods of equal length. `middles` has the middle of each period that has
   * a sale, and `volumes` has the sum of the prices in that period.
   */
  periods: { middles: number[]; volumes: number[] };
};

const PERIODS = 32;

export function toSalesData(sales: readonly Sale[]): SalesData {
  const ordered = sales
    .map(({ timestamp, price }) => ({ time: Date.parse(timestamp) / 1_000, price: price.decimal }))
    .sort((a, b) => a.time - b.time);
  const times = ordered.map(({ time }) => time);
  const prices = ordered.map(({ price }) => price);
  const edge = toEdge(prices);
  return { times, prices, edge, clipped: prices.filter((price) => price > edge).length, periods: toPeriods(ordered) };
}

function toPeriods(ordered: readonly { time: number; price: number }[]): SalesData['periods'] {
  const first = ordered[0]?.time ?? 0;
  const last = ordered.at(-1)?.time ?? 0;
  const length = Math.max((last - first) / PERIODS, 1);
  const volumes = new Map<number, number>();
  for (const { time, price } of ordered) {
    // The last sale is at the end of the last period. Without the limit, it would be in a period after the last one.
    const period = Math.min(Math.floor((time - first) / length), PERIODS - 1);
    const middle = first + (period + 0.5) * length;
    volumes.set(middle, (volumes.get(middle) ?? 0) + price);
  }
  return { middles: [...volumes.keys()], volumes: [...volumes.values()] };
}
