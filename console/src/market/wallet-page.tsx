// The page of one wallet on all chains: the value of its tokens, its collections, tokens, listings and activity.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useEffect } from 'preact/hooks';
import { useParams } from 'wouter-preact';
import type { Token, WalletCollection } from '../../../client/src/market.ts';
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
import { WalletOffers } from './wallet-offers.tsx';
import { collectionPath } from './paths.ts';
import { TokenGrid } from './token-grid.tsx';
import { Link } from '../parts/link.tsx';
import { texts } from './texts.ts';
import './wallet-page.css';

const TABS: readonly ['tokens', 'collections', 'orders', 'offers', 'activity'] = [
  'tokens',
  'collections',
  'orders',
  'offers',
  'activity',
];
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
        hrefOf={(id) => url.href({ tab: id === TABS[0] ? null : id, kind: null, side: null, status: null })}
      />
      {tab === 'tokens' && <WalletTokens address={address} />}
      {tab === 'collections' && <WalletCollections address={address} />}
      {tab === 'orders' && <OrderList whose={{ maker: address }} />}
      {tab === 'offers' && <WalletOffers address={address} />}
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
  const collections = query.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <dl class="figure-row">
      <div class="wallet-value">
        <dt>{texts.wallet.value}</dt>
        {first.totals === null ? (
          <dd>
            <Unknown reason={texts.wallet.unknownTotals} />
          </dd>
        ) : (
          first.totals.map((total) => (
            <dd key={total.currency}>
              <Price price={total.value} reason={texts.wallet.unknownValue} />
              {total.value === null && ` ${total.currency}`}
              <span class="muted">{texts.wallet.valueOf(formatCount(total.collections), total.unvalued)}</span>
            </dd>
          ))
        )}
      </div>
      <Sum
        name={texts.wallet.tokens}
        of={collections.map(({ tokens }) => tokens)}
        isComplete={!query.hasNextPage && collections.every(({ provenance }) => provenance.tokens !== null)}
        reason={texts.wallet.unknownHolders}
      />
      <Sum
        name={texts.market.columns.listed}
        of={collections.map(({ listed }) => listed)}
        isComplete={!query.hasNextPage}
        reason={shared.unknown.figure}
      />
    </dl>
  );
}

type SumProps = {
  name: string;
  of: readonly (number | null)[];
  /** Whether there are no further numbers. */
  isComplete: boolean;
  /** Why a number may be missing. */
  reason: string;
};

/** The sum of the known numbers. It is a lower bound if some are not known. */
function Sum({ name, of, isComplete, reason }: SumProps) {
  const known = of.filter((one) => one !== null);
  const sum = formatCount(known.reduce((total, one) => total + one, 0));
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {isComplete && known.length === of.length ? (
          sum
        ) : known.length === 0 ? (
          <Unknown reason={reason} />
        ) : (
          <span data-tip={reason}>{texts.wallet.atLeast(sum)}</span>
        )}
      </dd>
    </div>
  );
}

/** The most valuable first. Without dollars, only values in one currency can be compared. */
function byValue({ value: a }: Pick<WalletCollection, 'value'>, { value: b }: Pick<WalletCollection, 'value'>): number {
  if (!a || !b) return (a ? 0 : 1) - (b ? 0 : 1);
  if (a.usd !== b.usd) return (b.usd ?? -1) - (a.usd ?? -1);
  if (a.currency !== b.currency) return a.currency < b.currency ? -1 : 1;
  return a.raw > b.raw ? -1 : a.raw < b.raw ? 1 : 0;
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
        rows={isWhole(query) ? collections.toSorted(byValue) : collections}
        keyOf={({ id }) => id}
        isDense
        skeletons={query.isPending ? SKELETONS : 0}
      />
      <MoreRows query={query} />
    </>
  );
}

/** Whether a list has one page, so that it can be sorted. The rows of a longer list would move when its next page is read. */
function isWhole({ data, hasNextPage }: { data?: { pages: readonly unknown[] } | undefined; hasNextPage: boolean }) {
  return data?.pages.length === 1 && !hasNextPage;
}

type Figures = {
  /** By the id of the collection. */
  figures: ReadonlyMap<string, WalletCollection>;
  isPending: boolean;
};

/** The figures of the wallet in each collection. Reads further pages until they have all of `ids`. */
function useFigures(address: string, ids: readonly string[]): Figures {
  const query = useInfiniteQuery(walletCollectionsQuery(address));
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query;
  const figures = new Map(data?.pages.flatMap((page) => page.data.map((one) => [one.id, one])));
  const isMissing = ids.some((id) => !figures.has(id));
  useEffect(() => {
    if (isMissing && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [isMissing, hasNextPage, isFetching, isError]);
  return { figures, isPending: query.isPending };
}

function WalletTokens({ address }: { address: string }) {
  const query = useInfiniteQuery(walletTokensQuery(address));
  const tokens = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const groups = [...Map.groupBy(tokens, ({ collectionId }) => collectionId)];
  const { figures, isPending } = useFigures(
    address,
    groups.map(([id]) => id),
  );
  const valueOf = ([id]: readonly [string, unknown]) => figures.get(id) ?? { value: null };
  const ordered = isWhole(query) ? groups.toSorted((a, b) => byValue(valueOf(a), valueOf(b))) : groups;
  const isLoading = query.isPending || isPending;
  if (query.isError && tokens.length === 0) return <WalletError query={query} />;
  if (query.isSuccess && tokens.length === 0 && !query.hasNextPage)
    return <EmptyState title={texts.wallet.emptyTokens} />;
  return (
    <>
      {isLoading && <TokenGrid label={texts.wallet.tokens} tokens={[]} skeletons={SKELETONS} />}
      {!isLoading && (
        <div class="wallet-groups">
          {ordered.map(([collectionId, ofCollection]) => (
            <Group
              key={collectionId}
              collectionId={collectionId}
              tokens={ofCollection}
              figures={figures.get(collectionId) ?? null}
            />
          ))}
        </div>
      )}
      <MoreRows query={query} />
    </>
  );
}

type GroupProps = {
  collectionId: string;
  tokens: readonly Token[];
  /** Null until they are read. */
  figures: WalletCollection | null;
};

/** The tokens of one collection. Small groups stand beside each other. */
function Group({ collectionId, tokens, figures }: GroupProps) {
  const chain = tokens[0]?.chain;
  return (
    <section class="wallet-group" style={{ '--count': String(tokens.length) }}>
      <h2 class="group-title">
        <Link class="link" href={`/c/${encodeURIComponent(collectionId)}`}>
          {collectionName(figures ?? { id: collectionId, name: null })}
        </Link>
        {chain !== undefined && <ChainMark chain={chain} />}
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
      <TokenGrid label={texts.wallet.tokens} tokens={tokens} />
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
    width: '28px',
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
