// Magic Eden's API v2 for Solana: converts the statistics, listings, sales and tokens of a collection to records. Rows have the price in
// SOL as a decimal number; newer rows also have the exact amount in lamports. The decimal number is read from its text. A price that is not
// a whole number of lamports is rejected.

import { parseAmount, parseNativeAmount } from '../../../platform/core/amount.ts';
import type { ParsedPage, VendorRow, SourceRecord } from '../response-rows.ts';
import {
  emptyPage,
  parseRows,
  optionalAddress,
  optionalInteger,
  optionalNumberText,
  optionalRow,
  optionalText,
  rejectRow,
  rejectUnsupported,
  requiredAddress,
  requiredAsset,
  requiredInteger,
  requiredText,
  toRow,
  toTime,
} from '../response-rows.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { toMalformed, toPath, UpstreamFailure } from '../upstream-client.ts';
import type { WalkEnd } from '../walk.ts';
import { parsePages, walkPages } from '../walk.ts';

/** The caller gives the contract address, because Magic Eden's rows do not contain it. */
export type MagicEdenCollection = { symbol: string; contractAddress: string };

/** The name of the vendor, and the `source` of its records. */
export const MAGIC_EDEN = 'magic-eden';

const CHAIN = { chain: 'solana' } as const;
const SOL_DECIMALS = 9;
const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';

/** The most listings that the API returns in one page. */
const LISTINGS_PAGE = 100;
/** The most activities that the API returns in one page. */
const ACTIVITIES_PAGE = 500;
/**
 * Each page begins this many rows before the end of the previous page, because the list can change between two requests. No listing is
 * missed when up to this many listings of earlier pages end between the two requests.
 */
const OVERLAP = 10;
const LISTINGS_MAX = 20_000;
const LISTING_PAGES_MAX = 250;
const ACTIVITY_PAGES_MAX = 40;
const ACTIVITIES_MAX = 20_000;
/** A walk counts as incomplete when it read less than this share of the number of listings in the statistics. */
const COUNTED_SHARE_MIN = 0.9;
/** A row whose block time is further in the future than this is rejected. */
const FUTURE_MAX_MS = 24 * 60 * 60_000;

/**
 * The statistics of a collection as records `stats` and `analytics`, with the time `now`. Statistics without floor and volume give no
 * record: for an unknown symbol, the API returns such statistics with 0 listings.
 */
export async function readMagicEdenStats(
  upstream: UpstreamClient,
  collection: MagicEdenCollection,
  { now, signal }: { now: number; signal?: AbortSignal },
): Promise<ParsedPage> {
  const response = await upstream.getJson(
    toPath('v2', 'collections', collection.symbol, 'stats'),
    {},
    withSignal(signal),
  );
  return parseRows([response], (row) => {
    if (requiredText(row, 'symbol') !== collection.symbol) rejectRow('symbol', 'belongs to another collection');
    const floor = optionalNumberText(row, 'floorPrice');
    const listedCount = optionalInteger(row, 'listedCount');
    if (listedCount !== null && listedCount < 0) rejectRow('listedCount', 'is negative');
    // Other responses of this API have a `symbol` too. A response without `floorPrice` and `listedCount` is not statistics.
    if (floor === null && listedCount === null) rejectRow('listedCount', 'is missing, and so is floorPrice');
    // The floor is in lamports, unlike other prices of this API, which are in SOL.
    const floorRaw = floor === null ? null : parseNativeAmount(floor, 0);
    if (floor !== null && floorRaw === null) rejectRow('floorPrice', 'is not a whole number of lamports');
    const volume = readVolume(row);
    if (floor === null && volume === null) return [];
    const common = { ...CHAIN, contractAddress: collection.contractAddress, at: new Date(now).toISOString() };
    return [
      {
        kind: 'stats',
        ...common,
        ...(floorRaw !== null && floorRaw > 0n && { floorRaw: floorRaw.toString() }),
        ...(listedCount !== null && { listedCount }),
      },
      ...(volume === null ? [] : [{ kind: 'analytics', ...common, volume: { allTime: volume } }]),
    ];
  });
}

/** In SOL. The statistics have the volume in lamports, which may have decimals. */
function readVolume(row: VendorRow): number | null {
  const text = optionalNumberText(row, 'volumeAll');
  if (text === null) return null;
  const lamports = Number(text);
  return Number.isFinite(lamports) && lamports >= 0
    ? lamports / 10 ** SOL_DECIMALS
    : rejectRow('volumeAll', 'is not an amount');
}

/**
 * Reads the listings of a collection and the tokens in their rows, the cheapest first, a page at a time. Rows have no time, so each listing
 * gets the time `now`. `counted`: the number of listings in the statistics, or null. The walk is complete only if at least nine tenths of
 * the `counted` listings were read. Also, each page with rows, except the first, must share a row with an earlier page.
 */
export async function* walkMagicEdenListings(
  upstream: UpstreamClient,
  collection: MagicEdenCollection,
  { now, counted = null, signal }: { now: number; counted?: number | null; signal?: AbortSignal },
): AsyncGenerator<ParsedPage, WalkEnd> {
  const seen = new Set<string>();
  let overlaps = true;
  const pages = walkPages(
    async (cursor) => {
      const offset = Number(cursor ?? '0');
      const rows = await readArray(upstream, toPath('v2', 'collections', collection.symbol, 'listings'), signal, {
        offset,
        limit: LISTINGS_PAGE,
        sort: 'listPrice',
        sort_direction: 'asc',
        listingAggMode: 'false',
      });
      const ids = rows.map(identify);
      if (offset > 0 && rows.length > 0 && !ids.some((id) => seen.has(id))) overlaps = false;
      for (const id of ids) seen.add(id);
      return { rows, next: rows.length < LISTINGS_PAGE ? null : String(offset + LISTINGS_PAGE - OVERLAP) };
    },
    { pagesMax: LISTING_PAGES_MAX, rowsMax: LISTINGS_MAX },
  );
  const end = yield* parsePages(pages, (rows) => parseMagicEdenListings(rows, collection, { now }));
  if (end.gap !== null) return end;
  if (!overlaps) return { ...end, gap: 'gap between pages' };
  const isEnough = counted === null || seen.size >= counted * COUNTED_SHARE_MIN;
  return isEnough ? end : { ...end, gap: 'fewer listings than counted' };
}

/**
 * Reads the sales of a collection from the time `since` onward, the newest first, a page at a time. The walk is complete when it reached an
 * activity before `since`, or the end of the list.
 */
export function walkMagicEdenSales(
  upstream: UpstreamClient,
  collection: MagicEdenCollection,
  { now, since, signal }: { now: number; since: number; signal?: AbortSignal },
): AsyncGenerator<ParsedPage, WalkEnd> {
  const pages = walkPages(
    async (cursor) => {
      const offset = Number(cursor ?? '0');
      const rows = await readArray(upstream, toPath('v2', 'collections', collection.symbol, 'activities'), signal, {
        offset,
        limit: ACTIVITIES_PAGE,
      });
      // A new activity moves all older rows towards later pages. So a row may be read twice, and no row is missed.
      const reached = rows.some((row) => readBlockTime(row) < since);
      return { rows, next: reached || rows.length < ACTIVITIES_PAGE ? null : String(offset + ACTIVITIES_PAGE) };
    },
    { pagesMax: ACTIVITY_PAGES_MAX, rowsMax: ACTIVITIES_MAX },
  );
  return parsePages(pages, (rows) => parseMagicEdenSales(rows, collection, { now, since }));
}

/** The page is empty when Magic Eden does not know the token. */
export async function readMagicEdenToken(
  upstream: UpstreamClient,
  collection: MagicEdenCollection,
  { mint, signal }: { mint: string; signal?: AbortSignal },
): Promise<ParsedPage> {
  try {
    const response = await upstream.getJson(toPath('v2', 'tokens', mint), {}, withSignal(signal));
    return parseRows([response], (row) => {
      if (requiredAsset(row, 'mintAddress', 'solana') !== mint) rejectRow('mintAddress', 'belongs to another token');
      const owner = optionalAddress(row, 'owner', 'solana');
      return [{ ...toToken(row, collection, mint), ...(owner !== null && { owner }) }];
    });
  } catch (error) {
    if (error instanceof UpstreamFailure && error.reason === 'not-found') return emptyPage();
    throw error;
  }
}

/** Each listing gets the time `now`. */
export function parseMagicEdenListings(
  rows: readonly unknown[],
  collection: MagicEdenCollection,
  { now }: { now: number },
): ParsedPage {
  return parseRows(rows, (row) => toListings(row, collection, now));
}

/** Only sales from the time `since` onward. Other activities are skipped. */
export function parseMagicEdenSales(
  rows: readonly unknown[],
  collection: MagicEdenCollection,
  times: { now: number; since: number },
): ParsedPage {
  return parseRows(rows, (row) => toSales(row, collection, times));
}

function toListings(row: VendorRow, collection: MagicEdenCollection, now: number): SourceRecord[] {
  const source = optionalText(row, 'listingSource');
  if (source !== null && !OWN_SOURCES.has(source)) rejectRow('listingSource', 'is another marketplace');
  const mint = requiredAsset(row, 'tokenMint', 'solana');
  const size = optionalInteger(row, 'tokenSize') ?? 1;
  if (size !== 1) rejectRow('tokenSize', 'is not one token');
  const priceRaw = readLamports(row);
  if (priceRaw === 0n) rejectRow('price', 'is not positive');
  const account = requiredAddress(row, 'pdaAddress', 'solana');
  const expiry = optionalInteger(row, 'expiry') ?? NO_EXPIRY;
  const listing = {
    kind: 'listing',
    source: MAGIC_EDEN,
    ...CHAIN,
    contractAddress: collection.contractAddress,
    mint,
    id: toListingId({ account, mint, isPool: source === POOL, expiry }),
    priceRaw: priceRaw.toString(),
    seller: requiredAddress(row, 'seller', 'solana'),
    timestamp: new Date(now).toISOString(),
    ...(expiry > 0 && { expiresAt: toTime(expiry, 'expiry') }),
  };
  const token = optionalRow(row, 'token');
  if (token === null) return [listing];
  checkSymbol(token, 'collection', collection);
  // If the mints differ, `tokenMint` is the listed token, and `token` describes another token of the collection.
  if (optionalText(token, 'mintAddress') !== mint) return [listing];
  return [listing, { ...toToken(token, collection, mint), ...readRank(row) }];
}

type ListingFacts = { account: string; mint: string; isPool: boolean; expiry: number };

/**
 * A pool sells many tokens from one account, so the mint is part of the id. A seller lists a token again from the same account after an earlier
 * listing has expired. That is another listing, so the expiry is part of the id too.
 */
function toListingId({ account, mint, isPool, expiry }: ListingFacts): string {
  return [account, ...(isPool ? [mint] : []), ...(expiry > 0 ? [String(expiry)] : [])].join(':');
}

const POOL = 'MMM';
const OWN_SOURCES: ReadonlySet<string> = new Set(['M2', 'M3', POOL]);
const NO_EXPIRY = -1;

function toSales(row: VendorRow, collection: MagicEdenCollection, { now, since }: { now: number; since: number }) {
  if (requiredText(row, 'type') !== SALE) return [];
  checkSymbol(row, 'collectionSymbol', collection);
  const seconds = requiredInteger(row, 'blockTime');
  const timestamp = toTime(seconds, 'blockTime');
  if (seconds * 1_000 < since) return [];
  if (seconds * 1_000 > now + FUTURE_MAX_MS) rejectRow('blockTime', 'is in the future');
  const signature = requiredText(row, 'signature');
  if (!SIGNATURE.test(signature)) rejectRow('signature', 'is not a signature in base58');
  const seller = optionalAddress(row, 'seller', 'solana');
  const buyer = optionalAddress(row, 'buyer', 'solana');
  return [
    {
      kind: 'sale',
      source: MAGIC_EDEN,
      ...CHAIN,
      contractAddress: collection.contractAddress,
      mint: requiredAsset(row, 'tokenMint', 'solana'),
      price: readLamports(row).toString(),
      ...(seller !== null && { seller }),
      ...(buyer !== null && { buyer }),
      timestamp,
      tx: signature,
    },
  ];
}

const SALE = 'buyNow';
/** 64 bytes in base58. */
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

function toToken(row: VendorRow, collection: MagicEdenCollection, mint: string): SourceRecord {
  const name = optionalText(row, 'name');
  const image = optionalText(row, 'image');
  return {
    kind: 'token',
    ...CHAIN,
    contractAddress: collection.contractAddress,
    mint,
    ...(name !== null && { name }),
    ...(image !== null && { image }),
  };
}

/** In lamports: the exact amount if the row has one, otherwise converted from the decimal number in SOL. */
function readLamports(row: VendorRow): bigint {
  const info = optionalRow(row, 'priceInfo');
  const splPrice = info && optionalRow(info, 'splPrice');
  if (splPrice && optionalText(splPrice, 'address') !== WRAPPED_SOL)
    rejectUnsupported('priceInfo.splPrice', 'is another currency');
  const solPrice = info && optionalRow(info, 'solPrice');
  if (solPrice) {
    const decimals = optionalInteger(solPrice, 'decimals') ?? SOL_DECIMALS;
    if (decimals !== SOL_DECIMALS) rejectRow('priceInfo.solPrice.decimals', 'are not 9');
    return (
      parseAmount(requiredText(solPrice, 'rawAmount')) ?? rejectRow('priceInfo.solPrice.rawAmount', 'is not an amount')
    );
  }
  const text = optionalNumberText(row, 'price') ?? rejectRow('price', 'is missing');
  return parseNativeAmount(text, SOL_DECIMALS) ?? rejectRow('price', 'is not a whole number of lamports');
}

/** The rarity rank by Magic Eden's own measure, or by the first other measure that the row has. */
function readRank(row: VendorRow): { rarityRank?: number } {
  const rarity = optionalRow(row, 'rarity');
  for (const measure of ['meInstant', 'moonrank', 'howrare']) {
    const ranking = rarity && optionalRow(rarity, measure);
    const rank = ranking ? optionalInteger(ranking, 'rank') : null;
    if (rank !== null && rank > 0) return { rarityRank: rank };
  }
  return {};
}

function checkSymbol(row: VendorRow, field: string, collection: MagicEdenCollection): void {
  const symbol = optionalText(row, field);
  if (symbol !== null && symbol !== collection.symbol) rejectRow(field, 'belongs to another collection');
}

async function readArray(
  upstream: UpstreamClient,
  path: string,
  signal: AbortSignal | undefined,
  query: Record<string, string | number>,
): Promise<readonly unknown[]> {
  const response = await upstream.getJson(path, query, withSignal(signal));
  if (!Array.isArray(response)) throw toMalformed(upstream, 'not an array');
  if (response.length > Number(query['limit'])) {
    throw toMalformed(upstream, 'more rows than requested');
  }
  return response;
}

function identify(value: unknown): string {
  const row = typeof value === 'object' && value !== null ? (value as VendorRow) : {};
  return JSON.stringify([row['pdaAddress'], row['tokenMint']]);
}

/** In milliseconds. Infinite for a row without a valid time, so that the row does not end the walk. */
function readBlockTime(value: unknown): number {
  try {
    return requiredInteger(toRow(value, 'row'), 'blockTime') * 1_000;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function withSignal(signal: AbortSignal | undefined) {
  return signal ? { signal } : {};
}
