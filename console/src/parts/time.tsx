// A time: its age on the page, local time and UTC in the tooltip.

import { formatAge, formatLocal, formatRemaining, formatUtc } from '../format/time.ts';
import { useNow } from '../shell/clock.ts';
import { texts } from '../texts.ts';

export function Time({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} class="nowrap" data-tip={`${formatLocal(at)} (${formatUtc(at)})`}>
      {formatAge(at, now)}
    </time>
  );
}

/** When something ends: the time that remains, or `expired`. */
export function Expiry({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} class="nowrap" data-tip={`${formatLocal(at)} (${formatUtc(at)})`}>
      {Date.parse(at) > now ? texts.token.expiresIn(formatRemaining(at, now)) : texts.token.expired}
    </time>
  );
}
