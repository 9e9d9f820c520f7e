// The page of one wallet: its tokens, listings and activity, on all chains.

import { useInfiniteQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useParams } from 'wouter-preact';
import type { MarketItem, Token } from '../../../client/src/market.ts';
import { isNotFound } from '../data/client.ts';
import { walletListingsQuery, walletTokensQuery } from '../data/market-queries.ts';
import { shortAddress } from '../format/address.ts';
import { formatCount } from '../format/amount.ts';
import { ChainMark } from '../parts/chain-mark.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import type { Column } from '../parts/data-table.tsx';
import { DataTable, RowLink } from '../parts/data-table.tsx';
import { MoreRows } from '../parts/more-rows.tsx';
import { OutsideLink } from '../parts/outside-link.tsx';
import { Price } from '../parts/price.tsx';
import { EmptyState, ErrorPanel } from '../parts/states.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { Time } from '../parts/time.tsx';
import { oneOf, useUrlState } from '../parts/url-state.ts';
import { NotFoundPage } from '../shell/not-found-page.tsx';
import { usePageTitle } from '../shell/shell.tsx';
import { texts } from '../texts.ts';
import { ActivityList } from './activity-list.tsx';
import { CollectionName } from './collection-name.tsx';
import { accountUrl } from './outside-links.ts';
import { tokenPath } from './paths.ts';
import { TokenGrid } from './token-grid.tsx';
import { tokenName } from './token-name.ts';
import { Link } from '../parts/link.tsx';

const TABS: readonly ['tokens', 'listings', 'activity'] = ['tokens', 'listings', 'activity'];
const SKELETONS = 6;
/** This many characters at the end of an address are always visible. */
const ADDRESS_END = 8;

export function WalletPage() {
  const { address } = useParams<{ address: string }>();
  const url = useUrlState();
  const tab = oneOf(TABS, url.get('tab'));
  usePageTitle(shortAddress(address));
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
      </header>
      <Tabs
        label={texts.wallet.tabsLabel}
        current={tab}
        tabs={TABS.map((id) => ({ id, name: texts.wallet[id] }))}
        hrefOf={(id) => url.href({ tab: id === TABS[0] ? null : id })}
      />
      {tab === 'tokens' && <WalletTokens address={address} />}
      {tab === 'listings' && <WalletListings address={address} />}
      {tab === 'activity' && <ActivityList filter={{ wallet: address }} />}
    </div>
  );
}

function WalletTokens({ address }: { address: string }) {
  const query = useInfiniteQuery(walletTokensQuery(address));
  const tokens = query.data?.pages.flatMap(({ data }) => data) ?? [];
  if (query.isError && tokens.length === 0) return <WalletError query={query} />;
  if (query.isSuccess && tokens.length === 0 && !query.hasNextPage)
    return <EmptyState title={texts.wallet.emptyTokens} />;
  const groups = [...Map.groupBy(tokens, ({ collectionId }) => collectionId)];
  return (
    <>
      {query.isPending && <TokenGrid label={texts.wallet.tokens} tokens={[]} skeletons={SKELETONS} />}
      {groups.map(([collectionId, ofCollection], index) => (
        <Group
          key={collectionId}
          collectionId={collectionId}
          tokens={ofCollection}
          // The tokens are listed by collection, so only the last group can have more.
          isComplete={!query.hasNextPage || index < groups.length - 1}
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
  tokens,
  isComplete,
  children,
}: {
  collectionId: string;
  tokens: readonly Token[];
  /** Whether `tokens` are all tokens of the wallet in this collection. */
  isComplete: boolean;
  children: ComponentChildren;
}) {
  return (
    <section class="tab">
      <h2 class="group-title">
        <Link class="link" href={`/c/${encodeURIComponent(collectionId)}`}>
          <CollectionName id={collectionId} />
        </Link>
        {tokens[0] && <ChainMark chain={tokens[0].chain} />}
        {isComplete ? (
          <span class="muted">{formatCount(tokens.length)}</span>
        ) : (
          <span class="muted" data-tip={texts.wallet.moreTokens}>
            {texts.wallet.atLeast(formatCount(tokens.length))}
          </span>
        )}
      </h2>
      {children}
    </section>
  );
}

function WalletListings({ address }: { address: string }) {
  const query = useInfiniteQuery(walletListingsQuery(address));
  const listings = query.data?.pages.flatMap(({ data }) => data) ?? [];
  if (query.isError && listings.length === 0) return <WalletError query={query} />;
  if (query.isSuccess && listings.length === 0 && !query.hasNextPage)
    return <EmptyState title={texts.wallet.emptyListings} />;
  return (
    <>
      <DataTable
        label={texts.wallet.listings}
        columns={LISTING_COLUMNS}
        rows={listings}
        keyOf={tokenPath}
        skeletons={query.isPending ? SKELETONS : 0}
      />
      <MoreRows query={query} />
    </>
  );
}

function WalletError({ query }: { query: { error: unknown; refetch: () => Promise<unknown> } }) {
  if (isNotFound(query.error)) return <NotFoundPage reason={texts.wallet.invalid} />;
  return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
}

const LISTING_COLUMNS: readonly Column<MarketItem>[] = [
  {
    id: 'token',
    head: texts.listings.columns.token,
    width: 'minmax(120px, 1fr)',
    place: 'top-left',
    cell: (listing) => (
      <span class="truncate">
        <RowLink href={tokenPath(listing)}>{tokenName({ ...listing, name: null })}</RowLink>
      </span>
    ),
  },
  {
    id: 'collection',
    head: texts.token.collection,
    width: 'minmax(140px, 1.5fr)',
    place: 'bottom-left',
    cell: ({ collectionId }) => <CollectionName id={collectionId} />,
  },
  {
    id: 'chain',
    head: texts.token.chain,
    width: 'minmax(110px, 1fr)',
    from: 'tablet',
    cell: ({ chain }) => <ChainMark chain={chain} />,
  },
  {
    id: 'price',
    head: texts.listings.columns.price,
    width: 'minmax(120px, 1fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ price }) => <Price price={price} />,
  },
  {
    id: 'marketplace',
    head: texts.listings.columns.marketplace,
    width: 'minmax(100px, 1fr)',
    place: 'bottom-right',
    cell: ({ marketplace }) => <span class="badge">{marketplace}</span>,
  },
  {
    id: 'listed-at',
    head: texts.listings.columns.listedAt,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ timestamp }) => <Time at={timestamp} />,
  },
];
