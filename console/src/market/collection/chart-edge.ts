// Limits the height of a chart. Without a limit, one value far above the others would press all other values to the bottom.

/** A value counts as far above the others if it is more than this many times the 95th percentile of all values. */
const OUTLIER_FACTOR = 2;
const PERCENTILE = 0.95;

/** The value at the upper edge of the chart. Values above it are drawn at the edge. */
export function toEdge(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const greatest = sorted.at(-1) ?? 0;
  const usual = sorted[Math.floor((sorted.length - 1) * PERCENTILE)] ?? 0;
  return usual > 0 && greatest > usual * OUTLIER_FACTOR ? usual * OUTLIER_FACTOR : greatest;
}
