// The filter of tokens by their traits. It stands at the left of the tokens. In a narrow window, a button opens it as a sheet.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { Trait } from '../../../../client/src/market.ts';
import { traitsQuery } from '../../data/market-queries.ts';
import { formatCount } from '../../format/amount.ts';
import { toVisible } from '../../format/strangers-text.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FilterIcon } from '../../parts/icons.tsx';
import { Price } from '../../parts/price.tsx';
import { ErrorPanel, Skeleton } from '../../parts/states.tsx';
import { Unknown } from '../../parts/unknown.tsx';
import type { UrlState } from '../../parts/url-state.ts';
import { texts as shared } from '../../texts.ts';
import { chosenTraits, toggleTrait, traitParameter, withoutTraits } from './trait-choice.ts';
import { Link } from '../../parts/link.tsx';
import { texts } from '../texts.ts';
import './trait-filter.css';

/** A trait with more values is collapsed until the user opens it. */
const OPEN_VALUES_MAX = 8;

/** `isWide`: whether there is room for the filter beside the tokens. */
export function TraitFilter({ collectionId, url, isWide }: { collectionId: string; url: UrlState; isWide: boolean }) {
  const query = useInfiniteQuery(traitsQuery(collectionId));
  const [isOpen, setOpen] = useState(false);
  const traits = query.data?.pages.flatMap(({ data }) => data) ?? [];
  if (query.isError && traits.length === 0)
    return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (query.isSuccess && traits.length === 0) return null;
  const chosen = chosenTraits(url.parameters);
  const count = [...chosen.values()].flat().length;
  const values = (
    <>
      {count > 0 && (
        <Link class="link filter-clear" href={url.href(withoutTraits(chosen))} replace>
          {texts.traits.clear}
        </Link>
      )}
      {query.isPending && <Skeleton width="100%" height="240px" />}
      {traits.map((trait) => (
        <TraitValues key={trait.name} trait={trait} chosen={chosen.get(trait.name) ?? []} url={url} />
      ))}
      {query.hasNextPage && (
        <button type="button" class="button" onClick={() => void query.fetchNextPage()}>
          {shared.states.more}
        </button>
      )}
    </>
  );
  const name = (
    <>
      <span class="filter-name">{texts.traits.title}</span>
      {count > 0 && <span class="badge">{count}</span>}
    </>
  );
  if (isWide) {
    return (
      <details class="filter" open>
        <summary class="filter-head">{name}</summary>
        {values}
      </details>
    );
  }
  return (
    <>
      <button type="button" class="button filter-open" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <FilterIcon />
        {name}
      </button>
      <Dialog title={texts.traits.title} isOpen={isOpen} onClose={() => setOpen(false)} isSheet>
        <div class="sheet-content">{isOpen && values}</div>
        <div class="sheet-end">
          <button type="button" class="button button-primary" onClick={() => setOpen(false)}>
            {texts.traits.show}
          </button>
        </div>
      </Dialog>
    </>
  );
}

function TraitValues({ trait, chosen, url }: { trait: Trait; chosen: readonly string[]; url: UrlState }) {
  return (
    <details class="trait-values" open={chosen.length > 0 || trait.values.length <= OPEN_VALUES_MAX}>
      <summary>
        <span class="trait-name">{toVisible(trait.name)}</span>{' '}
        <span class="muted">
          {formatCount(trait.values.length)}
          {trait.hasMoreValues ? '+' : ''}
        </span>
      </summary>
      <ul>
        {trait.values.map(({ value, count, floor, topBid }) => (
          <li key={value}>
            <Link
              href={url.href({ [traitParameter(trait.name)]: toggleTrait(chosen, value) })}
              replace
              class="trait-value"
              {...(chosen.includes(value) && { 'aria-current': 'true' as const })}
            >
              <span class="truncate">{toVisible(value)}</span>
              <span class="trait-count">
                {count === null ? <Unknown reason={texts.traits.countUnknown} /> : formatCount(count)}
              </span>
              <span class="trait-floor">{floor && <Price price={floor} isNativeOnly />}</span>
              {/* The top bid for any token of the collection would stand at each value. */}
              {topBid?.kind === 'trait' && (
                <span class="trait-bid" data-tip={texts.traits.bidWhy}>
                  {texts.traits.bid} <Price price={topBid.proceeds} isNativeOnly />
                </span>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </details>
  );
}
