// Reads bids, those of the service and those that marketplaces have reported: their lists, and what each bid is for.

import type { Address, AssetId } from '../../platform/core/address.ts';
import type { Chain, Currency } from '../../platform/core/chains.ts';
import { findCurrency } from '../../platform/core/chains.ts';
import type { CollectionLocation } from '../../platform/core/collection.ts';
import { parseCollectionId } from '../../platform/core/collection.ts';
import type { ListingStatus } from '../orders/order-id.ts';
import { statusAt } from '../orders/order-id.ts';
import type { Market } from '../reads/market.ts';
import { requireValue, valueOrNull } from '../reads/market-source.ts';
import type { OrderDormancy } from './order-dormancy.ts';
import type { OrderListPosition } from './orders.ts';
import type { BidKind, BidSubject, ListedBid, Offer, OfferPosition, TopBid } from './queries/bids.ts';
import { listOffers, listTopBids, listTopBidsOfTraits } from './queries/bids.ts';
import type { OrderFilter } from './queries/order-lists.ts';
import { listBids, OWN_SOURCE } from './queries/order-lists.ts';
import { toTokenLocation } from './token-location.ts';

export type BidLocation = Pick<CollectionLocation, 'chain' | 'contractAddress'>;

/** A bid at the time of the read. */
export type Bid = Omit<ListedBid, 'status' | 'dormant' | 'startsAt' | 'contractAddress' | 'currency'> & {
  kind: BidKind;
  status: ListingStatus;
  dormant: OrderDormancy | null;
  /** Null for the wrapped native currency. */
  currency: Currency | null;
  location: BidLocation;
};

/** `source`: a marketplace. Null: the bids of all sources. The name of this service: its own bids. */
export type BidListQuery = Omit<OrderFilter, 'now' | 'account' | 'asset'> & {
  account: Address | null;
  asset: AssetId | null;
  source: string | null;
  kind: BidKind | null;
  after: OrderListPosition | null;
  limit: number;
};

/** `next`: the last bid that was read; null on the last page. */
export type BidPage = { bids: Bid[]; next: OrderListPosition | null };

/** A custody wallet has no bids. Throws `unavailable` when the order book cannot be read. */
export async function listAllBids(market: Market, { after, limit, ...query }: BidListQuery): Promise<BidPage> {
  if (query.account !== null && market.custodyWallets.has(query.account)) return { bids: [], next: null };
  const source = query.source === market.serviceName ? OWN_SOURCE : query.source;
  const filter = { ...query, source, now: market.clock() };
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

export type OfferQuery = { account: Address; chain: Chain | null; after: OfferPosition | null; limit: number };
export type OfferPage = { offers: (Offer & { location: BidLocation })[]; next: OfferPosition | null };

/** What is offered for the tokens of a wallet. A custody wallet has none. Throws `unavailable` when the own order book cannot be read. */
export async function listWalletOffers(market: Market, query: OfferQuery): Promise<OfferPage> {
  const { account, chain, after, limit } = query;
  if (market.custodyWallets.has(account)) return { offers: [], next: null };
  const chains = chain ? [chain.id] : [...market.chains.keys()];
  const found = requireValue(
    await market.exploredOrders.read((db) =>
      listOffers(db, { account, chains, after, limit: limit + 1, now: market.clock() }),
    ),
    'unavailable',
  );
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    offers: page.flatMap((offer) => {
      const location = toTokenLocation(market, offer);
      return location ? [{ ...offer, location }] : [];
    }),
    next: found.length > limit && last ? toOfferPosition(last) : null,
  };
}

function toOfferPosition({ chain, collectionId, asset, bid }: Offer): OfferPosition {
  return { chain, proceeds: bid.proceeds.toString(), collectionId, asset };
}

/** The top bids of tokens or collections, by `toSubjectKey`. Null if the own order book cannot be read. */
export async function readTopBids(
  market: Market,
  subjects: readonly BidSubject[],
): Promise<ReadonlyMap<string, TopBid> | null> {
  const now = market.clock();
  const distinct = [...new Map(subjects.map((subject) => [toSubjectKey(subject), subject])).values()];
  const bids = valueOrNull(await market.exploredOrders.read((db) => listTopBids(db, distinct, now)));
  if (!bids) return null;
  return new Map(
    distinct.flatMap((subject, index) => {
      const bid = bids[index];
      return bid ? [[toSubjectKey(subject), bid] as const] : [];
    }),
  );
}

/**
 * A function that returns the top bid for the tokens of a trait: a bid for them, or for any token of the collection. Null if the own order book cannot be
 * read.
 */
export async function readTopBidsOfTraits(
  market: Market,
  collectionId: string,
): Promise<((name: string, value: string) => TopBid | null) | null> {
  const now = market.clock();
  const found = valueOrNull(
    await market.exploredOrders.read(async (db) => ({
      ofAny: await listTopBids(db, [{ collectionId, asset: null }], now),
      ofTraits: await listTopBidsOfTraits(db, collectionId, now),
    })),
  );
  if (!found) return null;
  const best = new Map<string, TopBid>();
  for (const { name, value, bid } of found.ofTraits)
    best.set(toTraitKey(name, value), toBetter(best.get(toTraitKey(name, value)), bid));
  const [any] = found.ofAny;
  return (name, value) => {
    const bid = best.get(toTraitKey(name, value));
    return bid && any ? toBetter(any, bid) : (bid ?? any ?? null);
  };
}

const toTraitKey = (name: string, value: string) => JSON.stringify([name, value]);
const toBetter = (a: TopBid | undefined, b: TopBid): TopBid => (a && a.proceeds >= b.proceeds ? a : b);

export function toSubjectKey({ collectionId, asset }: BidSubject): string {
  return `${collectionId} ${asset ?? ''}`;
}

/** Null if the chain or the currency of the bid is not configured any more. */
export function toBid({ chains }: Pick<Market, 'chains'>, row: ListedBid, now: number): Bid | null {
  const parsed = parseCollectionId(chains, row.collectionId);
  const chain = parsed && chains.get(parsed.chainId);
  const currency = chain && findCurrency(chain, row.currency);
  if (!chain || currency === undefined) return null;
  const { startsAt, contractAddress, ...bid } = row;
  const status = statusAt(row, now);
  const isLater = startsAt !== null && startsAt > now;
  const kind = bid.asset !== null ? 'item' : bid.root === null ? 'collection' : 'trait';
  const dormant = status !== 'active' ? null : isLater ? 'not-started' : row.dormant;
  return { ...bid, kind, status, dormant, currency, location: { chain, contractAddress } };
}

function toValue({ proceeds, createdAt, expiresAt }: ListedBid, sort: OrderFilter['sort']): string {
  if (sort === 'price') return proceeds.toString();
  return new Date(sort === 'created' ? createdAt : (expiresAt ?? 0)).toISOString();
}
