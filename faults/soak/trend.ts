// Decides whether a measured quantity grows over time.

/** A measured value. `minute`: when it was measured, in minutes since the start. */
export type Sample = { minute: number; value: number };

export type Trend = { mean: number; slopePerMinute: number; isLevel: boolean };

/** A quantity is level if it grows within `windowMinutes` by at most `amount`, or by at most `share` times its mean. */
export type Tolerance = { share: number; amount: number };

/**
 * Fits a line by least squares to the samples of the last `windowMinutes`. The quantity is level if the line rises by at most the
 * tolerance.
 */
export function findTrend(samples: readonly Sample[], windowMinutes: number, tolerance: Tolerance): Trend {
  const end = samples.at(-1)?.minute ?? 0;
  const recent = samples.filter(({ minute }) => minute >= end - windowMinutes);
  const mean = meanOf(recent.map(({ value }) => value));
  const meanMinute = meanOf(recent.map(({ minute }) => minute));
  const covariance = meanOf(recent.map(({ minute, value }) => (minute - meanMinute) * (value - mean)));
  const variance = meanOf(recent.map(({ minute }) => (minute - meanMinute) ** 2));
  const slopePerMinute = variance === 0 ? 0 : covariance / variance;
  const growth = slopePerMinute * windowMinutes;
  return { mean, slopePerMinute, isLevel: growth <= Math.max(tolerance.amount, tolerance.share * mean) };
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
