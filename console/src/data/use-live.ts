// What components do with the change stream.

import type { QueryKey } from '@tanstack/preact-query';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Activity, ActivityKind } from '../../../client/src/market.ts';
import { queries } from './client.ts';
import type { LiveFilter } from './live-stream.ts';
import { liveStream } from './live-stream.ts';

/** More events than this are read from the service, when the list is read again. */
const EVENTS_MAX = 200;
/** Figures are read again at most once in this time, because each read counts against the limit of the client address. */
const REFRESH_MS = 2_000;

/** Calls `onEvents` with what has happened since the first `from` that is known. Null: the service did not name an offset. */
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

/** The events after the offset of a list, newest first. The list is read again from time to time, and then has some of them itself. */
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
    timer.current = undefined;
    refreshedAt.current = performance.now();
    for (const queryKey of queryKeys) void queries.invalidateQueries({ queryKey });
  };
  useLiveEvents(filter, from, (events) => {
    if (!events.some(isConcerned)) return;
    timer.current ??= setTimeout(refresh, Math.max(0, refreshedAt.current + REFRESH_MS - performance.now()));
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}

export const TRADE_KINDS: readonly ActivityKind[] = [
  'list',
  'reprice',
  'sale',
  'fill',
  'cancel',
  'expire',
  'invalidate',
  'revalidate',
  'floor',
];
export const ALL_KINDS: readonly ActivityKind[] = [...TRADE_KINDS, 'mint', 'transfer', 'burn'];
