// The tab with the sales of a collection: a chart, and a table of the same sales.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useEffect, useMemo } from 'preact/hooks';
import type { MarketCollection, MarketItem } from '../../../../client/src/market.ts';
import { salesQuery } from '../../data/market-queries.ts';
import { Account } from '../../parts/account.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { DataTable, RowLink } from '../../parts/data-table.tsx';
import { MoreRows } from '../../parts/more-rows.tsx';
import { Price } from '../../parts/price.tsx';
import { Segments } from '../../parts/segments.tsx';
import { EmptyState, ErrorPanel } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { oneOf, useUrlState } from '../../parts/url-state.ts';
import { useNow } from '../../shell/clock.ts';
import { tokenPath } from '../paths.ts';
import { tokenName } from '../token-name.ts';
import { Transaction } from '../transaction.tsx';
import { SalesChart } from './sales-chart.tsx';
import { marketplaceName } from '../outside-links.ts';
import { texts } from '../texts.ts';

const DAY_MS = 86_400_000;
const RANGES_MS = { all: Infinity, month: 30 * DAY_MS, week: 7 * DAY_MS, day: DAY_MS };
const RANGES: readonly ['all', 'month', 'week', 'day'] = ['all', 'month', 'week', 'day'];
const SKELETONS = 8;
/** With fewer sales there is no chart, because a single point shows no change of the price. */
const CHART_SALES_MIN = 2;
/** So many pages of the chosen time range are loaded for the chart at once. The rest of the range is loaded when the user scrolls. */
const CHART_PAGES_MAX = 20;

export function SalesTab({ collection }: { collection: MarketCollection }) {
  const url = useUrlState();
  const range = oneOf(RANGES, url.get('range'));
  const query = useInfiniteQuery(salesQuery(collection.id));
  const now = useNow();
  const oldest = now - RANGES_MS[range];
  const all = useMemo(() => query.data?.pages.flatMap(({ data }) => data) ?? [], [query.data]);
  const first = all.findIndex(({ timestamp }) => Date.parse(timestamp) < oldest);
  const count = first < 0 ? all.length : first;
  const sales = useMemo(() => all.slice(0, count), [all, count]);
  /** Whether older sales of the range are not loaded yet. */
  const hasMore = query.hasNextPage && count === all.length;
  const { isFetching, isFetchNextPageError, fetchNextPage } = query;
  const isFilling = range !== 'all' && hasMore && (query.data?.pages.length ?? 0) < CHART_PAGES_MAX;
  useEffect(() => {
    if (isFilling && !isFetching && !isFetchNextPageError) void fetchNextPage();
  }, [isFilling, isFetching, isFetchNextPageError, fetchNextPage]);

  if (query.isError && all.length === 0) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (query.isSuccess && all.length === 0 && !query.hasNextPage) return <EmptyState title={texts.sales.empty} />;
  return (
    <section class="tab">
      <div class="toolbar">
        <h2>{texts.sales.chart}</h2>
        <Segments
          label={texts.sales.range}
          value={range}
          segments={RANGES.toReversed().map((value) => ({ value, name: texts.sales.ranges[value] }))}
          hrefOf={(value) => url.href({ range: value === RANGES[0] ? null : value })}
        />
      </div>
      {query.isSuccess && sales.length === 0 && !hasMore && <EmptyState title={texts.sales.rangeEmpty} />}
      {sales.length >= CHART_SALES_MIN && (
        <div class="panel">
          <SalesChart sales={sales} hasMore={hasMore} range={range === 'all' ? null : [oldest, now]} />
        </div>
      )}
      {(query.isPending || sales.length > 0) && (
        <DataTable
          label={texts.sales.label}
          columns={COLUMNS}
          rows={sales}
          keyOf={({ orderId, tx, timestamp, tokenId, mint }) => `${orderId} ${tx} ${timestamp} ${tokenId ?? mint}`}
          isDense
          skeletons={query.isPending || query.isFetchingNextPage ? SKELETONS : 0}
        />
      )}
      {hasMore && !isFilling && <MoreRows query={query} />}
    </section>
  );
}

const COLUMNS: readonly Column<MarketItem>[] = [
  {
    id: 'token',
    head: texts.sales.columns.token,
    width: 'minmax(120px, 1fr)',
    place: 'top-left',
    cell: (sale) => (
      <span class="truncate">
        <RowLink href={tokenPath(sale)}>{tokenName({ ...sale, name: null })}</RowLink>
      </span>
    ),
  },
  {
    id: 'price',
    head: texts.sales.columns.price,
    width: 'minmax(120px, 1fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ price }) => <Price price={price} />,
  },
  {
    id: 'marketplace',
    head: texts.sales.columns.marketplace,
    width: 'minmax(110px, 1fr)',
    place: 'bottom-left',
    cell: ({ marketplace }) => <span class="badge">{marketplaceName(marketplace)}</span>,
  },
  {
    id: 'seller',
    head: texts.sales.columns.seller,
    width: 'minmax(120px, 1fr)',
    from: 'desktop',
    cell: ({ seller }) => <Account address={seller} />,
  },
  {
    id: 'buyer',
    head: texts.sales.columns.buyer,
    width: 'minmax(120px, 1fr)',
    from: 'tablet',
    cell: ({ buyer }) => <Account address={buyer} />,
  },
  {
    id: 'time',
    head: texts.sales.columns.time,
    width: 'minmax(88px, 0.6fr)',
    isNumber: true,
    place: 'bottom-right',
    cell: ({ timestamp, chain, tx }) => (
      <span class="time-and-link">
        <Time at={timestamp} />
        {tx !== null && <Transaction chain={chain} tx={tx} isShort />}
      </span>
    ),
  },
];
