// Draws the prices of sales over time. Bars below the prices show the volume of periods of equal length. Prices far above the others are
// drawn at the upper edge.

import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import type { MarketItem } from '../../../../client/src/market.ts';
import { formatAmount, formatCount } from '../../format/amount.ts';
import { formatLocal } from '../../format/time.ts';
import { Chart, NO_VALUE } from '../../parts/chart.tsx';
import { toSalesData } from './sales-data.ts';
import { texts } from '../texts.ts';

/** Bars fill the lowest quarter of the chart. */
const VOLUME_SHARE = 4;

type SalesChartProps = {
  sales: readonly MarketItem[];
  /** Whether there are older sales that the chart does not show. */
  hasMore: boolean;
  /** The time range in ms since the epoch. Null: from the first to the last sale. */
  range: readonly [from: number, to: number] | null;
};

export function SalesChart({ sales, hasMore, range }: SalesChartProps) {
  const { times, prices, edge, clipped, periods } = useMemo(() => toSalesData(sales), [sales]);
  const currency = sales[0]?.price.currency ?? '';
  const data = useMemo(() => {
    const shown = prices.map((price) => (price > edge ? null : price));
    const above = prices.map((price) => (price > edge ? edge : null));
    return uPlot.join([
      [times, shown, above, prices],
      [periods.middles, periods.volumes],
    ]);
  }, [times, prices, edge, periods]);
  const amountAt = (values: ArrayLike<number | null | undefined> | undefined) => (index: number) => {
    const value = values?.[index];
    return value === null || value === undefined ? NO_VALUE : `${formatAmount(value)} ${currency}`;
  };
  return (
    <figure>
      <Chart
        label={texts.sales.chart}
        data={[data[0], data[1] ?? [], data[2] ?? [], data[4] ?? []] as uPlot.AlignedData}
        series={[
          { name: texts.sales.price, kind: 'points', color: '--accent', scale: 'price', format: amountAt(data[1]) },
          {
            name: texts.sales.clipped,
            kind: 'points',
            color: '--warn',
            scale: 'price',
            isInLegend: clipped > 0,
            format: (index) => (typeof data[2]?.[index] === 'number' ? amountAt(data[3])(index) : NO_VALUE),
          },
          {
            name: texts.sales.volume,
            kind: 'bars',
            color: '--muted',
            scale: 'volume',
            format: amountAt(data[4]),
          },
        ]}
        ranges={{ price: [0, edge * 1.06], volume: [0, Math.max(...periods.volumes, 0) * VOLUME_SHARE] }}
        x={{
          isTime: true,
          ...(range && { range: [range[0] / 1_000, range[1] / 1_000] as [number, number] }),
          name: texts.sales.time,
          format: (value) => formatLocal(new Date(value * 1_000).toISOString()),
        }}
        axes={[
          { scale: 'price', name: texts.charts.in(texts.sales.price, currency), format: formatAmount },
          { scale: 'volume', name: texts.charts.in(texts.sales.volume, currency), format: formatAmount },
        ]}
      />
      <figcaption class="chart-note muted">
        {texts.sales.chartNote(formatCount(sales.length), hasMore)}{' '}
        {clipped > 0 && texts.sales.clippedNote(formatCount(clipped), `${formatAmount(edge)} ${currency}`)}
      </figcaption>
    </figure>
  );
}
