// The history of one sample collection: who held what, and which sales made it so. Each sale's seller is the holder of the
// moment, so that owners, sales and listings agree; it must never look past the anchor.

import type { Address, AssetId } from '../src/core/address.ts';
import { parseNativeAmount } from '../src/core/amount.ts';
import type { Chain } from '../src/core/chains.ts';
import type { SampleCollection } from './catalogue.ts';
import type { Random } from './random.ts';
import {
  at,
  createRandom,
  toEvmAddress,
  toEvmHash,
  toLargeTokenId,
  toSolanaAddress,
  toSolanaSignature,
} from './random.ts';

/** The moment of the sample, in milliseconds since the epoch: nothing in it happened later. */
export const SAMPLE_ANCHOR = Date.UTC(2026, 5, 1);

export const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * DAY_MS;

/** All that the generator's steps need to know of the collection they work on. */
export type SampleSubject = {
  spec: SampleCollection;
  chain: Chain;
  address: Address;
  /** The floor in base units. */
  floor: bigint;
  /** Prices are multiples of this: three digits of the floor. */
  step: bigint;
  createdAt: number;
  serviceName: string;
  /** Outside marketplaces; never the service itself, whatever its name. */
  markets: readonly string[];
};

export type SampleAsset = {
  id: AssetId;
  number: number;
  name: string;
  /** How many base prices this token is worth for its rarity, in basis points. */
  premiumBps: number;
  rank: number | null;
  holder: Address;
  /** When the holder came by it. */
  heldSince: number;
};

export type SampleSale = {
  asset: SampleAsset;
  source: string;
  raw: bigint;
  /** The price as it was received: mostly `raw`, now and then something that cannot be interpreted. */
  price: string;
  seller: Address;
  buyer: Address;
  at: number;
  tx: string;
  logIndex: number | null;
  /** When the seller had come by the asset: a listing that led to the sale began after it. */
  heldSince: number;
};

/** A marketplace whose name no service can have, because of its hyphen. */
const NOBODYS_NAME = 'magic-eden';

export function createSubject(spec: SampleCollection, chain: Chain, serviceName: string): SampleSubject {
  const floor = parseNativeAmount(spec.floor, chain.decimals);
  if (floor === null) throw new RangeError(`the floor of ${spec.slug} is not an amount`);
  const markets = spec.markets.filter((market) => market !== serviceName);
  const hours = createRandom('created', spec.slug).between(1, 23);
  return {
    spec,
    chain,
    address: chain.family === 'evm' ? toEvmAddress('collection', spec.slug) : toSolanaAddress('collection', spec.slug),
    floor,
    step: 10n ** BigInt(floor.toString().length - 3),
    createdAt: SAMPLE_ANCHOR - spec.ageDays * DAY_MS + hours * HOUR_MS,
    serviceName,
    markets: markets.length > 0 ? markets : [NOBODYS_NAME],
  };
}

/** The tokens as they were minted, and those who hold them. */
export function drawAssets(subject: SampleSubject, wallets: readonly Address[]): SampleAsset[] {
  const { spec, createdAt } = subject;
  const chance = createRandom('assets', spec.slug);
  const ranks = drawRanks(spec, chance);
  const names = spec.registry ? drawRegistryNames(chance, spec.tokens) : [];
  return ranks.map((rank, index) => ({
    id: toAssetId(subject, index + 1),
    number: index + 1,
    name: names[index] ?? `${spec.name} #${index + 1}`,
    rank,
    premiumBps: drawPremiumBps(rank, spec.tokens, chance),
    holder: chance.pick(wallets),
    heldSince: createdAt + chance.between(0, 600) * 1000,
  }));
}

/** The sales up to the anchor, oldest first. Moves the assets on to their buyers. */
export function drawSales(
  subject: SampleSubject,
  assets: readonly SampleAsset[],
  wallets: readonly Address[],
): SampleSale[] {
  const { spec } = subject;
  const chance = createRandom('sales', spec.slug);
  const sales: SampleSale[] = [];
  for (const [index, soldAt] of drawTimes(subject, chance).entries()) {
    const before = sales.at(-1);
    const swept = before?.at === soldAt ? before : null;
    const buyer = swept?.buyer ?? chance.pick(wallets);
    const asset = drawForSale(assets, buyer, soldAt, chance);
    const raw = drawPrice(subject, asset, soldAt, chance);
    const evm = subject.chain.family === 'evm';
    const seed = ['tx', spec.slug, String(index)];
    sales.push({
      asset,
      source: swept?.source ?? (chance.happens(0.35) ? subject.serviceName : chance.pick(subject.markets)),
      raw: spec.oddPrices && index === GIFT ? 0n : raw,
      price: spec.oddPrices ? toReceivedPrice(raw, index) : raw.toString(),
      seller: asset.holder,
      buyer,
      at: soldAt,
      // A sweep is one transaction with an event for each token; on Solana each purchase has a signature of its own.
      tx: evm ? (swept?.tx ?? toEvmHash(...seed)) : toSolanaSignature(...seed),
      logIndex: evm ? (swept?.logIndex ?? chance.between(3, 180)) + (swept ? 4 : 0) : null,
      heldSince: asset.heldSince,
    });
    asset.holder = buyer;
    asset.heldSince = soldAt;
  }
  return sales;
}

/** A multiple of the price step, at least one. */
export function roundPrice(subject: SampleSubject, raw: bigint): bigint {
  const steps = (raw + subject.step / 2n) / subject.step;
  return (steps > 0n ? steps : 1n) * subject.step;
}

function toAssetId({ spec, chain }: SampleSubject, number: number): AssetId {
  if (chain.family === 'solana') return toSolanaAddress('asset', spec.slug, String(number));
  return spec.registry ? toLargeTokenId('asset', spec.slug, String(number)) : (String(number) as AssetId);
}

/** Ranks from 1 without a gap for all but a few tokens; editions have none. */
function drawRanks(spec: SampleCollection, chance: Random): (number | null)[] {
  const unranked = spec.tokenStandard === 'ERC-1155' ? spec.tokens : Math.ceil(spec.tokens / 40);
  return chance.shuffle(
    Array.from({ length: spec.tokens }, (_, index) => (index < unranked ? null : index - unranked + 1)),
  );
}

function drawPremiumBps(rank: number | null, tokens: number, chance: Random): number {
  if (rank !== null && rank <= tokens * 0.03) return chance.between(26_000, 60_000);
  if (rank !== null && rank <= tokens * 0.15) return chance.between(12_500, 19_000);
  return 10_000;
}

const FIRST_WORDS = ['amber', 'brisk', 'copper', 'dapple', 'early', 'fallow', 'hushed', 'inland', 'juniper', 'mellow'];
const SECOND_WORDS = ['heron', 'willow', 'ferry', 'lamp', 'otter', 'quarry', 'saffron', 'thimble', 'violet', 'wren'];

function drawRegistryNames(chance: Random, count: number): string[] {
  const all = FIRST_WORDS.flatMap((first) => SECOND_WORDS.map((second) => `${first}.${second}`));
  return chance.shuffle(all).slice(0, count);
}

/** Among this many sales in a row, so many fall into one second. */
const SWEEP_EVERY = 18;
const SWEEP_SIZE = 3;

/** Whole seconds, denser towards the anchor, so that the last day and the last week have sales too. */
function drawTimes({ spec, createdAt }: SampleSubject, chance: Random): number[] {
  const spanMs = Math.min(YEAR_MS, SAMPLE_ANCHOR - createdAt - 2 * DAY_MS);
  const times: number[] = [];
  for (let index = spec.sales - 1; index >= 0; index -= 1) {
    const share = (index + chance.next()) / spec.sales;
    const soldAt = SAMPLE_ANCHOR - Math.floor((share * share * spanMs) / 1000) * 1000 - 60_000;
    const position = (spec.sales - 1 - index) % SWEEP_EVERY;
    times.push(position > 0 && position < SWEEP_SIZE ? at(times, times.length - 1) : soldAt);
  }
  return times;
}

/** How often an asset is drawn again before the first that fits is taken. */
const DRAWS_MAX = 40;

/** An asset that somebody else has held for an hour at least, so that it can have been listed before it sold. */
function drawForSale(assets: readonly SampleAsset[], buyer: Address, soldAt: number, chance: Random): SampleAsset {
  const fits = (asset: SampleAsset) => asset.holder !== buyer && soldAt - asset.heldSince > HOUR_MS;
  for (let draw = 0; draw < DRAWS_MAX; draw += 1) {
    const asset = chance.pick(assets);
    if (fits(asset)) return asset;
  }
  const asset = assets.find(fits);
  if (!asset) throw new RangeError('no asset can be sold');
  return asset;
}

/** Prices rise over the year towards today's floor, with rarity and luck on top. */
function drawPrice(subject: SampleSubject, asset: SampleAsset, soldAt: number, chance: Random): bigint {
  const trendBps = 10_400 - Math.floor((4_600 * (SAMPLE_ANCHOR - soldAt)) / YEAR_MS);
  const bps = BigInt(trendBps) * BigInt(asset.premiumBps) * BigInt(chance.between(9_300, 12_400));
  return roundPrice(subject, (subject.floor * bps) / 10_000n ** 3n);
}

/** Which sales of a collection with odd prices are odd. */
const GIFT = 11;
const ROUNDED_BY_SENDER = [7, 29];
const WITH_A_FRACTION = 19;

/** Prices as aggregators have been seen to send them: rounded to an exponent, or as a decimal. Neither is an integer. */
function toReceivedPrice(raw: bigint, index: number): string {
  if (index === GIFT) return '0';
  if (ROUNDED_BY_SENDER.includes(index)) return Number(raw).toExponential(2);
  return index === WITH_A_FRACTION ? `${raw}.0` : raw.toString();
}
