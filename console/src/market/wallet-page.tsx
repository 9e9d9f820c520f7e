// The page of one wallet on all chains: the value of its tokens, its collections, tokens, listings and activity.

import { useInfiniteQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useParams } from 'wouter-preact';
import type { WalletCollection } from '../../../client/src/market.ts';
import { isNotFound } from '../data/client.ts';
import { ALL_KINDS } from '../data/live.ts';
import { walletCollectionsQuery, walletTokensQuery } from '../data/market-queries.ts';
import { useLive } from '../data/use-live.ts';
import { shortAddress } from '../format/address.ts';
import { formatCount } from '../format/amount.ts';
import { ChainMark } from '../parts/chain-mark.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import type { Column } from '../parts/data-table.tsx';
import { DataTable, RowLink } from '../parts/data-table.tsx';
import { ErrorBoundary } from '../parts/error-boundary.tsx';
import { MoreRows } from '../parts/more-rows.tsx';
import { OutsideLink } from '../parts/outside-link.tsx';
import { Picture } from '../parts/picture.tsx';
import { Price } from '../parts/price.tsx';
import { Segments } from '../parts/segments.tsx';
import { EmptyState, ErrorPanel, Skeleton } from '../parts/states.tsx';
import { Unknown } from '../parts/unknown.tsx';
import { oneOf, useUrlState } from '../parts/url-state.ts';
import { NotFoundPage } from '../shell/not-found-page.tsx';
import { usePageTitle } from '../shell/shell.tsx';
import { texts as shared } from '../texts.ts';
import { ActivityList } from './activity-list.tsx';
import { collectionName } from './collection-name.tsx';
import { accountUrl } from './outside-links.ts';
import { OrderList } from './order-list.tsx';
import { collectionPath } from './paths.ts';
import { TokenGrid } from './token-grid.tsx';
import { Link } from '../parts/link.tsx';
import { texts } from './texts.ts';
import './wallet-page.css';

const TABS: readonly ['tokens', 'collections', 'orders', 'activity'] = ['tokens', 'collections', 'orders', 'activity'];
const SKELETONS = 6;
/** This many characters at the end of an address are always visible. */
const ADDRESS_END = 8;

export function WalletPage() {
  const { address } = useParams<{ address: string }>();
  const url = useUrlState();
  const tab = oneOf(TABS, url.get('tab'));
  usePageTitle(tab === TABS[0] ? null : texts.wallet[tab], shortAddress(address));
  return (
    <div class="page">
      <header class="wallet-head">
        <p class="muted">{texts.wallet.title}</p>
        <h1 class="mono wallet-address">
          {/* If there is no room for the address, its middle is left out, because people compare the ends. */}
          <span class="address">
            <span class="truncate">{address.slice(0, -ADDRESS_END)}</span>
            <span>{address.slice(-ADDRESS_END)}</span>
          </span>
          <CopyButton text={address} label={texts.wallet.title} />
          <OutsideLink href={accountUrl(address)} label={texts.links.explorer} />
        </h1>
        <ErrorBoundary subject={address}>
          <WalletValue address={address} />
        </ErrorBoundary>
      </header>
      <Segments
        isTabs
        label={texts.wallet.tabsLabel}
        value={tab}
        segments={TABS.map((id) => ({ value: id, name: texts.wallet[id] }))}
        hrefOf={(id) => url.href({ tab: id === TABS[0] ? null : id, kind: null, status: null })}
      />
      {tab === 'tokens' && <WalletTokens address={address} />}
      {tab === 'collections' && <WalletCollections address={address} />}
      {tab === 'orders' && <OrderList filter={{ maker: address }} />}
      {tab === 'activity' && <ActivityList whose={{ wallet: address }} />}
    </div>
  );
}

/** The sums of the values at the floor. The first page of the collections has the sums of all collections. */
function WalletValue({ address }: { address: string }) {
  const query = useInfiniteQuery(walletCollectionsQuery(address));
  const [first] = query.data?.pages ?? [];
  // The stream cannot be filtered by wallet.
  useLive({ collection: null, kinds: ALL_KINDS }, first?.meta.offset);
  // A wallet that cannot be read has its error in the tab.
  if (!first) return query.isPending ? <Skeleton width="160px" height="40px" /> : null;
  if (first.totals?.length === 0) return null;
  return (
    <dl class="wallet-value">
      <dt>{texts.wallet.value}</dt>
      {first.totals === null ? (
        <dd>
          <Unknown reason={texts.wallet.unknownTotals} />
        </dd>
      ) : (
        first.totals.map(({ currency, value, collections, unvalued }) => (
          <dd key={currency}>
            <Price price={value} reason={texts.wallet.unknownValue} />
            {value === null && ` ${currency}`}
            <span class="muted">{texts.wallet.valueOf(formatCount(collections), unvalued)}</span>
          </dd>
        ))
      )}
    </dl>
  );
}

function WalletCollections({ address }: { address: string }) {
  const query = useInfiniteQuery(walletCollectionsQuery(address));
  const collections = query.data?.pages.flatMap(({ data }) => data) ?? [];
  if (query.isError && collections.length === 0) return <WalletError query={query} />;
  if (query.isSuccess && collections.length === 0 && !query.hasNextPage)
    return <EmptyState title={texts.wallet.emptyTokens} />;
  return (
    <>
      <DataTable
        label={texts.wallet.collections}
        columns={COLLECTION_COLUMNS}
        rows={collections}
        keyOf={({ id }) => id}
        skeletons={query.isPending ? SKELETONS : 0}
      />
      <MoreRows query={query} />
    </>
  );
}

/** The figures of the wallet in each collection, by the id of the collection. Reads further pages until they have all of `ids`. */
function useFigures(address: string, ids: readonly string[]): ReadonlyMap<string, WalletCollection> {
  const query = useInfiniteQuery(walletCollectionsQuery(address));
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query;
  const figures = new Map(data?.pages.flatMap((page) => page.data.map((one) => [one.id, one])));
  const isMissing = ids.some((id) => !figures.has(id));
  useEffect(() => {
    if (isMissing && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [isMissing, hasNextPage, isFetching, isError]);
  return figures;
}

function WalletTokens({ address }: { address: string }) {
  const query = useInfiniteQuery(walletTokensQuery(address));
  const tokens = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const groups = [...Map.groupBy(tokens, ({ collectionId }) => collectionId)];
  const figures = useFigures(
    address,
    groups.map(([id]) => id),
  );
  if (query.isError && tokens.length === 0) return <WalletError query={query} />;
  if (query.isSuccess && tokens.length === 0 && !query.hasNextPage)
    return <EmptyState title={texts.wallet.emptyTokens} />;
  return (
    <>
      {query.isPending && <TokenGrid label={texts.wallet.tokens} tokens={[]} skeletons={SKELETONS} />}
      {groups.map(([collectionId, ofCollection]) => (
        <Group
          key={collectionId}
          collectionId={collectionId}
          chain={ofCollection[0]?.chain ?? null}
          figures={figures.get(collectionId) ?? null}
        >
          <TokenGrid label={texts.wallet.tokens} tokens={ofCollection} />
        </Group>
      ))}
      <MoreRows query={query} />
    </>
  );
}

function Group({
  collectionId,
  chain,
  figures,
  children,
}: {
  collectionId: string;
  chain: string | null;
  /** Null until they are read. */
  figures: WalletCollection | null;
  children: ComponentChildren;
}) {
  return (
    <section class="tab">
      <h2 class="group-title">
        <Link class="link" href={`/c/${encodeURIComponent(collectionId)}`}>
          {collectionName(figures ?? { id: collectionId, name: null })}
        </Link>
        {chain !== null && <ChainMark chain={chain} />}
        {figures && (
          <span class="group-figures">
            <span>
              {texts.wallet.tokens}: <TokenCount figures={figures} />
            </span>
            {figures.units !== null && figures.units !== String(figures.tokens) && (
              <span>
                {texts.wallet.units}: {formatCount(BigInt(figures.units))}
              </span>
            )}
            <span>
              {texts.wallet.value}: <Price price={figures.value} reason={texts.wallet.unknownValue} />
            </span>
          </span>
        )}
      </h2>
      {children}
    </section>
  );
}

/** A number of tokens is a lower bound if some holders of the collection are not known. */
function TokenCount({ figures: { tokens, provenance } }: { figures: WalletCollection }) {
  if (tokens === null) return <Unknown reason={texts.wallet.unknownHolders} />;
  if (provenance.tokens !== null) return <>{formatCount(tokens)}</>;
  return <span data-tip={texts.wallet.unknownHolders}>{texts.wallet.atLeast(formatCount(tokens))}</span>;
}

function WalletError({ query }: { query: { error: unknown; refetch: () => Promise<unknown> } }) {
  if (isNotFound(query.error)) return <NotFoundPage reason={texts.wallet.invalid} />;
  return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
}

const COLLECTION_COLUMNS: readonly Column<WalletCollection>[] = [
  {
    id: 'picture',
    head: texts.market.columns.picture,
    isHeadHidden: true,
    width: '40px',
    place: 'picture',
    cell: ({ id, image }) => <Picture url={image} alt="" seed={id} class="picture-row" />,
  },
  {
    id: 'collection',
    head: texts.token.collection,
    width: 'minmax(140px, 2fr)',
    place: 'top-left',
    cell: (collection) => (
      <span class="truncate">
        <RowLink href={collectionPath(collection)}>{collectionName(collection)}</RowLink>
      </span>
    ),
  },
  {
    id: 'chain',
    head: texts.token.chain,
    width: 'minmax(110px, 1fr)',
    from: 'tablet',
    cell: ({ chain }) => (chain === null ? null : <ChainMark chain={chain} />),
  },
  {
    id: 'tokens',
    head: texts.wallet.tokens,
    width: 'minmax(72px, 0.7fr)',
    isNumber: true,
    place: 'bottom-left',
    placeLabel: texts.wallet.tokens,
    cell: (figures) => <TokenCount figures={figures} />,
  },
  {
    id: 'units',
    head: texts.wallet.units,
    width: 'minmax(72px, 0.7fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ units }) =>
      units === null ? <Unknown reason={texts.wallet.unknownUnits} /> : <>{formatCount(BigInt(units))}</>,
  },
  {
    id: 'listed',
    head: texts.market.columns.listed,
    width: 'minmax(64px, 0.7fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ listed }) => (listed === null ? <Unknown reason={shared.unknown.figure} /> : <>{formatCount(listed)}</>),
  },
  {
    id: 'floor',
    head: texts.market.columns.floor,
    width: 'minmax(110px, 1fr)',
    isNumber: true,
    from: 'tablet',
    place: 'bottom-right',
    placeLabel: texts.market.columns.floor,
    cell: ({ floor }) => <Price price={floor} reason={shared.unknown.floor} isNativeOnly />,
  },
  {
    id: 'value',
    head: texts.wallet.value,
    width: 'minmax(120px, 1.2fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ value }) => <Price price={value} reason={texts.wallet.unknownValue} />,
  },
];
