// Plans trades through Seaport from the recorded state of the chain. A planner returns the calls to send and their effect on the recorded
// state. It sends nothing.

import type { Address } from 'viem';
import { zeroAddress, zeroHash } from 'viem';
import { ITEM_TYPE } from '../src/platform/core/seaport.ts';
import type { SigningContext } from './listings.ts';
import { collectionOf, drawPrice, drawTerms, listableTokens, signListings } from './listings.ts';
import type { Call } from './chain.ts';
import { callOf } from './chain.ts';
import type { Bid, ChainState, Listing } from './chain-state.ts';
import { counterOf, fill, isFillable, move, operatorOf, spend, spendable, unitsLeft } from './chain-state.ts';
import { buildBid, buildMirror, signOrder, toOrder, totalOf } from './orders.ts';
import { SEAPORT_ADDRESS } from './protocol.ts';
import type { Person } from './world.ts';

export type PlanContext = SigningContext & {
  /** The posted listings. Some of them may have ended. */
  listings: readonly Listing[];
  /** The posted bids. Some of them may have ended. */
  bids: readonly Bid[];
  /** The number of the newest block. */
  height: number;
  /** The deepest reorganisation of the simulation. */
  reorgDepthMax: number;
};

/** A planned action: its calls and their effect on the recorded state. A planner returns null if its action is not possible now. */
export type Plan = {
  what: string;
  calls: readonly Call[];
  /** The number of OrderFulfilled events to expect. */
  fills: number;
  apply: (state: ChainState) => void;
  /** Listings to post to the marketplace after the calls. */
  posted?: readonly Listing[];
  /** Bids to post to the marketplace after the calls. */
  bids?: readonly Bid[];
};

export type Planner = (context: PlanContext) => Promise<Plan | null> | Plan | null;

const FILL_COMPLETELY = { numerator: 1n, denominator: 1n, extraData: '0x' };
/** Seaport's number for the basic order type: one ERC-721 token for native currency. */
const BASIC_NATIVE_FOR_ERC721 = 0;
const SWEEP_SIZE_MAX = 6;
const BUNDLE_SIZE_MAX = 4;
const ELSEWHERE_LIFETIME_S = 3_600;
const SALT_BITS = 128;

export const fulfilOrder: Planner = (context) => {
  const listing = pickListing(context, isSingle);
  const buyer = listing && pickBuyer(context, listing);
  return listing && buyer ? planFill(context, { listing, buyer, what: 'fulfillOrder' }) : null;
};

export const fulfilBasicOrder: Planner = (context) => {
  const listing = pickListing(
    context,
    (one) => isSingle(one) && !isWrapped(one) && one.tokens[0]?.standard === 'erc721',
  );
  const buyer = listing && pickOther(context, [listing.components.offerer]);
  const [token] = listing?.tokens ?? [];
  if (!listing || !buyer || !token) return null;
  const { components, signature } = listing;
  const [first, ...rest] = components.consideration;
  const parameters = {
    considerationToken: zeroAddress,
    considerationIdentifier: 0n,
    considerationAmount: first?.startAmount ?? 0n,
    offerer: components.offerer,
    zone: components.zone,
    offerToken: token.contract,
    offerIdentifier: token.tokenId,
    offerAmount: 1n,
    basicOrderType: BASIC_NATIVE_FOR_ERC721,
    startTime: components.startTime,
    endTime: components.endTime,
    zoneHash: components.zoneHash,
    salt: components.salt,
    offererConduitKey: components.conduitKey,
    fulfillerConduitKey: zeroHash,
    totalOriginalAdditionalRecipients: BigInt(rest.length),
    additionalRecipients: rest.map(({ startAmount, recipient }) => ({ amount: startAmount, recipient })),
    signature,
  };
  const { seaport } = context.world.protocol;
  return {
    what: 'fulfillBasicOrder',
    calls: [callOf(buyer.address, seaport, 'fulfillBasicOrder', [parameters], valueOf(listing))],
    fills: 1,
    apply: (state) => fill(state, listing, buyer.address, 1n),
  };
};

/** A purchase whose tokens go to another account. */
export const fulfilForAnother: Planner = (context) => {
  const listing = pickListing(context, isSingle);
  const payer = listing && pickBuyer(context, listing);
  const receiver = payer && pickOther(context, [listing.components.offerer, payer.address]);
  if (!listing || !payer || !receiver) return null;
  const order = { ...toOrder(listing), ...FILL_COMPLETELY };
  const args = [order, [], zeroHash, receiver.address];
  return {
    what: 'fulfillAdvancedOrder for another account',
    calls: [callOf(payer.address, context.world.protocol.seaport, 'fulfillAdvancedOrder', args, valueOf(listing))],
    fills: 1,
    apply: (state) => {
      fill(state, listing, receiver.address, 1n);
      pay(context, state, { listing, buyer: payer, amount: totalOf(listing.components) });
    },
  };
};

/** A purchase of some or all unsold units of an ERC-1155 listing. */
export const fulfilPart: Planner = (context) => {
  const listing = pickListing(context, ({ tokens }) => (tokens[0]?.units ?? 0n) > 1n);
  const buyer = listing && pickBuyer(context, listing);
  const units = listing?.tokens[0]?.units;
  if (!listing || !buyer || units === undefined) return null;
  const bought = BigInt(1 + context.random.below(Number(unitsLeft(context.state, listing))));
  const order = { ...toOrder(listing), numerator: bought, denominator: units, extraData: '0x' };
  const value = (valueOf(listing) * bought) / units;
  const amount = (totalOf(listing.components) * bought) / units;
  const args = [order, [], zeroHash, zeroAddress];
  return {
    what: `fulfillAdvancedOrder of ${bought} of ${units} units`,
    calls: [callOf(buyer.address, context.world.protocol.seaport, 'fulfillAdvancedOrder', args, value)],
    fills: 1,
    apply: (state) => {
      fill(state, listing, buyer.address, bought);
      pay(context, state, { listing, buyer, amount });
    },
  };
};

/** A purchase of several listings in one transaction. */
export const sweep: Planner = (context) => {
  const buyer = context.random.pick(context.world.people);
  if (!buyer) return null;
  const size = 2 + context.random.below(SWEEP_SIZE_MAX - 1);
  const swept: Listing[] = [];
  const sweptTokens = new Set<string>();
  for (const listing of context.random.shuffle(context.listings)) {
    const [token] = listing.tokens;
    if (swept.length === size) break;
    if (!token || !isSingle(listing) || isWrapped(listing) || listing.components.offerer === buyer.address) continue;
    const key = `${token.contract}:${token.tokenId}:${listing.components.offerer}`;
    if (sweptTokens.has(key) || !isFillable(context.state, listing, context.now)) continue;
    sweptTokens.add(key);
    swept.push(listing);
  }
  if (swept.length < 2) return null;
  const at = (orderIndex: number, itemIndex: number) => [
    { orderIndex: BigInt(orderIndex), itemIndex: BigInt(itemIndex) },
  ];
  const args = [
    swept.map(toOrder),
    swept.map((_, order) => at(order, 0)),
    swept.flatMap(({ components }, order) => components.consideration.map((_, item) => at(order, item))),
    zeroHash,
    BigInt(swept.length),
  ];
  const value = swept.reduce((sum, listing) => sum + valueOf(listing), 0n);
  return {
    what: `fulfillAvailableOrders of ${swept.length}`,
    calls: [callOf(buyer.address, context.world.protocol.seaport, 'fulfillAvailableOrders', args, value)],
    fills: swept.length,
    apply: (state) => {
      for (const listing of swept) fill(state, listing, buyer.address, 1n);
    },
  };
};

/**
 * Fills an ask and a matching bid with one call of `matchOrders`. The buyer sends the transaction for an ask in native currency. A third
 * account sends the transaction for an ask in the wrapped currency. The events name the sender as the recipient.
 */
export const matchOrders: Planner = async (context) => {
  const listing = pickListing(context, isSingle);
  const buyer = listing && pickBuyer(context, listing);
  const other = buyer && pickOther(context, [listing.components.offerer, buyer.address]);
  if (!listing || !buyer || !other) return null;
  const { world, random, state } = context;
  const { address: offerer } = buyer;
  const counter = counterOf(state, offerer);
  const mirror = buildMirror(listing.components, { offerer, salt: random.bits(SALT_BITS), counter });
  const item = (orderIndex: bigint, itemIndex: number) => [{ orderIndex, itemIndex: BigInt(itemIndex) }];
  const fulfilments = [
    { offerComponents: item(0n, 0), considerationComponents: item(1n, 0) },
    ...listing.components.consideration.map((_, index) => ({
      offerComponents: item(1n, 0),
      considerationComponents: item(0n, index),
    })),
  ];
  // The sender of a transaction needs no signature for its own order.
  const matcher = isWrapped(listing) ? other : buyer;
  const bid =
    matcher === buyer
      ? { components: mirror, signature: '0x' as const }
      : await signOrder(buyer.account, world.chain.chainId, mirror);
  const args = [[toOrder(listing), toOrder(bid)], fulfilments];
  return {
    what: matcher === buyer ? 'matchOrders' : 'matchOrders by another account',
    calls: [callOf(matcher.address, world.protocol.seaport, 'matchOrders', args, valueOf(listing))],
    fills: 2,
    apply: (after) => {
      fill(after, listing, offerer, 1n);
      pay(context, after, { listing, buyer, amount: totalOf(listing.components) });
    },
  };
};

/** A purchase of a bundle: several tokens at one price. The seller has listed the bundle at another marketplace. */
export const buyBundle: Planner = async (context) => {
  const [first, ...others] = context.random.shuffle(listableTokens(context).filter(({ token }) => token.units === 1n));
  const buyer = first && pickOther(context, [first.person.address]);
  if (!first || !buyer) return null;
  const rest = others
    .filter(({ person }) => person === first.person)
    .slice(0, 1 + context.random.below(BUNDLE_SIZE_MAX - 1));
  if (rest.length === 0) return null;
  const tokens = [first, ...rest].map(({ token }) => token);
  return buyElsewhere(context, { seller: first.person, buyer, tokens, currency: null, what: 'a bundle' });
};

/** A purchase paid in an ERC-20 currency that is not the wrapped native currency. */
export const buyForToken: Planner = async (context) => {
  const held = context.random.pick(listableTokens(context).filter(({ token }) => token.standard === 'erc721'));
  const buyer = held && pickOther(context, [held.person.address]);
  if (!held || !buyer) return null;
  const currency = context.world.token.address;
  return buyElsewhere(context, {
    seller: held.person,
    buyer,
    tokens: [held.token],
    currency,
    what: 'for another currency',
  });
};

/** The holder of a token accepts a bid in the wrapped currency for this token, or for any token of the collection. */
export const acceptBid: Planner = async (context) => {
  const held = context.random.pick(listableTokens(context).filter(({ token }) => token.standard === 'erc721'));
  const bidder = held && pickOther(context, [held.person.address]);
  if (!held || !bidder) return null;
  const { token, person: seller } = held;
  const { world, random, state: before } = context;
  const price = drawPrice(random, token.standard);
  const canPay = ({ address, conduitKey }: Person) => spendable(before, address, operatorOf(conduitKey)) >= price;
  // The seller pays the fees out of what the bidder pays.
  if (!canPay(bidder) || !canPay(seller)) return null;
  const ofCollection = random.happens(0.3);
  const components = buildBid({
    ...drawTerms(context, bidder),
    contract: token.contract,
    tokenId: ofCollection ? null : token.tokenId,
    price,
    currency: world.protocol.wrapped.address,
    shares: [world.fees.elsewhere, collectionOf(world, token.contract).royalty],
    endTime: context.now + ELSEWHERE_LIFETIME_S,
  });
  const order = toOrder(await signOrder(bidder.account, world.chain.chainId, components));
  // The resolver names the token for the first consideration item of the order.
  const resolver = { orderIndex: 0n, side: 1, index: 0n, identifier: token.tokenId, criteriaProof: [] };
  const { seaport } = world.protocol;
  const call = ofCollection
    ? callOf(seller.address, seaport, 'fulfillAdvancedOrder', [
        { ...order, ...FILL_COMPLETELY },
        [resolver],
        seller.conduitKey,
        zeroAddress,
      ])
    : callOf(seller.address, seaport, 'fulfillOrder', [order, seller.conduitKey]);
  return {
    what: ofCollection ? 'a bid on the collection accepted' : 'a bid accepted',
    calls: [call],
    fills: 1,
    apply: (state) => {
      move(state, token, seller.address, bidder.address);
      for (const { address, conduitKey } of [bidder, seller]) spend(state, address, operatorOf(conduitKey), price);
    },
  };
};

type Fill = { listing: Listing; buyer: Person; what: string };

function planFill(context: SigningContext, { listing, buyer, what }: Fill): Plan {
  const { world } = context;
  return {
    what,
    calls: [
      callOf(buyer.address, world.protocol.seaport, 'fulfillOrder', [toOrder(listing), zeroHash], valueOf(listing)),
    ],
    fills: 1,
    apply: (state) => {
      fill(state, listing, buyer.address, 1n);
      pay(context, state, { listing, buyer, amount: totalOf(listing.components) });
    },
  };
}

type Elsewhere = {
  seller: Person;
  buyer: Person;
  tokens: Listing['tokens'];
  currency: Address | null;
  what: string;
};

/** Signs a listing that is not posted to this marketplace, and plans its immediate purchase. */
async function buyElsewhere(
  context: PlanContext,
  { seller, buyer, tokens, currency, what }: Elsewhere,
): Promise<Plan | null> {
  const { world, random, now } = context;
  const shares = [world.fees.elsewhere, collectionOf(world, tokens[0]?.contract ?? zeroAddress).royalty];
  const price = drawPrice(random, 'erc721') * BigInt(tokens.length);
  const draft = { person: seller, tokens, price, currency, shares, endTime: now + ELSEWHERE_LIFETIME_S };
  const [listing] = await signListings(context, [draft]);
  return listing ? planFill(context, { listing, buyer, what: `fulfillOrder of ${what}` }) : null;
}

/** A random listing that can be bought now. */
export function pickListing(context: PlanContext, isWanted: (listing: Listing) => boolean): Listing | null {
  const { listings, random, state, now } = context;
  const start = random.below(listings.length);
  for (let index = 0; index < listings.length; index += 1) {
    const listing = listings[(start + index) % listings.length];
    if (listing && isWanted(listing) && isFillable(state, listing, now)) return listing;
  }
  return null;
}

/** A random person other than the seller who can pay for all units of the listing. */
function pickBuyer({ world, random, state }: SigningContext, listing: Listing): Person | undefined {
  const { components } = listing;
  const canPay = ({ address }: Person) =>
    !isWrapped(listing) || spendable(state, address, SEAPORT_ADDRESS) >= totalOf(components);
  return random.pick(world.people.filter((person) => person.address !== components.offerer && canPay(person)));
}

/** Records what a buyer pays for a listing in the wrapped native currency. Seaport itself transfers the payments of buyers. */
function pay(
  { world }: SigningContext,
  state: ChainState,
  { listing, buyer, amount }: { listing: Listing; buyer: Person; amount: bigint },
): void {
  const { token } = listing.components.consideration[0] ?? {};
  if (token === world.protocol.wrapped.address) spend(state, buyer.address, SEAPORT_ADDRESS, amount);
}

/** A random person whose address is not in `excluded`. */
export function pickOther({ world, random }: SigningContext, excluded: readonly Address[]): Person | undefined {
  return random.pick(world.people.filter(({ address }) => !excluded.includes(address)));
}

function isSingle({ tokens }: Listing): boolean {
  return tokens.length === 1 && tokens[0]?.units === 1n;
}

function isWrapped({ components }: Listing): boolean {
  return components.consideration[0]?.itemType !== ITEM_TYPE.native;
}

/** The amount of native currency that a buyer sends for the listing. It is 0 for a listing in the wrapped currency. */
function valueOf(listing: Listing): bigint {
  return isWrapped(listing) ? 0n : totalOf(listing.components);
}
