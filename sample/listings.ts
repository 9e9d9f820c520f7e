// Generates the listings of one sample collection: orders of the service, mirrored listings, and ended listings. The lowest active ask
// equals the floor that the catalogue states. The seller of a listing is the holder of the token.

import type { Address } from '../src/platform/core/address.ts';
import { shareOf } from '../src/platform/core/amount.ts';
import type { ListingStatus } from '../src/market/orders/order-id.ts';
import { toOrderId } from '../src/market/orders/order-id.ts';
import { Random, toEvmHash, toSolanaAddress } from './random.ts';
import type { SampleAsset, SampleSale, CollectionContext } from './history.ts';
import { DAY_MS, roundPrice, SAMPLE_ANCHOR } from './history.ts';

export type SampleListing = {
  asset: SampleAsset;
  source: string;
  /** The id at the marketplace. Null for a mirrored listing without an id. */
  id: string | null;
  raw: bigint;
  buyerTotal: bigint | null;
  orderHash: string | null;
  seller: Address;
  listedAt: number;
  expiresAt: number | null;
  /** When a listing was filled or cancelled. */
  endedAt: number | null;
  status: ListingStatus;
  tx: string | null;
};

/**
 * Generates the active listings, and the cancelled ones that were the floor in the last weeks. Some of the listed tokens also get an earlier
 * listing, which expired or was cancelled.
 */
export function generateListings(context: CollectionContext, assets: readonly SampleAsset[]): SampleListing[] {
  const { spec, serviceName, markets } = context;
  const rng = new Random('book', spec.slug);
  const listed = pickListed(assets, spec.listed, rng);
  const active = listed.flatMap((asset, index) => {
    const raw = pickAsk(context, asset, index, rng);
    const draft = generateDraft(asset, { raw, isFloor: index === 0 }, rng);
    const own = rng.boolean(0.42);
    const rows = [toListing(context, draft, own ? serviceName : rng.pick(markets), rng)];
    // Some tokens of own orders are also listed at another marketplace, at a lower or higher price. The service then serves its own order.
    if (own && index > 0 && context.chain.family === 'evm' && rng.boolean(0.3)) {
      const shift = rng.boolean(0.5) ? 9_600n : 10_500n;
      const outside = atLeastAbove(context, (raw * shift) / 10_000n);
      rows.push(toListing(context, { ...draft, raw: outside }, rng.pick(markets), rng));
    }
    const earlier = rng.boolean(0.22) ? generateEarlier(context, draft, rng) : null;
    return earlier ? [...rows, earlier] : rows;
  });
  return [...active, ...generatePastFloors(context, assets, new Set(listed))];
}

/** The past floors begin this many days before SAMPLE_ANCHOR, with a listing every second day. */
const PAST_FLOOR_DAYS = 44;

/** Generates cancelled listings below the other asks, whose prices rise to the floor. */
function generatePastFloors(
  context: CollectionContext,
  assets: readonly SampleAsset[],
  listed: ReadonlySet<SampleAsset>,
): SampleListing[] {
  const rng = new Random('past floors', context.spec.slug);
  const listings: SampleListing[] = [];
  if (listed.size === 0) return listings;
  const free = rng.shuffle(assets.filter((asset) => canBeListed(asset) && !listed.has(asset)));
  for (let day = PAST_FLOOR_DAYS; day > 2; day -= 2) {
    const listedAt = SAMPLE_ANCHOR - day * DAY_MS + rng.integer(0, 20 * 3_600) * 1_000;
    const bps = BigInt(9_900 - 45 * day + rng.integer(-350, 350));
    const raw = roundPrice(context, (context.floor * bps) / 10_000n);
    const endedAt = listedAt + rng.integer(48 * 3_600, 72 * 3_600) * 1_000;
    const asset = free.find((one) => one.heldSince < listedAt);
    if (!asset || endedAt >= SAMPLE_ANCHOR) continue;
    free.splice(free.indexOf(asset), 1);
    const draft: Draft = {
      asset,
      raw,
      seller: asset.holder,
      listedAt,
      expiresAt: pickExpiry(rng),
      endedAt,
      status: 'cancelled',
      tx: null,
    };
    const source = rng.boolean(0.4) ? context.serviceName : rng.pick(context.markets);
    listings.push(toListing(context, draft, source, rng, 'kept'));
  }
  return listings;
}

/** Generates a filled listing for about 40% of the sales. */
export function generateFilledListings(
  context: CollectionContext,
  sales: readonly SampleSale[],
): Map<SampleSale, SampleListing> {
  const rng = new Random('filled', context.spec.slug);
  const filled = new Map<SampleSale, SampleListing>();
  for (const sale of sales) {
    const { asset, raw, seller, source, tx } = sale;
    if (!rng.boolean(0.4) || raw === 0n || sale.price !== raw.toString() || context.spec.listed === 0) continue;
    const heldMs = Math.min(sale.at - sale.heldSince, 20 * DAY_MS);
    const listedAt = sale.at - rng.integer(Math.ceil(heldMs / 20), heldMs - 60_000);
    const draft: Draft = {
      asset,
      raw,
      seller,
      listedAt,
      expiresAt: pickExpiry(rng),
      endedAt: sale.at,
      status: 'filled',
      tx,
    };
    filled.set(sale, toListing(context, draft, source, rng, 'kept'));
  }
  return filled;
}

type Draft = Pick<SampleListing, 'asset' | 'raw' | 'seller' | 'listedAt' | 'expiresAt' | 'endedAt' | 'status' | 'tx'>;

/** Picks the tokens that are listed. The first is a common token: its ask is the floor, and rare tokens cost more. */
function pickListed(assets: readonly SampleAsset[], count: number, rng: Random): SampleAsset[] {
  const picked = rng.shuffle(assets.filter(canBeListed)).slice(0, count);
  return picked.toSorted((a, b) => Number(a.premiumBps > 10_000) - Number(b.premiumBps > 10_000));
}

/** Whether the token can have a listing. One token in 37 cannot. */
function canBeListed(asset: SampleAsset): boolean {
  return asset.number % 37 !== 5;
}

/**
 * Picks the ask of a listing. The first ask is the floor. All other asks are higher: most are near the floor, and rare tokens cost
 * more.
 */
function pickAsk(context: CollectionContext, asset: SampleAsset, index: number, rng: Random): bigint {
  if (index === 0) return context.floor;
  const share = (index + rng.float()) / (context.spec.listed + 1);
  const bps = BigInt(Math.floor(10_000 + 7_000 * share + 14_000 * share * share * share));
  const ask = atLeastAbove(context, (context.floor * bps * BigInt(asset.premiumBps)) / 10_000n ** 2n);
  // Some amounts are not rounded. With 18 decimals they have more digits than a double can represent.
  return rng.boolean(0.05) ? ask + BigInt(rng.integer(1, 999_999)) : ask;
}

function atLeastAbove(context: CollectionContext, raw: bigint): bigint {
  const rounded = roundPrice(context, raw);
  return rounded > context.floor ? rounded : context.floor + context.step;
}

/** Most listings are old, so that the listed count of a month ago is not much lower. The floor is at most two days old. */
function generateDraft(asset: SampleAsset, { raw, isFloor }: { raw: bigint; isFloor: boolean }, rng: Random): Draft {
  const heldMs = Math.min(SAMPLE_ANCHOR - asset.heldSince, (isFloor ? 2 : 75) * DAY_MS);
  const ageMs =
    Math.ceil(heldMs / 100) + Math.floor((heldMs - 1_000 - Math.ceil(heldMs / 100)) * Math.sqrt(rng.float()));
  const listedAt = SAMPLE_ANCHOR - ageMs;
  return {
    asset,
    raw,
    seller: asset.holder,
    listedAt,
    expiresAt: pickExpiry(rng),
    endedAt: null,
    status: 'active',
    tx: null,
  };
}

/** Picks no expiry, or a time about ten years after SAMPLE_ANCHOR, so that the floor stays the same for years. */
function pickExpiry(rng: Random): number | null {
  return rng.boolean(0.35) ? null : Date.UTC(2036, 0, 1) + rng.integer(0, 360) * DAY_MS;
}

/**
 * Generates an earlier listing by the same holder that was cancelled or expired. A few expired listings still have the status `active`, as
 * if the expiry task had not run since they expired: the service records their end when the sample is loaded. Returns null if the holder has not held the token for long enough.
 */
function generateEarlier(context: CollectionContext, draft: Draft, rng: Random): SampleListing | null {
  const { asset } = draft;
  const roomMs = draft.listedAt - asset.heldSince;
  if (roomMs < 12 * DAY_MS) return null;
  const listedAt = draft.listedAt - rng.integer(8 * DAY_MS, Math.min(roomMs, 120 * DAY_MS) - DAY_MS);
  const status = rng.boolean(0.15) ? 'active' : rng.pick(['expired', 'expired', 'cancelled'] as const);
  const openMs = rng.integer(1, 7) * DAY_MS;
  const endedAt = status === 'cancelled' ? listedAt + openMs : null;
  const expiresAt = status === 'cancelled' ? pickExpiry(rng) : listedAt + openMs;
  const raw = roundPrice(context, (draft.raw * BigInt(rng.integer(8_500, 12_500))) / 10_000n);
  const onChain = status === 'cancelled' && context.chain.family === 'evm' && rng.boolean(0.6);
  const tx = onChain ? toEvmHash('cancel', context.spec.slug, asset.id, String(listedAt)) : null;
  const source = rng.boolean(0.6) ? context.serviceName : rng.pick(context.markets);
  return toListing(context, { ...draft, raw, listedAt, expiresAt, endedAt, status, tx }, source, rng, 'kept');
}

/** The fee at each marketplace, in basis points. */
const MARKET_FEE_BPS: Readonly<Record<string, number>> = { opensea: 100, blur: 50, 'magic-eden': 200, tensor: 150 };
const DEFAULT_FEE_BPS = 200;

/** The fee of a marketplace, in basis points. */
export function feeOf(source: string): number {
  return MARKET_FEE_BPS[source] ?? DEFAULT_FEE_BPS;
}

/** Converts a draft to a listing as its marketplace reports it. If `kept`, the listing always has an id, so that a sale can refer to it. */
function toListing(
  context: CollectionContext,
  draft: Draft,
  source: string,
  rng: Random,
  kept?: 'kept',
): SampleListing {
  const { spec, chain, address, serviceName } = context;
  const own = source === serviceName;
  const seed = [spec.slug, draft.asset.id, own ? 'own' : source, String(draft.listedAt)];
  const evm = chain.family === 'evm';
  if (own && evm) {
    const id = toOrderId(chain.id, address, draft.asset.id, draft.listedAt);
    return { ...draft, source, id, buyerTotal: null, orderHash: null };
  }
  const feeBps = feeOf(source) + spec.royaltyBps;
  const sourceId = evm ? toEvmHash('listing', ...seed).slice(2, 26) : toSolanaAddress('listing', ...seed);
  const withoutId = !kept && !own && rng.boolean(0.06);
  return {
    ...draft,
    // Other marketplaces report full seconds; only orders of the service have milliseconds.
    listedAt: draft.listedAt - (draft.listedAt % 1000),
    source,
    id: withoutId ? null : own ? `${serviceName}_${sourceId}` : sourceId,
    buyerTotal: own || rng.boolean(0.25) ? null : draft.raw + shareOf(draft.raw, feeBps),
    orderHash: evm ? toEvmHash('order', ...seed) : null,
  };
}
