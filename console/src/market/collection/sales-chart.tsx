// Draws the prices of sales over time. Bars below the prices show the volume of periods of equal length. Prices far above the others are
// drawn at the upper edge.

import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import type { MarketItem } from '../../../../client/src/market.ts';
import { formatAmount, formatCount } from '../../format/amount.ts';
import { formatLocal } from '../../format/time.ts';
import { Chart } from '../../parts/chart.tsx';
import { texts } from '../../texts.ts';
import { toSalesData } from './sales-data.ts';

/** Bars fill the lowest quarter of the chart. */
const VOLUME_SHARE = 4;

/** `hasMore`: whether there are older sales that the chart does not show. */
export function SalesChart({ sales, hasMore }: { sales: readonly MarketItem[]; hasMore: boolean }) {
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
    return value === null || value === undefined ? '–' : `${formatAmount(value)} ${currency}`;
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
            format: (index) => (data[2]?.[index] === null ? '–' : amountAt(data[3])(index)),
          },
          {
            name: texts.sales.volume,
            kind: 'bars',
            color: '--line-strong',
            scale: 'volume',
            format: amountAt(data[4]),
          },
        ]}
        ranges={{ price: [0, edge * 1.06], volume: [0, Math.max(...periods.volumes, 0) * VOLUME_SHARE] }}
        x={{
          isTime: true,
          name: texts.sales.time,
          format: (value) => formatLocal(new Date(value * 1_000).toISOString()),
        }}
        formatY={formatAmount}
      />
      <figcaption class="chart-note muted">
        {texts.sales.chartNote(formatCount(sales.length), hasMore)}{' '}
        {clipped > 0 && texts.sales.clippedNote(formatCount(clipped), `${formatAmount(edge)} ${currency}`)}
      </figcaption>
    </figure>
  );
}
