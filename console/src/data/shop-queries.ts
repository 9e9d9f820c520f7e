// Defines what the pages of the shop read from the service, and how often they read it again.

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/preact-query';
import type { Delivery, Product } from '../../../client/src/store.ts';
import type { ShopSession } from '../shop/session.ts';
import { SHOP } from '../shop/session.ts';
import { queries } from './client.ts';

export type ProductType = Product['type'];
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

export type ProductFilter = { type: ProductType | null; collection: string | null };

export const productsQuery = ({ client }: ShopSession, { type, collection }: ProductFilter) =>
  infiniteQueryOptions({
    ...paged,
    queryKey: [SHOP, 'products', type, collection],
    queryFn: ({ pageParam, signal }) =>
      client
        .listProducts(
          {
            limit: ROWS_PER_PAGE,
            ...(type !== null && { type }),
            ...(collection !== null && { collection }),
            ...withCursor(pageParam),
          },
          { signal },
        )
        .page(),
    placeholderData: keepPreviousData,
  });

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
