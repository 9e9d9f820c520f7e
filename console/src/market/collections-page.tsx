// The market: all collections with their figures, and the latest sales.

import { useInfiniteQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { MarketCollection } from '../../../client/src/market.ts';
import type { CollectionSort } from '../data/market-queries.ts';
import { collectionsQuery, keepCollections } from '../data/market-queries.ts';
import { useLiveCollections } from '../data/use-live-collections.ts';
import { formatAmount, formatChange, formatCount, formatShare } from '../format/amount.ts';
import { CHAIN_IDS, ChainMark, chainName } from '../parts/chain-mark.tsx';
import { Change } from '../parts/change.tsx';
import type { Column } from '../parts/data-table.tsx';
import { DataTable, RowLink } from '../parts/data-table.tsx';
import { ErrorBoundary } from '../parts/error-boundary.tsx';
import { Flash } from '../parts/flash.tsx';
import { ClockIcon } from '../parts/icons.tsx';
import { MoreRows } from '../parts/more-rows.tsx';
import { Picture } from '../parts/picture.tsx';
import { Price, Volume } from '../parts/price.tsx';
import { Segments } from '../parts/segments.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { EmptyState, ErrorPanel } from '../parts/states.tsx';
import { Unknown } from '../parts/unknown.tsx';
import type { UrlState } from '../parts/url-state.ts';
import { oneOf, useUrlState } from '../parts/url-state.ts';
import { useMedia } from '../parts/use-media.ts';
import { usePageTitle } from '../shell/shell.tsx';
import { texts } from '../texts.ts';
import { BuyerFloor } from './buyer-floor.tsx';
import { collectionName } from './collection-name.tsx';
import { currencyOf } from './currency.ts';
import { SalesTicker } from './sales-ticker.tsx';
import { collectionPath } from './paths.ts';

const SORTS: readonly [CollectionSort, ...CollectionSort[]] = ['volume', 'floor', 'recent'];
const SKELETONS = 12;
const ALL_CHAINS = 'all';
const WIDER_THAN_A_PHONE = '(min-width: 720px)';

export function CollectionsPage() {
  usePageTitle(null);
  const url = useUrlState();
  const chain = CHAIN_IDS.find((one) => one === url.get('chain')) ?? null;
  const sort = oneOf(SORTS, url.get('sort'));
  const query = useInfiniteQuery(collectionsQuery(chain, sort));
  const pages = query.data?.pages;
  const rows = useMemo(() => pages?.flatMap(({ data }) => data) ?? [], [pages]);
  useEffect(() => keepCollections(pages ?? []), [pages]);
  useLiveCollections(pages?.[0]?.meta.offset);
  const columns = useMemo(() => withSorts(sort, url.href), [chain, sort]);
  const hasTicker = useMedia(WIDER_THAN_A_PHONE);
  const isEmpty = query.isSuccess && rows.length === 0;

  return (
    <div class={isEmpty ? 'page' : 'page market'}>
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
      {query.isError && rows.length === 0 && (
        <div class="market-collections">
          <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {isEmpty && <NoCollections chain={chain} allHref={url.href({ chain: null })} />}
      {(query.isPending || rows.length > 0) && (
        <div class="market-collections table-dense">
          <DataTable
            label={texts.market.label}
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            skeletons={query.isPending || query.isFetchingNextPage ? SKELETONS : 0}
          />
          <MoreRows query={query} />
        </div>
      )}
      {!isEmpty && hasTicker && (
        <ErrorBoundary subject="">
          <SalesTicker isIndexRead={!query.isError} />
        </ErrorBoundary>
      )}
    </div>
  );
}

const COLUMNS: readonly Column<MarketCollection>[] = [
  {
    id: 'picture',
    head: texts.market.columns.picture,
    isHeadHidden: true,
    width: '28px',
    place: 'picture',
    cell: ({ id, image }) => <Picture url={image} alt="" seed={id} class="picture-row" />,
  },
  {
    id: 'name',
    head: texts.market.columns.name,
    width: 'minmax(148px, 2.4fr)',
    place: 'top-left',
    cell: (collection) => (
      <div class="name-cell">
        <span class="truncate">
          <RowLink href={collectionPath(collection)}>{collectionName(collection)}</RowLink>
        </span>
        <span class="name-chain">{collection.chain !== null && <ChainMark chain={collection.chain} isShort />}</span>
      </div>
    ),
  },
  {
    id: 'chain',
    head: texts.market.columns.chain,
    width: '0',
    isCardOnly: true,
    place: 'bottom-left',
    cell: ({ chain }) => (chain === null ? null : <ChainMark chain={chain} />),
  },
  {
    id: 'floor',
    head: texts.market.columns.floor,
    width: 'minmax(96px, 1.2fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ stats, stale }) => (
      <>
        {stale && <StaleMark reason={texts.stale.collection} />}
        <Price price={stats.floor} reason={texts.unknown.floor} isStacked />
      </>
    ),
  },
  {
    id: 'floor-day',
    head: texts.market.columns.floorDay,
    width: 'minmax(56px, 0.6fr)',
    isNumber: true,
    cell: ({ stats }) => <Change ratio={stats.floorChange.twentyFourHour} reason={texts.unknown.change} />,
  },
  {
    id: 'buyer',
    head: texts.market.columns.buyer,
    width: 'minmax(92px, 1.1fr)',
    isNumber: true,
    from: 'desktop',
    cell: (collection) => <BuyerFloor collection={collection} />,
  },
  {
    id: 'volume-day',
    head: texts.market.columns.volumeDay,
    width: 'minmax(88px, 1.1fr)',
    isNumber: true,
    cell: (collection) => <VolumeWithChange collection={collection} period="twentyFourHour" />,
  },
  {
    id: 'volume-week',
    head: texts.market.columns.volumeWeek,
    width: 'minmax(88px, 1.1fr)',
    isNumber: true,
    from: 'wide',
    cell: (collection) => <VolumeWithChange collection={collection} period="sevenDay" />,
  },
  {
    id: 'volume-all',
    head: texts.market.columns.volumeAll,
    width: 'minmax(96px, 1.1fr)',
    isNumber: true,
    from: 'desktop',
    cell: (collection) => (
      <Volume value={collection.stats.volume.allTime} currency={currencyOf(collection)} reason={texts.unknown.figure} />
    ),
  },
  {
    id: 'sales',
    head: texts.market.columns.salesWeek,
    width: 'minmax(64px, 0.7fr)',
    isNumber: true,
    from: 'wide',
    cell: ({ stats }) => <Count value={stats.sales.sevenDay} />,
  },
  {
    id: 'listed',
    head: texts.market.columns.listed,
    width: 'minmax(60px, 0.7fr)',
    isNumber: true,
    from: 'desktop',
    cell: (collection) => <Listed collection={collection} />,
  },
  {
    id: 'owners',
    head: texts.market.columns.owners,
    width: 'minmax(60px, 0.7fr)',
    isNumber: true,
    from: 'wide',
    cell: ({ stats }) => <Count value={stats.owners} />,
  },
  {
    id: 'card-figures',
    head: texts.market.columns.floorDay,
    width: '0',
    isCardOnly: true,
    place: 'bottom-right',
    cell: (collection) => (
      <span class="card-figures">
        {collection.stats.floorChange.twentyFourHour !== null && (
          <Change ratio={collection.stats.floorChange.twentyFourHour} reason={texts.unknown.change} />
        )}
        <span>
          {texts.market.volumeShort}{' '}
          <Volume
            value={collection.stats.volume.twentyFourHour}
            currency={currencyOf(collection)}
            reason={texts.unknown.figure}
          />
        </span>
      </span>
    ),
  },
  {
    id: 'sparkline',
    head: texts.market.columns.sparkline,
    width: '96px',
    isNumber: true,
    cell: (collection) => <FloorLine collection={collection} />,
  },
];

/** The columns by which the service sorts the list. */
const SORTED_COLUMNS: Readonly<Partial<Record<string, CollectionSort>>> = { floor: 'floor', 'volume-all': 'volume' };

function withSorts(current: CollectionSort, hrefOf: UrlState['href']): readonly Column<MarketCollection>[] {
  return COLUMNS.map((column) => {
    const sort = SORTED_COLUMNS[column.id];
    if (sort === undefined) return column;
    const href = hrefOf({ sort: sort === SORTS[0] ? null : sort });
    return { ...column, sort: { href, order: sort === current ? 'desc' : null } };
  });
}

function hasLine(values: readonly (number | null)[]): boolean {
  return values.filter((value) => value !== null).length > 1;
}

function VolumeWithChange({
  collection,
  period,
}: {
  collection: MarketCollection;
  period: 'twentyFourHour' | 'sevenDay';
}) {
  const { volume, volumeChange } = collection.stats;
  return (
    <span class="stacked">
      <Volume value={volume[period]} currency={currencyOf(collection)} reason={texts.unknown.figure} />
      {volume[period] !== null && volumeChange[period] !== null && (
        <span class="stacked-note">
          <Change ratio={volumeChange[period]} reason={texts.unknown.change} />
        </span>
      )}
    </span>
  );
}

function FloorLine({ collection }: { collection: MarketCollection }) {
  const { sparkline, stats } = collection;
  const known = sparkline.filter((value) => value !== null);
  const [first] = known;
  const last = known.at(-1);
  if (first === undefined || last === undefined || !hasLine(sparkline))
    return <Unknown reason={texts.unknown.history} />;
  const change = stats.floorChange.sevenDay;
  const label = texts.market.floorLine(
    formatAmount(first),
    `${formatAmount(last)} ${currencyOf(collection)}`,
    change === null ? null : formatChange(change),
  );
  return (
    <span class="sparkline-box" data-tip={label}>
      <Sparkline values={sparkline} label={label} change={change} />
    </span>
  );
}

function StaleMark({ reason }: { reason: string }) {
  return (
    <span class="stale stale-inline" data-tip={reason}>
      <ClockIcon />
      <span class="visually-hidden">{reason}</span>
    </span>
  );
}

function Count({ value }: { value: number | null }) {
  if (value === null) return <Unknown reason={texts.unknown.figure} />;
  return <Flash value={value}>{formatCount(value)}</Flash>;
}

function Listed({ collection: { stats } }: { collection: MarketCollection }): ComponentChildren {
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
