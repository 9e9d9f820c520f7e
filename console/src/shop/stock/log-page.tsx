// The adjustment log: every change of stock, with its amount, its reason, and the API key that made it.

import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import type { Adjustment } from '../../../../client/src/store.ts';
import { logQuery, stockQuery } from '../../data/shop-queries.ts';
import { formatCount } from '../../format/amount.ts';
import type { Column } from '../../parts/data-table.tsx';
import { DataTable, RowLink } from '../../parts/data-table.tsx';
import { CloseIcon } from '../../parts/icons.tsx';
import { MoreRows } from '../../parts/more-rows.tsx';
import { EmptyState, ErrorPanel } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlState } from '../../parts/url-state.ts';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../../texts.ts';
import { productPath } from '../paths.ts';
import { shortId } from '../short-id.ts';
import type { ShopSession } from '../session.ts';
import { Link } from '../../parts/link.tsx';

const SKELETONS = 8;

export function LogPage({ session }: { session: ShopSession }) {
  usePageTitle(texts.shop.tabs.log, texts.shop.title);
  const url = useUrlState();
  const productId = url.get('product');
  const query = useInfiniteQuery(logQuery(session, productId));
  // An entry has the id of its product, but not the name. The names come from the list of tracked products.
  const stock = useQuery(stockQuery(session, false));
  const columns = useMemo(() => {
    const names = new Map(stock.data?.data.map((item) => [item.productId, item.name]));
    return toColumns(session, (id) => names.get(id) ?? shortId(id));
  }, [session, stock.data]);
  const entries = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const nameOf = (id: string) => stock.data?.data.find((item) => item.productId === id)?.name ?? shortId(id);
  return (
    <section class="tab" aria-label={texts.shop.tabs.log}>
      {productId !== null && (
        <div class="toolbar">
          <Link
            class="chip"
            href={url.href({ product: null })}
            aria-label={texts.shop.products.removeFilter(nameOf(productId))}
          >
            {nameOf(productId)}
            <CloseIcon />
          </Link>
        </div>
      )}
      {query.isError && entries.length === 0 && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && entries.length === 0 && <EmptyState title={texts.shop.log.none} />}
      {(query.isPending || entries.length > 0) && (
        <DataTable
          label={texts.shop.tabs.log}
          columns={columns}
          rows={entries}
          keyOf={({ id }) => id}
          skeletons={query.isPending || query.isFetchingNextPage ? SKELETONS : 0}
        />
      )}
      <MoreRows query={query} />
    </section>
  );
}

function toColumns({ scopes }: ShopSession, nameOf: (productId: string) => string): readonly Column<Adjustment>[] {
  return [
    {
      id: 'product',
      head: texts.shop.stock.product,
      width: 'minmax(140px, 2fr)',
      place: 'top-left',
      cell: ({ productId }) => (
        <span class="truncate block">
          {scopes.has('products:read') ? (
            <RowLink href={productPath(productId)}>{nameOf(productId)}</RowLink>
          ) : (
            nameOf(productId)
          )}
        </span>
      ),
    },
    {
      id: 'change',
      head: texts.shop.log.change,
      width: 'minmax(72px, 0.6fr)',
      isNumber: true,
      from: 'tablet',
      cell: ({ adjustment }) => (
        <span class={adjustment < 0 ? 'bad' : adjustment > 0 ? 'good' : undefined}>{formatSigned(adjustment)}</span>
      ),
    },
    {
      id: 'level',
      head: texts.shop.log.level,
      width: 'minmax(110px, 1fr)',
      isNumber: true,
      place: 'top-right',
      cell: ({ previous, next }) => (
        <>
          <span class="muted">{formatCount(previous)} →</span> {formatCount(next)}
        </>
      ),
    },
    {
      id: 'reason',
      head: texts.shop.stock.reason,
      width: 'minmax(140px, 2.4fr)',
      place: 'bottom-left',
      cell: ({ reason }) => (
        <span class="truncate block" data-tip={reason}>
          {reason}
        </span>
      ),
    },
    {
      id: 'who',
      head: texts.shop.log.who,
      width: 'minmax(180px, 1.2fr)',
      from: 'desktop',
      cell: ({ keyId, source }) => (
        <span class="truncate block" data-tip={keyId ?? texts.shop.log.noKey}>
          {keyId !== null && <span class="mono">{shortId(keyId)} </span>}
          <span class="muted">{texts.shop.log.sources[source] ?? source}</span>
        </span>
      ),
    },
    {
      id: 'at',
      head: texts.shop.log.at,
      width: 'minmax(64px, 0.5fr)',
      isNumber: true,
      place: 'bottom-right',
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
  ];
}

function formatSigned(change: number): string {
  return change > 0 ? `+${formatCount(change)}` : formatCount(change).replace('-', '−');
}
