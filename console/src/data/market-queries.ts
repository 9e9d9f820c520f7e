// What the pages of the market read, and how often. A page that is not visible reads nothing.

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/preact-query';
import { client, queries } from './client.ts';

export type CollectionSort = 'volume' | 'floor' | 'recent';
export type TokenSort = 'price' | 'rank' | 'id';

const OFTEN_MS = 15_000;
const SELDOM_MS = 60_000;
const COLLECTIONS_PER_PAGE = 25;
const TOKENS_PER_PAGE = 48;
const SALES_PER_PAGE = 100;
const TRAITS_PER_PAGE = 50;
const ACTIVITY_PER_PAGE = 50;
const SEARCH_RESULTS = 8;
/** The listing window of a collection has 250 rows, so this many pages read all of it. */
const LISTINGS_PER_PAGE = 100;

type Page = { pagination: { nextCursor: string | null } };

/** The parts of the options that all lists share. */
const paged = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ pagination }: Page) => pagination.nextCursor ?? undefined,
};

const withCursor = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor });

export const collectionsQuery = (chain: string | null, sort: CollectionSort) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: ['collections', chain, sort],
    queryFn: ({ pageParam, signal }) =>
      client
        .listCollections(
          { sort, limit: COLLECTIONS_PER_PAGE, ...(chain !== null && { chain }), ...withCursor(pageParam) },
          { signal },
        )
        .page(),
    refetchInterval: SELDOM_MS,
    placeholderData: keepPreviousData,
  });

export const collectionQuery = (id: string) =>
  queryOptions({
    queryKey: ['collection', id],
    queryFn: ({ signal }) => client.getCollection({ id }, { signal }),
    refetchInterval: OFTEN_MS,
  });

export const floorQuery = (id: string) =>
  queryOptions({
    queryKey: ['floor', id],
    queryFn: ({ signal }) => client.getFloor({ id }, { signal }),
    refetchInterval: OFTEN_MS,
  });

export const provenanceQuery = (id: string) =>
  queryOptions({
    queryKey: ['provenance', id],
    queryFn: ({ signal }) => client.getProvenance({ id }, { signal }),
    staleTime: SELDOM_MS,
  });

/** `traits`: the chosen values by the name of their trait. */
export type TokenFilter = { sort: TokenSort; listed: boolean | null; traits: Record<string, string[]> };

export const tokensQuery = (id: string, { sort, listed, traits }: TokenFilter) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: ['tokens', id, sort, listed, traits],
    queryFn: ({ pageParam, signal }) =>
      client
        .listTokens(
          { id, sort, limit: TOKENS_PER_PAGE, traits, ...(listed !== null && { listed }), ...withCursor(pageParam) },
          { signal },
        )
        .page(),
    refetchInterval: SELDOM_MS,
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
    refetchInterval: SELDOM_MS,
  });

/** All listings of the window, cheapest first. */
export const listingsQuery = (id: string) =>
  queryOptions({
    queryKey: ['listings', id],
    queryFn: ({ signal }) => client.listListings({ id, limit: LISTINGS_PER_PAGE }, { signal }).take(Infinity),
    refetchInterval: SELDOM_MS,
  });

/** A collection, a token of it, or a wallet. */
export type ActivityFilter = { collection: string; token?: string } | { wallet: string };

export const activityQuery = (filter: ActivityFilter) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: ['activity', filter],
    queryFn: ({ pageParam, signal }) =>
      client.listActivity({ ...filter, limit: ACTIVITY_PER_PAGE, ...withCursor(pageParam) }, { signal }).page(),
    refetchInterval: OFTEN_MS,
  });

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
 * `address` may be the id of the collection, because rows of Solana name their collection by its id only, which does not keep the letter
 * case of the mint. The token is null if it does not exist.
 */
export const tokenQuery = (chain: string, address: string, tokenId: string) =>
  queryOptions({
    queryKey: ['token', chain, address, tokenId],
    queryFn: async ({ signal }) => {
      const isCollectionId = address.startsWith(`${chain}_`);
      const collection = isCollectionId ? (await queries.ensureQueryData(collectionQuery(address))).data : null;
      const names = { chain, address: collection?.contractAddress ?? address, tokenId };
      const { data } = await client.readTokens({ tokens: [names] }, { signal });
      return data[0] ?? null;
    },
    refetchInterval: OFTEN_MS,
  });

export const orderQuery = (orderId: string) =>
  queryOptions({
    queryKey: ['order', orderId],
    queryFn: ({ signal }) => client.getOrder({ orderId }, { signal }),
    refetchInterval: OFTEN_MS,
  });

export const walletTokensQuery = (address: string) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: ['wallet-tokens', address],
    queryFn: ({ pageParam, signal }) =>
      client.listWalletTokens({ address, limit: TOKENS_PER_PAGE, ...withCursor(pageParam) }, { signal }).page(),
  });

export const walletListingsQuery = (address: string) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: ['wallet-listings', address],
    queryFn: ({ pageParam, signal }) =>
      client.listWalletListings({ address, limit: TOKENS_PER_PAGE, ...withCursor(pageParam) }, { signal }).page(),
  });
