// The hook with which a part of a page follows the change stream.

import { useEffect } from 'preact/hooks';
import type { LiveFilter } from './live-stream.ts';
import { liveStream } from './live-stream.ts';

/**
 * Follows the events after `from`, beginning when `from` is first known. `from` is the offset of the data that the component shows. It is
 * undefined while the data is being read, and null if the data has no offset.
 */
export function useLive({ collection, kinds }: LiveFilter, from: string | null | undefined): void {
  const isKnown = from !== null && from !== undefined;
  useEffect(
    () => (isKnown ? liveStream.follow({ collection, kinds }, from) : undefined),
    [collection, kinds.join(), isKnown],
  );
}
