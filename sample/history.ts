// Generates the history of one sample collection: its tokens, their sales and their holders. The seller of each sale is the holder at that
// time, so that owners, sales and listings agree.

import type { Address, AssetId } from '../src/platform/core/address.ts';
import { parseNativeAmount } from '../src/platform/core/amount.ts';
import type { Chain } from '../src/platform/core/chains.ts';
import type { SampleCollection } from './catalogue.ts';
import type { SampleTrait } from './traits.ts';
import { pickTraits } from './traits.ts';
import { at, Random, toEvmAddress, toEvmHash, toLargeTokenId, toSolanaAddress, toSolanaSignature } from './random.ts';

/** The newest time of the sample, in milliseconds since the epoch. No event of the sample is later, but listings can expire later. */
export const SAMPLE_ANCHOR = Date.UTC(2026, 5, 1);

export const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * DAY_MS;

/** A collection of the catalogue with the values that all steps of the generator use. */
export type CollectionContext = {
  spec: SampleCollection;
  chain: Chain;
  address: Address;
  /** The floor in base units. */
  floor: bigint;
  /** Prices are rounded to multiples of this power of ten. The floor is at least 100 and less than 1,000 of these steps. */
  step: bigint;
  createdAt: number;
  serviceName: string;
  /** The other marketplaces. A marketplace with the name of the service is left out. */
  markets: readonly string[];
};

export type SampleAsset = {
  id: AssetId;
  number: number;
  name: string;
  /** The price of this token relative to a common token, in basis points. */
  premiumBps: number;
  traits: readonly SampleTrait[];
  rank: number | null;
  holder: Address;
  /** When the holder received the token. */
  heldSince: number;
};

export type SampleSale = {
  asset: SampleAsset;
  source: string;
  raw: bigint;
  /** The price as the marketplace reports it: usually `raw`, sometimes text that is not an integer. */
  price: string;
  seller: Address;
  buyer: Address;
  at: number;
  tx: string;
  logIndex: number | null;
  /** When the seller received the token. The listing that the sale filled was created after this time. */
  heldSince: number;
};

/**
 * The marketplace of a collection for which the catalogue names only one marketplace, if that one has the name of the service. No service has
 * the name `magic-eden`, because the name of a service cannot contain a hyphen.
 */
const OTHER_MARKETPLACE = 'magic-eden';

export function createCollectionContext(spec: SampleCollection, chain: Chain, serviceName: string): CollectionContext {
  const floor = parseNativeAmount(spec.floor, chain.decimals);
  if (floor === null) throw new RangeError(`the floor of ${spec.slug} is not an amount`);
  const markets = spec.markets.filter((market) => market !== serviceName);
  const hours = new Random('created', spec.slug).integer(1, 23);
  return {
    spec,
    chain,
    address: chain.family === 'evm' ? toEvmAddress('collection', spec.slug) : toSolanaAddress('collection', spec.slug),
    floor,
    step: 10n ** BigInt(floor.toString().length - 3),
    createdAt: SAMPLE_ANCHOR - spec.ageDays * DAY_MS + hours * HOUR_MS,
    serviceName,
    markets: markets.length > 0 ? markets : [OTHER_MARKETPLACE],
  };
}

/** Generates the tokens and their first holders. */
export function generateAssets(context: CollectionContext, wallets: readonly Address[]): SampleAsset[] {
  const { spec, createdAt } = context;
  const rng = new Random('assets', spec.slug);
  const ranks = generateRanks(spec, rng);
  const traits = pickTraits(spec.art, ranks, new Random('traits', spec.slug));
  const names = spec.registry ? pickRegistryNames(rng, spec.tokens) : [];
  return ranks.map((rank, index) => ({
    id: toAssetId(context, index + 1),
    number: index + 1,
    name: names[index] ?? `${spec.name} #${index + 1}`,
    traits: at(traits, index),
    rank,
    premiumBps: pickPremiumBps(rank, spec.tokens, rng),
    holder: rng.pick(wallets),
    heldSince: createdAt + rng.integer(0, 600) * 1000,
  }));
}

/** Generates the sales up to SAMPLE_ANCHOR, oldest first. Sets the holder of each token to its last buyer. */
export function generateSales(
  context: CollectionContext,
  assets: readonly SampleAsset[],
  wallets: readonly Address[],
): SampleSale[] {
  const { spec } = context;
  const rng = new Random('sales', spec.slug);
  const sales: SampleSale[] = [];
  for (const [index, soldAt] of generateTimes(context, rng).entries()) {
    const before = sales.at(-1);
    const swept = before?.at === soldAt ? before : null;
    const buyer = swept?.buyer ?? rng.pick(wallets);
    const asset = pickForSale(assets, buyer, soldAt, rng);
    const raw = pickPrice(context, asset, soldAt, rng);
    const evm = context.chain.family === 'evm';
    const seed = ['tx', spec.slug, String(index)];
    sales.push({
      asset,
      source: swept?.source ?? (rng.boolean(0.35) ? context.serviceName : rng.pick(context.markets)),
      raw: spec.oddPrices && index === GIFT ? 0n : raw,
      price: spec.oddPrices ? toReceivedPrice(raw, index) : raw.toString(),
      seller: asset.holder,
      buyer,
      at: soldAt,
      // On EVM chains a sweep is one transaction with one event for each token. On Solana each purchase is a transaction.
      tx: evm ? (swept?.tx ?? toEvmHash(...seed)) : toSolanaSignature(...seed),
      logIndex: evm ? (swept?.logIndex ?? rng.integer(3, 180)) + (swept ? 4 : 0) : null,
      heldSince: asset.heldSince,
    });
    asset.holder = buyer;
    asset.heldSince = soldAt;
  }
  return sales;
}

/** Rounds an amount to a multiple of the price step, at least one step. */
export function roundPrice(context: CollectionContext, raw: bigint): bigint {
  const steps = (raw + context.step / 2n) / context.step;
  return (steps > 0n ? steps : 1n) * context.step;
}

function toAssetId({ spec, chain }: CollectionContext, number: number): AssetId {
  if (chain.family === 'solana') return toSolanaAddress('asset', spec.slug, String(number));
  return spec.registry ? toLargeTokenId('asset', spec.slug, String(number)) : (String(number) as AssetId);
}

/** Generates ranks from 1 without a gap, for most tokens. Tokens of editions (ERC-1155) have no rank. */
function generateRanks(spec: SampleCollection, rng: Random): (number | null)[] {
  const unranked = spec.tokenStandard === 'ERC-1155' ? spec.tokens : Math.ceil(spec.tokens / 40);
  return rng.shuffle(
    Array.from({ length: spec.tokens }, (_, index) => (index < unranked ? null : index - unranked + 1)),
  );
}

function pickPremiumBps(rank: number | null, tokens: number, rng: Random): number {
  if (rank !== null && rank <= tokens * 0.03) return rng.integer(26_000, 60_000);
  if (rank !== null && rank <= tokens * 0.15) return rng.integer(12_500, 19_000);
  return 10_000;
}

const FIRST_WORDS = ['amber', 'brisk', 'copper', 'dapple', 'early', 'fallow', 'hushed', 'inland', 'juniper', 'mellow'];
const SECOND_WORDS = ['heron', 'willow', 'ferry', 'lamp', 'otter', 'quarry', 'saffron', 'thimble', 'violet', 'wren'];

function pickRegistryNames(rng: Random, count: number): string[] {
  const all = FIRST_WORDS.flatMap((first) => SECOND_WORDS.map((second) => `${first}.${second}`));
  return rng.shuffle(all).slice(0, count);
}

/** The first SWEEP_SIZE sales of every SWEEP_EVERY sales are a sweep: one buyer buys several tokens in the same second. */
const SWEEP_EVERY = 18;
const SWEEP_SIZE = 3;

/** Generates times in full seconds. They are denser towards SAMPLE_ANCHOR, so that the last day and the last week have sales. */
function generateTimes({ spec, createdAt }: CollectionContext, rng: Random): number[] {
  const spanMs = Math.min(YEAR_MS, SAMPLE_ANCHOR - createdAt - 2 * DAY_MS);
  const times: number[] = [];
  for (let index = spec.sales - 1; index >= 0; index -= 1) {
    const share = (index + rng.float()) / spec.sales;
    const soldAt = SAMPLE_ANCHOR - Math.floor((share * share * spanMs) / 1000) * 1000 - 60_000;
    const position = (spec.sales - 1 - index) % SWEEP_EVERY;
    times.push(position > 0 && position < SWEEP_SIZE ? at(times, times.length - 1) : soldAt);
  }
  return times;
}

/** After this many unsuccessful random picks, the first suitable token is used. */
const PICKS_MAX = 40;

/**
 * Picks a token that a wallet other than the buyer's has held for more than an hour, so that the token can have been listed before the
 * sale.
 */
function pickForSale(assets: readonly SampleAsset[], buyer: Address, soldAt: number, rng: Random): SampleAsset {
  const fits = (asset: SampleAsset) => asset.holder !== buyer && soldAt - asset.heldSince > HOUR_MS;
  for (let picks = 0; picks < PICKS_MAX; picks += 1) {
    const asset = rng.pick(assets);
    if (fits(asset)) return asset;
  }
  const asset = assets.find(fits);
  if (!asset) throw new RangeError('no asset can be sold');
  return asset;
}

/** Picks a price. Prices rise over the year towards the floor, and are multiplied by the token's premium and a random factor. */
function pickPrice(context: CollectionContext, asset: SampleAsset, soldAt: number, rng: Random): bigint {
  const trendBps = 10_400 - Math.floor((4_600 * (SAMPLE_ANCHOR - soldAt)) / YEAR_MS);
  const bps = BigInt(trendBps) * BigInt(asset.premiumBps) * BigInt(rng.integer(9_300, 12_400));
  return roundPrice(context, (context.floor * bps) / 10_000n ** 3n);
}

/** Indexes of the unusual sales in a collection with `oddPrices`. */
const GIFT = 11;
const ROUNDED_BY_SOURCE = [7, 29];
const WITH_A_FRACTION = 19;

/**
 * The price as a marketplace reports it. A few prices are rounded and have an exponent, or have a decimal point, because some aggregators
 * report such prices.
 */
function toReceivedPrice(raw: bigint, index: number): string {
  if (index === GIFT) return '0';
  if (ROUNDED_BY_SOURCE.includes(index)) return Number(raw).toExponential(2);
  return index === WITH_A_FRACTION ? `${raw}.0` : raw.toString();
}
