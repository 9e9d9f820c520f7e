// The adjustment log: every change of stock, with its amount, its reason, and the API key that made it.

import { useInfiniteQuery, useQueries } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import type { Adjustment } from '../../../../client/src/store.ts';
import { logQuery, productNamesQuery } from '../../data/shop-queries.ts';
import { formatCount } from '../../format/amount.ts';
import type { Column } from '../../parts/data-table.tsx';
import { DataTable, RowLink } from '../../parts/data-table.tsx';
import { CloseIcon } from '../../parts/icons.tsx';
import { MoreRows } from '../../parts/more-rows.tsx';
import { EmptyState, ErrorPanel } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlState } from '../../parts/url-state.ts';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../texts.ts';
import { productPath, reservationPath } from '../paths.ts';
import { shortId } from '../short-id.ts';
import type { ShopSession } from '../session.ts';
import { Link } from '../../parts/link.tsx';

const SKELETONS = 8;

export function LogPage({ session }: { session: ShopSession }) {
  usePageTitle(texts.tabs.log, texts.title);
  const url = useUrlState();
  const productId = url.get('product');
  const query = useInfiniteQuery(logQuery(session, productId));
  // An entry has the id of its product, but not the name. The names of each page of entries are read together.
  const names = useProductNames(session, [
    ...(productId === null ? [] : [[productId]]),
    ...(query.data?.pages ?? []).map(({ data }) => data.map((entry) => entry.productId)),
  ]);
  const nameOf = (id: string) => names.get(id) ?? shortId(id);
  const columns = useMemo(() => toColumns(session, nameOf), [session, names]);
  const entries = query.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <section class="tab" aria-label={texts.tabs.log}>
      {productId !== null && (
        <div class="toolbar">
          <Link
            class="chip"
            href={url.href({ product: null })}
            aria-label={texts.products.removeFilter(nameOf(productId))}
          >
            {nameOf(productId)}
            <CloseIcon />
          </Link>
        </div>
      )}
      {query.isError && entries.length === 0 && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && entries.length === 0 && <EmptyState title={texts.log.none} />}
      {(query.isPending || entries.length > 0) && (
        <DataTable
          label={texts.tabs.log}
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

function useProductNames(session: ShopSession, pages: readonly string[][]): ReadonlyMap<string, string> {
  return useQueries({
    queries: pages.map((ids) => productNamesQuery(session, [...new Set(ids)].sort())),
    combine: mergeNames,
  });
}

/** Outside of the component, so that the result stays the same object while the names do. */
function mergeNames(
  results: readonly { data: ReadonlyMap<string, string> | undefined }[],
): ReadonlyMap<string, string> {
  return new Map(results.flatMap(({ data }) => [...(data ?? [])]));
}

function toColumns({ scopes }: ShopSession, nameOf: (productId: string) => string): readonly Column<Adjustment>[] {
  return [
    {
      id: 'product',
      head: texts.stock.product,
      width: 'minmax(140px, 2fr)',
      place: 'top-left',
      cell: ({ productId }) => (
        <span class="truncate">
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
      head: texts.log.change,
      width: 'minmax(72px, 0.6fr)',
      isNumber: true,
      from: 'tablet',
      cell: ({ adjustment }) => (
        <span class={adjustment < 0 ? 'bad' : adjustment > 0 ? 'good' : undefined}>{formatSigned(adjustment)}</span>
      ),
    },
    {
      id: 'level',
      head: texts.log.level,
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
      head: texts.stock.reason,
      width: 'minmax(140px, 2.4fr)',
      place: 'bottom-left',
      cell: ({ reason }) => (
        <span class="truncate" data-tip={reason}>
          {reason}
        </span>
      ),
    },
    {
      id: 'who',
      head: texts.log.who,
      width: 'minmax(220px, 1.4fr)',
      from: 'desktop',
      cell: ({ keyId, source, reservationId }) => (
        <span class="truncate" data-tip={keyId ?? texts.log.noKey}>
          {keyId !== null && <span class="mono">{shortId(keyId)} </span>}
          {reservationId === null ? (
            <span class="muted">{texts.log.sources[source] ?? source}</span>
          ) : (
            <Link class="link inner-link" href={reservationPath(reservationId)}>
              {texts.log.sources[source] ?? source} {shortId(reservationId)}
            </Link>
          )}
        </span>
      ),
    },
    {
      id: 'at',
      head: texts.log.at,
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
