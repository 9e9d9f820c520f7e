// The tokens of a collection, as a grid or a table. By default only listed tokens are shown.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import type { MarketCollection, Token } from '../../../../client/src/market.ts';
import { isNotFound } from '../../data/client.ts';
import type { TokenSort } from '../../data/market-queries.ts';
import { tokensQuery } from '../../data/market-queries.ts';
import { formatCount } from '../../format/amount.ts';
import { Account } from '../../parts/account.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { DataTable, RowLink } from '../../parts/data-table.tsx';
import { ErrorBoundary } from '../../parts/error-boundary.tsx';
import { GridIcon, TableIcon } from '../../parts/icons.tsx';
import { Link } from '../../parts/link.tsx';
import { MoreRows } from '../../parts/more-rows.tsx';
import { Picture } from '../../parts/picture.tsx';
import { Price } from '../../parts/price.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Select } from '../../parts/select.tsx';
import { EmptyState, ErrorPanel } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { Unknown } from '../../parts/unknown.tsx';
import { oneOf, useUrlState } from '../../parts/url-state.ts';
import { useMedia } from '../../parts/use-media.ts';
import { texts as shared } from '../../texts.ts';
import { tokenPath } from '../paths.ts';
import { TokenGrid } from '../token-grid.tsx';
import { tokenName } from '../token-name.ts';
import { sortByTotal } from './by-total.ts';
import { chosenTraits, withoutTraits } from './trait-choice.ts';
import { TraitFilter } from './trait-filter.tsx';
import { marketplaceName } from '../outside-links.ts';
import { texts } from '../texts.ts';

/** `total`: by what a buyer pays. */
const SORTS: readonly ['total', ...TokenSort[]] = ['total', 'price', 'rank', 'id'];
const VIEWS: readonly ['grid', 'table'] = ['grid', 'table'];
const FILTERS: readonly ['listed', 'all', 'unlisted'] = ['listed', 'all', 'unlisted'];
const LISTED = { listed: true, all: null, unlisted: false };
const SKELETONS = 12;
const PHONE = '(max-width: 719px)';
const WIDE = '(min-width: 1100px)';

export function ListingsTab({ collection }: { collection: MarketCollection }) {
  const url = useUrlState();
  const sort = oneOf(SORTS, url.get('sort'));
  const view = oneOf(VIEWS, url.get('view'));
  const show = oneOf(FILTERS, url.get('show'));
  const traits = chosenTraits(url.parameters);
  const isFiltered = traits.size > 0;
  const isByTotal = sort === 'total';
  const query = useInfiniteQuery(
    tokensQuery(collection.id, { sort: isByTotal ? 'price' : sort, listed: LISTED[show], traits }),
  );
  const isComplete = query.isSuccess && !query.hasNextPage;
  // The service rejects a trait that the collection does not have, as a link from elsewhere may have it.
  const isUnknownTrait = isFiltered && query.isError && isNotFound(query.error);
  const tokens = useMemo(() => {
    const read = query.data?.pages.flatMap(({ data }) => data) ?? [];
    return isByTotal ? sortByTotal(read, ({ listing }) => listing, { isComplete }) : read;
  }, [query.data, isByTotal, isComplete]);
  const isEmpty = isComplete && tokens.length === 0;
  const isPhone = useMedia(PHONE);
  const isWide = useMedia(WIDE);
  const filter = (
    <ErrorBoundary subject={collection.id}>
      <TraitFilter collectionId={collection.id} url={url} isWide={isWide} />
    </ErrorBoundary>
  );
  const showHref = (value: (typeof FILTERS)[number]) => url.href({ show: value === FILTERS[0] ? null : value });
  const sortHref = (value: (typeof SORTS)[number]) => url.href({ sort: value === SORTS[0] ? null : value });
  const skeletons = query.isPending || query.isFetchingNextPage ? SKELETONS : 0;

  return (
    <section class="filtered">
      {isWide && filter}
      <div class="tab">
        <div class="toolbar">
          {!isWide && filter}
          {isPhone ? (
            <Select
              label={texts.listings.filter}
              value={show}
              options={FILTERS.map((value) => ({ value, name: texts.listings[value] }))}
              hrefOf={showHref}
            />
          ) : (
            <Segments
              label={texts.listings.filter}
              value={show}
              segments={FILTERS.map((value) => ({ value, name: texts.listings[value] }))}
              hrefOf={showHref}
            />
          )}
          <div class="toolbar-group">
            {isPhone ? (
              <Select
                label={texts.listings.sort}
                value={sort}
                options={SORTS.map((value) => ({ value, name: texts.listings.sorts[value] }))}
                hrefOf={sortHref}
              />
            ) : (
              <Segments
                label={texts.listings.sort}
                value={sort}
                segments={SORTS.map((value) => ({ value, name: texts.listings.sorts[value] }))}
                hrefOf={sortHref}
              />
            )}
            <Segments
              label={texts.listings.view}
              value={view}
              segments={[
                { value: 'grid', name: <GridIcon />, label: texts.listings.grid },
                { value: 'table', name: <TableIcon />, label: texts.listings.table },
              ]}
              hrefOf={(value) => url.href({ view: value === VIEWS[0] ? null : value })}
            />
          </div>
        </div>
        {query.isError && tokens.length === 0 && !isUnknownTrait && (
          <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
        )}
        {isEmpty && !isFiltered && (
          <EmptyState title={show === 'listed' ? texts.listings.empty : texts.listings.emptyAll} />
        )}
        {isFiltered && (isEmpty || isUnknownTrait) && (
          <EmptyState title={texts.listings.emptyFilter}>
            {isUnknownTrait && <p class="muted">{`${query.error?.message}.`}</p>}
            <Link class="button" href={url.href(withoutTraits(traits))} replace>
              {texts.traits.clearAll}
            </Link>
          </EmptyState>
        )}
        {(query.isPending || tokens.length > 0) && view === 'grid' && (
          <TokenGrid label={texts.listings.label} tokens={tokens} skeletons={skeletons} />
        )}
        {(query.isPending || tokens.length > 0) && view === 'table' && (
          <DataTable
            label={texts.listings.label}
            columns={COLUMNS}
            rows={tokens}
            keyOf={(token) => tokenPath(token)}
            skeletons={skeletons}
          />
        )}
        <MoreRows query={query} />
      </div>
    </section>
  );
}

const COLUMNS: readonly Column<Token>[] = [
  {
    id: 'picture',
    head: texts.listings.columns.picture,
    isHeadHidden: true,
    width: '40px',
    place: 'picture',
    cell: (token) => <Picture url={token.image} alt="" seed={token.collectionId} class="picture-row" />,
  },
  {
    id: 'token',
    head: texts.listings.columns.token,
    width: 'minmax(130px, 2fr)',
    place: 'top-left',
    cell: (token) => (
      <span class="truncate">
        <RowLink href={tokenPath(token)}>{tokenName(token)}</RowLink>
      </span>
    ),
  },
  {
    id: 'rank',
    head: texts.listings.columns.rank,
    width: 'minmax(64px, 0.6fr)',
    isNumber: true,
    place: 'bottom-left',
    placeLabel: texts.listings.columns.rank,
    cell: ({ rarity }) => (rarity.rank === null ? <Unknown reason={shared.unknown.rank} /> : formatCount(rarity.rank)),
  },
  {
    id: 'total',
    head: texts.listings.columns.total,
    width: 'minmax(96px, 1fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ listing }) =>
      listing ? (
        <Price price={listing.buyerTotal} reason={shared.unknown.buyerTotal} isStacked />
      ) : (
        <span class="muted">{texts.listings.notListed}</span>
      ),
  },
  {
    id: 'price',
    head: texts.listings.columns.price,
    width: 'minmax(80px, 0.8fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ listing }) => listing && <Price price={listing.price} isNativeOnly />,
  },
  {
    id: 'top-bid',
    head: texts.token.topBid,
    width: 'minmax(84px, 1fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ topBid }) => <Price price={topBid?.proceeds ?? null} reason={texts.token.noTopBid} isNativeOnly />,
  },
  {
    id: 'last-sale',
    head: texts.listings.columns.lastSale,
    width: 'minmax(84px, 1fr)',
    isNumber: true,
    from: 'wide',
    cell: ({ lastSale }) =>
      lastSale ? <Price price={lastSale.price} isNativeOnly /> : <Unknown reason={shared.unknown.lastSale} />,
  },
  {
    id: 'marketplace',
    head: texts.listings.columns.marketplace,
    width: 'minmax(96px, 1fr)',
    place: 'bottom-right',
    from: 'tablet',
    cell: ({ listing }) => (listing ? <span class="badge">{marketplaceName(listing.marketplace)}</span> : null),
  },
  {
    id: 'owner',
    head: texts.listings.columns.owner,
    width: 'minmax(96px, 1fr)',
    from: 'wide',
    cell: ({ owner }) =>
      owner.label === null ? <Account address={owner.address} reason={shared.unknown.owner} /> : owner.label,
  },
  {
    id: 'listed-at',
    head: texts.listings.columns.listedAt,
    width: 'minmax(64px, 0.6fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ listing }) => (listing ? <Time at={listing.timestamp} /> : null),
  },
];
