// Displays the lowest total that a buyer pays. It comes with the floor beside it, in one read, so the two never contradict each other.

import type { MarketCollection } from '../../../client/src/market.ts';
import { formatAge } from '../format/time.ts';
import { ClockIcon } from '../parts/icons.tsx';
import { Price } from '../parts/price.tsx';
import { useNow } from '../shell/clock.ts';
import { texts as shared } from '../texts.ts';
import { texts } from './texts.ts';

export function BuyerFloor({ collection: { stats } }: { collection: MarketCollection }) {
  const { buyerFloor } = stats;
  const at = buyerFloor?.observedAt ?? null;
  if (!buyerFloor || at === null) {
    return <Price price={buyerFloor?.price ?? null} reason={shared.unknown.buyerFloor} isStacked />;
  }
  return (
    <span class="stacked">
      <Price price={buyerFloor.price} isNativeOnly />
      <EarlierMark at={at} />
    </span>
  );
}

/** Stands in place of the dollars, because the rate is not of the time of the total. */
function EarlierMark({ at }: { at: string }) {
  const now = useNow();
  return (
    <span class="stale" data-tip={texts.stale.floor}>
      <ClockIcon />
      <time dateTime={at}>{texts.stale.age(formatAge(at, now))}</time>
      <span class="visually-hidden">{texts.stale.floor}</span>
    </span>
  );
}
