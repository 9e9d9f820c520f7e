// All orders of a collection or of a wallet, of one side and in one state: also the worse ones of a token, and several of one maker.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import { isNotFound } from '../data/client.ts';
import type { OrderFilter, OrderSide, OrderStatus } from '../data/market-queries.ts';
import { ordersQuery } from '../data/market-queries.ts';
import { DataTable } from '../parts/data-table.tsx';
import { MoreRows } from '../parts/more-rows.tsx';
import { Segments } from '../parts/segments.tsx';
import { EmptyState, ErrorPanel } from '../parts/states.tsx';
import { oneOf, useUrlState } from '../parts/url-state.ts';
import { NotFoundPage } from '../shell/not-found-page.tsx';
import { sortByTotal } from './collection/by-total.ts';
import { toAskColumns, toBidColumns } from './order-columns.tsx';
import { texts } from './texts.ts';

const SIDES: readonly [OrderSide, ...OrderSide[]] = ['ask', 'bid'];
const STATUSES: readonly [OrderStatus, ...OrderStatus[]] = ['active', 'dormant', 'filled', 'cancelled', 'expired'];
const SKELETONS = 8;

type OrderListProps = { whose: { collection: string } | { maker: string } };

export function OrderList({ whose }: OrderListProps) {
  const url = useUrlState();
  const side = oneOf(SIDES, url.get('side'));
  const status = oneOf(STATUSES, url.get('status'));
  const isOfWallet = 'maker' in whose;
  const order = !isOfWallet && status === 'active' ? 'best' : 'newest';
  return (
    <section class="tab">
      <div class="toolbar">
        <div class="toolbar-group">
          <Segments
            label={texts.orders.side}
            value={side}
            segments={SIDES.map((value) => ({ value, name: texts.orders.sides[value] }))}
            hrefOf={(value) => url.href({ side: value === SIDES[0] ? null : value })}
          />
          <Segments
            label={texts.orders.status}
            value={status}
            segments={STATUSES.map((value) => ({ value, name: texts.orders.statuses[value] }))}
            hrefOf={(value) => url.href({ status: value === STATUSES[0] ? null : value })}
          />
        </div>
        <p class="muted">{texts.orders[order][side]}</p>
      </div>
      <OrderRows key={side} filter={{ ...whose, side }} status={status} />
    </section>
  );
}

function OrderRows({ filter, status }: { filter: OrderFilter; status: OrderStatus }) {
  const query = useInfiniteQuery(ordersQuery(filter, status));
  const { side } = filter;
  const isOfWallet = filter.maker !== undefined;
  const isByTotal = side === 'ask' && !isOfWallet && status === 'active';
  const isComplete = query.isSuccess && !query.hasNextPage;
  const orders = useMemo(() => {
    const read = query.data?.pages.flatMap(({ data }) => data) ?? [];
    return isByTotal ? sortByTotal(read, (order) => order, { isComplete }) : read;
  }, [query.data, isByTotal, isComplete]);
  const hasUnits = orders.some(({ quantity }) => quantity !== '1');
  const least = (isByTotal && orders[0]?.buyerTotal) || null;
  const columns = useMemo(
    () => (side === 'bid' ? toBidColumns({ isOfWallet, hasUnits }) : toAskColumns({ isOfWallet, hasUnits, least })),
    [side, isOfWallet, hasUnits, least?.raw],
  );
  if (isOfWallet && query.isError && isNotFound(query.error)) return <NotFoundPage reason={texts.wallet.invalid} />;
  return (
    <>
      {query.isError && orders.length === 0 && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && orders.length === 0 && !query.hasNextPage && (
        <EmptyState title={texts.orders.empty[side][status]} />
      )}
      {(query.isPending || orders.length > 0) && (
        <DataTable
          label={texts.orders.sides[side]}
          columns={columns}
          rows={orders}
          keyOf={({ orderId, marketplace }) => `${orderId} ${marketplace}`}
          isDense
          skeletons={query.isPending || query.isFetchingNextPage ? SKELETONS : 0}
        />
      )}
      <MoreRows query={query} />
    </>
  );
}
