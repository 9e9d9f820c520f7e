// One reservation: what it holds, and the requests that end it or hold it for longer.

import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useParams } from 'wouter-preact';
import type { Reservation } from '../../../../client/src/store.ts';
import { isNotFound } from '../../data/client.ts';
import { refreshShop, reservationQuery } from '../../data/shop-queries.ts';
import { useSaving } from '../../data/use-saving.ts';
import { formatCount } from '../../format/amount.ts';
import type { Column } from '../../parts/data-table.tsx';
import { DataTable, RowLink } from '../../parts/data-table.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Link } from '../../parts/link.tsx';
import { EmptyState, ErrorPanel, PartSkeleton } from '../../parts/states.tsx';
import { Expiry, Time } from '../../parts/time.tsx';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../texts.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { describeRowError } from '../form-errors.ts';
import { logPath, productPath } from '../paths.ts';
import { shortId } from '../short-id.ts';
import type { ShopSession } from '../session.ts';
import { ReservationState } from './reservation-state.tsx';

const t = texts.reservations;
const LONGER_S = 900;

export function ReservationPage({ session }: { session: ShopSession }) {
  const { id } = useParams<{ id: string }>();
  const query = useQuery(reservationQuery(session, id));
  usePageTitle(query.data ? toTitle(query.data.data) : texts.tabs.reservations, texts.title);
  if (query.isPending) return <PartSkeleton />;
  if (query.isError && isNotFound(query.error)) {
    return (
      <EmptyState title={t.notFound}>
        <Link class="button" href="/shop/reservations">
          {t.back}
        </Link>
      </EmptyState>
    );
  }
  if (!query.data) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  return <Loaded session={session} reservation={query.data.data} />;
}

function toTitle({ id, reference }: Reservation): string {
  return reference ?? t.untitled(shortId(id));
}

function Loaded({ session, reservation }: { session: ShopSession; reservation: Reservation }) {
  const { id, status, createdAt, expiresAt, endedAt, items } = reservation;
  const isHeld = status === 'held';
  return (
    <div class="tab">
      <Link class="link" href="/shop/reservations">
        {t.back}
      </Link>
      <div class="shop-head">
        <div class="shop-head-text">
          <h2 class="shop-title">{toTitle(reservation)}</h2>
          <p class="facts">
            <ReservationState status={status} />
            <span class="fact-address mono">
              <span class="truncate">{id}</span> <CopyButton text={id} label={t.id} />
            </span>
            <span>
              {t.created} <Time at={createdAt} />
            </span>
            <span>
              {isHeld ? (
                <>
                  {t.until} <Expiry at={expiresAt} />
                </>
              ) : (
                <>
                  {t.ended} <Time at={endedAt ?? expiresAt} />
                </>
              )}
            </span>
          </p>
        </div>
      </div>
      {session.scopes.has('inventory:write') && isHeld && <Actions session={session} reservation={reservation} />}
      <DataTable label={t.items} columns={toColumns(session)} rows={items} keyOf={({ productId }) => productId} />
    </div>
  );
}

function Actions({ session: { client }, reservation: { id } }: { session: ShopSession; reservation: Reservation }) {
  const [outcome, setOutcome] = useState<string | null>(null);
  const {
    save: run,
    isSaving,
    error,
  } = useSaving(async () => {
    await client.extendReservation({ reservationId: id, expiresInSeconds: LONGER_S });
    setOutcome(t.extended);
    await refreshShop();
  });
  return (
    <>
      <div class="button-row button-row-start">
        <ConfirmButton
          name={t.consume}
          title={t.consumeTitle}
          text={t.consumeText}
          isDestructive={false}
          action={async () => {
            await client.consumeReservation({ reservationId: id });
            await refreshShop();
          }}
        />
        <button type="button" class="button" disabled={isSaving} onClick={() => void run()}>
          {t.extend}
        </button>
        <ConfirmButton
          name={t.release}
          title={t.releaseTitle}
          text={t.releaseText}
          action={async () => {
            await client.releaseReservation({ reservationId: id });
            await refreshShop();
          }}
        />
      </div>
      <p class="outcome" role="status">
        {error === null ? outcome : <span class="bad">{describeRowError(error)}</span>}
      </p>
    </>
  );
}

type Item = Reservation['items'][number];

function toColumns({ scopes }: ShopSession): readonly Column<Item>[] {
  return [
    {
      id: 'product',
      head: texts.stock.product,
      width: 'minmax(160px, 3fr)',
      place: 'top-left',
      cell: ({ productId, name }) => {
        if (name === null) return <span class="muted">{t.deletedProduct(shortId(productId))}</span>;
        return (
          <span class="truncate">
            {scopes.has('products:read') ? <RowLink href={productPath(productId)}>{name}</RowLink> : name}
          </span>
        );
      },
    },
    {
      id: 'quantity',
      head: t.quantity,
      width: 'minmax(80px, 0.8fr)',
      isNumber: true,
      place: 'top-right',
      cell: ({ quantity }) => formatCount(quantity),
    },
    {
      id: 'held',
      head: t.statuses.held,
      width: 'minmax(80px, 0.8fr)',
      isNumber: true,
      place: 'bottom-right',
      placeLabel: t.statuses.held,
      cell: ({ held }) => formatCount(held),
    },
    {
      id: 'consumed',
      head: t.statuses.consumed,
      width: 'minmax(80px, 0.8fr)',
      isNumber: true,
      from: 'tablet',
      cell: ({ consumed }) => formatCount(consumed),
    },
    {
      id: 'returned',
      head: t.returned,
      width: 'minmax(80px, 0.8fr)',
      isNumber: true,
      from: 'tablet',
      cell: ({ quantity, held, consumed }) => formatCount(quantity - held - consumed),
    },
    {
      id: 'log',
      head: texts.tabs.log,
      isHeadHidden: true,
      width: 'minmax(56px, 0.4fr)',
      isNumber: true,
      place: 'bottom-left',
      cell: ({ productId, name }) => (
        <Link
          class="link inner-link"
          href={logPath(productId)}
          aria-label={texts.stock.logOf(name ?? shortId(productId))}
        >
          {texts.tabs.log}
        </Link>
      ),
    },
  ];
}
