// All orders of a collection or of a wallet, in one state: also the more expensive ones of a token, and several of one seller.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import type { ListedOrder } from '../../../client/src/market.ts';
import { isNotFound } from '../data/client.ts';
import type { OrderFilter, OrderStatus } from '../data/market-queries.ts';
import { ordersQuery } from '../data/market-queries.ts';
import type { Amount } from '../format/amount.ts';
import { formatChange, formatCount } from '../format/amount.ts';
import { Account } from '../parts/account.tsx';
import { ChainMark } from '../parts/chain-mark.tsx';
import type { Column } from '../parts/data-table.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { MoreRows } from '../parts/more-rows.tsx';
import { Price } from '../parts/price.tsx';
import { Segments } from '../parts/segments.tsx';
import { EmptyState, ErrorPanel } from '../parts/states.tsx';
import { Expiry, Time } from '../parts/time.tsx';
import { Unknown } from '../parts/unknown.tsx';
import { oneOf, useUrlState } from '../parts/url-state.ts';
import { NotFoundPage } from '../shell/not-found-page.tsx';
import { texts as shared } from '../texts.ts';
import { sortByTotal } from './collection/by-total.ts';
import { marketplaceName } from './outside-links.ts';
import { tokenColumns } from './token-columns.tsx';
import { texts } from './texts.ts';

const STATUSES: readonly [OrderStatus, ...OrderStatus[]] = ['active', 'dormant', 'filled', 'cancelled', 'expired'];
const SKELETONS = 8;

export function OrderList({ filter }: { filter: OrderFilter }) {
  const url = useUrlState();
  const status = oneOf(STATUSES, url.get('status'));
  const query = useInfiniteQuery(ordersQuery(filter, status));
  const isOfWallet = filter.maker !== undefined;
  const isByTotal = !isOfWallet && status === 'active';
  const isComplete = query.isSuccess && !query.hasNextPage;
  const orders = useMemo(() => {
    const read = query.data?.pages.flatMap(({ data }) => data) ?? [];
    return isByTotal ? sortByTotal(read, (order) => order, { isComplete }) : read;
  }, [query.data, isByTotal, isComplete]);
  const hasUnits = orders.some(({ quantity }) => quantity !== '1');
  const least = (isByTotal && orders[0]?.buyerTotal) || null;
  const columns = useMemo(() => toColumns({ isOfWallet, hasUnits, least }), [isOfWallet, hasUnits, least?.raw]);
  if (isOfWallet && query.isError && isNotFound(query.error)) return <NotFoundPage reason={texts.wallet.invalid} />;
  return (
    <section class="tab">
      <div class="toolbar">
        <Segments
          label={texts.orders.status}
          value={status}
          segments={STATUSES.map((value) => ({ value, name: texts.orders.statuses[value] }))}
          hrefOf={(value) => url.href({ status: value === STATUSES[0] ? null : value })}
        />
        <p class="muted">{isByTotal ? texts.orders.cheapest : texts.orders.newest}</p>
      </div>
      {query.isError && orders.length === 0 && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && orders.length === 0 && !query.hasNextPage && (
        <EmptyState title={texts.orders.empty[status]} />
      )}
      {(query.isPending || orders.length > 0) && (
        <DataTable
          label={texts.orders.label}
          columns={columns}
          rows={orders}
          keyOf={({ orderId, marketplace }) => `${orderId} ${marketplace}`}
          isDense
          skeletons={query.isPending || query.isFetchingNextPage ? SKELETONS : 0}
        />
      )}
      <MoreRows query={query} />
    </section>
  );
}

type Shown = {
  isOfWallet: boolean;
  /** Whether one of the orders offers several units. */
  hasUnits: boolean;
  /** The lowest total of a buyer, if the orders are compared with it. */
  least: Amount | null;
};

function toColumns({ isOfWallet, hasUnits, least }: Shown): readonly Column<ListedOrder>[] {
  return [
    ...tokenColumns<ListedOrder>({ isOfMany: isOfWallet }),
    ...(isOfWallet ? [chain] : []),
    ...prices,
    ...(least ? [toDifference(least)] : []),
    ...(hasUnits ? [units] : []),
    ...(isOfWallet ? [] : [seller]),
    ...rest,
  ];
}

const chain: Column<ListedOrder> = {
  id: 'chain',
  head: texts.token.chain,
  width: 'minmax(110px, 0.8fr)',
  place: 'bottom-left',
  cell: (order) => <ChainMark chain={order.chain} />,
};

const seller: Column<ListedOrder> = {
  id: 'seller',
  head: texts.sales.columns.seller,
  width: 'minmax(110px, 1fr)',
  place: 'bottom-left',
  cell: (order) => <Account address={order.seller} />,
};

const prices: readonly Column<ListedOrder>[] = [
  {
    id: 'total',
    head: texts.listings.columns.total,
    width: 'minmax(110px, 1fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ buyerTotal }) => <Price price={buyerTotal} reason={shared.unknown.buyerTotal} />,
  },
  {
    id: 'ask',
    head: texts.listings.columns.price,
    width: 'minmax(90px, 0.8fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ price }) => <Price price={price} isNativeOnly />,
  },
];

const units: Column<ListedOrder> = {
  id: 'units',
  head: texts.orders.units,
  width: 'minmax(72px, 0.6fr)',
  isNumber: true,
  from: 'desktop',
  cell: ({ remaining, quantity }) =>
    remaining === null ? (
      <Unknown reason={texts.orders.unknownUnits} />
    ) : (
      <span {...(remaining !== quantity && { 'data-tip': texts.orders.unitsOf(remaining, quantity) })}>
        {formatCount(BigInt(remaining))}
      </span>
    ),
};

const rest: readonly Column<ListedOrder>[] = [
  {
    id: 'marketplace',
    head: texts.listings.columns.marketplace,
    width: 'minmax(120px, 1fr)',
    place: 'bottom-right',
    cell: ({ marketplace, dormant }) => (
      <span class="activity-kind">
        <span class="badge">{marketplaceName(marketplace)}</span>
        {dormant?.reasons.map((reason) => (
          <span key={reason} class="badge badge-warn" data-tip={texts.token.dormant[reason]}>
            {texts.orders.dormant[reason]}
          </span>
        ))}
      </span>
    ),
  },
  {
    id: 'expires',
    head: texts.token.expires,
    width: 'minmax(88px, 0.6fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ expiresAt }) =>
      expiresAt === null ? <span class="muted">{texts.orders.never}</span> : <Expiry at={expiresAt} />,
  },
  {
    id: 'listed-at',
    head: texts.listings.columns.listedAt,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ timestamp }) => <Time at={timestamp} />,
  },
];

/** How much more a buyer pays than for the cheapest order. */
const toDifference = (least: Amount): Column<ListedOrder> => ({
  id: 'difference',
  head: texts.orders.difference,
  width: 'minmax(88px, 0.7fr)',
  isNumber: true,
  from: 'desktop',
  cell: ({ buyerTotal }) =>
    buyerTotal && least.decimal > 0 ? (
      <span class="muted">{formatChange(buyerTotal.decimal / least.decimal - 1)}</span>
    ) : (
      <Unknown reason={shared.unknown.buyerTotal} />
    ),
});
