// A tab that shows, for each price, how many listed tokens of a collection cost at most this price.

import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { useEffect, useMemo } from 'preact/hooks';
import type uPlot from 'uplot';
import type { MarketCollection, MarketItem } from '../../../../client/src/market.ts';
import { listingsQuery, ordersQuery } from '../../data/market-queries.ts';
import { formatAmount, formatCount } from '../../format/amount.ts';
import { Chart } from '../../parts/chart.tsx';
import { ClockIcon } from '../../parts/icons.tsx';
import { Price } from '../../parts/price.tsx';
import { EmptyState, ErrorPanel, PartSkeleton } from '../../parts/states.tsx';
import { toEdge } from './chart-edge.ts';
import { toDepthSteps } from './depth-steps.ts';
import { texts } from '../texts.ts';

/** With fewer listings than this, the tab has no chart. The table alone shows them well enough. */
const CHARTED_MIN = 3;

/** So many pages of orders are loaded at once. A collection with more orders has the depth of the cheapest ones. */
const PAGES_MAX = 20;
const ORDERS_PER_PAGE = 100;

export function DepthTab({ collection: { id } }: { collection: MarketCollection }) {
  const query = useInfiniteQuery(ordersQuery({ side: 'ask', collection: id }, 'active', ORDERS_PER_PAGE));
  const { data, isError, isFetching, hasNextPage, fetchNextPage } = query;
  const isFilling = hasNextPage && !isError && (data?.pages.length ?? 0) < PAGES_MAX;
  useEffect(() => {
    if (isFilling && !isFetching) void fetchNextPage();
  }, [isFilling, isFetching, fetchNextPage]);
  // While the listings of other marketplaces cannot be read, there is no list of all orders, but one of the listings that can be read.
  const others = useQuery({ ...listingsQuery(id), enabled: isError && !data });
  const listings = useMemo(
    () => (data ? toCheapest(data.pages.flatMap((page) => page.data)) : (others.data?.listings ?? [])),
    [data, others.data],
  );
  if (isError && others.isError) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (!data && !others.data) return <PartSkeleton />;
  if (data && listings.length === 0) return <EmptyState title={texts.depth.empty} />;
  return (
    <section class="tab" aria-busy={isFilling}>
      <h2>{texts.depth.chart}</h2>
      {!data && (
        <p class="stale">
          <ClockIcon />
          {texts.stale.listings}
        </p>
      )}
      {listings.length > 0 && (
        <>
          {listings.length >= CHARTED_MIN && (
            <div class="panel">
              <DepthChart listings={listings} isComplete={!hasNextPage && data !== undefined} />
            </div>
          )}
          <DepthTable listings={listings} />
        </>
      )}
    </section>
  );
}

type Priced = Pick<MarketItem, 'price' | 'chain' | 'contractAddress' | 'tokenId' | 'mint'>;

/** The cheapest order of each token. `orders`: the cheapest first. */
function toCheapest(orders: readonly Priced[]): readonly Priced[] {
  const first = new Map<string, Priced>();
  for (const order of orders) {
    const key = order.mint ?? `${order.contractAddress} ${order.tokenId}`;
    if (!first.has(key)) first.set(key, order);
  }
  return [...first.values()];
}

function DepthChart({ listings, isComplete }: { listings: readonly Priced[]; isComplete: boolean }) {
  const currency = listings[0]?.price.currency ?? '';
  const { data, edge, beyond } = useMemo(() => {
    const prices = listings.map(({ price }) => price.decimal);
    const end = toEdge(prices);
    const drawn = prices.filter((price) => price <= end);
    const columns: uPlot.AlignedData = [drawn, drawn.map((_price, index) => index + 1)];
    return { data: columns, edge: end, beyond: prices.length - drawn.length };
  }, [listings]);
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
      <figcaption class="chart-note muted">
        {texts.depth.note(formatCount(listings.length), isComplete)}
        {beyond > 0 && ` ${texts.depth.beyond(formatCount(beyond), `${formatAmount(edge)} ${currency}`)}`}
      </figcaption>
    </figure>
  );
}

function DepthTable({ listings }: { listings: readonly Priced[] }) {
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
