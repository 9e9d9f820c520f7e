// Generates the bids of one sample collection, as its marketplaces report them: for any of its tokens, for the tokens with a trait, and for
// single tokens. None of them is above the floor. A few have ended.

import type { Address } from '../src/platform/core/address.ts';
import { shareOf } from '../src/platform/core/amount.ts';
import type { ListingStatus } from '../src/market/orders/order-id.ts';
import { Random, toEvmHash, toSolanaAddress } from './random.ts';
import type { CollectionContext, SampleAsset } from './history.ts';
import { DAY_MS, roundPrice, SAMPLE_ANCHOR } from './history.ts';
import { feeOf } from './listings.ts';
import type { SampleTrait } from './traits.ts';

export type SampleBid = {
  source: string;
  id: string;
  /** The wanted token. Null for a bid for any token of the collection, or for the tokens with `trait`. */
  asset: SampleAsset | null;
  trait: SampleTrait | null;
  raw: bigint;
  /** What the seller keeps of the price after the fees. */
  proceeds: bigint;
  buyer: Address;
  quantity: number;
  remaining: number;
  madeAt: number;
  expiresAt: number | null;
  status: ListingStatus;
  endedAt: number | null;
};

const COLLECTION_BIDS = 5;
const TRAIT_BIDS = 3;
const ITEM_BIDS = 3;

/** No bids for a collection that never had a listing. */
export function generateBids(
  context: CollectionContext,
  assets: readonly SampleAsset[],
  wallets: readonly Address[],
): SampleBid[] {
  const { slug, listed } = context.spec;
  if (listed === 0) return [];
  const rng = new Random('bids', slug);
  const bidFor = (wanted: Pick<SampleBid, 'asset' | 'trait'>, index: number, bps: number) =>
    toBid(context, { ...wanted, index, bps, buyer: rng.pick(wallets) }, rng);
  const traits = rng.shuffle(listTraits(assets)).slice(0, TRAIT_BIDS);
  const tokens = rng.shuffle(assets).slice(0, ITEM_BIDS);
  return [
    ...Array.from({ length: COLLECTION_BIDS }, (_, index) =>
      bidFor({ asset: null, trait: null }, index, 9_300 - index * 400 - rng.integer(0, 300)),
    ),
    ...traits.map((trait, index) => bidFor({ asset: null, trait }, COLLECTION_BIDS + index, rng.integer(8_800, 9_700))),
    ...tokens.map((asset, index) =>
      bidFor({ asset, trait: null }, COLLECTION_BIDS + TRAIT_BIDS + index, rng.integer(8_500, 9_900)),
    ),
  ];
}

/** Each trait once, in the order of the tokens. */
function listTraits(assets: readonly SampleAsset[]): SampleTrait[] {
  return [...new Map(assets.flatMap(({ traits }) => traits).map((trait) => [JSON.stringify(trait), trait])).values()];
}

type Draft = Pick<SampleBid, 'asset' | 'trait' | 'buyer'> & { index: number; bps: number };

/** One bid in six has ended. The best bid for any token of the collection has not. */
function toBid(context: CollectionContext, { index, bps, ...wanted }: Draft, rng: Random): SampleBid {
  const { spec, chain, floor, markets } = context;
  const source = rng.pick(markets);
  const raw = roundPrice(context, (floor * BigInt(bps)) / 10_000n);
  const madeAt = SAMPLE_ANCHOR - rng.integer(3_600, 20 * 86_400) * 1_000;
  const quantity = wanted.asset === null ? rng.integer(1, 5) : 1;
  const status = index > 0 && rng.boolean(1 / 6) ? rng.pick(['cancelled', 'filled'] as const) : 'active';
  const seed = [spec.slug, source, String(index)];
  return {
    ...wanted,
    source,
    id: chain.family === 'evm' ? toEvmHash('bid', ...seed).slice(2, 26) : toSolanaAddress('bid', ...seed),
    raw,
    proceeds: raw - shareOf(raw, feeOf(source) + spec.royaltyBps),
    quantity,
    remaining: status === 'filled' ? 0 : rng.integer(1, quantity),
    madeAt,
    expiresAt: rng.boolean(0.3) ? null : Date.UTC(2036, 0, 1) + rng.integer(0, 360) * DAY_MS,
    status,
    endedAt: status === 'active' ? null : madeAt + rng.integer(60, 3_000) * 1_000,
  };
}
