// Defines what the pages of the shop read from the service, and how often they read it again.

import type { InfiniteData } from '@tanstack/preact-query';
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/preact-query';
import type {
  Delivery,
  ListInventoryResult,
  ListProductsParameters,
  ListProductsResult,
  Product,
  ProductSummary,
  Reservation,
} from '../../../client/src/store.ts';
import type { ShopSession } from '../shop/session.ts';
import { SHOP } from '../shop/session.ts';
import { queries } from './client.ts';

export type ProductType = Product['type'];
type ProductStatus = NonNullable<ListProductsParameters['status']>;
export type ProductSort = NonNullable<ListProductsParameters['sort']>;
type SortOrder = NonNullable<ListProductsParameters['order']>;
export type DeliveryState = Delivery['state'];
export type ReservationStatus = Reservation['status'];

const OFTEN_MS = 15_000;
const RARELY_MS = 120_000;
/** A list of more rows is read again less often. */
const LONG_LIST = 500;
/** While a delivery is pending, its state may change at any moment. */
const PENDING_MS = 2_000;
const ROWS_PER_PAGE = 50;
/** Stock of at most this level is low, on these pages and in the events of the service. */
export const LOW_STOCK = 10;

const PRODUCT_LISTS = [SHOP, 'products'] as const;
const STOCK_LISTS = [SHOP, 'stock'] as const;

type Page = { pagination: { nextCursor: string | null } };

const paged = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ pagination }: Page) => pagination.nextCursor ?? undefined,
};

const withCursor = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor });

/** A list is read again often while only its first page is loaded: each page is a request. */
const whileShort = ({ state: { data } }: { state: { data: { pages: readonly unknown[] } | undefined } }) =>
  data?.pages.length === 1 && OFTEN_MS;

/** The largest stock that each filter of the stock lists. */
export const STOCK_FILTERS = { low: LOW_STOCK, out: 0 } as const;
export type StockFilter = keyof typeof STOCK_FILTERS;

/** Null stands for no filter, or for the default of the service. */
export type ProductFilter = {
  q: string | null;
  status: ProductStatus | null;
  type: ProductType | null;
  collection: string | null;
  stock: StockFilter | null;
  /** The `groupId` of variants. */
  group: string | null;
  sort: ProductSort | null;
  order: SortOrder | null;
};

/**
 * The service has no filter for the stock. So a list with such a filter is sorted by stock, and ends at the first product with more stock. It leaves
 * out the products whose stock is not counted.
 */
export const productsQuery = ({ client }: ShopSession, filter: ProductFilter) => {
  const { stock, ...rest } = filter;
  const isIn = ({ inventory }: { inventory: number }) => stock === null || inventory <= STOCK_FILTERS[stock];
  const parameters = stock === null ? rest : { ...rest, sort: 'stock' as const, order: 'asc' as const };
  return infiniteQueryOptions({
    ...paged,
    queryKey: [...PRODUCT_LISTS, filter],
    queryFn: ({ pageParam, signal }) =>
      client
        .listProducts({ limit: ROWS_PER_PAGE, ...withoutNulls(parameters), ...withCursor(pageParam) }, { signal })
        .page(),
    getNextPageParam: ({ data, pagination }) => (data.every(isIn) ? (pagination.nextCursor ?? undefined) : undefined),
    select: ({ pages }) =>
      pages.flatMap(({ data }) =>
        stock === null ? data : data.filter((product) => product.trackInventory && isIn(product)),
      ),
    refetchInterval: whileShort,
    placeholderData: keepPreviousData,
  });
};

/** Reads the products with exactly this SKU or this barcode, archived ones too. */
export const productsOfCodeQuery = ({ client }: ShopSession, code: string) =>
  queryOptions({
    queryKey: [SHOP, 'products-of-code', code],
    queryFn: async ({ signal }) => {
      const lists = await Promise.all([
        client.listProducts({ sku: code }, { signal }).page(),
        client.listProducts({ barcode: code }, { signal }).page(),
      ]);
      return [...new Map(lists.flatMap(({ data }) => data.map((product) => [product.id, product]))).values()];
    },
  });

type WithoutNulls<Values> = { [Name in keyof Values]?: NonNullable<Values[Name]> };

function withoutNulls<Values extends object>(values: Values): WithoutNulls<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as WithoutNulls<Values>;
}

export const productQuery = ({ client }: ShopSession, productId: string) =>
  queryOptions({
    queryKey: [SHOP, 'product', productId],
    queryFn: ({ signal }) => client.getProduct({ productId }, { signal }),
  });

export const stockQuery = ({ client }: ShopSession, isLowOnly: boolean) =>
  queryOptions({
    queryKey: [...STOCK_LISTS, isLowOnly],
    queryFn: ({ signal }) =>
      client.listInventory({ threshold: LOW_STOCK, ...(isLowOnly && { low_stock: true }) }, { signal }),
    // The response has the complete list.
    refetchInterval: ({ state: { data } }) => ((data?.count ?? 0) > LONG_LIST ? RARELY_MS : OFTEN_MS),
    placeholderData: keepPreviousData,
  });

export const logQuery = ({ client }: ShopSession, productId: string | null) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: [SHOP, 'log', productId],
    queryFn: ({ pageParam, signal }) =>
      client
        .listAdjustments(
          { limit: ROWS_PER_PAGE, ...(productId !== null && { product_id: productId }), ...withCursor(pageParam) },
          { signal },
        )
        .page(),
    refetchInterval: whileShort,
  });

export const webhooksQuery = ({ client }: ShopSession) =>
  queryOptions({
    queryKey: [SHOP, 'webhooks'],
    queryFn: ({ signal }) => client.listWebhooks({}, { signal }),
    refetchInterval: OFTEN_MS,
  });

export const webhookQuery = ({ client }: ShopSession, webhookId: string) =>
  queryOptions({
    queryKey: [SHOP, 'webhook', webhookId],
    queryFn: ({ signal }) => client.getWebhook({ webhookId }, { signal }),
    refetchInterval: OFTEN_MS,
  });

export const deliveriesQuery = ({ client }: ShopSession, webhookId: string, state: DeliveryState | null) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: [SHOP, 'deliveries', webhookId, state],
    queryFn: ({ pageParam, signal }) =>
      client
        .listDeliveries(
          { webhookId, limit: ROWS_PER_PAGE, ...(state !== null && { state }), ...withCursor(pageParam) },
          { signal },
        )
        .page(),
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some((page) => page.data.some((delivery) => delivery.state === 'pending')) ? PENDING_MS : OFTEN_MS,
    placeholderData: keepPreviousData,
  });

/** The body of a delivery does not change, and its state is in the list. */
export const deliveryQuery = ({ client }: ShopSession, { webhookId, id }: Pick<Delivery, 'webhookId' | 'id'>) =>
  queryOptions({
    queryKey: [SHOP, 'delivery', id],
    queryFn: ({ signal }) => client.getDelivery({ webhookId, deliveryId: id }, { signal }),
    staleTime: Infinity,
  });

/** The names of products by id. A product that was deleted has none. `ids`: at most the rows of a page. */
export const productNamesQuery = ({ client, scopes }: ShopSession, ids: readonly string[]) =>
  queryOptions({
    queryKey: [SHOP, 'names', ids],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      if (ids.length === 0) return new Map();
      if (scopes.has('products:read')) {
        const { data } = await client
          .listProducts({ ids: ids.join(','), status: 'any', limit: ROWS_PER_PAGE }, { signal })
          .page();
        return new Map(data.map(({ id, name }) => [id, name]));
      }
      const { data } = await client.listInventory({}, { signal });
      return new Map(data.map(({ productId, name }) => [productId, name]));
    },
    placeholderData: keepPreviousData,
  });

export const reservationsQuery = (
  { client }: ShopSession,
  { status, reference }: { status: ReservationStatus | null; reference: string | null },
) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: [SHOP, 'reservations', status, reference],
    queryFn: ({ pageParam, signal }) =>
      client
        .listReservations(
          { limit: ROWS_PER_PAGE, ...withoutNulls({ status, reference }), ...withCursor(pageParam) },
          { signal },
        )
        .page(),
    refetchInterval: OFTEN_MS,
    placeholderData: keepPreviousData,
  });

export const reservationQuery = ({ client }: ShopSession, reservationId: string) =>
  queryOptions({
    queryKey: [SHOP, 'reservation', reservationId],
    queryFn: ({ signal }) => client.getReservation({ reservationId }, { signal }),
    refetchInterval: OFTEN_MS,
  });

type ProductPages = InfiniteData<ListProductsResult>;

/**
 * Replaces fields of the products in the lists that were read. A list of thousands of rows is not read again for a change of a few, and its rows
 * keep their places. Null removes a product.
 */
export function patchProducts(changes: ReadonlyMap<string, Partial<ProductSummary> | null>): void {
  const patch = (row: ProductSummary): ProductSummary[] => {
    const change = changes.get(row.id);
    return change === null ? [] : [change === undefined ? row : { ...row, ...change }];
  };
  queries.setQueriesData<ProductPages>(
    { queryKey: PRODUCT_LISTS },
    (list) => list && { ...list, pages: list.pages.map((page) => ({ ...page, data: page.data.flatMap(patch) })) },
  );
  markChanged();
}

/** Replaces stocks, by product id, in the lists that were read. */
export function patchStock(levels: ReadonlyMap<string, number>): void {
  queries.setQueriesData<ListInventoryResult>(
    { queryKey: STOCK_LISTS },
    (list) =>
      list && {
        ...list,
        data: list.data.map((item) => {
          const inventory = levels.get(item.productId);
          return inventory === undefined ? item : { ...item, inventory };
        }),
      },
  );
  patchProducts(new Map([...levels].map(([id, inventory]) => [id, { inventory }])));
}

/** The data of the shop that has no place for the change itself is read again when a page needs it. */
function markChanged(): void {
  void queries.invalidateQueries({
    predicate: ({ queryKey: [shop, part] }) => shop === SHOP && part !== 'products' && part !== 'stock',
  });
}

/** Called after a change. Reads everything that is displayed from the shop again. */
export function refreshShop(): Promise<void> {
  return queries.invalidateQueries({ queryKey: [SHOP] });
}
