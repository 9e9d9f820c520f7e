// Defines what the market pages of the console read from the service. live.ts reads it again when it has changed. A console page that is not
// visible sends no requests.

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/preact-query';
import type {
  ActivityKind,
  ListMarketCollectionsParameters,
  ListMarketCollectionsResult,
  ListOrdersParameters,
  MarketCollection,
  Token,
} from '../../../client/src/market.ts';
import { Batches } from './batches.ts';
import { client, queries } from './client.ts';

export type CollectionSort = NonNullable<ListMarketCollectionsParameters['sort']>;
/** The period of volumes, numbers of sales and changes. */
export type Period = NonNullable<ListMarketCollectionsParameters['window']>;
export type CollectionOrder = { sort: CollectionSort; period: Period; order: 'asc' | 'desc' };
export type TokenSort = 'price' | 'rank' | 'id';

/** Data that events do not touch, and data that they touch often and change little, is not read again within this time. */
const SELDOM_MS = 60_000;
/** More rows would keep the browser busy for longer than a frame when they are added to the table. */
const COLLECTIONS_PER_PAGE = 25;
const TOKENS_PER_PAGE = 48;
const WALLET_COLLECTIONS_PER_PAGE = 100;
const SALES_PER_PAGE = 100;
const TRAITS_PER_PAGE = 50;
const ACTIVITY_PER_PAGE = 50;
const ORDERS_PER_PAGE = 50;
const OFFERS_PER_PAGE = 50;
const SEARCH_RESULTS = 8;
const LATEST_SALES: ActivityFilter = { kinds: ['sale'] };
/** The listing window of a collection has at most 250 rows, so three pages of this size contain all of it. */
const LISTINGS_PER_PAGE = 100;

/** The shortest time between two reads of names. Without it, each event of a busy market would cause a request for the name of its token. */
const NAMES_MS = 3_000;

type TokenNames = { chain: string; address: string; tokenId: string };

const readTokens = async (tokens: readonly TokenNames[]) => (await client.readTokens({ tokens: [...tokens] })).data;
/** A token that does not exist is null. */
const tokenBatches = new Batches<TokenNames, Token | null>(readTokens);
const tokenNameBatches = new Batches<TokenNames, Token | null>(readTokens, { restMs: NAMES_MS });
/** Collections by their canonical ids. */
const collectionBatches = new Batches<string, MarketCollection>(
  async (ids) => (await client.listMarketCollections({ ids: ids.join(',') }).page()).data,
);

type Page = { pagination: { nextCursor: string | null } };

/** The paging options of all lists. */
const paged = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ pagination }: Page) => pagination.nextCursor ?? undefined,
};

const withCursor = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor });

/** The period of the change of the floor. There is no change since the first floor, so the change of a day stands beside the figures of all time. */
export function changePeriod(period: Period): Exclude<Period, 'all'> {
  return period === 'all' ? '24h' : period;
}

/** The orders by a figure of a period. The other lists are the same for every period, and are not read again when the user chooses another one. */
const WINDOWS: Readonly<Partial<Record<CollectionSort, (period: Period) => Period>>> = {
  volume: (period) => period,
  sales: (period) => period,
  change: changePeriod,
};

/** `isPlain`: in one order, in which the collections that were launched on the service do not come first. */
export const collectionsQuery = (
  chain: string | null,
  { sort, period, order }: CollectionOrder,
  { isPlain }: { isPlain: boolean },
) => {
  const window = WINDOWS[sort]?.(period);
  const list = {
    sort,
    order,
    ...(isPlain && { launchedFirst: false }),
    ...(window !== undefined && { window }),
    ...(chain !== null && { chain }),
  };
  return infiniteQueryOptions({
    ...paged,
    queryKey: ['collections', list],
    queryFn: ({ pageParam, signal }) =>
      client
        .listMarketCollections({ ...list, limit: COLLECTIONS_PER_PAGE, ...withCursor(pageParam) }, { signal })
        .page(),
    placeholderData: keepPreviousData,
  });
};

/** Stores each row of the list as the result of `collectionQuery`. The console page of each of these collections then opens without a request. */
export function keepCollections(pages: readonly ListMarketCollectionsResult[]): void {
  for (const { data, meta } of pages) {
    for (const collection of data) {
      const { id, slug } = collection;
      for (const name of [id, slug ?? id]) {
        const { queryKey } = collectionQuery(name);
        if (!queries.getQueryData(queryKey)) queries.setQueryData(queryKey, { data: collection, meta });
      }
    }
  }
}

export const collectionQuery = (id: string) =>
  queryOptions({
    queryKey: ['collection', id],
    queryFn: ({ signal }) => client.getMarketCollection({ id }, { signal }),
  });

/**
 * The ranges of the chart of a collection. `interval`: the time between two points. `hours`: how far the range goes back. A response has at most
 * 1,000 points.
 */
export const HISTORY_RANGES = {
  day: { interval: 'hour', hours: 24 },
  week: { interval: 'hour', hours: 7 * 24 },
  month: { interval: 'hour', hours: 30 * 24 },
  all: { interval: 'day', hours: 999 * 24 },
} as const;
export type HistoryRange = keyof typeof HISTORY_RANGES;

const HOUR_MS = 3_600_000;

export const historyQuery = (id: string, range: HistoryRange) =>
  queryOptions({
    queryKey: ['history', id, range],
    queryFn: ({ signal }) => {
      const { interval, hours } = HISTORY_RANGES[range];
      // The range begins at a full hour. So all requests within one hour have the same URL and share one cached response.
      const from = new Date((Math.floor(Date.now() / HOUR_MS) - hours) * HOUR_MS).toISOString();
      return client.getHistory({ id, interval, from }, { signal });
    },
    placeholderData: keepPreviousData,
  });

export const provenanceQuery = (id: string) =>
  queryOptions({
    queryKey: ['provenance', id],
    queryFn: ({ signal }) => client.getProvenance({ id }, { signal }),
    staleTime: SELDOM_MS,
  });

/** `traits`: the chosen values by the name of their trait. */
export type TokenFilter = { sort: TokenSort; listed: boolean | null; traits: ReadonlyMap<string, readonly string[]> };

export const tokensQuery = (id: string, { sort, listed, traits }: TokenFilter) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: ['tokens', id, sort, listed, [...traits]],
    queryFn: ({ pageParam, signal }) =>
      client
        .listTokens(
          {
            id,
            sort,
            limit: TOKENS_PER_PAGE,
            traits: Object.fromEntries([...traits].map(([name, values]) => [name, [...values]])),
            ...(listed !== null && { listed }),
            ...withCursor(pageParam),
          },
          { signal },
        )
        .page(),
    placeholderData: keepPreviousData,
  });

export const traitsQuery = (id: string) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: ['traits', id],
    queryFn: ({ pageParam, signal }) =>
      client.listTraits({ id, limit: TRAITS_PER_PAGE, ...withCursor(pageParam) }, { signal }).page(),
    staleTime: SELDOM_MS,
  });

export const salesQuery = (id: string) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: ['sales', id],
    queryFn: ({ pageParam, signal }) =>
      client.listSales({ id, limit: SALES_PER_PAGE, ...withCursor(pageParam) }, { signal }).page(),
  });

export type OrderSide = NonNullable<ListOrdersParameters['side']>;
/**
 * Whose orders of one side are listed: those of a collection, of a token (of the side `bid`: those that its owner can accept), or of an account, of all
 * collections or for one token. `kind`: only bids of this kind.
 */
export type OrderFilter = { side: OrderSide } & (
  | { collection: string; token?: string; kind?: NonNullable<ListOrdersParameters['kind']>; maker?: undefined }
  | { collection?: string; token?: string; maker: string }
);
export type OrderStatus = NonNullable<ListOrdersParameters['status']>;

/**
 * All orders, also several of one token or maker. Active orders of a collection begin with the best: the cheapest ask, the bid with the highest
 * proceeds. All other lists begin with the newest.
 */
export const ordersQuery = (filter: OrderFilter, status: OrderStatus, limit = ORDERS_PER_PAGE) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: ['orders', filter, status, limit],
    queryFn: ({ pageParam, signal }) => {
      const sort = filter.maker === undefined && status === 'active' ? 'price' : 'created';
      return client.listOrders({ ...filter, status, sort, limit, ...withCursor(pageParam) }, { signal }).page();
    },
    placeholderData: keepPreviousData,
  });

/** Reads all listings of the window, cheapest first. `isComplete` is false if the service could not read the mirrored listings. */
export const listingsQuery = (id: string) =>
  queryOptions({
    queryKey: ['listings', id],
    queryFn: async ({ signal }) => {
      const pages = await Array.fromAsync(client.listListings({ id, limit: LISTINGS_PER_PAGE }, { signal }).pages());
      return {
        listings: pages.flatMap(({ data }) => data),
        isComplete: pages.every(({ meta }) => meta === undefined),
      };
    },
  });

/** Whose activity is listed: that of a collection, of one of its tokens, of a wallet, or of all. `kinds`: only activity of these kinds. */
export type ActivityFilter = { collection?: string; token?: string; wallet?: string; kinds?: readonly ActivityKind[] };

export const activityQuery = (filter: ActivityFilter) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: ['activity', filter],
    queryFn: ({ pageParam, signal }) => {
      const { kinds, ...whose } = filter;
      const list = {
        ...whose,
        include: 'token' as const,
        ...(kinds && { kinds: kinds.join() }),
        ...withCursor(pageParam),
      };
      return client.listActivity({ ...list, limit: ACTIVITY_PER_PAGE }, { signal }).page();
    },
    placeholderData: keepPreviousData,
  });

export const latestSalesQuery = () => activityQuery(LATEST_SALES);

export const searchQuery = (text: string) =>
  queryOptions({
    queryKey: ['search', text],
    queryFn: ({ signal }) => client.searchMarket({ q: text, limit: SEARCH_RESULTS }, { signal }).page(),
    staleTime: SELDOM_MS,
  });

export const holdersQuery = (id: string) =>
  queryOptions({
    queryKey: ['holders', id],
    queryFn: ({ signal }) => client.getHolders({ id }, { signal }),
    staleTime: SELDOM_MS,
  });

/**
 * `address` is the address or the id of the collection. The id is allowed because activity, and every row on Solana, has no contract address.
 * The result is null if the token does not exist.
 */
export const tokenQuery = (chain: string, address: string, tokenId: string) =>
  queryOptions({
    queryKey: ['token', chain, address, tokenId],
    queryFn: async () => tokenBatches.read({ chain, address: await contractOf(chain, address), tokenId }),
  });

/** The same, for the name and the picture of the token, which events do not change. */
export const tokenNameQuery = (chain: string, address: string, tokenId: string) =>
  queryOptions({
    queryKey: ['token-name', chain, address, tokenId],
    queryFn: async () => tokenNameBatches.read({ chain, address: await contractOf(chain, address), tokenId }),
    staleTime: Infinity,
  });

/** The name of a collection of which only the id is known. */
export const collectionNameQuery = (id: string) =>
  queryOptions({
    queryKey: ['collection-name', id],
    queryFn: () => collectionBatches.read(id),
    staleTime: Infinity,
  });

/**
 * Returns the contract address. The id of a collection contains this address, but the id does not preserve the letter case of a Solana address.
 * A Solana address is therefore read from the collection record.
 */
async function contractOf(chain: string, addressOrId: string): Promise<string> {
  if (!addressOrId.startsWith(`${chain}_`)) return addressOrId;
  const address = addressOrId.slice(chain.length + 1);
  if (address.startsWith('0x')) return address;
  return (await queries.ensureQueryData(collectionNameQuery(addressOrId))).contractAddress ?? address;
}

export const orderQuery = (orderId: string) =>
  queryOptions({
    queryKey: ['order', orderId],
    queryFn: ({ signal }) => client.getOrder({ orderId }, { signal }),
  });

export const walletTokensQuery = (address: string) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: ['wallet-tokens', address],
    queryFn: ({ pageParam, signal }) =>
      client.listWalletTokens({ address, limit: TOKENS_PER_PAGE, ...withCursor(pageParam) }, { signal }).page(),
  });

/** What is offered for the tokens of a wallet: one row for each token, with its top bid. */
export const walletOffersQuery = (address: string) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: ['wallet-offers', address],
    queryFn: ({ pageParam, signal }) =>
      client.listWalletOffers({ address, limit: OFFERS_PER_PAGE, ...withCursor(pageParam) }, { signal }).page(),
  });

/** The rows are in the order of `walletTokensQuery`: by the id of the collection. */
export const walletCollectionsQuery = (address: string) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: ['wallet-collections', address],
    queryFn: ({ pageParam, signal }) =>
      client
        .listWalletCollections({ address, limit: WALLET_COLLECTIONS_PER_PAGE, ...withCursor(pageParam) }, { signal })
        .page(),
  });
