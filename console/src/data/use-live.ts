// The hooks with which components use the change stream.

import type { QueryKey } from '@tanstack/preact-query';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Activity, ActivityKind } from '../../../client/src/market.ts';
import { queries } from './client.ts';
import type { LiveFilter } from './live-stream.ts';
import { liveStream } from './live-stream.ts';

/** The most events that are kept for a list. Older events are seen when the list is read again. */
const EVENTS_MAX = 200;
/**
 * The shortest time between two reads of a list of one page. For a list of n pages, the time is n times as long, because the read of each
 * page is a request that counts towards the rate limit of the client address.
 */
const REFRESH_MS = 2_000;

/**
 * Calls `onEvents` with the events after `from`, beginning when `from` is first known. `from` is the offset of the list that the
 * component shows. It is undefined while the list is being read, and null if the list has no offset.
 */
export function useLiveEvents(
  { collection, kinds }: LiveFilter,
  from: string | null | undefined,
  onEvents: (events: readonly Activity[]) => void,
): void {
  const latest = useRef(onEvents);
  latest.current = onEvents;
  const isKnown = from !== null && from !== undefined;
  useEffect(
    () => (isKnown ? liveStream.follow({ collection, kinds }, from, (events) => latest.current(events)) : undefined),
    [collection, kinds.join(), isKnown],
  );
}

/**
 * Returns the events after the offset of a list, newest first. When the list is read again, its offset is newer, and the events that the
 * list then contains are left out.
 */
export function useNewerEvents(filter: LiveFilter, listOffset: string | null | undefined): readonly Activity[] {
  const [events, setEvents] = useState<readonly Activity[]>([]);
  useLiveEvents(filter, listOffset, (newer) =>
    setEvents((known) => [...newer.toReversed(), ...known].slice(0, EVENTS_MAX)),
  );
  useEffect(() => setEvents([]), [filter.collection]);
  return useMemo(() => (listOffset ? events.filter(({ offset }) => offset > listOffset) : []), [events, listOffset]);
}

/** Reads the queries again after an event that `isConcerned` accepts. */
export function useLiveRefresh(
  filter: LiveFilter,
  from: string | null | undefined,
  queryKeys: readonly QueryKey[],
  isConcerned: (event: Activity) => boolean = () => true,
): void {
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const refreshedAt = useRef(-Infinity);
  const refresh = () => {
    // A read in progress may have begun before the event, so the queries must be read again. If each event cancelled the read in progress,
    // no read would end while many events arrive. So the refresh waits.
    const isReading = queryKeys.some((queryKey) => queries.isFetching({ queryKey, type: 'active' }) > 0);
    timer.current = isReading ? setTimeout(refresh, REFRESH_MS) : undefined;
    if (isReading) return;
    refreshedAt.current = performance.now();
    for (const queryKey of queryKeys) void queries.invalidateQueries({ queryKey }, { cancelRefetch: false });
  };
  useLiveEvents(filter, from, (events) => {
    if (!events.some(isConcerned)) return;
    const period = REFRESH_MS * countPages(queryKeys);
    timer.current ??= setTimeout(refresh, Math.max(0, refreshedAt.current + period - performance.now()));
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}

/** The number of pages in the longest of the lists. All pages of a list are read again together. */
function countPages(queryKeys: readonly QueryKey[]): number {
  const lists = queryKeys.flatMap((queryKey) =>
    queries.getQueriesData<{ pages?: readonly unknown[] }>({ queryKey, type: 'active' }),
  );
  return Math.max(1, ...lists.map(([, list]) => list?.pages?.length ?? 1));
}

/** The kinds of the changes of the market. Each of them changes a figure of its collection. */
export const ALL_KINDS: readonly ActivityKind[] = [
  'list',
  'reprice',
  'sale',
  'fill',
  'cancel',
  'expire',
  'invalidate',
  'revalidate',
  'floor',
  'mint',
  'transfer',
  'burn',
  'remove',
];
