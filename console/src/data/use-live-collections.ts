// Keeps the rows of the list of collections current: a row is read again when something has changed its figures.

import type { InfiniteData } from '@tanstack/preact-query';
import { useEffect, useRef } from 'preact/hooks';
import type { ActivityKind, ListMarketCollectionsResult, MarketCollection } from '../../../client/src/market.ts';
import { client, queries } from './client.ts';
import { useLiveEvents } from './use-live.ts';

const KINDS: readonly ActivityKind[] = ['sale', 'floor'];
/** At most this many rows are read in each period, because each read counts against the rate limit of the client address. */
const ROWS_MAX = 4;
const PERIOD_MS = 2_000;

type Pages = InfiniteData<ListMarketCollectionsResult, string | undefined>;

export function useLiveCollections(from: string | null | undefined): void {
  const changed = useRef(new Set<string>());
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const readAt = useRef(-Infinity);
  const read = () => {
    timer.current = undefined;
    readAt.current = performance.now();
    for (const id of [...changed.current].slice(0, ROWS_MAX)) {
      changed.current.delete(id);
      void refreshRow(id);
    }
    if (changed.current.size > 0) timer.current = setTimeout(read, PERIOD_MS);
  };
  useLiveEvents({ collection: null, kinds: KINDS }, from, (events) => {
    for (const { collectionId } of events)
      if (collectionId !== null && isListed(collectionId)) changed.current.add(collectionId);
    if (changed.current.size === 0) return;
    const wait = Math.max(PERIOD_MS / 4, readAt.current + PERIOD_MS - performance.now());
    timer.current ??= setTimeout(read, wait);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}

const LISTS = { queryKey: ['collections'] };

function isListed(id: string): boolean {
  return queries
    .getQueriesData<Pages>(LISTS)
    .some(([, list]) => list?.pages.some(({ data }) => data.some((row) => row.id === id)) ?? false);
}

/** Reads a row again. If this fails, the row stays as it is until its next event, or until the list is read again. */
async function refreshRow(id: string): Promise<void> {
  try {
    const { data } = await client.getMarketCollection({ id });
    queries.setQueriesData<Pages>(LISTS, (list) => list && replaceRow(list, data));
  } catch {
    // The old row stays.
  }
}

/** Replaces the row, and copies the list's page with this row. The other rows and pages stay the same objects, so only this row is rendered again. */
function replaceRow(list: Pages, row: MarketCollection): Pages {
  const pages = list.pages.map((page) =>
    page.data.some(({ id }) => id === row.id)
      ? { ...page, data: page.data.map((one) => (one.id === row.id ? row : one)) }
      : page,
  );
  return { ...list, pages };
}
