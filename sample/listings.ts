// The listings of one sample collection: the own order book, the mirrored marketplaces, and what came of earlier listings.
// The cheapest active ask is the catalogue's floor to the unit; it must never list a token for someone who does not hold it.

import type { Address } from '../src/core/address.ts';
import { shareOf } from '../src/core/amount.ts';
import type { ListingStatus } from '../src/orders/order-id.ts';
import { toOrderId } from '../src/orders/order-id.ts';
import type { Random } from './random.ts';
import { createRandom, toEvmHash, toSolanaAddress } from './random.ts';
import type { SampleAsset, SampleSale, SampleSubject } from './history.ts';
import { DAY_MS, roundPrice, SAMPLE_ANCHOR } from './history.ts';

export type SampleListing = {
  asset: SampleAsset;
  source: string;
  /** The mirror's id, or the own order's; null for a mirrored listing that came without one. */
  id: string | null;
  raw: bigint;
  buyerTotal: bigint | null;
  orderHash: string | null;
  seller: Address;
  listedAt: number;
  expiresAt: number | null;
  status: ListingStatus;
  tx: string | null;
};

/** Active listings, and beside some of them earlier ones that expired or were cancelled. */
export function drawBook(subject: SampleSubject, assets: readonly SampleAsset[]): SampleListing[] {
  const { spec, serviceName, markets } = subject;
  const chance = createRandom('book', spec.slug);
  const listed = drawListed(assets, spec.listed, chance);
  return listed.flatMap((asset, index) => {
    const raw = drawAsk(subject, asset, index, chance);
    const draft = drawDraft(asset, raw, chance);
    const own = chance.happens(0.42);
    const rows = [toListing(subject, draft, own ? serviceName : chance.pick(markets), chance)];
    // The same asset outside as well: cheaper there for some, where the own row must win all the same.
    if (own && index > 0 && subject.chain.family === 'evm' && chance.happens(0.3)) {
      const shift = chance.happens(0.5) ? 9_600n : 10_500n;
      const outside = atLeastAbove(subject, (raw * shift) / 10_000n);
      rows.push(toListing(subject, { ...draft, raw: outside }, chance.pick(markets), chance));
    }
    const earlier = chance.happens(0.22) ? drawEarlier(subject, draft, chance) : null;
    return earlier ? [...rows, earlier] : rows;
  });
}

/** The listing that a sale came from, for about half of the sales. */
export function drawFilled(subject: SampleSubject, sales: readonly SampleSale[]): Map<SampleSale, SampleListing> {
  const chance = createRandom('filled', subject.spec.slug);
  const filled = new Map<SampleSale, SampleListing>();
  for (const sale of sales) {
    const { asset, raw, seller, source, tx } = sale;
    if (!chance.happens(0.4) || raw === 0n || sale.price !== raw.toString() || subject.spec.listed === 0) continue;
    const heldMs = Math.min(sale.at - sale.heldSince, 20 * DAY_MS);
    const listedAt = sale.at - chance.between(Math.ceil(heldMs / 20), heldMs - 60_000);
    const draft: Draft = { asset, raw, seller, listedAt, expiresAt: drawExpiry(chance), status: 'filled', tx };
    filled.set(sale, toListing(subject, draft, source, chance, 'kept'));
  }
  return filled;
}

type Draft = Pick<SampleListing, 'asset' | 'raw' | 'seller' | 'listedAt' | 'expiresAt' | 'status' | 'tx'>;

/** Which assets are listed, the first of them an ordinary one, because it is to be the floor. */
function drawListed(assets: readonly SampleAsset[], count: number, chance: Random): SampleAsset[] {
  const drawn = chance.shuffle(assets.filter(hasKnownOwner)).slice(0, count);
  return drawn.toSorted((a, b) => Number(a.premiumBps > 10_000) - Number(b.premiumBps > 10_000));
}

/** A few tokens have no owner on record. */
export function hasKnownOwner(asset: SampleAsset): boolean {
  return asset.number % 37 !== 5;
}

/** The floor itself for the first, then asks above it: many close by, fewer far up, rare tokens dearer. */
function drawAsk(subject: SampleSubject, asset: SampleAsset, index: number, chance: Random): bigint {
  if (index === 0) return subject.floor;
  const share = (index + chance.next()) / (subject.spec.listed + 1);
  const bps = BigInt(Math.floor(10_000 + 7_000 * share + 14_000 * share * share * share));
  const ask = atLeastAbove(subject, (subject.floor * bps * BigInt(asset.premiumBps)) / 10_000n ** 2n);
  // Some sellers type odd amounts: exact to the last unit, and beyond what a double holds.
  return chance.happens(0.05) ? ask + BigInt(chance.between(1, 999_999)) : ask;
}

function atLeastAbove(subject: SampleSubject, raw: bigint): bigint {
  const rounded = roundPrice(subject, raw);
  return rounded > subject.floor ? rounded : subject.floor + subject.step;
}

function drawDraft(asset: SampleAsset, raw: bigint, chance: Random): Draft {
  const heldMs = Math.min(SAMPLE_ANCHOR - asset.heldSince, 75 * DAY_MS);
  const listedAt = SAMPLE_ANCHOR - chance.between(Math.ceil(heldMs / 100), heldMs - 1_000);
  return { asset, raw, seller: asset.holder, listedAt, expiresAt: drawExpiry(chance), status: 'active', tx: null };
}

/** Never, or ten years after the anchor: the floor stays what it is for as long as anyone looks at the sample. */
function drawExpiry(chance: Random): number | null {
  return chance.happens(0.35) ? null : Date.UTC(2036, 0, 1) + chance.between(0, 360) * DAY_MS;
}

/** An earlier listing of the same holder. Some that ran out still say `active`, as an unswept book does. */
function drawEarlier(subject: SampleSubject, draft: Draft, chance: Random): SampleListing | null {
  const { asset } = draft;
  const roomMs = draft.listedAt - asset.heldSince;
  if (roomMs < 12 * DAY_MS) return null;
  const listedAt = draft.listedAt - chance.between(8 * DAY_MS, Math.min(roomMs, 120 * DAY_MS) - DAY_MS);
  const status = chance.pick(['active', 'active', 'expired', 'cancelled', 'cancelled'] as const);
  const expiresAt = status === 'cancelled' ? drawExpiry(chance) : listedAt + chance.between(1, 7) * DAY_MS;
  const raw = roundPrice(subject, (draft.raw * BigInt(chance.between(8_500, 12_500))) / 10_000n);
  const onChain = status === 'cancelled' && subject.chain.family === 'evm' && chance.happens(0.6);
  const tx = onChain ? toEvmHash('cancel', subject.spec.slug, asset.id, String(listedAt)) : null;
  const source = chance.happens(0.6) ? subject.serviceName : chance.pick(subject.markets);
  return toListing(subject, { ...draft, raw, listedAt, expiresAt, status, tx }, source, chance, 'kept');
}

/** What a buyer pays on top at each marketplace. */
const MARKET_FEE_BPS: Readonly<Record<string, number>> = { opensea: 100, blur: 50, 'magic-eden': 200, tensor: 150 };
const ORDINARY_FEE_BPS = 200;

/** A listing as its source gives it. `kept` ids are referred to by something else, so they are always there. */
function toListing(subject: SampleSubject, draft: Draft, source: string, chance: Random, kept?: 'kept'): SampleListing {
  const { spec, chain, address, serviceName } = subject;
  const own = source === serviceName;
  const seed = [spec.slug, draft.asset.id, own ? 'own' : source, String(draft.listedAt)];
  const evm = chain.family === 'evm';
  if (own && evm) {
    const id = toOrderId(chain.id, address, draft.asset.id, draft.listedAt);
    return { ...draft, source, id, buyerTotal: null, orderHash: null };
  }
  const feeBps = (MARKET_FEE_BPS[source] ?? ORDINARY_FEE_BPS) + spec.royaltyBps;
  const given = evm ? toEvmHash('listing', ...seed).slice(2, 26) : toSolanaAddress('listing', ...seed);
  const nameless = !kept && !own && chance.happens(0.06);
  return {
    ...draft,
    // Mirrors stamp whole seconds; only the own book keeps milliseconds.
    listedAt: draft.listedAt - (draft.listedAt % 1000),
    source,
    id: nameless ? null : own ? `${serviceName}_${given}` : given,
    buyerTotal: own || chance.happens(0.25) ? null : draft.raw + shareOf(draft.raw, feeBps),
    orderHash: evm ? toEvmHash('order', ...seed) : null,
  };
}
