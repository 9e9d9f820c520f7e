// Defines what the pages of the shop read from the service, and how often they read it again.

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/preact-query';
import type { Delivery, ListProductsParameters, Product } from '../../../client/src/store.ts';
import type { ShopSession } from '../shop/session.ts';
import { SHOP } from '../shop/session.ts';
import { queries } from './client.ts';

export type ProductType = Product['type'];
type ProductStatus = NonNullable<ListProductsParameters['status']>;
export type ProductSort = NonNullable<ListProductsParameters['sort']>;
type SortOrder = NonNullable<ListProductsParameters['order']>;
export type DeliveryState = Delivery['state'];

const OFTEN_MS = 15_000;
/** While a delivery is pending, its state may change at any moment. */
const PENDING_MS = 2_000;
const ROWS_PER_PAGE = 50;
/** Stock of at most this level is low, on these pages and in the events of the service. */
export const LOW_STOCK = 10;

type Page = { pagination: { nextCursor: string | null } };

const paged = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ pagination }: Page) => pagination.nextCursor ?? undefined,
};

const withCursor = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor });

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
    queryKey: [SHOP, 'products', filter],
    queryFn: ({ pageParam, signal }) =>
      client
        .listProducts({ limit: ROWS_PER_PAGE, ...withoutNulls(parameters), ...withCursor(pageParam) }, { signal })
        .page(),
    getNextPageParam: ({ data, pagination }) => (data.every(isIn) ? (pagination.nextCursor ?? undefined) : undefined),
    select: ({ pages }) =>
      pages.flatMap(({ data }) =>
        stock === null ? data : data.filter((product) => product.trackInventory && isIn(product)),
      ),
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
    queryKey: [SHOP, 'stock', isLowOnly],
    queryFn: ({ signal }) =>
      client.listInventory({ threshold: LOW_STOCK, ...(isLowOnly && { low_stock: true }) }, { signal }),
    refetchInterval: OFTEN_MS,
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

/** Called after a change. Reads everything that is displayed from the shop again. */
export function refreshShop(): Promise<void> {
  return queries.invalidateQueries({ queryKey: [SHOP] });
}
