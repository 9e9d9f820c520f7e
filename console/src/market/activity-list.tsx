// The list of market changes of a collection, a token or a wallet, newest first.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import type { Activity, ListedActivity } from '../../../client/src/market.ts';
import type { ActivityFilter } from '../data/market-queries.ts';
import { activityQuery } from '../data/market-queries.ts';
import { ALL_KINDS, useNewerEvents } from '../data/use-live.ts';
import { formatCount } from '../format/amount.ts';
import { Account } from '../parts/account.tsx';
import type { Column } from '../parts/data-table.tsx';
import { DataTable, RowLink } from '../parts/data-table.tsx';
import { WarningIcon } from '../parts/icons.tsx';
import { MoreRows } from '../parts/more-rows.tsx';
import { Price } from '../parts/price.tsx';
import { EmptyState, ErrorPanel } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { texts } from '../texts.ts';
import { tokenPath } from './paths.ts';
import { tokenName } from './token-name.ts';
import { Transaction } from './transaction.tsx';

const SKELETONS = 8;

export function ActivityList({ filter }: { filter: ActivityFilter }) {
  const query = useInfiniteQuery(activityQuery(filter));
  const offset = query.data?.pages[0]?.meta.offset;
  // The stream cannot be filtered by wallet. The list of a wallet therefore has new events only when `activityQuery` reads the list again.
  const isLive = 'collection' in filter;
  const newer = useNewerEvents(
    { collection: isLive ? filter.collection : null, kinds: ALL_KINDS },
    isLive ? offset : null,
  );
  const pages = query.data?.pages;
  const rows = useMemo(
    () => countSweeps(joinEvents(newer, pages?.flatMap(({ data }) => data) ?? [], (event) => concerns(filter, event))),
    [newer, pages, JSON.stringify(filter)],
  );
  if (query.isError && rows.length === 0)
    return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (query.isSuccess && rows.length === 0 && !query.hasNextPage) return <EmptyState title={texts.activity.empty} />;
  return (
    <div class="tab">
      <ReorganisationNote newer={newer} rows={rows} />
      <DataTable
        label={texts.activity.label}
        columns={COLUMNS}
        rows={rows}
        isNew={({ offset }) => newer.some((event) => event.offset === offset)}
        keyOf={({ offset, at, orderId, tx, tokenId, mint }) => offset ?? `${at} ${orderId} ${tx} ${tokenId ?? mint}`}
        skeletons={query.isPending || query.isFetchingNextPage ? SKELETONS : 0}
      />
      <MoreRows query={query} />
    </div>
  );
}

/**
 * Says how many rows of the list were taken back by the newest reorganisation that the stream has reported. The note disappears when the list
 * is read again, but the rows stay marked as taken back.
 */
function ReorganisationNote({ newer, rows }: { newer: readonly Activity[]; rows: readonly ListedActivity[] }) {
  const reorg = newer.find(({ kind, offset }) => kind === 'reorg' && rows.some(({ voidedBy }) => voidedBy === offset));
  const count = reorg ? rows.filter(({ voidedBy }) => voidedBy === reorg.offset).length : 0;
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

type Row = ListedActivity & {
  /** How many sales of this list are in the transaction of this sale, if there are several. */
  swept: number | null;
};

/** A row stays the same object while its record and `swept` are the same, so that the row is not drawn again. */
const countedRows = new WeakMap<ListedActivity, Row>();

function countSweeps(rows: readonly ListedActivity[]): Row[] {
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

/** Whether the event belongs to a list with this filter. */
function concerns(filter: ActivityFilter, { collectionId, tokenId, mint }: Activity): boolean {
  if (!('collection' in filter) || filter.collection !== collectionId) return false;
  return filter.token === undefined || (mint ?? tokenId) === filter.token;
}

/** Puts the newer events before the listed rows. Marks the events and rows that a newer reorganisation takes back. */
function joinEvents(
  newer: readonly Activity[],
  listed: readonly ListedActivity[],
  isShown: (event: Activity) => boolean,
): ListedActivity[] {
  const voidedBy = new Map(newer.flatMap(({ offset, voids }) => (voids ?? []).map((voided) => [voided, offset])));
  const known = new Set(listed.map(({ offset }) => offset));
  const mark = (row: ListedActivity): ListedActivity => {
    const reorg = row.offset === null ? undefined : voidedBy.get(row.offset);
    return reorg === undefined ? row : { ...row, voidedBy: reorg };
  };
  return [
    ...newer
      .filter((event) => isShown(event) && !known.has(event.offset))
      .map((event) => mark({ ...event, voidedBy: null })),
    ...listed.map(mark),
  ];
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'kind',
    head: texts.activity.columns.kind,
    width: 'minmax(170px, 1.2fr)',
    place: 'bottom-left',
    cell: ({ kind, voidedBy, reason, swept }) => (
      <span class="activity-kind">
        <span
          class={kind === 'sale' ? 'badge badge-good' : 'badge'}
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
  },
  {
    id: 'token',
    head: texts.activity.columns.token,
    width: 'minmax(120px, 1.4fr)',
    place: 'top-left',
    cell: (row) => <ActivitySubject row={row} />,
  },
  {
    id: 'price',
    head: texts.activity.columns.price,
    width: 'minmax(110px, 1fr)',
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
    cell: ({ from }) => from !== null && <Account address={from} />,
  },
  {
    id: 'to',
    head: texts.activity.columns.to,
    width: 'minmax(120px, 1fr)',
    from: 'desktop',
    cell: ({ to }) => to !== null && <Account address={to} />,
  },
  {
    id: 'marketplace',
    head: texts.activity.columns.marketplace,
    width: 'minmax(100px, 1fr)',
    from: 'tablet',
    cell: ({ marketplace }) => marketplace,
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

/** Names the token of the row. The change of a floor has no token, because a floor belongs to a collection. A sale may have several tokens. */
function ActivitySubject({ row }: { row: ListedActivity }) {
  const { kind, collectionId, tokenId, mint } = row;
  if (collectionId === null || (tokenId === null && mint === null))
    return <span class="muted">{kind === 'sale' ? texts.activity.several : texts.activity.collection}</span>;
  return (
    <span class="truncate">
      <RowLink href={tokenPath({ ...row, collectionId, contractAddress: null })}>
        {tokenName({ name: null, tokenId, mint })}
      </RowLink>
    </span>
  );
}
