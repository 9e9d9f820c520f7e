// The market: all collections with their figures, and the latest sales.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useEffect, useMemo } from 'preact/hooks';
import type { CollectionSort, Period } from '../data/market-queries.ts';
import { collectionsQuery, keepCollections } from '../data/market-queries.ts';
import { queries } from '../data/client.ts';
import { ALL_KINDS } from '../data/live.ts';
import { useLive } from '../data/use-live.ts';
import { CHAIN_IDS, ChainMark, chainName } from '../parts/chain-mark.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { ErrorBoundary } from '../parts/error-boundary.tsx';
import { MoreRows } from '../parts/more-rows.tsx';
import { Segments } from '../parts/segments.tsx';
import { Select } from '../parts/select.tsx';
import { EmptyState, ErrorPanel } from '../parts/states.tsx';
import { oneOf, useUrlState } from '../parts/url-state.ts';
import { useMedia } from '../parts/use-media.ts';
import { usePageTitle } from '../shell/shell.tsx';
import { collectionColumns } from './collection-columns.tsx';
import { SalesTicker } from './sales-ticker.tsx';
import { texts } from './texts.ts';
import './collections-page.css';

/** The first order of the list: by volume, and the collections that were launched on the service before all others. */
const LAUNCHED = 'launched';
const SORTS: readonly [typeof LAUNCHED, ...CollectionSort[]] = [
  LAUNCHED,
  'volume',
  'sales',
  'floor',
  'change',
  'listed',
  'recent',
];
const PERIODS: readonly Period[] = ['1h', '24h', '7d', '30d', 'all'];
const USUAL_PERIOD: Period = '24h';
const ORDERS: readonly ['desc', 'asc'] = ['desc', 'asc'];
const SKELETONS = 12;
const ALL_CHAINS = 'all';
const WIDER_THAN_A_PHONE = '(min-width: 720px)';

/** The choices in the query of the URL. */
function toChoice(parameters: URLSearchParams) {
  return {
    chain: CHAIN_IDS.find((one) => one === parameters.get('chain')) ?? null,
    sort: oneOf(SORTS, parameters.get('sort')),
    period: oneOf([USUAL_PERIOD, ...PERIODS], parameters.get('window')),
    order: oneOf(ORDERS, parameters.get('order')),
  };
}

function queryOf({ chain, sort, period, order }: ReturnType<typeof toChoice>) {
  if (sort !== LAUNCHED) return collectionsQuery(chain, { sort, period, order }, { isPlain: true });
  return collectionsQuery(chain, { sort: 'volume', period, order: 'desc' }, { isPlain: false });
}

/** Begins to read the list before the page is rendered. */
export function startReadingCollections(parameters: URLSearchParams): void {
  void queries.prefetchInfiniteQuery(queryOf(toChoice(parameters)));
}

export function CollectionsPage() {
  usePageTitle(null);
  const url = useUrlState();
  const choice = toChoice(url.parameters);
  const { chain, sort, period, order } = choice;
  const query = useInfiniteQuery(queryOf(choice));
  const pages = query.data?.pages;
  const rows = useMemo(() => pages?.flatMap(({ data }) => data) ?? [], [pages]);
  useEffect(() => keepCollections(pages ?? []), [pages]);
  useLive({ collection: null, kinds: ALL_KINDS }, pages?.[0]?.meta.offset);
  const sortHref = (next: (typeof SORTS)[number], nextOrder: (typeof ORDERS)[number]) =>
    url.href({ sort: next === LAUNCHED ? null : next, order: nextOrder === ORDERS[0] ? null : nextOrder });
  const columns = useMemo(
    () => collectionColumns({ sort: sort === LAUNCHED ? null : sort, period, order }, sortHref),
    [chain, sort, period, order],
  );
  const hasTicker = useMedia(WIDER_THAN_A_PHONE);
  const isEmpty = query.isSuccess && rows.length === 0;

  return (
    <div class={isEmpty ? 'page' : 'page market'}>
      <div class="page-head">
        <h1>{texts.market.title}</h1>
        <p class="muted from-tablet">{texts.market.lead}</p>
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
        <div class="toolbar-group">
          <Segments
            label={texts.market.period}
            value={period}
            segments={PERIODS.map((value) => ({ value, name: texts.market.periods[value] }))}
            hrefOf={(value) => url.href({ window: value === USUAL_PERIOD ? null : value })}
          />
          <Select
            label={texts.market.sort}
            value={sort}
            options={SORTS.map((value) => ({ value, name: texts.market.sorts[value] }))}
            hrefOf={(value) => sortHref(value, ORDERS[0])}
          />
        </div>
      </div>
      {query.isError && rows.length === 0 && (
        <div class="market-collections">
          <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {isEmpty && <NoCollections chain={chain} allHref={url.href({ chain: null })} />}
      {(query.isPending || rows.length > 0) && (
        <div class="market-collections">
          <DataTable
            label={texts.market.label}
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            isDense
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
      <pre class="commands">{texts.market.emptyCommands.join('\n')}</pre>
    </EmptyState>
  );
}
