// A chart that uPlot draws. It is drawn again when its data, the theme or the width of its box changes. The page also has the data in a
// table, because a screen reader cannot read a canvas.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { formatTick } from '../format/time.ts';
import { theme } from '../shell/theme.ts';
import { useStore } from '../shell/store.ts';
import { useMedia } from './use-media.ts';
import 'uplot/dist/uPlot.min.css';
import './chart.css';

export type ChartSeries = {
  name: string;
  /** `steps`: a value holds up to the next value of x. `steps-down`: it holds from the previous value of x. */
  kind: 'points' | 'bars' | 'steps' | 'steps-down' | 'line';
  /** The CSS variable of the colour, such as `--accent`. */
  color: string;
  /** Series with the same scale share one range. */
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
  x: { isTime: boolean; name: string; format: (value: number) => string; range?: uPlot.Range.MinMax };
  /** The vertical axes: the first at the left, and the second, if there is one, at the right. `name` has the unit. */
  axes: readonly { scale: string; name: string; format: (value: number) => string }[];
};

const HEIGHT = 280;
const HALF_HOUR_S = 1_800;
/** In a narrower chart, the axes have no names. */
const NARROW_PX = 600;
const SIDE_RIGHT = 1;
const SIDE_LEFT = 3;
/** The distance of the tooltip from the pointer. */
const TOOLTIP_GAP = 12;
/** What a series writes at a place without a value. */
export const NO_VALUE = '–';
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
  return (
    <>
      {/* On a phone, the names of the axes beside the axes would take the room of the chart. */}
      <p class="chart-axes muted">{props.axes.map(({ name }) => name).join(' · ')}</p>
      <div ref={box} class="chart" role="img" aria-label={props.label} />
    </>
  );
}

function toOptions({ series, ranges, x, axes }: ChartProps, element: HTMLElement): uPlot.Options {
  const colorOf = (token: string) => resolveColor(element, token);
  const axis = { stroke: colorOf('--muted'), font: AXIS_FONT, ticks: { show: false }, gap: 8 };
  const isNarrow = element.clientWidth < NARROW_PX;
  const scales = [...new Set(series.map(({ scale }) => scale))];
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [12, 8, 0, 0],
    // The tooltip at the pointer has the values.
    legend: { live: false },
    plugins: [pointerTooltip(x, series)],
    cursor: { points: { size: 7 }, drag: { x: false, y: false } },
    scales: {
      x: {
        time: x.isTime,
        range: (_plot: uPlot, min: number, max: number) => x.range ?? toRangeOfX(min, max, x.isTime),
      },
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
        ...(!x.isTime && { label: x.name, labelFont: AXIS_FONT, labelSize: 20 }),
        grid: { show: false },
        space: isNarrow ? 64 : 96,
        values: (_plot, values, _axis, _space, step) =>
          values.map((value) => (x.isTime ? formatTick(value * 1_000, step * 1_000) : x.format(value))),
      },
      ...axes.map(({ scale, name, format }, index) => ({
        ...axis,
        scale,
        ...(!isNarrow && { label: name, labelFont: AXIS_FONT, labelSize: 20 }),
        size: index === 0 && !isNarrow ? 60 : 44,
        space: 40,
        side: index === 0 ? SIDE_LEFT : SIDE_RIGHT,
        grid: { show: index === 0, stroke: colorOf('--line'), width: 1 },
        values: (_plot: uPlot, values: number[]) => values.map((value) => format(value)),
      })),
    ],
    series: [
      { label: x.name, value: (_plot, value: number | null) => (value === null ? NO_VALUE : x.format(value)) },
      ...series.map((one) => toSeries(one, colorOf(one.color))),
    ],
  };
}

/** Shows the values at the pointer beside it. A series without a value there has no line. */
function pointerTooltip(x: ChartProps['x'], series: readonly ChartSeries[]): uPlot.Plugin {
  const box = document.createElement('div');
  box.className = 'chart-tooltip';
  const hide = () => (box.hidden = true);
  return {
    hooks: {
      init: ({ over }) => {
        hide();
        over.append(box);
        over.addEventListener('pointerleave', hide);
      },
      setCursor: ({ cursor: { idx, left = 0, top = 0 }, data, over }) => {
        const at = idx === null || idx === undefined ? undefined : data[0][idx];
        if (at === undefined || left < 0) return void hide();
        const values = series.flatMap(({ name, format, isInLegend = true }) => {
          const text = format(idx as number);
          return isInLegend && text !== NO_VALUE ? [toLine(name, text)] : [];
        });
        const head = document.createElement('strong');
        head.textContent = x.format(at);
        box.replaceChildren(head, ...values);
        box.hidden = false;
        const isRight = left < over.clientWidth / 2;
        box.style.left = `${isRight ? left + TOOLTIP_GAP : left - TOOLTIP_GAP - box.offsetWidth}px`;
        box.style.top = `${Math.max(0, Math.min(top, over.clientHeight - box.offsetHeight))}px`;
      },
    },
  };
}

function toLine(name: string, value: string): HTMLElement {
  const line = document.createElement('span');
  line.textContent = `${name}: ${value}`;
  return line;
}

/** If there is only one value of x, returns a range with this value in the middle. The range that uPlot chooses would be years long. */
function toRangeOfX(min: number, max: number, isTime: boolean): uPlot.Range.MinMax {
  if (min !== max) return [min, max];
  const margin = isTime ? HALF_HOUR_S : Math.abs(min) / 2 || 1;
  return [min - margin, max + margin];
}

function toSeries({ name, kind, scale, isInLegend = true, format }: ChartSeries, color: string): uPlot.Series {
  const value: uPlot.Series.Value = (_plot, _value, _series, index) => (index === null ? NO_VALUE : format(index));
  const shared = { label: name, scale, value, stroke: color, ...(!isInLegend && { class: 'chart-unnamed' }) };
  if (kind === 'points')
    return { ...shared, paths: () => null, points: { show: true, size: 6, fill: color, width: 0 } };
  if (kind === 'bars') {
    return {
      ...shared,
      width: 0,
      // Bars stand before the line of another series, which stays visible.
      fill: `${color}99`,
      points: { show: false },
      ...pathsOf(uPlot.paths.bars?.({ size: [0.7, 24] })),
    };
  }
  const filled = { ...shared, width: 2, fill: `${color}22`, points: { show: false } };
  if (kind === 'line') return filled;
  return { ...filled, ...pathsOf(uPlot.paths.stepped?.({ align: kind === 'steps' ? 1 : -1 })) };
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
