// The latest sales of all collections, as they happen.

import { useInfiniteQuery } from '@tanstack/preact-query';
import type { Activity, ActivityKind } from '../../../client/src/market.ts';
import { newEvent } from '../data/live.ts';
import { latestSalesQuery } from '../data/market-queries.ts';
import { useLive } from '../data/use-live.ts';
import { toVisibleName } from '../format/strangers-text.ts';
import { openRow } from '../parts/open-row.ts';
import { Picture } from '../parts/picture.tsx';
import { Price } from '../parts/price.tsx';
import { RowLink } from '../parts/data-table.tsx';
import { Skeleton } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { lostSince } from '../shell/connection.tsx';
import { useStore } from '../shell/store.ts';
import { CollectionName } from './collection-name.tsx';
import { tokenPath } from './paths.ts';
import { useTokenOf } from './token-columns.tsx';
import { tokenName } from './token-name.ts';
import { texts } from './texts.ts';
import './sales-ticker.css';

const KINDS: readonly ActivityKind[] = ['sale'];
const SALES_MAX = 24;
const SKELETONS = 10;

type Sale = Activity & { offset: string; collectionId: string };

/**
 * `isIndexRead`: whether the service could read its indexer database. If not, an empty list is shown as a failed read, because there may be
 * sales that the activity log lacks.
 */
export function SalesTicker({ isIndexRead }: { isIndexRead: boolean }) {
  const query = useInfiniteQuery(latestSalesQuery());
  const [first] = query.data?.pages ?? [];
  useLive({ collection: null, kinds: KINDS }, first?.meta.offset);
  const isLive = useStore(lostSince) === null && (first?.meta.offset ?? null) !== null;
  const sales = toSales(first?.data ?? []);
  return (
    <aside class="ticker" aria-label={texts.ticker.title}>
      <h2 class="ticker-title">
        {texts.ticker.title}
        {isLive && <span class="ticker-live" aria-hidden="true" />}
      </h2>
      {query.isSuccess && isIndexRead && sales.length === 0 && <p class="muted ticker-note">{texts.ticker.empty}</p>}
      {(query.isError || !isIndexRead) && sales.length === 0 && <p class="muted ticker-note">{texts.ticker.failed}</p>}
      <ul class="ticker-list" tabIndex={0} aria-label={texts.ticker.title} aria-busy={query.isPending}>
        {sales.map((sale) => (
          <TickerSale key={sale.offset} sale={sale} isNew={newEvent(sale.offset) !== null} />
        ))}
        {query.isPending &&
          Array.from({ length: SKELETONS }, (_, index) => (
            <li key={index} class="ticker-sale" aria-hidden="true">
              <Picture url={null} alt="" seed="" class="picture-ticker" />
              <span class="ticker-token">
                <Skeleton width="70%" />
              </span>
              <span class="ticker-price">
                <Skeleton width="64px" />
              </span>
            </li>
          ))}
      </ul>
    </aside>
  );
}

function TickerSale({ sale, isNew }: { sale: Sale; isNew: boolean }) {
  const { collectionId, tokenId, mint, price, at } = sale;
  // A sale of several tokens for one price has neither a mint nor a token id.
  const id = mint ?? tokenId;
  const { token, isLoading } = useTokenOf(sale);
  return (
    <li class={isNew ? 'ticker-sale flash' : 'ticker-sale'} onClick={openRow}>
      <Picture url={token?.image ?? null} alt="" seed={collectionId} class="picture-ticker" />
      <span class="ticker-token truncate">
        {id === null ? (
          <RowLink href={`/c/${encodeURIComponent(collectionId)}`}>
            <CollectionName id={collectionId} /> <span class="muted">{texts.ticker.several}</span>
          </RowLink>
        ) : isLoading ? (
          <Skeleton width="70%" />
        ) : (
          <RowLink href={tokenPath({ ...sale, contractAddress: null })}>
            {toVisibleName(token?.name ?? null) ?? (
              <>
                <CollectionName id={collectionId} /> {tokenName({ name: null, tokenId, mint })}
              </>
            )}
          </RowLink>
        )}
      </span>
      <span class="ticker-price">
        <Price price={price} isNativeOnly />
      </span>
      <span class="ticker-time muted">
        <Time at={at} />
      </span>
    </li>
  );
}

/** Without sales that were taken back, and without sales that are not in the log, which only the list of a collection has. */
function toSales(listed: readonly Activity[]): Sale[] {
  return listed
    .filter((event): event is Sale => event.offset !== null && event.collectionId !== null && event.voidedBy === null)
    .slice(0, SALES_MAX);
}
