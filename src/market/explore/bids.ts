// Reads bids: the lists of the own order book, and what each bid is for.

import type { Address, AssetId } from '../../platform/core/address.ts';
import type { CollectionLocation } from '../../platform/core/collection.ts';
import { parseCollectionId } from '../../platform/core/collection.ts';
import type { ListingStatus } from '../orders/order-id.ts';
import { statusAt } from '../orders/order-id.ts';
import type { Market } from '../reads/market.ts';
import { requireValue } from '../reads/market-source.ts';
import type { OrderDormancy } from './order-dormancy.ts';
import type { OrderListPosition } from './orders.ts';
import type { BidKind, ListedBid } from './queries/bids.ts';
import type { OrderFilter } from './queries/order-lists.ts';
import { listBids } from './queries/order-lists.ts';

export type BidLocation = Pick<CollectionLocation, 'chain' | 'contractAddress'>;

/** A bid at the time of the read. */
export type Bid = Omit<ListedBid, 'status' | 'dormant' | 'startsAt'> & {
  kind: BidKind;
  status: ListingStatus;
  dormant: OrderDormancy | null;
  location: BidLocation;
};

export type BidListQuery = Omit<OrderFilter, 'now' | 'account' | 'asset'> & {
  account: Address | null;
  asset: AssetId | null;
  kind: BidKind | null;
  after: OrderListPosition | null;
  limit: number;
};

/** `next`: the last bid that was read; null on the last page. */
export type BidPage = { bids: Bid[]; next: OrderListPosition | null };

/** Throws `unavailable` when the own order book cannot be read. */
export async function listOwnBids(market: Market, { after, limit, ...query }: BidListQuery): Promise<BidPage> {
  const filter = { ...query, now: market.clock() };
  const start = after && { kind: 'after-row' as const, value: after.value, ties: after.ties };
  const rows = requireValue(
    await market.exploredOrders.read((db) => listBids(db, filter, { start, limit: limit + 1 })),
    'unavailable',
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    bids: page.flatMap((row) => toBid(market, row, filter.now) ?? []),
    next: rows.length > limit && last ? { isOwn: true, value: toValue(last, query.sort), ties: [last.orderId] } : null,
  };
}

/** Null if the chain of the bid is not configured any more. */
export function toBid({ chains }: Pick<Market, 'chains'>, row: ListedBid, now: number): Bid | null {
  const parsed = parseCollectionId(chains, row.collectionId);
  const chain = parsed && chains.get(parsed.chainId);
  if (!chain) return null;
  const { startsAt, ...bid } = row;
  const status = statusAt(row, now);
  const isLater = startsAt !== null && startsAt > now;
  const kind = bid.asset !== null ? 'item' : bid.root === null ? 'collection' : 'trait';
  const dormant = status !== 'active' ? null : isLater ? 'not-started' : row.dormant;
  return { ...bid, kind, status, dormant, location: { chain, contractAddress: parsed.addressLower as Address } };
}

function toValue({ proceeds, createdAt, expiresAt }: ListedBid, sort: OrderFilter['sort']): string {
  if (sort === 'price') return proceeds.toString();
  return new Date(sort === 'created' ? createdAt : (expiresAt ?? 0)).toISOString();
}
