// What the marketplace interface must serve from the market of the model: listings, sales, tokens and the figures of collections.
// No worker reads a vendor or a chain here: everything was imported, so the only kinds of provenance are `reported`, `imported` and `snapshot`.

import type { Collection, Listing, Market, Sale, Token } from './market.ts';
import { decimalsOf, statusAt } from './market.ts';
import { CHAINS, isEvm, SERVICE_NAME } from './records.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Decisions 6, "Maximum age of a reported figure". */
const MAX_AGE = { hour: 15 * MINUTE, floor: 30 * MINUTE, window: 2 * HOUR, total: 24 * HOUR };
/** Decisions 2, "Listings": "The window holds the 250 cheapest assets." */
export const WINDOW_SIZE = 250;
/** Decisions 2, "Floor": "PLATFORM_FEE_BPS, default 200". */
const PLATFORM_FEE_BPS = 200n;
/** Decisions 2, "Interpretable price": "a decimal string of an integer from 0 to 2^256-1". */
const AMOUNT_MAX = 2n ** 256n - 1n;

export type Reader = { market: Market; now: number };

/**
 * Specification, "Collection {id}": canonical id, slug, or address. Decisions 2, "{id}": the canonical id is compared case-insensitively in its address half; an EVM
 * address in any case, a Solana mint exactly as written; an address on several chains means "the collection with the larger all-time volume, then by the
 * chain order".
 */
export function resolve({ market, now }: Reader, id: string): Collection | null {
  const all = [...market.tables.collection.values()];
  const split = id.indexOf('_');
  const [chain, address] = [id.slice(0, split), id.slice(split + 1)] as const;
  const byId = all.find((one) => one.id === `${chain}_${address.toLowerCase()}`);
  const bySlug = all.find((one) => one.slug === id);
  const byAddress = all
    .filter((one) => one.contractAddress === (isEvm(one) ? id.toLowerCase() : id))
    .map((one) => ({ one, volume: volumes({ market, now }, one).allTime ?? -1 }))
    .toSorted((a, b) => b.volume - a.volume || chainIndex(a.one) - chainIndex(b.one));
  return byId ?? bySlug ?? byAddress[0]?.one ?? null;
}

function chainIndex({ chain }: Collection): number {
  return Object.keys(CHAINS).indexOf(chain);
}

/** Every order and listing that can be bought. Decisions 2, "Listings": "Expired and non-positive-price rows are never listed." */
export function openListings({ market, now }: Reader, collectionId: string): Listing[] {
  const { order, listing } = market.tables;
  return [...order.values(), ...listing.values()].filter(
    (one) => one.collectionId === collectionId && statusAt(one, now) === 'active' && one.priceRaw > 0n,
  );
}

/**
 * One listing for each asset, cheapest first. Decisions 2, "Listings": "One asset appears once: the own EVM row if there is one (even when it is dearer), else the
 * cheapest. Sorted by raw as an integer, then by orderId."
 */
export function listings(reader: Reader, collectionId: string): Listing[] {
  return oneForEachAsset(fills(openListings(reader, collectionId)));
}

/** The listings of a wallet: of each asset the cheapest one of the wallet, and no external row of an asset that has an own order. */
export function walletListings(reader: Reader, collectionId: string, seller: string): Listing[] {
  return oneForEachAsset(fills(openListings(reader, collectionId)).filter((row) => row.seller === seller));
}

/** The rows without the external rows of assets that have an own order. */
function fills(rows: readonly Listing[]): Listing[] {
  const own = new Set(rows.filter(({ source }) => source === null).map(({ asset }) => asset));
  return rows.filter(({ source, asset }) => source === null || !own.has(asset));
}

export function oneForEachAsset(rows: readonly Listing[]): Listing[] {
  const sorted = rows.toSorted(byPrice);
  return sorted.filter(({ asset }, index) => sorted.findIndex((row) => row.asset === asset) === index);
}

function byPrice(a: Listing, b: Listing): number {
  if (a.priceRaw !== b.priceRaw) return a.priceRaw < b.priceRaw ? -1 : 1;
  return compareText(a.orderId, b.orderId);
}

export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Null if the price cannot be interpreted. */
export function toAmount(price: string): bigint | null {
  if (!/^\d+$/.test(price) || BigInt(price) > AMOUNT_MAX) return null;
  return BigInt(price);
}

/** Records: "a price in another currency than the native currency has the amount and the currency, such as 7000000 USDC". */
function isOtherCurrency(price: string): boolean {
  return /^\d+ [A-Z]+$/.test(price);
}

export function salesOf({ market }: Reader, collectionId: string): Sale[] {
  return [...market.tables.sale.values()].filter((sale) => sale.collectionId === collectionId);
}

/** The rows of `/sales`. Provenance, "Sales": one token, at an interpretable price; a bundle has no row. */
export function saleRows(reader: Reader, collectionId: string): Sale[] {
  return salesOf(reader, collectionId)
    .filter((sale) => sale.assets.length === 1 && toAmount(sale.price) !== null)
    .toSorted((a, b) => b.soldAt - a.soldAt);
}

/** Decisions 8, "Sums and rows are one rule". `volumeRaw` null: a sale cannot be read. */
export function sumSales(sales: readonly Sale[]): { sales: number; volumeRaw: bigint | null } {
  const counted = sales.filter(
    (sale) => toAmount(sale.price) !== 0n && (sale.seller === null || sale.seller !== sale.buyer),
  );
  const isUnread = counted.some((sale) => toAmount(sale.price) === null && !isOtherCurrency(sale.price));
  const volumeRaw = counted.reduce((sum, sale) => sum + (toAmount(sale.price) ?? 0n), 0n);
  return { sales: counted.length, volumeRaw: isUnread ? null : volumeRaw };
}

type WindowName = 'allTime' | 'thirtyDay' | 'sevenDay' | 'twentyFourHour' | 'oneHour';
export type Windows = Record<WindowName, number | null>;

function volumes(reader: Reader, collection: Collection): Windows {
  return tradeFigures(reader, collection, 'volume');
}

/**
 * Decisions 6, "Kinds of provenance": a reported figure that is young enough, else the sum of the imported sales, else the stored snapshot.
 */
export function tradeFigures(reader: Reader, collection: Collection, figure: 'volume' | 'sales'): Windows {
  const { market, now } = reader;
  const record = market.tables.analytics.get(collection.id);
  const covered = market.coveredUntil('sales', collection.id);
  const all = salesOf(reader, collection.id);
  const statesAny = Object.values(record?.[figure] ?? {}).some((value) => value !== null);
  // Decisions 8, "What an import covers": "An imported all-time figure stands until a sum is known to be complete from the beginning; a smaller sum
  // never replaces it."
  const total = sumSales(all);
  const volume = toNative(total.volumeRaw, collection.chain);
  const statedVolume = Math.max(collection.snapshot.volumeAllTime ?? 0, record?.volume.allTime ?? 0);
  const isVolumePart = volume !== null && statedVolume > volume;
  const isPart = isVolumePart || (record?.sales.allTime ?? 0) > total.sales;
  const figureOf = (name: WindowName, lengthMs: number | null): number | null => {
    const maxAge = lengthMs === null ? MAX_AGE.total : name === 'oneHour' ? MAX_AGE.hour : MAX_AGE.window;
    const isCurrent = record !== undefined && now - record.at < maxAge;
    // "Analytics records have no figures of an hour and of 30 days."
    const stated = name === 'oneHour' || name === 'thirtyDay' ? null : (record?.[figure][name] ?? null);
    if (isCurrent && stated !== null) return stated;
    // Provenance: "When a current analytics record lacks the figure of a period, the sum of the imported sales is not used in its place."
    const isUsable = covered !== null && (lengthMs === null || (now - covered < maxAge && !(isCurrent && statesAny)));
    const sum = sumSales(all.filter(({ soldAt }) => lengthMs === null || soldAt > now - lengthMs));
    const counted = figure === 'sales' ? sum.sales : toNative(sum.volumeRaw, collection.chain);
    if (isUsable && counted !== null && !(lengthMs === null && isPart)) return counted;
    if (figure !== 'volume' || lengthMs !== null) return null;
    const { volumeAllTime } = collection.snapshot;
    // A snapshot below the sum of the known sales is out of date.
    return isPart && volumeAllTime !== null && volumeAllTime < (counted ?? 0) ? null : volumeAllTime;
  };
  return {
    allTime: figureOf('allTime', null),
    thirtyDay: figureOf('thirtyDay', 30 * DAY),
    sevenDay: figureOf('sevenDay', 7 * DAY),
    twentyFourHour: figureOf('twentyFourHour', DAY),
    oneHour: figureOf('oneHour', HOUR),
  };
}

/**
 * Explore, "Collections", `volumeChange`: "known if the stored sales of both periods are complete, by the same rule as for the volume". True: the volume of
 * the last period is above that of the one before. Null also if nothing was sold in the period before.
 */
export function hasRisen({ market, now }: Reader, collection: Collection, lengthMs: number): boolean | null {
  const record = market.tables.analytics.get(collection.id);
  const covered = market.coveredUntil('sales', collection.id);
  const isReported =
    record !== undefined &&
    now - record.at < MAX_AGE.window &&
    Object.values(record.volume).some((value) => value !== null);
  if (isReported || covered === null || now - covered >= MAX_AGE.window) return null;
  const sold = salesOf({ market, now }, collection.id).filter(({ soldAt }) => soldAt > now - 2 * lengthMs);
  const total = sumSales(sold).volumeRaw;
  const last = sumSales(sold.filter(({ soldAt }) => soldAt > now - lengthMs)).volumeRaw;
  if (total === null || last === null || total === last) return null;
  return last > total - last;
}

/** Explore, "Collections": "Spreads and changes have six decimals; further ones are cut off." */
export function toRatio(part: bigint, whole: bigint): number {
  return Number((part * 1_000_000n) / whole) / 1_000_000;
}

/** Null: unknown. */
export function toNative(raw: bigint | null, chain: string): number | null {
  return raw === null ? null : Number(`${raw}e-${decimalsOf(chain)}`);
}

/** `isCounted`: the listed count is the number of the known listings, and not a reported one. */
export type ListingFigures = {
  floorRaw: bigint | null;
  buyerFloorRaw: bigint | null;
  listedCount: number | null;
  isCounted: boolean;
};

/**
 * Decisions 2, "Floor": the cheapest row that is listed, else the reported floor, else the stored snapshot; "a book that is known to be empty has no
 * floor". Decisions 8: `listedCount` is "null until something covers the listings of the collection".
 */
export function listingFigures(reader: Reader, collection: Collection): ListingFigures {
  const { market, now } = reader;
  const rows = listings(reader, collection.id);
  const stats = market.tables.stats.get(collection.id);
  const analytics = market.tables.analytics.get(collection.id);
  const statedCount =
    stats && stats.listedCount !== null && now - stats.at < MAX_AGE.total
      ? { value: stats.listedCount, at: stats.at }
      : null;
  const counted = countListed(reader, collection, rows.length);
  // Specification, "buyerFloor": the "cheapest fill". Of several rows of an asset, another one than the cheapest ask may cost a buyer less.
  const buyerTotals = fills(openListings(reader, collection.id)).map((row) => buyerTotal(row, collection));
  const lowest = buyerTotals.reduce((low, total) => (total < low ? total : low), buyerTotals[0] ?? 0n);
  const cheapest = rows[0];
  if (cheapest) {
    // Provenance, "Listed count": "A reported count below the number of listings that /v1 serves is not used."
    const isStated = statedCount !== null && statedCount.value >= rows.length;
    const listedCount = isStated ? statedCount.value : counted;
    return {
      floorRaw: cheapest.priceRaw,
      buyerFloorRaw: lowest,
      listedCount,
      isCounted: !isStated && counted !== null,
    };
  }
  const listedCount = statedCount?.value ?? counted;
  const isCounted = statedCount === null && counted !== null;
  const reported = [analytics, stats]
    .flatMap((record) => (record && record.floorRaw !== null ? [{ at: record.at, raw: record.floorRaw }] : []))
    .filter(({ at }) => now - at < MAX_AGE.floor);
  // Provenance, "Floor": "When both are read and are empty, the floor is null [if] no marketplace is read and listings were imported."
  if (market.coveredUntil('listings', collection.id) !== null)
    return { floorRaw: null, buyerFloorRaw: null, listedCount, isCounted };
  const [first] = reported;
  const floorRaw = first?.raw ?? collection.snapshot.floorRaw;
  // "The same applies while the listed count is known to be 0, except that a floor that was reported after the time of the count is used: then the
  // listed count is null."
  if (listedCount !== 0 || floorRaw === null) return { floorRaw, buyerFloorRaw: null, listedCount, isCounted };
  const countedAt = statedCount?.at ?? now;
  const newer = first && first.at > countedAt;
  return {
    floorRaw: newer ? floorRaw : null,
    buyerFloorRaw: null,
    listedCount: newer ? null : 0,
    isCounted: isCounted && !newer,
  };
}

/** Provenance, "Listed count": imported listings, or "the number of own orders alone" if nothing tells of listings elsewhere. */
function countListed({ market }: Reader, collection: Collection, listed: number): number | null {
  const { order, listing, stats, analytics } = market.tables;
  if (market.coveredUntil('listings', collection.id) !== null) return listed;
  const isOf = (one: Listing) => one.collectionId === collection.id;
  const ownsOrders = [...order.values()].some(isOf);
  const record = stats.get(collection.id);
  const isElsewhere =
    [...listing.values()].some(isOf) ||
    (record?.floorRaw ?? analytics.get(collection.id)?.floorRaw ?? record?.listedCount ?? null) !== null;
  return ownsOrders && !isElsewhere ? listed : null;
}

/** Decisions 2, "Floor": own ask + platform fee + royalty, each rounded up; an external row's buyer total, or its ask when none is recorded. */
function buyerTotal({ source, priceRaw, buyerTotalRaw }: Listing, { royaltyBps }: Collection): bigint {
  if (source !== null && source !== SERVICE_NAME) return buyerTotalRaw ?? priceRaw;
  if (buyerTotalRaw !== null) return buyerTotalRaw;
  const share = (bps: bigint) => (priceRaw * bps + 9_999n) / 10_000n;
  return priceRaw + share(PLATFORM_FEE_BPS) + share(BigInt(royaltyBps ?? 0));
}

/**
 * Provenance: supply and owners come from a stats record, else from imported tokens if all are imported, else from the snapshot. `isCounted`: the supply is the
 * number of the imported tokens.
 */
export function holdings(
  reader: Reader,
  collection: Collection,
): { supply: number | null; owners: number | null; isCounted: boolean } {
  const { market, now } = reader;
  const stats = market.tables.stats.get(collection.id);
  const record = stats && now - stats.at < MAX_AGE.total ? stats : null;
  const tokens = tokensOf(reader, collection.id);
  const owners = new Set(tokens.map(({ owner }) => owner).filter((owner) => owner !== null)).size;
  const counts = collection.tokensComplete && tokens.length > 0;
  return {
    supply: record?.supply ?? (counts ? tokens.length : collection.snapshot.supply),
    owners: record?.owners ?? (counts && owners > 0 ? owners : collection.snapshot.owners),
    isCounted: counts && (record?.supply ?? null) === null,
  };
}

export function tokensOf({ market }: Reader, collectionId: string): Token[] {
  return [...market.tables.token.values()].filter((token) => token.collectionId === collectionId);
}

export type Ranking = {
  sort: 'volume' | 'sales' | 'floor' | 'listed' | 'recent';
  window: keyof typeof WINDOWS;
  chain: string | null;
  order: 'asc' | 'desc';
  floorMin?: string;
  floorMax?: string;
  volumeMin?: string;
  volumeMax?: string;
};
const WINDOWS = {
  '1h': 'oneHour',
  '24h': 'twentyFourHour',
  '7d': 'sevenDay',
  '30d': 'thirtyDay',
  all: 'allTime',
} as const satisfies Record<string, WindowName>;

/**
 * Explore, "Rankings": the collections of a ranking in their order, each with a text that is the same for collections that the sort does not tell apart.
 * "Collections launched on the service come first, and unknown values come last, also with order=asc." "Without chain, volumes and floors are compared
 * in dollars. [Those] on chains without a known rate follow." Decisions 2, "Collections list": the same for `/v1`, ties by id.
 */
export function rankingKeys(reader: Reader, ranking: Ranking): Map<string, { id: string; text: string }> {
  const { sort, window, chain, order } = ranking;
  const { collection, rate } = reader.market.tables;
  const rateOf = (one: Collection) => rate.get(CHAINS[one.chain]?.symbol ?? '')?.usd ?? null;
  const floorOf = (one: Collection) => toNative(listingFigures(reader, one).floorRaw, one.chain);
  const volumeOf = (one: Collection) => tradeFigures(reader, one, 'volume')[WINDOWS[window]];
  const valueOf = (one: Collection): number | null => {
    if (sort === 'floor') return floorOf(one);
    if (sort === 'recent') return one.createdAt;
    if (sort === 'listed') return listingFigures(reader, one).listedCount;
    return tradeFigures(reader, one, sort)[WINDOWS[window]];
  };
  // "floorMin … are decimals in native units of chain. Without chain they are in dollars, and collections on chains without a known rate are left out."
  const isWithin = (one: Collection, value: number | null, min?: string, max?: string): boolean => {
    if (min === undefined && max === undefined) return true;
    const unit = chain === null ? rateOf(one) : 1;
    if (value === null || unit === null) return false;
    return value * unit >= Number(min ?? 0) && value * unit <= Number(max ?? Infinity);
  };
  const rows = [...collection.values()]
    .filter((one) => chain === null || one.chain === chain)
    .filter((one) => isWithin(one, floorOf(one), ranking.floorMin, ranking.floorMax))
    .filter((one) => isWithin(one, volumeOf(one), ranking.volumeMin, ranking.volumeMax))
    .map(({ id, launched, ...one }) => {
      const value = valueOf({ id, launched, ...one });
      const inDollars = chain === null && (sort === 'volume' || sort === 'floor');
      const usd = inDollars ? rateOf({ id, launched, ...one }) : 1;
      const group = value === null ? 2 : usd === null ? 1 : 0;
      return { id, launched, group, value: (value ?? 0) * (usd ?? 1) };
    });
  const sign = order === 'asc' ? -1 : 1;
  const sorted = rows.toSorted(
    (a, b) =>
      Number(b.launched) - Number(a.launched) ||
      a.group - b.group ||
      sign * (b.value - a.value) ||
      compareText(a.id, b.id),
  );
  return new Map(sorted.map(({ id, launched, group, value }) => [id, { id, text: `${launched} ${group} ${value}` }]));
}

/** Decisions 2, "Prices": `usd` is null when the newest rate is older than 15 minutes. */
export function hasDollars({ market, now }: Reader, chain: string): boolean {
  const rate = market.tables.rate.get(CHAINS[chain]?.symbol ?? '');
  return rate !== undefined && now - rate.at <= 15 * MINUTE;
}

/** Specification, "MarketItem.marketplace": the code for the service's own rows, the slug of the source for external rows. */
export function toMarketplace(source: string | null): string {
  return source === null || source === SERVICE_NAME ? SERVICE_NAME.toUpperCase() : source;
}
