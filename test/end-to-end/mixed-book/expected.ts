// Computes the expected mixed book (own orders and mirrored listings) from the accepted orders, the chain's state and the rows of each
// marketplace. This file must never use the service's code, so that the rules of the service are not checked with the code of the
// service.

import { createHash } from 'node:crypto';
import type { Hex } from 'viem';
import type { ExpectedOrder } from '../../support/chain/expected-state.ts';
import type { MarketplaceListing } from './marketplaces.ts';
import { priceOf, sumOf, tokenOf } from './marketplaces.ts';
import type { Listing } from '../../../devnet/chain-state.ts';

/** An order that the service accepted, with the id and the timestamp that the service gave it. */
export type OwnOrder = { listing: Listing; orderId: string; timestamp: string };

export type MarketplaceView = { source: string; rows: Map<Hex, MarketplaceListing> };

export type Book = {
  chain: string;
  contract: string;
  own: readonly OwnOrder[];
  /** For each own order, and for each order that a marketplace lists: its state on the chain. */
  states: ReadonlyMap<Hex, ExpectedOrder>;
  holderOf: (tokenId: string) => string | null;
  accepted: readonly MarketplaceView[];
  /** Orders that a marketplace reported as filled or cancelled. */
  ended: ReadonlySet<Hex>;
  /** Orders that OpenSea has listed. The service knows their complete terms. */
  complete: ReadonlySet<Hex>;
  fees: { platformBps: bigint; royaltyBps: bigint };
};

/** A listing of a token. Any one of `rows` may be served. The rows are equal in price and order id, so no rule prefers one of them. */
export type ExpectedListing = {
  tokenId: string;
  raw: bigint;
  orderId: string;
  rows: readonly object[];
  /** The rows as the token endpoint serves them. There the id of a mirrored listing is the order hash. */
  tokenRows: readonly object[];
};

export type ExpectedMarket = {
  /** The listing that is served for each token, cheapest first. Not limited to the size of a window. */
  listings: readonly ExpectedListing[];
  byToken: ReadonlyMap<string, ExpectedListing>;
  askFloor: bigint | null;
  buyerFloor: bigint | null;
  /** Counts of the book, from which a test sees that the book was mixed. */
  counts: BookCounts;
};

export type BookCounts = {
  /** Own orders with a higher price than a marketplace's listing of the same token. */
  ownHigherPriced: number;
  /** Orders that both marketplaces list. */
  twins: number;
  /** Own orders that a marketplace also lists. */
  mirroredOwn: number;
  /** Own orders that a marketplace also lists, although they cannot be filled now. */
  mirroredEndedOwn: number;
  /** Tokens with several orders. */
  severalOrders: number;
  /** Served listings that have the same price as an earlier served listing. */
  equalPrices: number;
  dormant: number;
  notStarted: number;
  expired: number;
};

/**
 * Adds the fetched listings that are active and have started. If the service must accept the fetch as complete, these listings
 * replace the earlier listings. `now` is in milliseconds.
 */
export function applyFetch(
  { rows }: MarketplaceView,
  fetched: readonly MarketplaceListing[],
  { isComplete, now }: { isComplete: boolean; now: number },
): void {
  if (isComplete) rows.clear();
  for (const listing of fetched) {
    const isActive = (listing.status ?? 'ACTIVE') === 'ACTIVE';
    if (isActive && Number(listing.components.startTime) * 1_000 <= now) rows.set(listing.hash, listing);
  }
}

type Candidate = { tokenId: string; raw: bigint; orderId: string; own: boolean; row: object; tokenRow: object };

/** The listings and floors that the service must serve at `now`, in milliseconds. */
export function computeMarket(book: Book, now: number): ExpectedMarket {
  const live = ({ components }: Pick<MarketplaceListing, 'components'>) =>
    Number(components.startTime) * 1_000 <= now && Number(components.endTime) * 1_000 > now;
  const own = book.own.filter(({ listing }) => book.states.get(listing.hash)?.status === 'active' && live(listing));
  const known = new Set(book.own.map(({ listing }) => listing.hash));
  const mirrored = book.accepted.flatMap(({ source, rows }) =>
    [...rows.values()]
      .filter((listing) => live(listing) && !book.ended.has(listing.hash) && !known.has(listing.hash))
      .map((listing) => ({ source, listing })),
  );
  const ownTokens = new Set(own.map(({ listing }) => tokenOf(listing)));
  // An own order is served in place of all mirrored listings of its token. These listings do not count for the floors.
  const visible = mirrored.filter(({ listing }) => !ownTokens.has(tokenOf(listing)) && isDeliverable(book, listing));
  const candidates = [
    ...own.map((order) => toOwnCandidate(book, order)),
    ...visible.map(({ source, listing }) => toMirroredCandidate(book, source, listing)),
  ];
  const listings = [...Map.groupBy(candidates, ({ tokenId }) => tokenId).values()].map(cheapestOf).toSorted(compare);
  const totals = [
    ...visible.map(({ listing }) => priceOf(listing)),
    ...own.map(({ listing }) => buyerTotalOf(book, listing)),
  ];
  return {
    listings,
    byToken: new Map(listings.map((listing) => [listing.tokenId, listing])),
    askFloor: listings[0]?.raw ?? null,
    buyerFloor: totals.length === 0 ? null : totals.reduce((least, total) => (total < least ? total : least)),
    counts: countBook(book, { own, candidates, mirrored: mirrored.map(({ listing }) => listing), listings, now }),
  };
}

/**
 * Whether the chain allows a fill, as far as the service knows the terms. OpenSea reports the complete order. Magic Eden reports
 * neither the counter nor the operator that must be approved. If OpenSea never listed an order, only the holder of the token
 * decides.
 */
function isDeliverable({ states, holderOf, complete }: Book, listing: MarketplaceListing): boolean {
  if (complete.has(listing.hash)) return states.get(listing.hash)?.status === 'active';
  return holderOf(tokenOf(listing)) === listing.components.offerer;
}

function compare(a: Pick<ExpectedListing, 'raw' | 'orderId'>, b: Pick<ExpectedListing, 'raw' | 'orderId'>): number {
  if (a.raw !== b.raw) return a.raw < b.raw ? -1 : 1;
  return a.orderId < b.orderId ? -1 : Number(a.orderId > b.orderId);
}

function cheapestOf(candidates: readonly Candidate[]): ExpectedListing {
  const [first, ...others] = candidates.toSorted(compare);
  if (!first) throw new Error('there is no candidate to choose from');
  const equal = others.filter((other) => compare(first, other) === 0);
  const { tokenId, raw, orderId } = first;
  const served = [first, ...equal];
  return {
    tokenId,
    raw,
    orderId,
    rows: served.map(({ row }) => row),
    tokenRows: served.map(({ tokenRow }) => tokenRow),
  };
}

/** The ask of an own order is what its offerer receives. */
function askOf({ components }: Pick<Listing, 'components'>): bigint {
  const { offerer, consideration } = components;
  return consideration
    .filter(({ recipient }) => recipient.toLowerCase() === offerer)
    .reduce((sum, { startAmount }) => sum + startAmount, 0n);
}

/**
 * What the buyer pays. This is the order's total if it includes fees. Otherwise it is the ask plus platform fee and royalty, each
 * rounded up.
 */
function buyerTotalOf({ fees }: Book, listing: Listing): bigint {
  const [ask, sum] = [askOf(listing), sumOf(listing.components)];
  if (sum > ask) return sum;
  const share = (bps: bigint) => (ask * bps + 9_999n) / 10_000n;
  return ask + share(fees.platformBps) + share(fees.royaltyBps);
}

function toOwnCandidate(book: Book, { listing, orderId, timestamp }: OwnOrder): Candidate {
  const raw = askOf(listing);
  const tokenId = tokenOf(listing);
  const row = toRow(book, { listing, raw, orderId, timestamp, marketplace: 'MERCAT' });
  return { tokenId, raw, orderId, own: true, row, tokenRow: row };
}

function toMirroredCandidate(book: Book, source: string, listing: MarketplaceListing): Candidate {
  const { hash, listedAt } = listing;
  const digest = createHash('sha256')
    .update(JSON.stringify(['order', source, book.chain, hash]))
    .digest('hex');
  const orderId = `${source}_${digest.slice(0, 32)}`;
  const raw = priceOf(listing);
  const timestamp = new Date(listedAt * 1_000).toISOString();
  const row = toRow(book, { listing, raw, orderId, timestamp, marketplace: source });
  return { tokenId: tokenOf(listing), raw, orderId, own: false, row, tokenRow: { ...row, orderId: hash } };
}

type RowTerms = {
  listing: Pick<MarketplaceListing, 'components'>;
  raw: bigint;
  orderId: string;
  timestamp: string;
  marketplace: string;
};

function toRow({ chain, contract }: Book, { listing, raw, orderId, timestamp, marketplace }: RowTerms): object {
  return {
    chain,
    contractAddress: contract,
    tokenId: tokenOf(listing),
    mint: null,
    collectionId: `${chain}_${contract}`,
    price: { raw: raw.toString(), decimal: Number(`${raw}e-18`), currency: 'ETH', usd: null },
    seller: listing.components.offerer,
    buyer: null,
    marketplace,
    status: 'active',
    expiresAt: new Date(Number(listing.components.endTime) * 1_000).toISOString(),
    timestamp,
    orderId,
    tx: null,
  };
}

type CountedBook = {
  own: readonly OwnOrder[];
  mirrored: readonly MarketplaceListing[];
  candidates: readonly Candidate[];
  listings: readonly ExpectedListing[];
  now: number;
};

function countBook(book: Book, { own, mirrored, candidates, listings, now }: CountedBook): BookCounts {
  const mirroredHashes = book.accepted.map(({ rows }) => new Set(rows.keys()));
  const [first = new Set<Hex>(), second = new Set<Hex>()] = mirroredHashes;
  const isMirrored = (hash: Hex) => first.has(hash) || second.has(hash);
  const active = new Set(own.map(({ listing }) => listing.hash));
  const mirroredOwn = book.own.filter(({ listing }) => isMirrored(listing.hash));
  const cheapestMirrored = new Map<string, bigint>();
  for (const listing of mirrored) {
    const [tokenId, raw] = [tokenOf(listing), priceOf(listing)];
    if (raw < (cheapestMirrored.get(tokenId) ?? raw + 1n)) cheapestMirrored.set(tokenId, raw);
  }
  const orders = Map.groupBy(candidates, ({ tokenId }) => tokenId);
  const startsAfter = ({ components }: Pick<MarketplaceListing, 'components'>) =>
    Number(components.startTime) * 1_000 > now;
  const endsBefore = ({ components }: Pick<MarketplaceListing, 'components'>) =>
    Number(components.endTime) * 1_000 <= now;
  const all = [...book.own.map(({ listing }) => listing), ...book.accepted.flatMap(({ rows }) => [...rows.values()])];
  return {
    ownHigherPriced: own.filter(
      ({ listing }) => askOf(listing) > (cheapestMirrored.get(tokenOf(listing)) ?? askOf(listing)),
    ).length,
    twins: [...first].filter((hash) => second.has(hash)).length,
    mirroredOwn: mirroredOwn.length,
    mirroredEndedOwn: mirroredOwn.filter(({ listing }) => !active.has(listing.hash)).length,
    severalOrders: [...orders.values()].filter((group) => new Set(group.map(({ orderId }) => orderId)).size > 1).length,
    equalPrices: listings.length - new Set(listings.map(({ raw }) => raw)).size,
    dormant: [...book.states.values()].filter(({ status }) => status === 'dormant').length,
    notStarted: all.filter(startsAfter).length,
    expired: all.filter(endsBefore).length,
  };
}
