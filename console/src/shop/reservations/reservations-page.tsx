// What checkouts hold of the stock: by whom, how much, and until when.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { Reservation } from '../../../../client/src/store.ts';
import type { ReservationStatus } from '../../data/shop-queries.ts';
import { reservationsQuery } from '../../data/shop-queries.ts';
import { formatCount } from '../../format/amount.ts';
import type { Column } from '../../parts/data-table.tsx';
import { DataTable, RowLink } from '../../parts/data-table.tsx';
import { Link } from '../../parts/link.tsx';
import { MoreRows } from '../../parts/more-rows.tsx';
import { Segments } from '../../parts/segments.tsx';
import { EmptyState, ErrorPanel } from '../../parts/states.tsx';
import { Expiry, Time } from '../../parts/time.tsx';
import { useUrlState } from '../../parts/url-state.ts';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../texts.ts';
import { reservationPath } from '../paths.ts';
import { SearchBox } from '../search-box.tsx';
import type { ShopSession } from '../session.ts';
import { shortId } from '../short-id.ts';
import { ReservationState } from './reservation-state.tsx';

const t = texts.reservations;
const STATUSES: readonly ReservationStatus[] = ['held', 'consumed', 'released', 'expired'];
const ALL = 'all';
const SKELETONS = 5;

export function ReservationsPage({ session }: { session: ShopSession }) {
  usePageTitle(texts.tabs.reservations, texts.title);
  const url = useUrlState();
  const status = STATUSES.find((one) => one === url.get('status')) ?? null;
  const reference = url.get('reference');
  const query = useInfiniteQuery(reservationsQuery(session, { status, reference }));
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const isFiltered = status !== null || reference !== null;
  return (
    <section class="tab" aria-label={texts.tabs.reservations}>
      <div class="toolbar">
        <Segments
          label={t.status}
          value={status ?? ALL}
          segments={[{ value: ALL, name: t.all }, ...STATUSES.map((value) => ({ value, name: t.statuses[value] }))]}
          hrefOf={(value) => url.href({ status: value === ALL ? null : value })}
        />
        <ReferenceSearch reference={reference} hrefOf={(value) => url.href({ reference: value })} />
      </div>
      {query.isError && rows.length === 0 && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && (
        <EmptyState title={isFiltered ? t.noneFound : t.none}>
          {isFiltered ? (
            <Link class="button" href="/shop/reservations">
              {t.clear}
            </Link>
          ) : (
            <p class="muted">{t.noneHint}</p>
          )}
        </EmptyState>
      )}
      {(query.isPending || rows.length > 0) && (
        <DataTable
          label={texts.tabs.reservations}
          columns={COLUMNS}
          rows={rows}
          keyOf={({ id }) => id}
          skeletons={query.isPending || query.isFetchingNextPage ? SKELETONS : 0}
        />
      )}
      <MoreRows query={query} />
    </section>
  );
}

type ReferenceSearchProps = { reference: string | null; hrefOf: (reference: string | null) => string };

/** Finds the reservations with exactly this reference, such as the number of an order. */
function ReferenceSearch({ reference, hrefOf }: ReferenceSearchProps) {
  const [text, setText] = useState(reference ?? '');
  const [, navigate] = useLocation();
  // A link has changed the list, and not this field.
  useEffect(() => setText(reference ?? ''), [reference]);
  return (
    <SearchBox
      hint={t.search}
      text={text}
      onText={setText}
      onEnter={(wanted) => navigate(hrefOf(wanted === '' ? null : wanted), { replace: true })}
    />
  );
}

const COLUMNS: readonly Column<Reservation>[] = [
  {
    id: 'reference',
    head: t.reference,
    width: 'minmax(140px, 1.6fr)',
    place: 'top-left',
    cell: ({ id, reference }) => (
      <span class="truncate">
        <RowLink href={reservationPath(id)}>{reference ?? <span class="mono">{shortId(id)}</span>}</RowLink>
      </span>
    ),
  },
  {
    id: 'items',
    head: t.items,
    width: 'minmax(160px, 3fr)',
    place: 'bottom-left',
    cell: ({ items }) => (
      <span class="truncate">
        {items
          .map(({ name, quantity, productId }) => t.item(formatCount(quantity), name ?? shortId(productId)))
          .join(', ')}
      </span>
    ),
  },
  {
    id: 'status',
    head: t.status,
    width: 'minmax(96px, 0.8fr)',
    place: 'top-right',
    cell: ({ status }) => <ReservationState status={status} />,
  },
  {
    id: 'until',
    head: t.until,
    width: 'minmax(96px, 0.8fr)',
    isNumber: true,
    place: 'bottom-right',
    cell: ({ status, expiresAt, endedAt }) =>
      status === 'held' ? <Expiry at={expiresAt} /> : <Time at={endedAt ?? expiresAt} />,
  },
  {
    id: 'created',
    head: t.created,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];
