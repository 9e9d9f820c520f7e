// A small line chart of a figure over time, without axes. Where a value is unknown, the line has a gap.

import './sparkline.css';

const WIDTH = 96;
const HEIGHT = 28;
/** Space above and below the line, so that its stroke is not cut. */
const EDGE = 3;

type SparklineProps = {
  values: readonly (number | null)[];
  /** What the line shows, for people who use a screen reader. */
  label: string;
  /** The change of the figure. Its sign decides the colour. Null if it is not known. */
  change: number | null;
};

export function Sparkline({ values, label, change }: SparklineProps) {
  const path = toPath(values);
  if (path === null) return null;
  const direction = change === null || change === 0 ? 'sparkline-flat' : change > 0 ? 'sparkline-up' : 'sparkline-down';
  return (
    <svg
      class={`sparkline ${direction}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      <path d={path} />
    </svg>
  );
}

/** Null if fewer than two values are known. */
function toPath(values: readonly (number | null)[]): string | null {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return null;
  const low = Math.min(...known);
  const span = Math.max(...known) - low;
  const step = (WIDTH - 2) / (values.length - 1);
  const round = (number: number) => Math.round(number * 10) / 10;
  let path = '';
  let isDrawing = false;
  for (const [index, value] of values.entries()) {
    if (value === null) isDrawing = false;
    else {
      const level = span === 0 ? 0.5 : (value - low) / span;
      path += `${isDrawing ? 'L' : 'M'}${round(1 + index * step)} ${round(HEIGHT - EDGE - level * (HEIGHT - 2 * EDGE))}`;
      // A single value between gaps is a dot.
      if (!isDrawing && (values[index + 1] ?? null) === null) path += 'h0';
      isDrawing = true;
    }
  }
  return path;
}
