// Lists orders: those of the own order book and the mirrored listings, in one order. Unlike the lists of tokens and listings, the list has every order
// of a token, and an own order hides no other order.

import type { Address, AssetId } from '../../platform/core/address.ts';
import { statusAt } from '../orders/order-id.ts';
import type { ListingStatus } from '../orders/order-id.ts';
import type { DetailedListing } from '../reads/listing.ts';
import { toDetailedListingOfMirror, toDetailedListingOfOrder } from '../reads/listing.ts';
import type { Market } from '../reads/market.ts';
import { requireValue } from '../reads/market-source.ts';
import type { TokenLocation } from '../reads/token.ts';
import type { OrderDormancy } from './order-dormancy.ts';
import { toTokenLocation } from './token-location.ts';
import type { OrderOfBook, OrderOfMirror, OrderFilter, OrderSort, OrderStart } from './queries/order-lists.ts';
import { listBookOrders, listMirroredOrders } from './queries/order-lists.ts';

/** The last order of a page. `value` and `ties` are the columns that the list is sorted by; times are ISO texts. */
export type OrderListPosition = { isOwn: boolean; value: string; ties: readonly string[] };

/** `source`: a marketplace. Null: the orders of all sources. The name of this service: its own orders. */
export type OrderListQuery = Omit<OrderFilter, 'now' | 'account' | 'asset'> & {
  account: Address | null;
  asset: AssetId | null;
  source: string | null;
  after: OrderListPosition | null;
  limit: number;
};

export type OrderInList = {
  listing: DetailedListing;
  location: TokenLocation;
  status: ListingStatus;
  dormant: OrderDormancy | null;
};

/** `next`: the last order that was read; null on the last page. */
export type OrderPage = { orders: OrderInList[]; next: OrderListPosition | null };

type Found = {
  order: Omit<OrderInList, 'location'>;
  key: { collectionId: string; asset: AssetId };
  position: OrderListPosition;
};

/**
 * Throws `unavailable` when the own order book cannot be read, and `upstream_error` when the mirror cannot be read, because a list without the
 * orders of one of them would not be complete. The list of a custody wallet is empty, because a custody wallet is never published as a seller.
 */
export async function listOrders(market: Market, query: OrderListQuery): Promise<OrderPage> {
  const { account, source, after, limit, sort } = query;
  if (account !== null && market.custodyWallets.has(account)) return { orders: [], next: null };
  const filter = { ...query, now: market.clock() };
  const pageOf = (isOwn: boolean) => ({ start: after && toStart(after, isOwn), limit: limit + 1 });
  const readsBook = source === null || source === market.serviceName;
  const [book, mirror] = await Promise.all([
    readsBook ? market.exploredOrders.read((db) => listBookOrders(db, filter, pageOf(true))) : null,
    market.orderLists.read((db) => listMirroredOrders(db, filter, pageOf(false))),
  ]);
  const found = [
    ...(book === null ? [] : requireValue(book, 'unavailable').map((row) => toOwn(row, filter))),
    ...requireValue(mirror, 'upstream_error').map((row) => toMirrored(market, row, filter)),
  ].sort((a, b) => compareFound(a, b, sort));
  const page = found.slice(0, limit);
  const orders = page.flatMap(({ order, key }) => {
    const location = toTokenLocation(market, key);
    return location ? [{ ...order, location }] : [];
  });
  return { orders, next: found.length > limit ? (page.at(-1)?.position ?? null) : null };
}

/** Own orders come before mirrored listings that have the same value of the sort. */
function toStart({ isOwn, value, ties }: OrderListPosition, ofOwn: boolean): OrderStart {
  if (isOwn === ofOwn) return { kind: 'after-row', value, ties };
  return { kind: isOwn ? 'at-value' : 'after-value', value };
}

/** Rows of one table have the order in which the statement has returned them, because the sort is stable. */
function compareFound({ order: { listing: a } }: Found, { order: { listing: b } }: Found, sort: OrderSort): number {
  if (sort === 'price') return a.raw < b.raw ? -1 : a.raw > b.raw ? 1 : 0;
  if (sort === 'created') return b.listedAt - a.listedAt;
  return (a.expiresAt ?? 0) - (b.expiresAt ?? 0);
}

type Sorted = { sort: OrderSort; now: number };

function toOwn({ order, status, dormant, startsAt }: OrderOfBook, { sort, now }: Sorted): Found {
  const { collectionId, asset } = order;
  const listing = toDetailedListingOfOrder(order);
  const statusNow = statusAt({ status, expiresAt: listing.expiresAt }, now);
  const isLater = startsAt !== null && startsAt > now;
  return {
    order: { listing, status: statusNow, dormant: statusNow !== 'active' ? null : isLater ? 'not-started' : dormant },
    key: { collectionId, asset },
    position: { isOwn: true, value: toValue(listing, sort), ties: [listing.orderId] },
  };
}

function toMirrored(market: Market, { listing: row, status, dormant }: OrderOfMirror, { sort, now }: Sorted): Found {
  const { collectionId, asset, key, orderId } = row;
  const listing = toDetailedListingOfMirror({ ...row, status }, market.serviceName);
  const statusNow = statusAt({ status, expiresAt: listing.expiresAt }, now);
  return {
    order: { listing, status: statusNow, dormant: statusNow === 'active' ? dormant : null },
    key: { collectionId, asset },
    position: {
      isOwn: false,
      value: toValue(listing, sort),
      ties: sort === 'price' ? [orderId, key] : [key, collectionId],
    },
  };
}

function toValue({ raw, listedAt, expiresAt }: DetailedListing, sort: OrderSort): string {
  if (sort === 'price') return raw.toString();
  return new Date(sort === 'created' ? listedAt : (expiresAt ?? 0)).toISOString();
}
