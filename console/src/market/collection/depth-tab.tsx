// A tab that shows, for each price, how many listed tokens of a collection cost at most this price, and for how many tokens others bid at least
// this price.

import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { useEffect, useMemo } from 'preact/hooks';
import type uPlot from 'uplot';
import type { ListedOrder, MarketCollection, MarketItem } from '../../../../client/src/market.ts';
import { listingsQuery, ordersQuery } from '../../data/market-queries.ts';
import { formatAmount, formatCount } from '../../format/amount.ts';
import { Chart, NO_VALUE } from '../../parts/chart.tsx';
import { ClockIcon } from '../../parts/icons.tsx';
import { Price } from '../../parts/price.tsx';
import { EmptyState, ErrorPanel, PartSkeleton } from '../../parts/states.tsx';
import { toEdge } from './chart-edge.ts';
import type { Level } from './depth-steps.ts';
import { toDepthCurves, toDepthSteps } from './depth-steps.ts';
import { texts } from '../texts.ts';
import './depth-tab.css';

/** With fewer prices than this, the tab has no chart. The table alone shows them well enough. */
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
  // The top bid of the collection is also one of these: bids for some tokens only say nothing about the others.
  const wanted = useInfiniteQuery(
    ordersQuery({ side: 'bid', collection: id, kind: 'collection' }, 'active', ORDERS_PER_PAGE),
  );
  const bids = useMemo(() => toBids(wanted.data?.pages.flatMap((page) => page.data) ?? []), [wanted.data]);
  const asks = useMemo(
    () => toAsks(data ? toCheapest(data.pages.flatMap((page) => page.data)) : (others.data?.listings ?? [])),
    [data, others.data],
  );
  if (isError && others.isError) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (!data && !others.data) return <PartSkeleton />;
  if (data && wanted.isPending) return <PartSkeleton />;
  if (data && asks.length + bids.length === 0) return <EmptyState title={texts.depth.empty} />;
  return (
    <section class="tab" aria-busy={isFilling}>
      <h2>{texts.depth.chart}</h2>
      {!data && (
        <p class="stale">
          <ClockIcon />
          {texts.stale.listings}
        </p>
      )}
      {asks.length + bids.length >= CHARTED_MIN && (
        <div class="panel">
          <DepthChart
            asks={asks}
            bids={bids}
            isComplete={!hasNextPage && data !== undefined}
            isBidsComplete={!wanted.hasNextPage}
          />
        </div>
      )}
      <div class="depth-tables">
        {asks.length > 0 && (
          <DepthTable title={texts.depth.tokens} limit={texts.depth.price} sum={texts.depth.sum} levels={asks} />
        )}
        {bids.length > 0 && (
          <DepthTable title={texts.depth.wanted} limit={texts.depth.downTo} sum={texts.depth.proceeds} levels={bids} />
        )}
      </div>
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

function toAsks(listings: readonly Priced[]): readonly Level[] {
  return listings.map(({ price }) => ({ price, units: 1n }));
}

/** What sellers get. */
function toBids(bids: readonly ListedOrder[]): readonly Level[] {
  return bids.flatMap(({ proceeds, remaining, quantity }) =>
    proceeds ? [{ price: proceeds, units: BigInt(remaining ?? quantity) }] : [],
  );
}

type DepthChartProps = {
  asks: readonly Level[];
  bids: readonly Level[];
  isComplete: boolean;
  isBidsComplete: boolean;
};

function DepthChart({ asks, bids, isComplete, isBidsComplete }: DepthChartProps) {
  const currency = [...asks, ...bids][0]?.price.currency ?? '';
  const { curves, data, edge, beyond } = useMemo(() => {
    const end = asks.length === 0 ? Infinity : toEdge(asks.map(({ price }) => price.decimal));
    const drawn = asks.filter(({ price }) => price.decimal <= end);
    const found = toDepthCurves(drawn, bids);
    const columns: uPlot.AlignedData = [found.prices, found.asks, ...(bids.length > 0 ? [found.bids] : [])];
    return { curves: found, data: columns, edge: end, beyond: asks.length - drawn.length };
  }, [asks, bids]);
  const format = (counts: readonly (number | null)[]) => (index: number) => {
    const count = counts[index] ?? null;
    return count === null ? NO_VALUE : formatCount(count);
  };
  return (
    <figure>
      <Chart
        label={texts.depth.chart}
        data={data}
        series={[
          { name: texts.depth.tokens, kind: 'steps', color: '--accent', scale: 'tokens', format: format(curves.asks) },
          ...(bids.length > 0
            ? ([
                {
                  name: texts.depth.wanted,
                  kind: 'steps-down',
                  color: '--good',
                  scale: 'tokens',
                  format: format(curves.bids),
                },
              ] as const)
            : []),
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
        {texts.depth.note(formatCount(asks.length), isComplete)}
        {beyond > 0 && ` ${texts.depth.beyond(formatCount(beyond), `${formatAmount(edge)} ${currency}`)}`}
        {bids.length > 0 && ` ${texts.depth.bidsNote(formatCount(bids.length), isBidsComplete)}`}
      </figcaption>
    </figure>
  );
}

type DepthTableProps = { title: string; limit: string; sum: string; levels: readonly Level[] };

function DepthTable({ title, limit, sum: sumName, levels }: DepthTableProps) {
  const steps = useMemo(() => toDepthSteps(levels), [levels]);
  return (
    <div class="panel">
      <table class="plain-table" aria-label={title}>
        <thead>
          <tr>
            <th scope="col">{limit}</th>
            <th scope="col">{title}</th>
            <th scope="col">{sumName}</th>
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
