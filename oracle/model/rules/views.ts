// The responses that the model expects, each as the part of a response that the texts determine. `compare.ts` reads the same parts from what
// the service serves.

import { topBidOfToken, topBidOfTrait } from './bids.ts';
import type { Reader, Windows } from './figures.ts';
import {
  hasDollars,
  holdings,
  listingFigures,
  listings,
  rankingKeys,
  saleRows,
  salesOf,
  sumSales,
  toAmount,
  toMarketplace,
  toNative,
  tokensOf,
  tradeFigures,
  WINDOW_SIZE,
} from './figures.ts';
import type { Collection, Listing, Sale } from './market.ts';
import { decimalsOf } from './market.ts';
import { CHAINS, isEvm } from './records.ts';
import { ANY } from './shop.ts';

export type Price = { raw: string; decimal: number; currency: string; hasUsd: boolean };

function price(reader: Reader, chain: string, raw: bigint): Price {
  const decimal = Number(`${raw}e-${decimalsOf(chain)}`);
  return { raw: raw.toString(), decimal, currency: CHAINS[chain]?.symbol ?? '', hasUsd: hasDollars(reader, chain) };
}

function priceOrNull(reader: Reader, chain: string, raw: bigint | null): Price | null {
  return raw === null ? null : price(reader, chain, raw);
}

/** Decisions 2, "Text from outside": "An image URL that is not http, https, ipfs, ar or data:image is served as null." */
function toServedImage(image: string | null): string | null {
  return image !== null && /^(?:https?|ipfs|ar):|^data:image/.test(image) ? image : null;
}

/**
 * Explore, "Pictures": "such an inline image has at most 2,048 bytes. A larger one is replaced by its URL below the public address of the service". Here: the path of
 * this URL.
 */
function toExploredImage(image: string | null, collectionId: string, asset: string): string | null {
  const isLarge = image !== null && image.startsWith('data:image') && image.length > 2_048;
  return isLarge ? `/explore/v1/images/${collectionId}/${asset}` : toServedImage(image);
}

function toIso(time: number): string {
  return new Date(time).toISOString();
}

/** Specification, "MarketItem": `tokenId` is null for Solana items, and `mint` for EVM items. */
function identity({ chain, contractAddress, id }: Collection, asset: string) {
  const isOnEvm = isEvm({ chain });
  return {
    chain,
    contractAddress: isOnEvm ? contractAddress : null,
    tokenId: isOnEvm ? asset : null,
    mint: isOnEvm ? null : asset,
    collectionId: id,
  };
}

/** `key` names the listing in the model; the service's `orderId` is compared by it. */
function listingItem(reader: Reader, collection: Collection, row: Listing) {
  return {
    ...identity(collection, row.asset),
    price: price(reader, collection.chain, row.priceRaw),
    seller: row.seller,
    buyer: null,
    marketplace: toMarketplace(row.source),
    status: 'active',
    expiresAt: row.expiresAt === null ? null : toIso(row.expiresAt),
    timestamp: toIso(row.listedAt),
    orderId: row.orderId,
    tx: row.tx,
  };
}

function saleItem(reader: Reader, collection: Collection, sale: Sale) {
  return {
    ...identity(collection, sale.assets[0] ?? ''),
    price: price(reader, collection.chain, toAmount(sale.price) ?? 0n),
    seller: sale.seller,
    buyer: sale.buyer,
    marketplace: toMarketplace(sale.source),
    status: 'sold',
    expiresAt: null,
    timestamp: toIso(sale.soldAt),
    orderId: sale.listingId,
    tx: sale.tx,
  };
}

/** Specification, "CollectionDetail". */
export function detail(reader: Reader, collection: Collection) {
  const { floorRaw, listedCount } = listingFigures(reader, collection);
  const { supply, owners } = holdings(reader, collection);
  return {
    id: collection.id,
    chain: collection.chain,
    contractAddress: collection.contractAddress,
    name: collection.name,
    slug: collection.slug,
    image: toServedImage(collection.image),
    description: collection.description,
    royaltyBps: collection.royaltyBps,
    stats: {
      floor: priceOrNull(reader, collection.chain, floorRaw),
      volume: toStated(tradeFigures(reader, collection, 'volume')),
      sales: toStated(tradeFigures(reader, collection, 'sales')),
      supply,
      owners,
      listedCount,
    },
    stale: false,
  };
}

/** The periods that `/v1` serves. */
function toStated({ allTime, sevenDay, twentyFourHour }: Windows) {
  return { allTime, sevenDay, twentyFourHour };
}

/** Specification, "FloorResponse". */
export function floor(reader: Reader, collection: Collection) {
  const { floorRaw, buyerFloorRaw } = listingFigures(reader, collection);
  return {
    collectionId: collection.id,
    askFloor: priceOrNull(reader, collection.chain, floorRaw),
    buyerFloor: priceOrNull(reader, collection.chain, buyerFloorRaw),
    aggregated: true,
    stale: false,
  };
}

/** Specification, "CollectionSummary". */
function summary(reader: Reader, collection: Collection) {
  const { stats, stale: _stale, ...identityFields } = detail(reader, collection);
  const { floor: ask, volume, supply, owners } = stats;
  return { ...identityFields, stats: { floor: ask, volumeAllTime: volume.allTime, supply, owners } };
}

/** Endpoint rule 4: "a bounded snapshot of about the 250 cheapest listings". */
export function listingWindow(reader: Reader, collection: Collection) {
  return listings(reader, collection.id)
    .slice(0, WINDOW_SIZE)
    .map((row) => listingItem(reader, collection, row));
}

/** Endpoint rule 6: "completed sales, newest first". */
export function sales(reader: Reader, collection: Collection) {
  return saleRows(reader, collection.id).map((sale) => saleItem(reader, collection, sale));
}

/**
 * Null: 404. Endpoint rule 7: "A token unknown to the indexer gives 404." Decisions 1: the indexer holds mirrored listings, sales and tokens; own orders are
 * in the primary.
 */
export function token(reader: Reader, collection: Collection, asset: string) {
  const stored = tokensOf(reader, collection.id).find((one) => one.asset === asset);
  const listing = listings(reader, collection.id).find((one) => one.asset === asset);
  const isListed = [...reader.market.tables.listing.values()].some(
    (one) => one.collectionId === collection.id && one.asset === asset,
  );
  const isSold = salesOf(reader, collection.id).some(({ assets }) => assets.length === 1 && assets[0] === asset);
  if (!stored && !isListed && !isSold) return null;
  return {
    ...identity(collection, asset),
    name: stored?.name ?? null,
    image: toServedImage(stored?.image ?? null),
    rank: stored?.rarityRank ?? (isRanked(reader, collection) ? ANY : null),
    owner: toOwner(listing?.seller ?? stored?.owner ?? null),
    listing: listing
      ? { ...listingItem(reader, collection, listing), orderId: listing.orderHash ?? listing.orderId }
      : null,
    lastSale: lastSalePrices(reader, collection, asset),
  };
}

/** Records: "If the collection has `tokensComplete: true` and no ranks, the service computes the ranks from the traits." */
function isRanked(reader: Reader, collection: Collection): boolean {
  return collection.tokensComplete && tokensOf(reader, collection.id).every(({ rarityRank }) => rarityRank === null);
}

/** A token as `/explore/v1` shows it. Explore, "Tokens": "the fields of GET /v1/tokens/… and its traits". */
export function ownedToken(reader: Reader, collection: Collection, asset: string) {
  const stored = tokensOf(reader, collection.id).find((one) => one.asset === asset);
  const listing = listings(reader, collection.id).find((one) => one.asset === asset);
  return {
    asset,
    name: stored?.name ?? null,
    image: toExploredImage(stored?.image ?? null, collection.id, asset),
    owner: toOwner(listing?.seller ?? stored?.owner ?? null),
    listing: listing ? { raw: listing.priceRaw.toString(), orderId: listing.orderId } : null,
    traits: (stored?.traits ?? []).map(({ name, value }) => `${name}: ${value}`).toSorted(),
    topBid: topBidOfToken(reader, collection.id, asset)?.toString() ?? null,
  };
}

/**
 * Explore, "Traits", the table: the count "is known if every token of the collection is known, by the same rule as for the supply, and the traits of each
 * token were read", the number of listed tokens "if the traits of every listed token were read, and every listing is known".
 */
export function traits(reader: Reader, collection: Collection) {
  const tokens = tokensOf(reader, collection.id);
  const rows = listings(reader, collection.id);
  const hasAll = tokens.every((token) => token.traits !== null);
  const isListedRead = rows.every(({ asset }) =>
    tokens.some((token) => token.asset === asset && token.traits !== null),
  );
  const values = tokens.flatMap((token) => (token.traits ?? []).map((trait) => ({ ...trait, asset: token.asset })));
  const byValue = Map.groupBy(values, ({ name, value }) => JSON.stringify([name, value]));
  return Array.from(byValue.values(), (of) => {
    const [{ name, value } = { name: '', value: '' }] = of;
    const listed = rows.filter(({ asset }) => of.some((one) => one.asset === asset));
    return {
      name,
      value,
      count: holdings(reader, collection).isCounted && hasAll ? of.length : null,
      listed: isListedRead && listingFigures(reader, collection).isCounted ? listed.length : null,
      floor: isListedRead ? (listed[0]?.priceRaw.toString() ?? null) : null,
      topBid: topBidOfTrait(reader, collection.id, { name, value })?.toString() ?? null,
    };
  });
}

/** Decisions 2, "Token": "Listed: owner is the seller, kind wallet. No owner on record: unknown." */
function toOwner(address: string | null) {
  return { address, kind: address === null ? 'unknown' : 'wallet', label: null };
}

/** The prices that the newest sale of the token can have: several if several sales have the same time. */
function lastSalePrices(reader: Reader, collection: Collection, asset: string): (Price | null)[] {
  const of = salesOf(reader, collection.id).filter((sale) => sale.assets.length === 1 && sale.assets[0] === asset);
  const newest = Math.max(...of.map(({ soldAt }) => soldAt));
  if (of.length === 0) return [null];
  return of
    .filter(({ soldAt }) => soldAt === newest)
    .map((sale) => priceOrNull(reader, collection.chain, toAmount(sale.price)));
}

/** Endpoint rule 1: "service-launched collections are ranked first; `sort` orders the rest as named". */
export function collections(reader: Reader, sort: 'volume' | 'floor' | 'recent', chain: string | null) {
  return Array.from(rankingKeys(reader, { sort, window: 'all', chain, order: 'desc' }).keys(), (id) => {
    const one = reader.market.tables.collection.get(id);
    if (!one) throw new Error(`there is no collection ${id}`);
    return summary(reader, one);
  });
}

/** The volume and the number of sales of each hour, by the time at which the hour begins. */
export function hours(reader: Reader, collection: Collection): Map<string, { volume: number | null; sales: number }> {
  const byHour = Map.groupBy(salesOf(reader, collection.id), ({ soldAt }) =>
    toIso(Math.floor(soldAt / 3_600_000) * 3_600_000),
  );
  return new Map(
    Array.from(byHour, ([from, of]) => {
      const { sales: count, volumeRaw } = sumSales(of);
      return [from, { volume: toNative(volumeRaw, collection.chain), sales: count }];
    }),
  );
}
