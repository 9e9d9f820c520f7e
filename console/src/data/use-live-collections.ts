// Keeps the rows of the list of collections current: a row is read again after each event that changes one of its figures.

import type { InfiniteData } from '@tanstack/preact-query';
import { useEffect, useRef } from 'preact/hooks';
import type { ListMarketCollectionsResult, MarketCollection } from '../../../client/src/market.ts';
import { client, queries } from './client.ts';
import { ALL_KINDS, useLiveEvents } from './use-live.ts';

/**
 * At most this many rows are read one by one in each period, because each read counts against the rate limit of the client address. If more
 * rows have changed, the list is read again, with one request for each of its pages.
 */
const ROWS_MAX = 4;
const PERIOD_MS = 2_000;

type Pages = InfiniteData<ListMarketCollectionsResult, string | undefined>;

export function useLiveCollections(from: string | null | undefined): void {
  /** The rows to read again, by id, with the offset of the last event that changed them. */
  const changed = useRef(new Map<string, string>());
  const timer = useRef<ReturnType<typeof setTimeout>>();
  /** The time before which nothing is read again. */
  const restsUntil = useRef(-Infinity);
  const readSoon = () => {
    if (changed.current.size === 0) return;
    timer.current ??= setTimeout(() => void read(), Math.max(PERIOD_MS / 4, restsUntil.current - performance.now()));
  };
  const read = async () => {
    const wanted = changed.current;
    changed.current = new Map();
    // A read of the list that began before the events would replace newer rows, so it begins again.
    const isWide = wanted.size > ROWS_MAX || queries.isFetching({ ...LISTS, type: 'active' }) > 0;
    restsUntil.current = performance.now() + PERIOD_MS * (isWide ? countPages() : 1);
    const offsets = isWide ? await refreshLists() : await refreshRows([...wanted.keys()]);
    // A cache between the browser and the service may have a response of before the event.
    for (const [id, event] of wanted) {
      const offset = offsets.get(id);
      if (offset !== undefined && offset < event && !changed.current.has(id)) changed.current.set(id, event);
    }
    timer.current = undefined;
    if (isMounted.current) readSoon();
  };
  useLiveEvents({ collection: null, kinds: ALL_KINDS }, from, (events) => {
    // The row of a removed collection cannot be read alone.
    if (events.some(({ kind }) => kind === 'remove')) void queries.invalidateQueries(LISTS);
    for (const { offset, kind, chain, collectionId } of events) {
      if (kind === 'remove') continue;
      // A reorganisation without a collection concerns any collection of its chain.
      for (const row of listRows())
        if (collectionId === null ? row.chain === chain : row.id === collectionId) changed.current.set(row.id, offset);
    }
    readSoon();
  });
  const isMounted = useRef(true);
  useEffect(
    () => () => {
      isMounted.current = false;
      clearTimeout(timer.current);
    },
    [],
  );
}

const LISTS = { queryKey: ['collections'] };

function listLists(): Pages[] {
  return queries.getQueriesData<Pages>({ ...LISTS, type: 'active' }).flatMap(([, list]) => list ?? []);
}

function listRows(): MarketCollection[] {
  return listLists().flatMap(({ pages }) => pages.flatMap(({ data }) => data));
}

function countPages(): number {
  return Math.max(1, ...listLists().map(({ pages }) => pages.length));
}

/** The offsets of the responses, by the id of the row. A row without an offset is not read again before its next event. */
type Offsets = ReadonlyMap<string, string>;

async function refreshLists(): Promise<Offsets> {
  await queries.invalidateQueries(LISTS);
  const pages = listLists().flatMap((list) => list.pages);
  return new Map(
    pages.flatMap(({ data, meta: { offset } }) => (offset === null ? [] : data.map(({ id }) => [id, offset]))),
  );
}

async function refreshRows(ids: readonly string[]): Promise<Offsets> {
  const offsets = new Map<string, string>();
  const reads = ids.map(async (id) => {
    const { data, meta } = await client.getMarketCollection({ id });
    queries.setQueriesData<Pages>(LISTS, (list) => list && replaceRow(list, data));
    if (meta.offset !== null) offsets.set(id, meta.offset);
  });
  // A row that cannot be read stays as it is until its next event, or until the list is read again.
  await Promise.allSettled(reads);
  return offsets;
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
