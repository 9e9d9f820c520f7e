// The change of a figure since an earlier time, as a percentage with a sign.

import { formatChange } from '../format/amount.ts';
import { Flash } from './flash.tsx';
import { Unknown } from './unknown.tsx';

/** `ratio`: 0.05 is +5 %. Null if the figure of one of the two times is unknown. */
export function Change({ ratio, reason }: { ratio: number | null; reason: string }) {
  if (ratio === null) return <Unknown reason={reason} />;
  const text = formatChange(ratio);
  const isZero = !/[1-9]/.test(text);
  return (
    <Flash value={text}>
      <span class={isZero ? 'muted' : ratio > 0 ? 'good' : 'bad'}>{text}</span>
    </Flash>
  );
}
