// Keeps the data of the open page current. There is one rule: an event of the change stream is added to the lists of events, and everything
// else that the event touches is read again. Nothing is read again by a timer, except while the stream is away, and except figures that
// change as time passes.

import type { InfiniteData, Query } from '@tanstack/preact-query';
import type {
  Activity,
  ActivityKind,
  ListActivityResult,
  ListMarketCollectionsResult,
  MarketCollection,
  StreamEvent,
  Token,
} from '../../../client/src/market.ts';
import { lostSince } from '../shell/connection.tsx';
import { client, queries } from './client.ts';
import type { ActivityFilter, OrderFilter } from './market-queries.ts';

/** The kinds of the changes of the market. */
export const ALL_KINDS: readonly ActivityKind[] = [
  'list',
  'reprice',
  'sale',
  'fill',
  'cancel',
  'expire',
  'invalidate',
  'revalidate',
  'bid',
  'bid-cancel',
  'bid-expire',
  'bid-invalidate',
  'bid-revalidate',
  'floor',
  'mint',
  'transfer',
  'burn',
  'remove',
];

/**
 * The shortest time between two reads of a list of one page. For a list of n pages, the time is n times as long, because the read of each
 * page is a request that counts towards the rate limit of the client address. If a console page has more live data than two such lists, all of it
 * waits longer: together it causes at most 40 requests a minute.
 */
const REFRESH_MS = 3_000;
const REFRESHED_AT_ONCE = 2;
/** The shortest times of data that is large and changes little with each event. */
const SLOW_MS: Readonly<Record<string, number>> = {
  history: 60_000,
  traits: 60_000,
  holders: 15_000,
  provenance: 15_000,
};
/** The events of one change of the market can arrive one after another. Rows are read this long after the first of them. */
const GATHER_MS = 500;
/** How often data is read again while the stream is away. */
const AWAY_MS = 15_000;
/** How often figures of a time window are read again, because they change although nothing happens. */
const WINDOW_MS = 60_000;
const WINDOWED: ReadonlySet<string> = new Set(['collections', 'collection', 'history', 'wallet-collections']);
/** A list of events is read again when it has this many more rows than its pages. */
const ADDED_MAX = 100;
/** How many of the newest events are remembered as new. */
const NEW_MAX = 400;
const IDS_MAX = 100;

/** What the results of the queries have in common. */
type Result = {
  data?: { id?: string; listing?: Pick<Token, 'collectionId' | 'tokenId' | 'mint'> };
  meta?: { offset: string | null };
  pages?: readonly { meta?: { offset: string | null } }[];
};
const resultOf = ({ state }: Query) => state.data as Result | null | undefined;

type Touches = (event: StreamEvent, query: Query) => boolean;

/** Whether the event is of this collection. A reorganisation may not name its collections: then it is of any. */
function isOf({ kind, collectionId, collections }: StreamEvent, id: unknown): boolean {
  if (kind === 'reorg') return collections === null || collections.some((one) => one === id);
  return collectionId === id;
}

const ofCollection: Touches = (event, { queryKey }) => isOf(event, queryKey[1]);
const ofWallet: Touches = ({ kind, from, to }, { queryKey: [, address] }) =>
  kind === 'reorg' || isSameAccount(from, address) || isSameAccount(to, address);

export function isSameAccount(account: string | null, address: unknown): boolean {
  return account !== null && (account === address || account === String(address).toLowerCase());
}

function isOfToken(
  event: StreamEvent,
  token: Pick<Token, 'collectionId' | 'tokenId' | 'mint'> | null | undefined,
): boolean {
  if (!token || !isOf(event, token.collectionId)) return false;
  const id = token.mint ?? token.tokenId;
  return (
    event.kind === 'reorg' ||
    (event.mint ?? event.tokenId) === id ||
    (event.tokens ?? []).some(({ mint, tokenId }) => (mint ?? tokenId) === id)
  );
}

/** For each query by the first part of its key: whether an event touches it. Queries that are not named are not live. */
const TOUCHES: Readonly<Record<string, Touches>> = {
  // Before the first response, it is not known what an event touches.
  collection: (event, query) => query.state.data === undefined || isOf(event, resultOf(query)?.data?.id),
  tokens: (event, query) => event.kind !== 'floor' && ofCollection(event, query),
  traits: ofCollection,
  listings: ofCollection,
  orders: (event, { queryKey }) => {
    const { collection, maker, side } = queryKey[1] as OrderFilter;
    if (event.side !== null && event.side !== side) return false;
    return maker === undefined ? isOf(event, collection) : isSameAccount(event.from, maker) || event.kind === 'reorg';
  },
  sales: (event, query) => (event.kind === 'sale' || event.kind === 'reorg') && ofCollection(event, query),
  history: ofCollection,
  holders: ofCollection,
  provenance: ofCollection,
  token: (event, { state: { data } }) => data === undefined || isOfToken(event, data as Token | null),
  order: (event, query) => event.orderId === query.queryKey[1] || isOfToken(event, resultOf(query)?.data?.listing),
  'wallet-tokens': ofWallet,
  'wallet-collections': ofWallet,
  // A bid for any of several tokens does not name the tokens of the wallet.
  'wallet-offers': (event, query) => event.side === 'bid' || ofWallet(event, query),
};

const arrived = new Map<string, StreamEvent>();

/** The event, if it arrived in the stream a short time ago. */
export function newEvent(offset: string | null): StreamEvent | null {
  return (offset !== null && arrived.get(offset)) || null;
}

/** Applies the rule to all queries that are on the page. `events`: in the order of their offsets. */
export function applyEvents(events: readonly StreamEvent[]): void {
  for (const event of events) arrived.set(event.offset, event);
  for (const offset of arrived.keys()) {
    if (arrived.size <= NEW_MAX) break;
    arrived.delete(offset);
  }
  for (const query of listActive()) {
    const name = nameOf(query);
    if (name === 'activity') addEvents(query, events);
    else if (name === 'collections') noteRows(query, events);
    else touch(query, events.findLast((event) => TOUCHES[name]?.(event, query))?.offset);
  }
}

/** Reads everything again that is live, for example because events were missed. */
export function touchAll(): void {
  for (const query of listActive()) if (isLive(query)) refreshSoon(query, '');
}

function listActive(): Query[] {
  return queries.getQueryCache().findAll({ type: 'active' });
}

function nameOf({ queryKey }: Query): string {
  return String(queryKey[0]);
}

function isLive(query: Query): boolean {
  const name = nameOf(query);
  return name === 'activity' || name === 'collections' || name in TOUCHES;
}

/** The offset that the data of a query reflects. Empty if it is not known, so that each event is newer. */
function offsetOf(query: Query): string {
  const result = resultOf(query);
  return result?.pages?.[0]?.meta?.offset ?? result?.meta?.offset ?? '';
}

function countPages(query: Query): number {
  return Math.max(1, resultOf(query)?.pages?.length ?? 1);
}

function touch(query: Query, offset: string | undefined): void {
  if (offset !== undefined && offset > offsetOf(query)) refreshSoon(query, offset);
}

/** The queries that will be read again, by their hash, with the offset that their data must then reflect. */
const waiting = new Map<string, string>();
/** When each query was read again last. */
const readAt = new Map<string, number>();

function refreshSoon(query: Query, offset: string): void {
  const { queryHash } = query;
  const known = waiting.get(queryHash);
  waiting.set(queryHash, known !== undefined && known > offset ? known : offset);
  if (known !== undefined) return;
  const period = periodOf(query);
  const last = readAt.get(queryHash) ?? -Infinity;
  setTimeout(() => void refresh(query), Math.max(0, last + period - performance.now()));
}

function periodOf(query: Query): number {
  const slow = SLOW_MS[nameOf(query)];
  if (slow !== undefined) return slow * countPages(query);
  const others = listActive().filter((one) => nameOf(one) in TOUCHES && !(nameOf(one) in SLOW_MS));
  const pages = others.reduce((sum, one) => sum + countPages(one), 0);
  return REFRESH_MS * Math.max(countPages(query), pages / REFRESHED_AT_ONCE);
}

async function refresh(query: Query): Promise<void> {
  const { queryHash, queryKey } = query;
  const offset = waiting.get(queryHash) ?? '';
  waiting.delete(queryHash);
  if (!query.isActive()) return void readAt.delete(queryHash);
  readAt.set(queryHash, performance.now());
  // A read in progress may have begun before the event. If each event cancelled the read in progress, no read would end while many events
  // arrive.
  if (query.state.fetchStatus !== 'idle') return refreshSoon(query, offset);
  if (offset !== '' && offsetOf(query) >= offset) return;
  await queries.refetchQueries({ queryKey, exact: true, type: 'active' });
  // A cache between the browser and the service may have a response of before the event.
  const reached = offsetOf(query);
  if (reached !== '' && reached < offset && query.state.status === 'success') refreshSoon(query, offset);
}

type Events = InfiniteData<ListActivityResult>;

/** Puts the events before the rows of a list. Marks the rows that a reorganisation takes back. */
function addEvents(query: Query, events: readonly StreamEvent[]): void {
  const list = query.state.data as Events | undefined;
  if (!list) return touch(query, events.at(-1)?.offset);
  const [, filter] = query.queryKey as unknown as [string, ActivityFilter];
  const known = new Set(list.pages.flatMap(({ data }) => data.map(({ offset }) => offset)));
  const added = events.filter((event) => isListed(event, filter) && !known.has(event.offset)).toReversed();
  const voidedBy = new Map(events.flatMap(({ offset, voids }) => (voids ?? []).map((voided) => [voided, offset])));
  const mark = (row: Activity): Activity => {
    const reorg = row.offset === null ? undefined : voidedBy.get(row.offset);
    return reorg === undefined ? row : { ...row, voidedBy: reorg };
  };
  if (added.length === 0 && voidedBy.size === 0) return;
  const pages = list.pages.map((page, index) => {
    const rows = index === 0 ? [...added, ...page.data] : page.data;
    return { ...page, data: rows.map(mark) };
  });
  queries.setQueryData<Events>(query.queryKey, { ...list, pages });
  if ((pages[0]?.data.length ?? 0) > ADDED_MAX + (pages[1]?.data.length ?? 0)) refreshSoon(query, '');
}

/** Whether a list with this filter has the event. */
function isListed(event: StreamEvent, filter: ActivityFilter): boolean {
  const { kind, collectionId, tokenId, mint, from, to } = event;
  if (filter.kinds !== undefined && !filter.kinds.includes(kind)) return false;
  if (kind === 'reorg') return false;
  if (filter.wallet !== undefined) return isSameAccount(from, filter.wallet) || isSameAccount(to, filter.wallet);
  if (filter.collection !== undefined && filter.collection !== collectionId) return false;
  return filter.token === undefined || (mint ?? tokenId) === filter.token;
}

type Rows = InfiniteData<ListMarketCollectionsResult>;

/** The rows of lists of collections that will be read again, by id, with the offset that they must then reflect. */
let changedRows = new Map<string, string>();
let isReadingRows = false;

/** Notes the rows that the events change. They are read together, in one request. */
function noteRows(query: Query, events: readonly StreamEvent[]): void {
  // The row of a removed collection cannot be read.
  const removal = events.findLast(({ kind }) => kind === 'remove');
  if (removal) touch(query, removal.offset);
  const { pages } = (query.state.data as Rows | undefined) ?? { pages: [] };
  for (const { data, meta } of pages) {
    for (const { id, chain } of data) {
      const last = events.findLast((event) => event.kind !== 'remove' && isOf(event, id) && event.chain === chain);
      if (last && last.offset > (meta.offset ?? '')) changedRows.set(id, last.offset);
    }
  }
  if (changedRows.size > 0 && !isReadingRows) {
    isReadingRows = true;
    setTimeout(() => void readRows(), GATHER_MS);
  }
}

async function readRows(): Promise<void> {
  const wanted = [...changedRows].slice(0, IDS_MAX);
  for (const [id] of wanted) changedRows.delete(id);
  const ids = wanted.map(([id]) => id).join(',');
  try {
    const { data, meta } = await client.listMarketCollections({ ids }).page();
    queries.setQueriesData<Rows>(
      { queryKey: ['collections'], type: 'active' },
      (list) => list && replaceRows(list, data),
    );
    // A cache between the browser and the service may have a response of before the event.
    for (const [id, offset] of wanted)
      if (meta.offset !== null && meta.offset < offset && !changedRows.has(id)) changedRows.set(id, offset);
  } catch {
    // One of the collections may have been removed meanwhile, so the lists are read again. If the service does not respond, they also show that.
    for (const query of listActive()) if (nameOf(query) === 'collections') refreshSoon(query, '');
  }
  setTimeout(() => {
    isReadingRows = changedRows.size > 0;
    if (isReadingRows) void readRows();
  }, REFRESH_MS);
}

/** Replaces rows, and copies the pages with these rows. The other rows and pages stay the same objects, so only these rows are rendered again. */
function replaceRows(list: Rows, rows: readonly MarketCollection[]): Rows {
  const newer = new Map(rows.map((row) => [row.id, row]));
  const pages = list.pages.map((page) =>
    page.data.some(({ id }) => newer.has(id))
      ? { ...page, data: page.data.map((row) => newer.get(row.id) ?? row) }
      : page,
  );
  return { ...list, pages };
}

/** `isStreamOpen`: whether events arrive now. Called once, when the first part of a page follows the stream or has to do without it. */
export function watchTime(isStreamOpen: () => boolean): void {
  setInterval(() => {
    if (document.visibilityState !== 'visible' || lostSince.get() !== null) return;
    for (const query of listActive()) {
      if (!isLive(query)) continue;
      const period = !isStreamOpen() ? AWAY_MS : WINDOWED.has(nameOf(query)) ? WINDOW_MS : Infinity;
      if (Date.now() - query.state.dataUpdatedAt >= period * countPages(query)) refreshSoon(query, '');
    }
  }, AWAY_MS);
}
