// The sample marketplace: records in the formats of the intake, made by the program itself, so that a new service shows a
// working market at once. It must never read the clock or real randomness: two loads are alike to the byte, for ever.

import type { Address } from '../src/core/address.ts';
import { parseAmount, toNativeNumber } from '../src/core/amount.ts';
import { createChains } from '../src/core/chains.ts';
import type { SampleListing } from './listings.ts';
import { drawBook, drawFilled, hasKnownOwner } from './listings.ts';
import { SAMPLE_COLLECTIONS } from './catalogue.ts';
import { createRandom, toEvmAddress, toSolanaAddress } from './random.ts';
import { drawBanner, drawPicture } from './pictures.ts';
import type { SampleAsset, SampleSale, SampleSubject } from './history.ts';
import { createSubject, DAY_MS, drawAssets, drawSales, SAMPLE_ANCHOR } from './history.ts';

/** Holds the tokens that are listed through the service itself on Solana: for `CUSTODY_WALLETS`. */
export const SAMPLE_CUSTODY_WALLET: string = toSolanaAddress('custody');

type SampleRecord = Record<string, unknown>;

/** Every record of the sample, collection by collection: the collection itself first. */
export function* generateSampleMarket(options: { serviceName: string }): Generator<SampleRecord> {
  const chains = createChains();
  for (const spec of SAMPLE_COLLECTIONS) {
    const chain = chains.get(spec.chain);
    if (!chain) throw new RangeError(`the sample names an unknown chain: ${spec.chain}`);
    yield* generateCollection(createSubject(spec, chain, options.serviceName));
  }
}

function* generateCollection(subject: SampleSubject): Generator<SampleRecord> {
  const wallets = drawWallets(subject);
  const assets = drawAssets(subject, wallets);
  const sales = drawSales(subject, assets, wallets);
  const filled = drawFilled(subject, sales);
  const book = drawBook(subject, assets);
  const custody = findInCustody(subject, assets, book);
  const figures = summarise(subject, assets, sales, book);

  yield toCollectionRecord(subject, figures);
  for (const asset of assets) yield toTokenRecord(subject, asset, custody);
  for (const listing of [...book, ...filled.values()]) yield toListingRecord(subject, listing);
  for (const sale of sales) yield toSaleRecord(subject, sale, filled.get(sale)?.id ?? null);
  yield* toToldRecords(subject, figures);
}

/** Wallets in all, of which each collection has some: so that collectors hold more than one thing. */
const WALLETS = { evm: 150, solana: 90 } as const;

function drawWallets({ spec, chain }: SampleSubject): Address[] {
  const toWallet = chain.family === 'evm' ? toEvmAddress : toSolanaAddress;
  const all = Array.from({ length: WALLETS[chain.family] }, (_, index) => toWallet('wallet', String(index)));
  return createRandom('wallets', spec.slug)
    .shuffle(all)
    .slice(0, Math.ceil(spec.tokens * 0.45));
}

/** Own listings are in escrow until they sell, and a few tokens lie there unlisted, waiting to be fetched. */
function findInCustody(subject: SampleSubject, assets: SampleAsset[], book: SampleListing[]): Set<SampleAsset> {
  if (!subject.spec.escrow) return new Set();
  const active = book.filter(isActive);
  const listed = new Set(active.map(({ asset }) => asset));
  const own = active.filter(({ source }) => source === subject.serviceName).map(({ asset }) => asset);
  return new Set([...own, ...assets.filter((asset) => asset.number % 23 === 9 && !listed.has(asset))]);
}

function isActive(listing: SampleListing): boolean {
  return listing.status === 'active' && (listing.expiresAt === null || listing.expiresAt > SAMPLE_ANCHOR);
}

type Window = { allTime: number; sevenDay: number; twentyFourHour: number };

type Figures = { owners: number; listedCount: number; floorRaw: string | null; volume: Window; sales: Window };

/** Sales from before the stored year, as a multiple of the stored ones: what only an analytics source can tell. */
const EARLIER_SALES = 2;

function summarise(
  { spec, chain, floor }: SampleSubject,
  assets: SampleAsset[],
  sales: SampleSale[],
  book: SampleListing[],
): Figures {
  const counted = sales.filter((sale) => (parseAmount(sale.price) ?? 0n) > 0n);
  const within = (days: number) => counted.filter((sale) => sale.at > SAMPLE_ANCHOR - days * DAY_MS);
  const volume = (rows: SampleSale[], times = 1) =>
    toNativeNumber(rows.reduce((sum, sale) => sum + sale.raw, 0n) * BigInt(times), chain.decimals);
  const times = spec.told.includes('analytics') && spec.ageDays > 365 ? 1 + EARLIER_SALES : 1;
  const [week, day] = [within(7), within(1)];
  return {
    owners: new Set(assets.filter(hasKnownOwner).map(({ holder }) => holder)).size,
    listedCount: new Set(book.filter(isActive).map(({ asset }) => asset)).size,
    floorRaw: spec.listed > 0 ? floor.toString() : null,
    volume: { allTime: volume(counted, times), sevenDay: volume(week), twentyFourHour: volume(day) },
    sales: { allTime: counted.length * times, sevenDay: week.length, twentyFourHour: day.length },
  };
}

function toCollectionRecord({ spec, address, createdAt }: SampleSubject, figures: Figures): SampleRecord {
  const { owners, floorRaw, volume } = figures;
  const snapshot = toFields({ floorRaw, volumeAllTime: volume.allTime, supply: spec.tokens, owners });
  return toFields({
    kind: 'collection',
    chain: spec.chain,
    contractAddress: address,
    slug: spec.slug,
    name: spec.name,
    image: drawPicture(spec.look, `${spec.slug} cover`, spec.name),
    banner: drawBanner(spec.look, `${spec.slug} banner`),
    description: spec.description,
    tokenStandard: spec.tokenStandard,
    royaltyBps: spec.royaltyBps,
    launched: spec.launched ?? null,
    createdAt: toTime(createdAt),
    snapshot: spec.told.includes('snapshot') ? snapshot : null,
  });
}

function toTokenRecord(subject: SampleSubject, asset: SampleAsset, custody: ReadonlySet<SampleAsset>): SampleRecord {
  const { slug, look } = subject.spec;
  const owner = custody.has(asset) ? SAMPLE_CUSTODY_WALLET : asset.holder;
  return toFields({
    kind: 'token',
    ...toSubjectFields(subject, asset),
    name: asset.number % 53 === 7 ? null : asset.name,
    image: drawPicture(look, `${slug} ${asset.number}`, asset.name),
    rarityRank: asset.rank,
    owner: hasKnownOwner(asset) ? owner : null,
  });
}

/** The own book's rows on EVM chains are orders; all else is a mirrored listing. */
function toListingRecord(subject: SampleSubject, listing: SampleListing): SampleRecord {
  const common = {
    ...toSubjectFields(subject, listing.asset),
    priceRaw: listing.raw.toString(),
    seller: listing.seller,
    expiresAt: listing.expiresAt === null ? null : toTime(listing.expiresAt),
    status: listing.status,
    tx: listing.tx,
  };
  if (subject.chain.family === 'evm' && listing.source === subject.serviceName) {
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

function toSaleRecord(subject: SampleSubject, sale: SampleSale, listingId: string | null): SampleRecord {
  return toFields({
    kind: 'sale',
    source: sale.source,
    ...toSubjectFields(subject, sale.asset),
    price: sale.price,
    seller: sale.seller,
    buyer: sale.buyer,
    timestamp: toTime(sale.at),
    listingId,
    tx: sale.tx,
    logIndex: sale.logIndex,
  });
}

/** What the stats and analytics sources tell of the collection, where they tell anything. */
function* toToldRecords({ spec, address }: SampleSubject, figures: Figures): Generator<SampleRecord> {
  const { owners, listedCount, floorRaw, volume, sales } = figures;
  const common = { chain: spec.chain, contractAddress: address, at: toTime(SAMPLE_ANCHOR) };
  if (spec.told.includes('stats')) {
    yield toFields({ kind: 'stats', ...common, owners, listedCount, supply: spec.tokens, floorRaw });
  }
  if (spec.told.includes('analytics')) yield toFields({ kind: 'analytics', ...common, floorRaw, volume, sales });
  if (spec.told.includes('analytics-without-floor')) yield { kind: 'analytics', ...common, volume, sales };
}

function toSubjectFields({ chain, address }: SampleSubject, asset: SampleAsset): SampleRecord {
  const name = chain.family === 'evm' ? 'tokenId' : 'mint';
  return { chain: chain.id, contractAddress: address, [name]: asset.id };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** A record leaves out what is not known. */
function toFields(fields: SampleRecord): SampleRecord {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
