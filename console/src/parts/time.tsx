// Displays how long ago a time was. The tooltip has the time itself, as local time and in UTC.

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

/** Displays how long something remains valid, or that it has expired. `at` is the time at which it expires. */
export function Expiry({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} class="nowrap" data-tip={`${formatLocal(at)} (${formatUtc(at)})`}>
      {Date.parse(at) > now ? texts.expiry.in(formatRemaining(at, now)) : texts.expiry.passed}
    </time>
  );
}
