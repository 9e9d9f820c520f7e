// The page of one collection: its identity, its figures, and tabs with its listings, sales and other data.

import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useParams } from 'wouter-preact';
import type { MarketCollection } from '../../../../client/src/market.ts';
import { isNotFound } from '../../data/client.ts';
import { collectionQuery } from '../../data/market-queries.ts';
import { ALL_KINDS } from '../../data/live.ts';
import { useLive } from '../../data/use-live.ts';
import { shortAddress } from '../../format/address.ts';
import { formatBps, formatCount } from '../../format/amount.ts';
import { toVisible } from '../../format/strangers-text.ts';
import { ChainMark } from '../../parts/chain-mark.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorBoundary } from '../../parts/error-boundary.tsx';
import { Picture } from '../../parts/picture.tsx';
import { Segments } from '../../parts/segments.tsx';
import { ErrorPanel, Skeleton } from '../../parts/states.tsx';
import { useUrlState } from '../../parts/url-state.ts';
import { useMedia } from '../../parts/use-media.ts';
import { lazyPart } from '../../shell/lazy-page.tsx';
import { NotFoundPage } from '../../shell/not-found-page.tsx';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts as shared } from '../../texts.ts';
import { ActivityList } from '../activity-list.tsx';
import { collectionName } from '../collection-name.tsx';
import { OrderList } from '../order-list.tsx';
import { FigureStrip } from './figure-strip.tsx';
import { ListingsTab } from './listings-tab.tsx';
import { texts } from '../texts.ts';
import './collection-page.css';

/** The code of each of these four tabs is loaded when the tab is first shown, so that the page needs less code at first. */
const HistoryTab = lazyPart(async () => (await import('./history-tab.tsx')).HistoryTab);
const SalesTab = lazyPart(async () => (await import('./sales-tab.tsx')).SalesTab);
const DepthTab = lazyPart(async () => (await import('./depth-tab.tsx')).DepthTab);
const HoldersTab = lazyPart(async () => (await import('./holders-tab.tsx')).HoldersTab);

const TABS = {
  listings: ListingsTab,
  orders: CollectionOrders,
  history: HistoryTab,
  sales: SalesTab,
  activity: ActivityTab,
  depth: DepthTab,
  holders: HoldersTab,
};
type TabId = keyof typeof TABS;
const TAB_IDS: readonly [TabId, ...TabId[]] = [
  'listings',
  'orders',
  'history',
  'sales',
  'activity',
  'depth',
  'holders',
];

export function CollectionPage() {
  const { id } = useParams<{ id: string }>();
  const url = useUrlState();
  const query = useQuery(collectionQuery(id));
  const collection = query.data?.data;
  const current = TAB_IDS.find((tab) => tab === url.get('tab')) ?? TAB_IDS[0];
  usePageTitle(
    current === TAB_IDS[0] ? null : texts.collection.tabs[current],
    collection ? collectionName(collection) : null,
  );
  useLive({ collection: collection?.id ?? '', kinds: ALL_KINDS }, query.data?.meta.offset);

  if (!collection) {
    if (query.isError && isNotFound(query.error)) return <NotFoundPage reason={texts.collection.notFound} />;
    if (query.isError) {
      return (
        <div class="page">
          <h1 class="visually-hidden">{id}</h1>
          <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
        </div>
      );
    }
    return <CollectionSkeleton />;
  }

  const Part = TABS[current];
  const { listedCount, owners } = collection.stats;
  const counts: Partial<Record<TabId, number | null>> = { listings: listedCount, holders: owners };
  return (
    <article>
      <CollectionHead collection={collection} />
      <div class="page page-after-banner">
        <ErrorBoundary subject={collection.id}>
          <FigureStrip collection={collection} />
        </ErrorBoundary>
        <Segments
          isTabs
          label={texts.collection.tabsLabel}
          value={current}
          segments={TAB_IDS.map((tab) => ({
            value: tab,
            name: texts.collection.tabs[tab],
            count: counts[tab] ? formatCount(counts[tab]) : null,
          }))}
          hrefOf={(tab) =>
            url.href({
              tab: tab === TAB_IDS[0] ? null : tab,
              sort: null,
              show: null,
              view: null,
              range: null,
              kind: null,
              side: null,
              status: null,
            })
          }
        />
        <ErrorBoundary subject={`${collection.id} ${url.parameters}`}>
          <Part key={collection.id} collection={collection} />
        </ErrorBoundary>
      </div>
    </article>
  );
}

function ActivityTab({ collection }: { collection: MarketCollection }) {
  return <ActivityList whose={{ collection: collection.id }} />;
}

function CollectionOrders({ collection }: { collection: MarketCollection }) {
  return <OrderList whose={{ collection: collection.id }} />;
}

function CollectionHead({ collection }: { collection: MarketCollection }) {
  const { id, image, banner, description, chain, contractAddress, tokenStandard, royaltyBps } = collection;
  return (
    <header class="collection-head">
      <Picture url={banner} alt="" seed={id} class="collection-banner" isEager />
      <div class="collection-identity">
        <Picture url={image} alt="" seed={id} class="collection-picture" isEager />
        <div class="collection-names">
          <h1 class="name-heading">{collectionName(collection)}</h1>
          <ul class="facts">
            {chain !== null && (
              <li>
                <ChainMark chain={chain} />
              </li>
            )}
            {tokenStandard !== null && <li>{tokenStandard}</li>}
            {royaltyBps !== null && (
              <li>
                {texts.collection.royalty} {formatBps(royaltyBps)}
              </li>
            )}
            {contractAddress !== null && (
              <li class="fact-address">
                <span class="mono" data-tip={contractAddress}>
                  {shortAddress(contractAddress)}
                </span>
                <CopyButton text={contractAddress} label={texts.collection.address} />
              </li>
            )}
          </ul>
        </div>
        {description !== null && description !== '' && <Description text={toVisible(description)} />}
      </div>
    </header>
  );
}

/** Only this many characters of a longer description are shown, until the reader clicks on the button for more. On a phone, they fill one line. */
const DESCRIPTION_LENGTH_MAX = 180;
const DESCRIPTION_LENGTH_MAX_ON_PHONE = 28;
const PHONE = '(max-width: 719px)';

function Description({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(false);
  const lengthMax = useMedia(PHONE) ? DESCRIPTION_LENGTH_MAX_ON_PHONE : DESCRIPTION_LENGTH_MAX;
  const isLong = text.length > lengthMax;
  return (
    <p class="collection-description">
      {isLong && !isOpen ? `${text.slice(0, lengthMax).trimEnd()}… ` : `${text} `}
      {isLong && (
        <button type="button" class="text-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? texts.collection.less : texts.collection.more}
        </button>
      )}
    </p>
  );
}

function CollectionSkeleton() {
  return (
    <div aria-busy="true">
      <span class="visually-hidden">{shared.states.loading}</span>
      <div class="collection-head">
        <Picture url={null} alt="" seed="" class="collection-banner" />
        <div class="collection-identity">
          <Picture url={null} alt="" seed="" class="collection-picture" />
          <div class="collection-names">
            <Skeleton width="280px" height="36px" />
            <Skeleton width="200px" />
          </div>
        </div>
      </div>
      <div class="page page-after-banner">
        <Skeleton width="100%" height="76px" />
        <Skeleton width="100%" height="320px" />
      </div>
    </div>
  );
}
