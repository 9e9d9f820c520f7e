// Reads one order: its status, why it has this status, and what a buyer needs to fill it.

import type { AssetId } from '../../platform/core/address.ts';
import { parseAssetId } from '../../platform/core/address.ts';
import { parameterError, ServiceError } from '../../platform/core/errors.ts';
import type { Hex } from '../../platform/core/evm.ts';
import { isStorable } from '../../platform/core/text.ts';
import type { BuyerPrice } from '../reads/buyer-price.ts';
import { toOwnBuyerPrice, toStatedBuyerPrice } from '../reads/buyer-price.ts';
import type { DetailedListing } from '../reads/listing.ts';
import { toDetailedListingOfMirror } from '../reads/listing.ts';
import type { Market } from '../reads/market.ts';
import { requireValue, valueOrNull } from '../reads/market-source.ts';
import { listCollectionsByIds } from '../reads/queries/collections.ts';
import type { TokenLocation } from '../reads/token.ts';
import type { Explanation } from '../orders/explain.ts';
import { explainOrder } from '../orders/explain.ts';
import type { ListingStatus } from '../orders/order-id.ts';
import { statusAt } from '../orders/order-id.ts';
import type { SeaportJson } from '../orders/queries/stored-orders.ts';
import { listTokensOfSet } from '../orders/queries/token-sets.ts';
import { toTokenProof } from '../orders/seaport/token-tree.ts';
import type { Bid } from './bids.ts';
import { toBid } from './bids.ts';
import type { OrderDormancy } from './order-dormancy.ts';
import type { ListedBid } from './queries/bids.ts';
import { findBid } from './queries/bids.ts';
import type { FoundListing } from './queries/orders.ts';
import { findListing, findBookOrderId } from './queries/orders.ts';
import { toTokenLocation } from './token-location.ts';

/** `at` in milliseconds. `block` and `tx` are null for what happened off-chain. */
export type OrderEvent = { kind: string; at: number; block: number | null; tx: string | null };

type OrderState = {
  status: ListingStatus;
  dormant: OrderDormancy | null;
  /** Oldest first. */
  events: OrderEvent[];
  /** Null unless the order is an active order of this service that was stored with its signature. */
  fulfilment: Fulfilment | null;
};

/**
 * `criteriaProof`: the hashes by which Seaport finds that a token meets the bid. Empty if any token of the collection meets it. Null for an order for one token, and
 * if no token was named.
 */
type Fulfilment = SeaportJson & { protocolAddress: string; criteriaProof: readonly Hex[] | null };

type Ask = OrderState & {
  side: 'ask';
  listing: DetailedListing;
  /** Null if the stated total is less than the ask, or if no total is stated and the collection record with the royalty cannot be read. */
  buyerPrice: BuyerPrice | null;
  location: TokenLocation;
};

export type Order = Ask | (OrderState & { side: 'bid'; bid: Bid });

const ID_LENGTH_MAX = 500;

/**
 * Finds an order of this service, or a bid that a marketplace has reported, or else a mirrored listing, by its id or its order hash. `token`: a token for which the proof is wanted that it meets a bid.
 * Throws `not_found` when there is none, `bad_request` when the token does not meet the bid, `unavailable` when the own order book cannot be read, and
 * `upstream_error` when the mirror cannot be read.
 */
export async function readOrder(market: Market, idOrHash: string, token: string | null = null): Promise<Order> {
  if (idOrHash.length > ID_LENGTH_MAX || !isStorable(idOrHash)) throw orderNotFound();
  const { clock } = market;
  const chains = [...market.chains.keys()];
  const own = requireValue(
    await market.exploredOrders.read(async (main) => {
      const id = await findBookOrderId(main, idOrHash, chains);
      const explanation = id === null ? null : await explainOrder({ main, clock }, id);
      if (!explanation) return null;
      const bid = await findBid(main, explanation.order.orderId);
      const setName = token !== null && bid?.source === null ? bid.root : null;
      const tokenIds = bid && setName !== null ? await listTokensOfSet(main, bid.collectionId, setName) : [];
      return { explanation, bid, tokenIds };
    }),
    'unavailable',
  );
  if (own?.bid) return toBidOrder(market, { ...own, bid: own.bid, token });
  if (token !== null) throw parameterError('token', 'is only for a bid that several tokens meet');
  if (own) return toOwnOrder(market, own.explanation);
  const mirrored = requireValue(await market.mirror.read((db) => findListing(db, idOrHash, chains)), 'upstream_error');
  if (!mirrored) throw orderNotFound();
  return toMirroredOrder(market, mirrored);
}

function orderNotFound(): ServiceError {
  return new ServiceError('not_found', 'Order not found');
}

async function toOwnOrder(market: Market, explanation: Explanation): Promise<Order> {
  const { order, derived } = explanation;
  if (order.side === 'bid') throw new Error(`the bid ${order.orderId} is no ask`);
  const { signed, seaport, orderId, asset, raw, seller, createdAt, expiresAt, tx } = order;
  const now = market.clock();
  const state = derived ?? order;
  const status = statusAt({ status: state.status, expiresAt }, now);
  const orderHash = signed?.orderHash ?? null;
  const quantity = signed?.quantity ?? 1n;
  const statedTotal = signed?.buyerTotalRaw ?? null;
  const filled = status === 'filled' ? quantity : state.filledQuantity;
  return {
    side: 'ask',
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
    events: toEvents(explanation),
    fulfilment:
      status === 'active' && signed && seaport
        ? { ...seaport, protocolAddress: signed.protocolAddress, criteriaProof: null }
        : null,
  };
}

function toEvents({ events, cancel }: Explanation): OrderEvent[] {
  const offChain = cancel ? [{ kind: 'off-chain-cancel', at: cancel.createdAt, block: null, tx: null }] : [];
  return [
    ...events.map((event) => ({ kind: event.kind, at: event.blockTime, block: event.blockNumber, tx: event.tx })),
    ...offChain,
  ].sort((a, b) => a.at - b.at);
}

type FoundBid = { explanation: Explanation; bid: ListedBid; tokenIds: readonly AssetId[]; token: string | null };

function toBidOrder(market: Market, { explanation, bid: row, tokenIds, token }: FoundBid): Order {
  const { order, derived } = explanation;
  const { signed, seaport } = order;
  const state = derived ?? order;
  const { status, filledQuantity, tx } = state;
  const bid = toBid(market, { ...row, status, dormant: state.dormant, filled: filledQuantity, tx }, market.clock());
  if (!bid) throw orderNotFound();
  const criteriaProof = token === null ? null : requireProof(bid, tokenIds, token);
  return {
    side: 'bid',
    bid,
    status: bid.status,
    dormant: bid.dormant,
    events: bid.source === null ? toEvents(explanation) : toReportedEnd(bid),
    fulfilment:
      bid.status === 'active' && signed && seaport
        ? { ...seaport, protocolAddress: signed.protocolAddress, criteriaProof }
        : null,
  };
}

/** How an order has ended that a marketplace has reported. Empty if it has not ended, or if the time is not known. */
function toReportedEnd({ status, endedAt, tx }: Pick<Bid, 'status' | 'endedAt' | 'tx'>): OrderEvent[] {
  return endedAt === null ? [] : [{ kind: status, at: endedAt, block: null, tx }];
}

function requireProof({ kind, source }: Bid, tokenIds: readonly AssetId[], text: string): Hex[] {
  if (kind === 'item') throw parameterError('token', 'is only for a bid that several tokens meet');
  if (source !== null) throw parameterError('token', 'is only for a bid of this service');
  const token = parseAssetId('evm', text);
  const proof = token === null ? null : kind === 'collection' ? [] : toTokenProof(tokenIds, token);
  if (proof) return proof;
  throw parameterError('token', 'is not a token that meets the bid');
}

async function toMirroredOrder(
  market: Market,
  { listing: row, status, dormant, endedAt }: FoundListing,
): Promise<Order> {
  const now = market.clock();
  const statusNow = statusAt({ status, expiresAt: row.expiresAt }, now);
  const listing = toDetailedListingOfMirror({ ...row, status }, market.serviceName);
  return {
    side: 'ask',
    listing,
    buyerPrice: await toBuyerPrice(market, row, listing.statedTotal),
    location: requireLocation(market, row),
    status: statusNow,
    dormant: statusNow === 'active' ? dormant : null,
    events: toReportedEnd({ status, endedAt, tx: row.tx }),
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
