// A tab that shows, for each price, how many listings of a collection have at most this price. It counts only the listings that the service
// serves, which are the cheapest ones.

import { useQuery } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import type uPlot from 'uplot';
import type { MarketCollection, MarketItem } from '../../../../client/src/market.ts';
import { listingsQuery } from '../../data/market-queries.ts';
import { formatAmount, formatCount } from '../../format/amount.ts';
import { Chart } from '../../parts/chart.tsx';
import { ClockIcon } from '../../parts/icons.tsx';
import { Price } from '../../parts/price.tsx';
import { EmptyState, ErrorPanel, PartSkeleton } from '../../parts/states.tsx';
import { texts } from '../../texts.ts';
import { toDepthSteps } from './depth-steps.ts';

/** With fewer listings than this, the tab has no chart. The table alone shows them well enough. */
const CHARTED_MIN = 3;

export function DepthTab({ collection }: { collection: MarketCollection }) {
  const query = useQuery(listingsQuery(collection.id));
  if (query.isError && !query.data) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <PartSkeleton />;
  const { listings, isComplete } = query.data;
  if (listings.length === 0 && isComplete) return <EmptyState title={texts.depth.empty} />;
  return (
    <section class="tab">
      <h2>{texts.depth.chart}</h2>
      {!isComplete && (
        <p class="stale">
          <ClockIcon />
          {texts.stale.listings}
        </p>
      )}
      {listings.length > 0 && (
        <>
          {listings.length >= CHARTED_MIN && (
            <div class="panel">
              <DepthChart listings={listings} />
            </div>
          )}
          <DepthTable listings={listings} />
        </>
      )}
    </section>
  );
}

function DepthChart({ listings }: { listings: readonly MarketItem[] }) {
  const currency = listings[0]?.price.currency ?? '';
  const data = useMemo<uPlot.AlignedData>(
    () => [listings.map(({ price }) => price.decimal), listings.map((_listing, index) => index + 1)],
    [listings],
  );
  return (
    <figure>
      <Chart
        label={texts.depth.chart}
        data={data}
        series={[
          {
            name: texts.depth.tokens,
            kind: 'steps',
            color: '--accent',
            scale: 'tokens',
            format: (index) => formatCount(index + 1),
          },
        ]}
        x={{
          isTime: false,
          name: texts.charts.in(texts.depth.upTo, currency),
          format: (value) => `${formatAmount(value)} ${currency}`,
        }}
        axes={[
          {
            scale: 'tokens',
            name: texts.depth.tokens,
            format: (value) => (Number.isInteger(value) ? formatCount(value) : ''),
          },
        ]}
      />
      <figcaption class="chart-note muted">{texts.depth.note(formatCount(listings.length))}</figcaption>
    </figure>
  );
}

function DepthTable({ listings }: { listings: readonly MarketItem[] }) {
  const steps = useMemo(() => toDepthSteps(listings.map(({ price }) => price)), [listings]);
  return (
    <div class="panel">
      <table class="plain-table">
        <thead>
          <tr>
            <th scope="col">{texts.depth.price}</th>
            <th scope="col">{texts.depth.tokens}</th>
            <th scope="col">{texts.depth.sum}</th>
          </tr>
        </thead>
        <tbody>
          {steps.map(({ upTo, tokens, sum }) => (
            <tr key={tokens}>
              <td>
                <Price price={upTo} isNativeOnly />
              </td>
              <td>{formatCount(tokens)}</td>
              <td>
                <Price price={sum} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
