// Generates the sample marketplace as records of the intake's formats, so that a new service shows a working market. The records depend
// only on the time `at`: the same `at` always gives the same bytes, and another `at` changes only the times.

import type { Address } from '../src/platform/core/address.ts';
import { parseAmount, toNativeNumber } from '../src/platform/core/amount.ts';
import { createChains } from '../src/platform/core/chains.ts';
import { toCollectionId } from '../src/platform/core/collection.ts';
import type { SampleBid } from './bids.ts';
import { generateBids } from './bids.ts';
import type { SampleListing } from './listings.ts';
import { generateListings, generateFilledListings } from './listings.ts';
import { SAMPLE_COLLECTIONS } from './catalogue.ts';
import { Random, toEvmAddress, toSolanaAddress } from './random.ts';
import { drawBanner, drawPicture } from './pictures.ts';
import type { SampleAsset, SampleSale, CollectionContext } from './history.ts';
import { createCollectionContext, DAY_MS, generateAssets, generateSales, SAMPLE_ANCHOR } from './history.ts';

/** The wallet that holds the tokens listed through the service itself on Solana: a value for `CUSTODY_WALLETS`. */
export const SAMPLE_CUSTODY_WALLET: string = toSolanaAddress('custody');

type SampleRecord = Record<string, unknown>;

/**
 * Generates the records of the sample, collection by collection. The record of a collection comes first. The newest sales are minutes older
 * than `at`, a time in milliseconds since the epoch. The reported figures are the figures at this time.
 */
export function* generateSampleMarket({
  serviceName,
  at = SAMPLE_ANCHOR,
}: {
  serviceName: string;
  at?: number;
}): Generator<SampleRecord> {
  const shiftMs = Math.floor((at - SAMPLE_ANCHOR) / 1000) * 1000;
  for (const context of createContexts(serviceName)) {
    for (const record of generateCollection(context)) yield shiftMs === 0 ? record : shiftTimes(record, shiftMs);
  }
}

/** The id and the chain of each collection of the sample. */
export function listSampleCollections(): { collectionId: string; chain: string }[] {
  return createContexts('mercat').map(({ chain, address }) => ({
    collectionId: toCollectionId(chain.id, address),
    chain: chain.id,
  }));
}

function createContexts(serviceName: string): CollectionContext[] {
  const chains = createChains();
  return SAMPLE_COLLECTIONS.map((spec) => {
    const chain = chains.get(spec.chain);
    if (!chain) throw new RangeError(`the sample names an unknown chain: ${spec.chain}`);
    return createCollectionContext(spec, chain, serviceName);
  });
}

const TIME_FIELDS = ['createdAt', 'timestamp', 'expiresAt', 'endedAt', 'at'] as const;

/** Moves all times of a record. The id of an order ends in its creation time, so references to orders change too. */
function shiftTimes(record: SampleRecord, shiftMs: number): SampleRecord {
  const shifted = { ...record };
  for (const field of TIME_FIELDS) {
    const time = record[field];
    if (typeof time === 'string') shifted[field] = toTime(Date.parse(time) + shiftMs);
  }
  const { listingId, chain, contractAddress } = record;
  const orders = `${String(chain)}_${String(contractAddress)}_`;
  if (typeof listingId === 'string' && listingId.startsWith(orders)) {
    const end = listingId.lastIndexOf('_') + 1;
    shifted['listingId'] = `${listingId.slice(0, end)}${Number(listingId.slice(end)) + shiftMs}`;
  }
  return shifted;
}

function* generateCollection(context: CollectionContext): Generator<SampleRecord> {
  const wallets = pickWallets(context);
  const assets = generateAssets(context, wallets);
  const sales = generateSales(context, assets, wallets);
  const filled = generateFilledListings(context, sales);
  const listings = generateListings(context, assets);
  const custody = findInCustody(context, assets, listings);
  const figures = summarise(context, assets, sales, listings);

  yield toCollectionRecord(context, figures);
  for (const asset of assets) yield toTokenRecord(context, asset, custody);
  for (const listing of [...listings, ...filled.values()]) yield toListingRecord(context, listing);
  for (const sale of sales) yield toSaleRecord(context, sale, filled.get(sale)?.id ?? null);
  for (const bid of generateBids(context, assets, wallets)) yield toBidRecord(context, bid, assets);
  yield* toFigureRecords(context, figures);
}

/** The number of wallets of each chain family. Each collection uses some of them, so that wallets hold tokens of several collections. */
const WALLETS = { evm: 150, solana: 90 } as const;

function pickWallets({ spec, chain }: CollectionContext): Address[] {
  const toWallet = chain.family === 'evm' ? toEvmAddress : toSolanaAddress;
  const all = Array.from({ length: WALLETS[chain.family] }, (_, index) => toWallet('wallet', String(index)));
  return new Random('wallets', spec.slug).shuffle(all).slice(0, Math.ceil(spec.tokens * 0.45));
}

/** Returns the tokens in custody: the tokens that are listed through the service, and a few tokens without a listing. */
function findInCustody(context: CollectionContext, assets: SampleAsset[], listings: SampleListing[]): Set<SampleAsset> {
  if (!context.spec.escrow) return new Set();
  const active = listings.filter(isActive);
  const listed = new Set(active.map(({ asset }) => asset));
  const own = active.filter(({ source }) => source === context.serviceName).map(({ asset }) => asset);
  return new Set([...own, ...assets.filter((asset) => asset.number % 23 === 9 && !listed.has(asset))]);
}

function isActive(listing: SampleListing): boolean {
  return listing.status === 'active' && (listing.expiresAt === null || listing.expiresAt > SAMPLE_ANCHOR);
}

type Window = { allTime: number; sevenDay: number; twentyFourHour: number };

type Figures = { owners: number; listedCount: number; floorRaw: string | null; volume: Window; sales: Window };

/**
 * How many sales were made before the last year, as a multiple of the sales in the last year. The sample has no records of these earlier
 * sales. They count only in the totals that are reported for collections older than a year.
 */
const EARLIER_SALES = 2;

function summarise(
  context: CollectionContext,
  assets: SampleAsset[],
  sales: SampleSale[],
  listings: SampleListing[],
): Figures {
  const { spec, chain, floor } = context;
  const counted = sales.filter((sale) => (parseAmount(sale.price) ?? 0n) > 0n);
  const within = (days: number) => counted.filter((sale) => sale.at > SAMPLE_ANCHOR - days * DAY_MS);
  const volume = (rows: SampleSale[], times = 1) =>
    toNativeNumber(rows.reduce((sum, sale) => sum + sale.raw, 0n) * BigInt(times), chain.decimals);
  const times = spec.reports.includes('analytics') && spec.ageDays > 365 ? 1 + EARLIER_SALES : 1;
  const [week, day] = [within(7), within(1)];
  return {
    owners: new Set(assets.map(({ holder }) => holder)).size,
    listedCount: new Set(listings.filter(isActive).map(({ asset }) => asset)).size,
    floorRaw: spec.listed > 0 ? floor.toString() : null,
    volume: { allTime: volume(counted, times), sevenDay: volume(week), twentyFourHour: volume(day) },
    sales: { allTime: counted.length * times, sevenDay: week.length, twentyFourHour: day.length },
  };
}

function toCollectionRecord({ spec, address, createdAt }: CollectionContext, figures: Figures): SampleRecord {
  const { owners, floorRaw, volume } = figures;
  const snapshot = toFields({ floorRaw, volumeAllTime: volume.allTime, supply: spec.tokens, owners });
  return toFields({
    kind: 'collection',
    chain: spec.chain,
    contractAddress: address,
    slug: spec.slug,
    name: spec.name,
    image: drawPicture(spec.art, `${spec.slug} cover`, spec.name),
    banner: drawBanner(spec.art, `${spec.slug} banner`),
    description: spec.description,
    tokenStandard: spec.tokenStandard,
    royaltyBps: spec.royaltyBps,
    launched: spec.launched ?? null,
    createdAt: toTime(createdAt),
    tokensComplete: true,
    listingsComplete: true,
    snapshot: spec.reports.includes('snapshot') ? snapshot : null,
  });
}

function toTokenRecord(
  context: CollectionContext,
  asset: SampleAsset,
  custody: ReadonlySet<SampleAsset>,
): SampleRecord {
  const { slug, art } = context.spec;
  const owner = custody.has(asset) ? SAMPLE_CUSTODY_WALLET : asset.holder;
  return toFields({
    kind: 'token',
    ...toTokenFields(context, asset),
    name: asset.number % 53 === 7 ? null : asset.name,
    image: drawPicture(art, `${slug} ${asset.number}`, asset.name),
    rarityRank: asset.rank,
    owner,
    traits: asset.traits,
  });
}

/** Converts a listing to a record: an `order` for a listing of the service on an EVM chain, otherwise a `listing`. */
function toListingRecord(context: CollectionContext, listing: SampleListing): SampleRecord {
  const common = {
    ...toTokenFields(context, listing.asset),
    priceRaw: listing.raw.toString(),
    seller: listing.seller,
    expiresAt: listing.expiresAt === null ? null : toTime(listing.expiresAt),
    endedAt: listing.endedAt === null ? null : toTime(listing.endedAt),
    status: listing.status,
    tx: listing.tx,
  };
  if (context.chain.family === 'evm' && listing.source === context.serviceName) {
    return toFields({ kind: 'order', ...common, createdAt: toTime(listing.listedAt) });
  }
  return toFields({
    kind: 'listing',
    source: listing.source,
    ...common,
    buyerTotalRaw: listing.buyerTotal?.toString() ?? null,
    id: listing.id,
    orderHash: listing.orderHash,
    timestamp: toTime(listing.listedAt),
  });
}

function toSaleRecord(context: CollectionContext, sale: SampleSale, listingId: string | null): SampleRecord {
  return toFields({
    kind: 'sale',
    source: sale.source,
    ...toTokenFields(context, sale.asset),
    price: sale.price,
    seller: sale.seller,
    buyer: sale.buyer,
    timestamp: toTime(sale.at),
    listingId,
    tx: sale.tx,
    logIndex: sale.logIndex,
  });
}

/** A bid for the tokens with a trait names these tokens too, so that the set does not depend on what was loaded before. */
function toBidRecord(context: CollectionContext, bid: SampleBid, assets: readonly SampleAsset[]): SampleRecord {
  const { chain, address } = context;
  const { asset, trait } = bid;
  const isWanted = ({ traits }: SampleAsset) =>
    traits.some(({ name, value }) => name === trait?.name && value === trait.value);
  const names = chain.family === 'evm' ? 'tokenIds' : 'mints';
  return toFields({
    kind: 'bid',
    source: bid.source,
    ...(asset ? toTokenFields(context, asset) : { chain: chain.id, contractAddress: address }),
    ...(trait && { traits: [trait], [names]: assets.filter(isWanted).map(({ id }) => id) }),
    priceRaw: bid.raw.toString(),
    proceedsRaw: bid.proceeds.toString(),
    buyer: bid.buyer,
    id: bid.id,
    quantity: bid.quantity.toString(),
    remaining: bid.remaining.toString(),
    timestamp: toTime(bid.madeAt),
    expiresAt: bid.expiresAt === null ? null : toTime(bid.expiresAt),
    endedAt: bid.endedAt === null ? null : toTime(bid.endedAt),
    status: bid.status,
  });
}

/** Yields the stats and analytics records of the collection, if it reports any. */
function* toFigureRecords({ spec, address }: CollectionContext, figures: Figures): Generator<SampleRecord> {
  const { owners, listedCount, floorRaw, volume, sales } = figures;
  const common = { chain: spec.chain, contractAddress: address, at: toTime(SAMPLE_ANCHOR) };
  if (spec.reports.includes('stats')) {
    yield toFields({ kind: 'stats', ...common, owners, listedCount, supply: spec.tokens, floorRaw });
  }
  if (spec.reports.includes('analytics')) yield toFields({ kind: 'analytics', ...common, floorRaw, volume, sales });
  if (spec.reports.includes('analytics-without-floor')) yield { kind: 'analytics', ...common, volume, sales };
}

function toTokenFields({ chain, address }: CollectionContext, asset: SampleAsset): SampleRecord {
  const name = chain.family === 'evm' ? 'tokenId' : 'mint';
  return { chain: chain.id, contractAddress: address, [name]: asset.id };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Returns a record without the fields whose value is null. */
function toFields(fields: SampleRecord): SampleRecord {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
