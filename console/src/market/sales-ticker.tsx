// The latest sales of all collections, as they happen.

import { useQuery } from '@tanstack/preact-query';
import type { Activity, ActivityKind, ListedActivity } from '../../../client/src/market.ts';
import { latestSalesQuery, tokenQuery } from '../data/market-queries.ts';
import { useNewerEvents } from '../data/use-live.ts';
import { toVisibleName } from '../format/strangers-text.ts';
import { openRow } from '../parts/open-row.ts';
import { Picture } from '../parts/picture.tsx';
import { Price } from '../parts/price.tsx';
import { RowLink } from '../parts/data-table.tsx';
import { Skeleton } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { lostSince } from '../shell/connection.tsx';
import { useStore } from '../shell/store.ts';
import { texts } from '../texts.ts';
import { CollectionName } from './collection-name.tsx';
import { tokenPath } from './paths.ts';
import { tokenName } from './token-name.ts';

const KINDS: readonly ActivityKind[] = ['sale'];
const SALES_MAX = 24;
const SKELETONS = 10;

type Sale = (Activity | ListedActivity) & { offset: string; collectionId: string };

/**
 * `isIndexRead`: whether the service could read its indexer database. If not, an empty list is shown as a failed read, because there may be
 * sales that the activity log lacks.
 */
export function SalesTicker({ isIndexRead }: { isIndexRead: boolean }) {
  const query = useQuery(latestSalesQuery());
  const newer = useNewerEvents({ collection: null, kinds: KINDS }, query.data?.meta.offset);
  const isLive = useStore(lostSince) === null && (query.data?.meta.offset ?? null) !== null;
  const sales = toSales(newer, query.data?.data ?? []);
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
          <TickerSale key={sale.offset} sale={sale} isNew={newer.some(({ offset }) => offset === sale.offset)} />
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
  const { chain, collectionId, tokenId, mint, price, at } = sale;
  // A sale of several tokens for one price has neither a mint nor a token id.
  const id = mint ?? tokenId;
  const { data: token } = useQuery({
    ...tokenQuery(chain, collectionId, id ?? ''),
    enabled: id !== null,
    refetchInterval: false,
    staleTime: Infinity,
  });
  return (
    <li class={isNew ? 'ticker-sale flash' : 'ticker-sale'} onClick={openRow}>
      <Picture url={token?.image ?? null} alt="" seed={collectionId} class="picture-ticker" />
      <span class="ticker-token truncate">
        {id === null ? (
          <RowLink href={`/c/${encodeURIComponent(collectionId)}`}>
            <CollectionName id={collectionId} /> <span class="muted">{texts.ticker.several}</span>
          </RowLink>
        ) : (
          <RowLink href={tokenPath({ ...sale, contractAddress: token?.contractAddress ?? null })}>
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

/** Newest first, without sales that were taken back. */
function toSales(newer: readonly Activity[], listed: readonly ListedActivity[]): Sale[] {
  const voided = new Set(newer.flatMap(({ voids }) => voids ?? []));
  // The list may have events after its offset. The stream sends these events as well, so they may be in both lists.
  const events = new Map([...newer, ...listed].map((event) => [event.offset, event]));
  return [...events.values()]
    .filter(
      (event): event is Sale =>
        event.kind === 'sale' &&
        // A sale without an offset is not in the log. Only the list of a collection has such sales.
        event.offset !== null &&
        event.collectionId !== null &&
        !voided.has(event.offset) &&
        !('voidedBy' in event && event.voidedBy !== null),
    )
    .slice(0, SALES_MAX);
}
