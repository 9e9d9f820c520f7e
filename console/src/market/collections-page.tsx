// The market: all collections with their figures.

import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import type { CollectionDetail, CollectionSummary } from '../../../client/src/market.ts';
import type { CollectionSort } from '../data/market-queries.ts';
import { collectionQuery, collectionsQuery, floorQuery } from '../data/market-queries.ts';
import { formatCount, formatShare } from '../format/amount.ts';
import { CHAIN_IDS, ChainMark, chainName } from '../parts/chain-mark.tsx';
import type { Column } from '../parts/data-table.tsx';
import { DataTable, RowLink } from '../parts/data-table.tsx';
import { Flash } from '../parts/flash.tsx';
import { MoreRows } from '../parts/more-rows.tsx';
import { Picture } from '../parts/picture.tsx';
import { Price, Volume } from '../parts/price.tsx';
import { Segments } from '../parts/segments.tsx';
import { EmptyState, ErrorPanel, Skeleton } from '../parts/states.tsx';
import { Unknown } from '../parts/unknown.tsx';
import { oneOf, useUrlState } from '../parts/url-state.ts';
import { useSeen } from '../parts/use-seen.ts';
import { usePageTitle } from '../shell/shell.tsx';
import { texts } from '../texts.ts';
import { collectionPath } from './paths.ts';

const SORTS: readonly [CollectionSort, ...CollectionSort[]] = ['volume', 'floor', 'recent'];
const SKELETONS = 12;
const ALL_CHAINS = 'all';
/** Each row is two requests, and a client address has 300 a minute. */
const ROW_MS = 120_000;

export function CollectionsPage() {
  usePageTitle(null);
  const url = useUrlState();
  const chain = CHAIN_IDS.find((one) => one === url.get('chain')) ?? null;
  const sort = oneOf(SORTS, url.get('sort'));
  const query = useInfiniteQuery(collectionsQuery(chain, sort));
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];

  return (
    <div class="page">
      <div class="page-head">
        <h1>{texts.market.title}</h1>
        <p class="muted">{texts.market.lead}</p>
      </div>
      <div class="toolbar">
        <Segments
          label={texts.market.chain}
          value={chain ?? ALL_CHAINS}
          segments={[
            { value: ALL_CHAINS, name: texts.market.allChains },
            ...CHAIN_IDS.map((id) => ({ value: id, name: <ChainMark chain={id} isShort />, label: chainName(id) })),
          ]}
          hrefOf={(value) => url.href({ chain: value === ALL_CHAINS ? null : value })}
        />
        <Segments
          label={texts.market.sort}
          value={sort}
          segments={SORTS.map((value) => ({ value, name: texts.market.sorts[value] }))}
          hrefOf={(value) => url.href({ sort: value === SORTS[0] ? null : value })}
        />
      </div>
      {query.isError && rows.length === 0 && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && <NoCollections chain={chain} allHref={url.href({ chain: null })} />}
      {(query.isPending || rows.length > 0) && (
        <>
          <DataTable
            label={texts.market.label}
            columns={COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            skeletons={query.isPending || query.isFetchingNextPage ? SKELETONS : 0}
          />
          <MoreRows query={query} />
        </>
      )}
    </div>
  );
}

const COLUMNS: readonly Column<CollectionSummary>[] = [
  {
    id: 'picture',
    head: texts.market.columns.picture,
    isHeadHidden: true,
    width: '40px',
    place: 'picture',
    cell: ({ id, image }) => <Picture url={image} alt="" seed={id} class="picture-row" />,
  },
  {
    id: 'name',
    head: texts.market.columns.name,
    width: 'minmax(180px, 3fr)',
    place: 'top-left',
    cell: (collection) => (
      <span class="truncate">
        <RowLink href={collectionPath(collection)}>{collection.name}</RowLink>
      </span>
    ),
  },
  {
    id: 'chain',
    head: texts.market.columns.chain,
    width: 'minmax(104px, 1fr)',
    place: 'bottom-left',
    cell: ({ chain }) => (chain === null ? null : <ChainMark chain={chain} />),
  },
  {
    id: 'floor',
    head: texts.market.columns.floor,
    width: 'minmax(120px, 1.4fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ stats }) => <Price price={stats.floor} reason={texts.unknown.floor} isStacked />,
  },
  {
    id: 'buyer',
    head: texts.market.columns.buyer,
    width: 'minmax(110px, 1.2fr)',
    isNumber: true,
    from: 'desktop',
    cell: (collection) => <BuyerFloor collection={collection} />,
  },
  {
    id: 'volume-day',
    head: texts.market.columns.volumeDay,
    width: 'minmax(96px, 1.2fr)',
    isNumber: true,
    from: 'tablet',
    cell: (collection) => (
      <Detail
        collection={collection}
        of={(detail) => (
          <Volume
            value={detail.stats.volume.twentyFourHour}
            currency={currencyOf(collection)}
            reason={texts.unknown.figure}
          />
        )}
      />
    ),
  },
  {
    id: 'volume-week',
    head: texts.market.columns.volumeWeek,
    width: 'minmax(96px, 1.2fr)',
    isNumber: true,
    from: 'tablet',
    cell: (collection) => (
      <Detail
        collection={collection}
        of={(detail) => (
          <Volume
            value={detail.stats.volume.sevenDay}
            currency={currencyOf(collection)}
            reason={texts.unknown.figure}
          />
        )}
      />
    ),
  },
  {
    id: 'volume-all',
    head: texts.market.columns.volumeAll,
    width: 'minmax(96px, 1.2fr)',
    isNumber: true,
    from: 'wide',
    place: 'bottom-right',
    placeLabel: texts.market.volumeShort,
    cell: (collection) => (
      <Volume value={collection.stats.volumeAllTime} currency={currencyOf(collection)} reason={texts.unknown.figure} />
    ),
  },
  {
    id: 'sales',
    head: texts.market.columns.salesWeek,
    width: 'minmax(72px, 0.8fr)',
    isNumber: true,
    from: 'desktop',
    cell: (collection) => (
      <Detail collection={collection} of={(detail) => <Count value={detail.stats.sales.sevenDay} />} />
    ),
  },
  {
    id: 'listed',
    head: texts.market.columns.listed,
    width: 'minmax(80px, 0.9fr)',
    isNumber: true,
    from: 'desktop',
    cell: (collection) => <Detail collection={collection} of={(detail) => <Listed detail={detail} />} />,
  },
  {
    id: 'owners',
    head: texts.market.columns.owners,
    width: 'minmax(72px, 0.8fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ stats }) => <Count value={stats.owners} />,
  },
];

/** The rows of the list have no symbol of the currency but in their floor, so a volume without a floor has none. */
function currencyOf({ stats }: CollectionSummary): string {
  return stats.floor?.currency ?? '';
}

function Count({ value }: { value: number | null }) {
  if (value === null) return <Unknown reason={texts.unknown.figure} />;
  return <Flash value={value}>{formatCount(value)}</Flash>;
}

function Listed({ detail: { stats } }: { detail: CollectionDetail }) {
  const { listedCount, supply } = stats;
  if (listedCount === null) return <Unknown reason={texts.unknown.figure} />;
  if (supply === null || supply === 0) {
    return (
      <>
        <Count value={listedCount} /> <span class="muted">{texts.market.listedTokens}</span>
      </>
    );
  }
  return (
    <span data-tip={texts.market.listedOf(formatCount(listedCount), formatCount(supply))}>
      <Flash value={listedCount}>{formatShare(listedCount / supply)}</Flash>
    </span>
  );
}

/** A figure that the list does not have. It is read when its row comes into view. */
function Detail({
  collection,
  of,
}: {
  collection: CollectionSummary;
  of: (detail: CollectionDetail) => preact.ComponentChildren;
}) {
  const [seen, ref] = useSeen<HTMLSpanElement>();
  const { data, isError } = useQuery({ ...collectionQuery(collection.id), enabled: seen, refetchInterval: ROW_MS });
  if (data) return <>{of(data.data)}</>;
  if (isError) return <Unknown reason={texts.unknown.failed} />;
  return (
    <span ref={ref}>
      <Skeleton width="48px" />
    </span>
  );
}

function BuyerFloor({ collection }: { collection: CollectionSummary }) {
  const [seen, ref] = useSeen<HTMLSpanElement>();
  const { data, isError } = useQuery({ ...floorQuery(collection.id), enabled: seen, refetchInterval: ROW_MS });
  if (data) return <Price price={data.data.buyerFloor} reason={texts.unknown.buyerFloor} isNativeOnly />;
  if (isError) return <Unknown reason={texts.unknown.failed} />;
  return (
    <span ref={ref}>
      <Skeleton width="56px" />
    </span>
  );
}

function NoCollections({ chain, allHref }: { chain: string | null; allHref: string }) {
  if (chain !== null) {
    return (
      <EmptyState title={texts.market.emptyChain}>
        <a class="button" href={allHref}>
          {texts.market.clear}
        </a>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={texts.market.empty}>
      <p class="muted">{texts.market.emptyHint}</p>
      <pre class="commands" tabIndex={0}>
        {texts.market.emptyCommands.join('\n')}
      </pre>
    </EmptyState>
  );
}
