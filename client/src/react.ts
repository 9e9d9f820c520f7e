// React hooks that read a service with TanStack Query, and keep what they have read up to date by the change stream. An entry of its own: only
// this file needs `react` and `@tanstack/react-query`.

import type { InfiniteData, Query, UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { FollowOptions, MarketClient, MarketReads, StreamEvent, TextMarketClient } from './market.ts';
import { MercatError } from './mercat-error.ts';
import type { Page, Pages } from './pages.ts';
import type { CallOptions } from './transport.ts';

/** The hooks of lists, and the methods of the client that they call. */
const LISTS = {
  useCollections: 'listMarketCollections',
  useTokens: 'listTokens',
  useTraits: 'listTraits',
  useListings: 'listListings',
  useSales: 'listSales',
  useOrders: 'listOrders',
  useActivity: 'listActivity',
  useTokenOwners: 'listTokenOwners',
  useWalletTokens: 'listWalletTokens',
  useWalletOffers: 'listWalletOffers',
  useWalletCollections: 'listWalletCollections',
  useWalletActivity: 'listWalletActivity',
} as const satisfies Record<string, keyof MarketReads>;

/** The hooks of single resources. */
const RESOURCES = {
  useCollection: 'getMarketCollection',
  useFloor: 'getFloor',
  useToken: 'getMarketToken',
  useOrder: 'getOrder',
  useHistory: 'getHistory',
  useHolders: 'getHolders',
} as const satisfies Record<string, keyof MarketReads>;

type AnyClient = MarketClient | TextMarketClient;
type Result<C extends AnyClient, Method extends keyof MarketReads> = C[Method] extends (...given: never[]) => infer R
  ? R
  : never;
type Row<R> = R extends Pages<infer P> ? P['data'][number] : never;
type Resource<R> = R extends Promise<{ data: infer D }> ? D : never;

export type HookOptions = {
  /** False: nothing is read, for example while a parameter is not known. */
  enabled?: boolean;
};

type ListHooks<C extends AnyClient> = {
  [Hook in keyof typeof LISTS]: (
    parameters?: Parameters<MarketReads[(typeof LISTS)[Hook]]>[0],
    options?: HookOptions,
  ) => UseInfiniteQueryResult<Row<Result<C, (typeof LISTS)[Hook]>>[], MercatError>;
};
type ResourceHooks<C extends AnyClient> = {
  [Hook in keyof typeof RESOURCES]: (
    parameters: Parameters<MarketReads[(typeof RESOURCES)[Hook]]>[0],
    options?: HookOptions,
  ) => UseQueryResult<Resource<Result<C, (typeof RESOURCES)[Hook]>>, MercatError>;
};

export type LiveOptions = Pick<FollowOptions, 'collections'> & {
  /** Called with each activity, for example to show what was sold. */
  onActivity?: (activity: StreamEvent) => void;
};

export type LiveState = {
  /** `connecting` also while a lost connection is made again. */
  status: 'connecting' | 'open' | 'failed';
  /** Why following was given up, for example because a collection is not known. */
  error: MercatError | null;
};

export type MarketHooks<C extends AnyClient> = ListHooks<C> &
  ResourceHooks<C> & {
    /**
     * Follows the change stream while the component is mounted, and reads again what has changed: the hooks of the collections, tokens and wallets
     * that an activity concerns, at most every two seconds.
     */
    useLive: (options?: LiveOptions) => LiveState;
  };

/** The first element of each query key. */
const KEY = 'mercat';
/** The shortest time between two reads of the same data because of changes: each page of a list is a request that the rate limit counts. */
const REFRESH_MS = 2_000;

type Read = (parameters: object, options: CallOptions) => Pages<Page> | Promise<{ data: unknown }>;

/**
 * Makes the hooks for a client. Components use them below a QueryClientProvider. The `data` of a list has the rows of all pages that were read, and
 * `fetchNextPage` reads the next one. The client repeats requests that may succeed later, so the hooks do not.
 */
export function createMarketHooks<C extends AnyClient>(market: C): MarketHooks<C> {
  const reads = market as unknown as Readonly<Record<string, Read>>;
  const read = (method: string, parameters: object, signal: AbortSignal) => reads[method]?.(parameters, { signal });
  const hooks: Record<string, unknown> = { useLive: (options?: LiveOptions) => useLive(market, options) };
  for (const [name, method] of Object.entries(LISTS)) {
    hooks[name] = (parameters: object = {}, { enabled = true }: HookOptions = {}) =>
      useInfiniteQuery({
        queryKey: [KEY, method, parameters],
        queryFn: ({ pageParam, signal }) =>
          (
            read(method, { ...parameters, ...(pageParam !== null && { cursor: pageParam }) }, signal) as Pages<Page>
          ).page(),
        initialPageParam: null as string | null,
        getNextPageParam: ({ pagination }) => pagination.nextCursor,
        select: toRows,
        enabled,
        retry: false,
      });
  }
  for (const [name, method] of Object.entries(RESOURCES)) {
    hooks[name] = (parameters: object, { enabled = true }: HookOptions = {}) =>
      useQuery({
        queryKey: [KEY, method, parameters],
        queryFn: ({ signal }) => read(method, parameters, signal) as Promise<{ data: unknown }>,
        select: toData,
        enabled,
        retry: false,
      });
  }
  return hooks as MarketHooks<C>;
}

const toRows = ({ pages }: InfiniteData<Page>) => pages.flatMap(({ data }) => data);
const toData = ({ data }: { data: unknown }) => data;

function useLive(market: AnyClient, { collections, onActivity }: LiveOptions = {}): LiveState {
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>(CONNECTING);
  const names = collections?.join(',');
  const latest = useRef(onActivity);
  latest.current = onActivity;
  useEffect(() => {
    const stop = new AbortController();
    const changed: StreamEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const invalidate = (predicate: (query: Query) => boolean) =>
      void queries.invalidateQueries({ queryKey: [KEY], predicate }, { cancelRefetch: false });
    const refresh = () => {
      timer = undefined;
      const activities = changed.splice(0);
      invalidate((query) => activities.some((activity) => concerns(activity, query)));
    };
    const follow = async (): Promise<void> => {
      const stream = market.follow({
        ...(names !== undefined && { collections: names.split(',') }),
        signal: stop.signal,
        onConnection: (connection) => {
          setState(connection === 'open' ? OPEN : CONNECTING);
          // What was read before the stream was open may have changed since.
          const openedAt = Date.now();
          if (connection === 'open') invalidate(({ state: { dataUpdatedAt } }) => dataUpdatedAt < openedAt);
        },
      });
      for await (const activity of stream as AsyncIterable<StreamEvent>) {
        latest.current?.(activity);
        changed.push(activity);
        timer ??= setTimeout(refresh, REFRESH_MS);
      }
    };
    const followOn = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        try {
          await follow();
        } catch (error) {
          if (stop.signal.aborted) return;
          // After a restore the stream begins anew. What is shown is read again when it is open.
          if (error instanceof MercatError && error.code === 'offset_expired') continue;
          const failure =
            error instanceof MercatError ? error : new MercatError('network_error', String(error), { cause: error });
          setState({ status: 'failed', error: failure });
          return;
        }
      }
    };
    void followOn();
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [market, queries, names]);
  return state;
}

const CONNECTING: LiveState = { status: 'connecting', error: null };
const OPEN: LiveState = { status: 'open', error: null };

type Shown = { id?: string; collectionId?: string | null };

/**
 * Whether a query may have other data after the activity: it is about an account that takes part, or has rows of the collection, or its rows name no
 * collection. A `reorg` concerns all that is shown of its collections.
 */
function concerns({ collectionId, collections, from, to }: StreamEvent, { queryKey, state }: Query): boolean {
  const [, , parameters = {}] = queryKey as [string, string, Readonly<Record<string, unknown>>?];
  const accounts = [from, to].filter((account) => account !== null);
  const given = [parameters['address'], parameters['maker'], parameters['owner'], parameters['wallet']];
  if (accounts.some((account) => given.includes(account))) return true;
  const ids = collectionId === null ? collections : [collectionId];
  const shown = toShown(state.data).flatMap((row) => row.collectionId ?? row.id ?? []);
  return ids === null || shown.length === 0 || shown.some((id) => ids.includes(id));
}

/** The rows of the pages of a list, or the resource. Empty while nothing is read. */
function toShown(data: unknown): Shown[] {
  const { pages, data: resource } = (data ?? {}) as { pages?: { data: Shown[] }[]; data?: Shown | Shown[] };
  return pages?.flatMap((page) => page.data) ?? [resource ?? []].flat();
}
