// The floor, the top bid and the volume of a collection over time: a chart, and the same numbers as a table.

import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import type { HistoryPoint, MarketCollection } from '../../../../client/src/market.ts';
import type { HistoryRange } from '../../data/market-queries.ts';
import { HISTORY_RANGES, historyQuery } from '../../data/market-queries.ts';
import { formatAmount, formatCount } from '../../format/amount.ts';
import { formatLocal, formatUtc } from '../../format/time.ts';
import { Change } from '../../parts/change.tsx';
import { Chart, NO_VALUE } from '../../parts/chart.tsx';
import { Price, Volume } from '../../parts/price.tsx';
import { Segments } from '../../parts/segments.tsx';
import { EmptyState, ErrorPanel, PartSkeleton } from '../../parts/states.tsx';
import { Unknown } from '../../parts/unknown.tsx';
import { oneOf, useUrlState } from '../../parts/url-state.ts';
import { texts as shared } from '../../texts.ts';
import { currencyOf } from '../currency.ts';
import { toHistoryData, toHistoryFigures, trimHistory } from './history-data.ts';
import { texts } from '../texts.ts';

const RANGES: readonly [HistoryRange, ...HistoryRange[]] = ['month', 'day', 'week', 'all'];
const IN_ORDER: readonly HistoryRange[] = ['day', 'week', 'month', 'all'];
/** Bars fill the lowest quarter of the chart. */
const VOLUME_SHARE = 4;
const HOUR_S = 3_600;

export function HistoryTab({ collection }: { collection: MarketCollection }) {
  const url = useUrlState();
  const range = oneOf(RANGES, url.get('range'));
  const query = useQuery(historyQuery(collection.id, range));
  const points = useMemo(() => trimHistory(query.data?.data ?? []), [query.data]);
  if (query.isError && !query.data) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <section class="tab">
      <div class="toolbar">
        <h2>{texts.history.title}</h2>
        <Segments
          label={texts.history.range}
          value={range}
          segments={IN_ORDER.map((value) => ({ value, name: texts.history.ranges[value] }))}
          hrefOf={(value) => url.href({ range: value === RANGES[0] ? null : value })}
        />
      </div>
      {query.isPending && <PartSkeleton />}
      {query.isSuccess && points.length === 0 && <EmptyState title={texts.history.empty} />}
      {points.length > 0 && (
        <div class="panel">
          <Figures points={points} currency={currencyOf(collection)} />
          <HistoryChart points={points} currency={currencyOf(collection)} range={range} readAt={query.dataUpdatedAt} />
          <HistoryTable points={points} currency={currencyOf(collection)} />
        </div>
      )}
    </section>
  );
}

type PointsProps = { points: readonly HistoryPoint[]; currency: string };

/** The figures of the chosen time range. */
function Figures({ points, currency }: PointsProps) {
  const { floor, change, low, high, volume, sales } = useMemo(() => toHistoryFigures(points), [points]);
  return (
    <dl class="figure-row chart-figures">
      <Figure name={texts.history.floor}>
        <Price price={floor} reason={shared.unknown.floor} isNativeOnly />
        {change !== null && <Change ratio={change} reason={shared.unknown.change} />}
      </Figure>
      <Figure name={texts.history.low}>
        <Price price={low} reason={shared.unknown.floor} isNativeOnly />
      </Figure>
      <Figure name={texts.history.high}>
        <Price price={high} reason={shared.unknown.floor} isNativeOnly />
      </Figure>
      <Figure name={texts.history.volumeOfPoint}>
        <Volume value={volume} currency={currency} reason={shared.unknown.figure} />
      </Figure>
      <Figure name={texts.history.sales}>{formatCount(sales)}</Figure>
    </dl>
  );
}

function Figure({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function HistoryChart({ points, currency, range, readAt }: PointsProps & { range: HistoryRange; readAt: number }) {
  const data = useMemo(() => toHistoryData(points, readAt), [points]);
  const columns = useMemo(
    () =>
      [
        data.times,
        data.floors,
        data.clippedFloors,
        data.topBids,
        data.volumes,
        data.clippedVolumes,
      ] as uPlot.AlignedData,
    [data],
  );
  const amount = (value: number | null | undefined) =>
    value === null || value === undefined ? NO_VALUE : `${formatAmount(value)} ${currency}`;
  // The chart has one more value than `points`: the end of the interval of the last point.
  const pointAt = (index: number) => Math.min(index, points.length - 1);
  const floorAt = (index: number) => amount(points[pointAt(index)]?.floor.close?.decimal);
  const topBidAt = (index: number) => amount(points[pointAt(index)]?.topBid?.decimal);
  const volumeAt = (index: number) => amount(data.groupVolumes[pointAt(index)]);
  const { interval, hours } = HISTORY_RANGES[range];
  const volumeName = texts.history.volume(data.groupSize * (interval === 'hour' ? 1 : 24));
  return (
    <figure>
      <Chart
        label={texts.history.title}
        data={columns}
        series={[
          { name: texts.history.floor, kind: 'steps', color: '--accent', scale: 'floor', format: floorAt },
          {
            name: texts.history.clipped,
            kind: 'points',
            color: '--warn',
            scale: 'floor',
            isInLegend: false,
            format: floorAt,
          },
          {
            name: texts.history.topBid,
            kind: 'steps',
            color: '--good',
            scale: 'floor',
            isInLegend: points.some(({ topBid }) => topBid !== null),
            format: topBidAt,
          },
          { name: volumeName, kind: 'bars', color: '--muted', scale: 'volume', format: volumeAt },
          {
            name: texts.history.clippedVolume,
            kind: 'bars',
            color: '--warn',
            scale: 'volume',
            isInLegend: false,
            format: volumeAt,
          },
        ]}
        ranges={{ floor: data.floorRange, volume: [0, Math.max(data.volumeEdge, Number.MIN_VALUE) * VOLUME_SHARE] }}
        x={{
          isTime: true,
          // The chart shows the complete time range, also while there is data for a part of it only.
          ...(range !== 'all' && { range: [readAt / 1_000 - hours * HOUR_S, readAt / 1_000] as [number, number] }),
          name: texts.history.time,
          format: (value) => formatLocal(new Date(value * 1_000).toISOString()),
        }}
        axes={[
          { scale: 'floor', name: texts.charts.in(texts.history.floor, currency), format: formatAmount },
          { scale: 'volume', name: texts.charts.in(volumeName, currency), format: formatAmount },
        ]}
      />
      <figcaption class="chart-note muted">
        {texts.history.note[interval]} {data.floors.includes(null) && `${texts.history.gaps} `}
        {data.clipped.floors > 0 &&
          `${texts.history.clippedNote(formatCount(data.clipped.floors), amount(data.floorEdge), texts.history.floor)} `}
        {data.clipped.volumes > 0 &&
          texts.history.clippedNote(formatCount(data.clipped.volumes), amount(data.volumeEdge), volumeName)}
      </figcaption>
    </figure>
  );
}

/** The points as a table, the newest first. The rows are rendered only while the table is open. */
function HistoryTable({ points, currency }: PointsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="chart-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{texts.history.table}</summary>
      {isOpen && (
        <div class="chart-table-scroll" tabIndex={0} role="region" aria-label={texts.history.table}>
          <table class="plain-table">
            <thead>
              <tr>
                <th scope="col">{texts.history.time}</th>
                <th scope="col">{texts.history.floor}</th>
                <th scope="col">{texts.history.highLow}</th>
                <th scope="col">{texts.history.topBid}</th>
                <th scope="col">{texts.history.volumeOfPoint}</th>
                <th scope="col">{texts.history.sales}</th>
                <th scope="col">{texts.history.listed}</th>
              </tr>
            </thead>
            <tbody>
              {points.toReversed().map(({ from, floor, topBid, volume, sales, listed }) => (
                <tr key={from}>
                  <td class="nowrap" data-tip={formatUtc(from)}>
                    {formatLocal(from)}
                  </td>
                  <td>
                    <Price price={floor.close} reason={shared.unknown.floor} isNativeOnly />
                  </td>
                  <td class="nowrap">
                    {floor.low && floor.high ? (
                      `${formatAmount(floor.low.decimal)} – ${formatAmount(floor.high.decimal)}`
                    ) : (
                      <Unknown reason={shared.unknown.floor} />
                    )}
                  </td>
                  <td>
                    <Price price={topBid} reason={texts.history.noTopBid} isNativeOnly />
                  </td>
                  <td>
                    <Volume value={volume} currency={currency} reason={shared.unknown.figure} />
                  </td>
                  <td>{formatCount(sales)}</td>
                  <td>{listed === null ? <Unknown reason={shared.unknown.figure} /> : formatCount(listed)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
