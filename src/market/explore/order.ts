// Reads one order: its status, why it has this status, and what a buyer needs to fill it.

import type { AssetId } from '../../platform/core/address.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import { isStorable } from '../../platform/core/text.ts';
import type { BuyerPrice } from '../reads/buyer-price.ts';
import { toOwnBuyerPrice, toStatedBuyerPrice } from '../reads/buyer-price.ts';
import type { DetailedListing } from '../reads/listing.ts';
import { toDetailedListingOfMirror } from '../reads/listing.ts';
import { LISTING_DORMANCIES } from '../index/listing-judgement.ts';
import type { Market } from '../reads/market.ts';
import { requireValue, valueOrNull } from '../reads/market-source.ts';
import { listCollectionsByIds } from '../reads/queries/collections.ts';
import type { TokenLocation } from '../reads/token.ts';
import type { Explanation } from '../orders/explain.ts';
import { explainOrder } from '../orders/explain.ts';
import type { ListingStatus } from '../orders/order-id.ts';
import { statusAt } from '../orders/order-id.ts';
import type { SeaportJson } from '../orders/queries/stored-orders.ts';
import type { FoundListing } from './queries/orders.ts';
import { findListing, findOwnOrderId } from './queries/orders.ts';
import { toTokenLocation } from './token-location.ts';

/** Why an active order cannot be filled at present. `pending`: the listing has not been compared with the events of its chain yet. */
export const ORDER_DORMANCIES = ['not-started', ...LISTING_DORMANCIES] as const;
export type OrderDormancy = (typeof ORDER_DORMANCIES)[number];

/** `at` in milliseconds. `block` and `tx` are null for what happened off-chain. */
export type OrderEvent = { kind: string; at: number; block: number | null; tx: string | null };

export type Order = {
  listing: DetailedListing;
  /** Null if the stated total is less than the ask, or if no total is stated and the collection record with the royalty cannot be read. */
  buyerPrice: BuyerPrice | null;
  location: TokenLocation;
  status: ListingStatus;
  dormant: OrderDormancy | null;
  /** Oldest first. */
  events: OrderEvent[];
  /** Null unless the order is an active order of this service that was stored with its signature. */
  fulfilment: (SeaportJson & { protocolAddress: string }) | null;
};

const ID_LENGTH_MAX = 500;

/**
 * Finds an order of this service, or else a mirrored listing, by its id or its order hash. Throws `not_found` when there is none,
 * `unavailable` when the own order book cannot be read, and `upstream_error` when the mirror cannot be read.
 */
export async function readOrder(market: Market, idOrHash: string): Promise<Order> {
  if (idOrHash.length > ID_LENGTH_MAX || !isStorable(idOrHash)) throw orderNotFound();
  const { clock } = market;
  const chains = [...market.chains.keys()];
  const explanation = requireValue(
    await market.exploredOrders.read(async (main) => {
      const id = await findOwnOrderId(main, idOrHash, chains);
      return id === null ? null : explainOrder({ main, clock }, id);
    }),
    'unavailable',
  );
  if (explanation) return toOwnOrder(market, explanation);
  const mirrored = requireValue(await market.mirror.read((db) => findListing(db, idOrHash, chains)), 'upstream_error');
  if (!mirrored) throw orderNotFound();
  return toMirroredOrder(market, mirrored);
}

function orderNotFound(): ServiceError {
  return new ServiceError('not_found', 'Order not found');
}

async function toOwnOrder(market: Market, { order, derived, events, cancel }: Explanation): Promise<Order> {
  if (order.side === 'bid') throw orderNotFound();
  const { signed, seaport, orderId, asset, raw, seller, createdAt, expiresAt, tx } = order;
  const now = market.clock();
  const state = derived ?? order;
  const status = statusAt({ status: state.status, expiresAt }, now);
  const orderHash = signed?.orderHash ?? null;
  const quantity = signed?.quantity ?? 1n;
  const statedTotal = signed?.buyerTotalRaw ?? null;
  const filled = status === 'filled' ? quantity : state.filledQuantity;
  const offChain = cancel ? [{ kind: 'off-chain-cancel', at: cancel.createdAt, block: null, tx: null }] : [];
  return {
    listing: {
      orderId,
      asset,
      raw,
      seller,
      source: null,
      listedAt: createdAt,
      expiresAt,
      tx,
      orderHash,
      quantity,
      filled,
      statedTotal,
    },
    buyerPrice: await toBuyerPrice(market, order, statedTotal),
    location: requireLocation(market, order),
    status,
    dormant: status !== 'active' ? null : signed && signed.startsAt > now ? 'not-started' : state.dormant,
    events: [
      ...events.map((event) => ({ kind: event.kind, at: event.blockTime, block: event.blockNumber, tx: event.tx })),
      ...offChain,
    ].sort((a, b) => a.at - b.at),
    fulfilment:
      status === 'active' && signed && seaport ? { ...seaport, protocolAddress: signed.protocolAddress } : null,
  };
}

async function toMirroredOrder(
  market: Market,
  { listing: row, status, dormant, endedAt }: FoundListing,
): Promise<Order> {
  const now = market.clock();
  const statusNow = statusAt({ status, expiresAt: row.expiresAt }, now);
  const listing = toDetailedListingOfMirror({ ...row, status }, market.serviceName);
  return {
    listing,
    buyerPrice: await toBuyerPrice(market, row, listing.statedTotal),
    location: requireLocation(market, row),
    status: statusNow,
    dormant: statusNow === 'active' ? dormant : null,
    events: endedAt === null ? [] : [{ kind: status, at: endedAt, block: null, tx: row.tx }],
    fulfilment: null,
  };
}

/** `total` is null for a listing of this service that states only the ask. Platform fee and royalty are then added. */
async function toBuyerPrice(
  market: Market,
  { raw, collectionId }: { raw: bigint; collectionId: string },
  total: bigint | null,
): Promise<BuyerPrice | null> {
  if (total !== null) return toStatedBuyerPrice(raw, total);
  const [collection] = valueOrNull(await market.primary.read((db) => listCollectionsByIds(db, [collectionId]))) ?? [];
  return collection ? toOwnBuyerPrice(market, collection, raw) : null;
}

/** Throws `not_found` when the chain is not configured any more. */
function requireLocation(market: Market, key: { collectionId: string; asset: AssetId }): TokenLocation {
  const location = toTokenLocation(market, key);
  if (!location) throw orderNotFound();
  return location;
}
