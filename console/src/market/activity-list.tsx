// The list of market changes of a collection, a token or a wallet, newest first.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import type { Activity, ActivityKind } from '../../../client/src/market.ts';
import type { ActivityFilter } from '../data/market-queries.ts';
import { activityQuery } from '../data/market-queries.ts';
import { ALL_KINDS, isSameAccount, newEvent } from '../data/live.ts';
import { useLive } from '../data/use-live.ts';
import { formatCount } from '../format/amount.ts';
import { Account } from '../parts/account.tsx';
import type { Column } from '../parts/data-table.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { WarningIcon } from '../parts/icons.tsx';
import { MoreRows } from '../parts/more-rows.tsx';
import { Price } from '../parts/price.tsx';
import { Segments } from '../parts/segments.tsx';
import { EmptyState, ErrorPanel } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { oneOf, useUrlState } from '../parts/url-state.ts';
import { tokenColumns } from './token-columns.tsx';
import { Transaction } from './transaction.tsx';
import { marketplaceName } from './outside-links.ts';
import { texts } from './texts.ts';
import './activity-list.css';

const SKELETONS = 8;

/** The choices of the filter by kind. The kinds that no choice names are in the list of all kinds only. */
const KINDS = {
  sales: ['sale'],
  listings: ['list', 'reprice', 'revalidate'],
  bids: ['bid', 'bid-cancel', 'bid-expire', 'bid-invalidate', 'bid-revalidate'],
  ended: ['cancel', 'expire', 'invalidate', 'fill'],
  transfers: ['mint', 'transfer', 'burn'],
} as const satisfies Record<string, readonly ActivityKind[]>;
const ALL = 'all';
const CHOICES: readonly ['all', ...(keyof typeof KINDS)[]] = [ALL, 'sales', 'listings', 'bids', 'ended', 'transfers'];

export function ActivityList({ whose }: { whose: ActivityFilter }) {
  const url = useUrlState();
  const choice = oneOf(CHOICES, url.get('kind'));
  const filter = choice === ALL ? whose : { ...whose, kinds: KINDS[choice] };
  const query = useInfiniteQuery(activityQuery(filter));
  // The stream cannot be filtered by wallet, so the list of a wallet follows all collections.
  useLive({ collection: whose.collection ?? null, kinds: ALL_KINDS }, query.data?.pages[0]?.meta.offset);
  const pages = query.data?.pages;
  const columns = useMemo(() => toColumns(whose), [whose.token, whose.wallet]);
  const rows = useMemo(() => countSweeps(pages?.flatMap(({ data }) => data) ?? []), [pages]);
  return (
    <div class="tab">
      <Segments
        label={texts.activity.filter}
        value={choice}
        segments={CHOICES.map((value) => ({ value, name: texts.activity.choices[value] }))}
        hrefOf={(value) => url.href({ kind: value === ALL ? null : value })}
      />
      {query.isError && rows.length === 0 && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && !query.hasNextPage && (
        <EmptyState title={choice === ALL ? texts.activity.empty : texts.activity.emptyKind} />
      )}
      <ReorganisationNote rows={rows} />
      {(query.isPending || rows.length > 0) && (
        <DataTable
          label={texts.activity.label}
          columns={columns}
          rows={rows}
          isNew={({ offset }) => newEvent(offset) !== null}
          keyOf={({ offset, at, orderId, tx, tokenId, mint }) => offset ?? `${at} ${orderId} ${tx} ${tokenId ?? mint}`}
          isDense
          skeletons={query.isPending || query.isFetchingNextPage ? SKELETONS : 0}
        />
      )}
      <MoreRows query={query} />
    </div>
  );
}

/** Says how many rows of the list were taken back by the newest reorganisation, if it happened while the page was open. */
function ReorganisationNote({ rows }: { rows: readonly Activity[] }) {
  const newest = rows.reduce<string>(
    (last, { voidedBy }) => (voidedBy !== null && voidedBy > last ? voidedBy : last),
    '',
  );
  const reorg = newEvent(newest);
  const count = rows.filter(({ voidedBy }) => voidedBy === newest).length;
  return (
    <div role="status">
      {reorg && (
        <p class="note note-warn">
          <WarningIcon />
          <span>
            {texts.activity.reorganised(count)} <Time at={reorg.at} />
          </span>
        </p>
      )}
    </div>
  );
}

type Row = Activity & {
  /** How many sales of this list are in the transaction of this sale, if there are several. */
  swept: number | null;
};

/** A row stays the same object while its record and `swept` are the same, so that the row is not drawn again. */
const countedRows = new WeakMap<Activity, Row>();

function countSweeps(rows: readonly Activity[]): Row[] {
  const sales = new Map<string, number>();
  for (const { kind, tx } of rows) if (kind === 'sale' && tx !== null) sales.set(tx, (sales.get(tx) ?? 0) + 1);
  return rows.map((row) => {
    const count = row.kind === 'sale' ? (sales.get(row.tx ?? '') ?? 1) : 1;
    const swept = count > 1 ? count : null;
    const known = countedRows.get(row);
    if (known?.swept === swept) return known;
    const counted = { ...row, swept };
    countedRows.set(row, counted);
    return counted;
  });
}

/** The colours of what adds something to the market. All other kinds are plain. */
const BADGES: Readonly<Partial<Record<ActivityKind, string>>> = {
  sale: 'badge-good',
  list: 'badge-accent',
  reprice: 'badge-accent',
  revalidate: 'badge-accent',
  bid: 'badge-accent',
  'bid-revalidate': 'badge-accent',
};

const kindColumn: Column<Row> = {
  id: 'kind',
  head: texts.activity.columns.kind,
  width: 'minmax(120px, 1fr)',
  place: 'bottom-left',
  cell: ({ kind, voidedBy, reason, swept }) => (
    <span class="activity-kind">
      <span
        class={`badge ${BADGES[kind] ?? ''}`}
        {...(reason !== null && { 'data-tip': texts.activity.reason(reason) })}
      >
        {texts.activity.kinds[kind]}
      </span>
      {voidedBy !== null ? (
        <span class="badge badge-warn" data-tip={texts.activity.voidedWhy}>
          {texts.activity.voided}
        </span>
      ) : (
        swept !== null && (
          <span class="muted" data-tip={texts.activity.sweptWhy(formatCount(swept))}>
            {texts.activity.swept(formatCount(swept))}
          </span>
        )
      )}
    </span>
  ),
};

/** `wallet`: whose activity is listed. Its own address is not repeated in each row. */
const toRestColumns = (wallet: string | null): readonly Column<Row>[] => [
  {
    id: 'price',
    head: texts.activity.columns.price,
    width: 'minmax(140px, 1fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ price, voidedBy }) =>
      price &&
      (voidedBy === null ? (
        <Price price={price} />
      ) : (
        <s class="muted">
          <Price price={price} />
        </s>
      )),
  },
  {
    id: 'from',
    head: texts.activity.columns.from,
    width: 'minmax(120px, 1fr)',
    from: 'desktop',
    cell: ({ from }) => <Party address={from} wallet={wallet} />,
  },
  {
    id: 'to',
    head: texts.activity.columns.to,
    width: 'minmax(120px, 1fr)',
    from: 'desktop',
    cell: ({ to }) => <Party address={to} wallet={wallet} />,
  },
  {
    id: 'marketplace',
    head: texts.activity.columns.marketplace,
    width: 'minmax(100px, 1fr)',
    from: 'tablet',
    cell: ({ marketplace }) => marketplace !== null && marketplaceName(marketplace),
  },
  {
    id: 'time',
    head: texts.activity.columns.time,
    width: 'minmax(88px, 0.6fr)',
    isNumber: true,
    place: 'bottom-right',
    cell: ({ at, chain, tx }) => (
      <span class="time-and-link">
        <Time at={at} />
        {tx !== null && <Transaction chain={chain} tx={tx} isShort />}
      </span>
    ),
  },
];

function Party({ address, wallet }: { address: string | null; wallet: string | null }) {
  if (address === null) return null;
  if (isSameAccount(address, wallet)) return <span class="muted">{texts.activity.thisWallet}</span>;
  return <Account address={address} />;
}

/** A change of a floor concerns no token, because a floor belongs to a collection. A sale may be of several tokens, and a bid for any of several. */
const others = ({ kind, side }: Row) => (
  <span class="muted">
    {side === 'bid' ? texts.activity.anyToken : kind === 'sale' ? texts.activity.several : texts.activity.collection}
  </span>
);

function toColumns({ token, wallet }: ActivityFilter): readonly Column<Row>[] {
  const rest = toRestColumns(wallet ?? null);
  // All rows are of the token of the page.
  if (token !== undefined) return [{ ...kindColumn, place: 'top-left' }, ...rest];
  return [...tokenColumns<Row>({ isOfMany: wallet !== undefined, others }), kindColumn, ...rest];
}
