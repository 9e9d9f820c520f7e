// A chart that uPlot draws. It is drawn again when its data, the theme or the width of its box changes. The page also has the data in a
// table, because a screen reader cannot read a canvas.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { formatTick } from '../format/time.ts';
import { theme } from '../shell/theme.ts';
import { useStore } from '../shell/store.ts';
import { useMedia } from './use-media.ts';

export type ChartSeries = {
  name: string;
  kind: 'points' | 'bars' | 'steps' | 'line';
  /** The CSS variable of the colour, such as `--accent`. */
  color: string;
  /** Series with the same scale share one range. The vertical axis shows the scale of the first series. */
  scale: string;
  /** Whether the legend names the series. False for a series that only draws a part of another series in another colour. Default: true. */
  isInLegend?: boolean;
  /** The text of the value at an index of the data. */
  format: (index: number) => string;
};

export type ChartProps = {
  label: string;
  /** The values of x, then those of each series. Times are in seconds. */
  data: uPlot.AlignedData;
  series: readonly ChartSeries[];
  /** The ranges of the scales. A scale without a range begins at 0 and ends 8 % above its greatest value. */
  ranges?: Readonly<Record<string, uPlot.Range.MinMax>>;
  x: { isTime: boolean; name: string; format: (value: number) => string };
  formatY: (value: number) => string;
};

const HEIGHT = 280;
const HALF_HOUR_S = 1_800;
const AXIS_FONT = "12px 'Geist Variable', system-ui, sans-serif";

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const chosenTheme = useStore(theme);
  const isSystemDark = useMedia('(prefers-color-scheme: dark)');
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const plot = new uPlot(toOptions(props, element), props.data, element);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [props.data, chosenTheme, isSystemDark]);
  return <div ref={box} class="chart" role="img" aria-label={props.label} />;
}

function toOptions({ series, ranges, x, formatY }: ChartProps, element: HTMLElement): uPlot.Options {
  const colorOf = (token: string) => resolveColor(element, token);
  const axis = { stroke: colorOf('--muted'), font: AXIS_FONT, ticks: { show: false }, gap: 8 };
  const mainScale = series[0]?.scale ?? 'y';
  const scales = [...new Set(series.map(({ scale }) => scale))];
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [12, 8, 0, 0],
    cursor: { points: { size: 7 }, drag: { x: false, y: false } },
    scales: {
      x: { time: x.isTime, range: (_plot: uPlot, min: number, max: number) => toRangeOfX(min, max, x.isTime) },
      ...Object.fromEntries(
        scales.map((scale) => [
          scale,
          {
            range: (_plot: uPlot, _min: number | null, max: number | null) => ranges?.[scale] ?? [0, (max ?? 1) * 1.08],
          },
        ]),
      ),
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 96,
        values: (_plot, values, _axis, _space, step) =>
          values.map((value) => (x.isTime ? formatTick(value * 1_000, step * 1_000) : x.format(value))),
      },
      {
        ...axis,
        scale: mainScale,
        size: 64,
        space: 56,
        grid: { stroke: colorOf('--line'), width: 1 },
        values: (_plot, values) => values.map((value) => formatY(value)),
      },
    ],
    series: [
      { label: x.name, value: (_plot, value: number | null) => (value === null ? '–' : x.format(value)) },
      ...series.map((one) => toSeries(one, colorOf(one.color))),
    ],
  };
}

/** If there is only one value of x, returns a range with this value in the middle. The range that uPlot chooses would be years long. */
function toRangeOfX(min: number, max: number, isTime: boolean): uPlot.Range.MinMax {
  if (min !== max) return [min, max];
  const margin = isTime ? HALF_HOUR_S : Math.abs(min) / 2 || 1;
  return [min - margin, max + margin];
}

function toSeries({ name, kind, scale, isInLegend = true, format }: ChartSeries, color: string): uPlot.Series {
  const value: uPlot.Series.Value = (_plot, _value, _series, index) => (index === null ? '–' : format(index));
  const shared = { label: name, scale, value, stroke: color, ...(!isInLegend && { class: 'chart-unnamed' }) };
  if (kind === 'points')
    return { ...shared, paths: () => null, points: { show: true, size: 6, fill: color, width: 0 } };
  if (kind === 'bars') {
    return {
      ...shared,
      width: 0,
      fill: color,
      points: { show: false },
      ...pathsOf(uPlot.paths.bars?.({ size: [0.7, 24] })),
    };
  }
  const filled = { ...shared, width: 2, fill: `${color}22`, points: { show: false } };
  return kind === 'steps' ? { ...filled, ...pathsOf(uPlot.paths.stepped?.({ align: 1 })) } : filled;
}

function pathsOf(paths: uPlot.Series.PathBuilder | undefined): Partial<uPlot.Series> {
  return paths ? { paths } : {};
}

/** The colour of a CSS variable as `#rrggbb`, because a canvas cannot use CSS variables. */
function resolveColor(element: HTMLElement, token: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${token})`;
  element.append(probe);
  const channels = getComputedStyle(probe).color.match(/\d+/g) ?? [];
  probe.remove();
  return `#${channels
    .slice(0, 3)
    .map((channel) => Number(channel).toString(16).padStart(2, '0'))
    .join('')}`;
}
