// Signs the bids that simulated people post to the marketplace, and plans what happens to these bids: sales to them, cancels, and changes of what their bidders can
// pay. A planner returns the calls to send and their effect on the recorded state (`Plan` in trades.ts).

import type { Address } from 'viem';
import { keccak256, zeroAddress } from 'viem';
import { toTokenRoot } from '../client/src/seaport.ts';
import type { Bid, ChainState, Wanted } from './chain-state.ts';
import { fillBid, isAcceptable, isOpen, operatorOf, spendable, unitPriceOf, unitsLeft } from './chain-state.ts';
import { callOf } from './chain.ts';
import type { SigningContext } from './listings.ts';
import { collectionOf, drawEndTime, drawPrice, drawTerms, heldTokens, isSettled, listableTokens } from './listings.ts';
import { buildBid, signBulk, signOrder, toOrder } from './orders.ts';
import { toSetProof } from './token-set.ts';
import type { Plan, Planner, PlanContext } from './trades.ts';
import { pickOther } from './trades.ts';
import type { Person } from './world.ts';

const SIGNED_AT_ONCE_MAX = 4;
const CANCELLED_AT_ONCE_MAX = 4;
const ITEM_SHARE = 0.4;
const COLLECTION_SHARE = 0.3;
const UNITS_MAX = 6;
const SET_SIZE_MAX = 24;
/** The share of the bids that should expire during a run, and their lifetimes. */
const SHORT_SHARE = 0.1;
const SHORT_LIFETIME_S = { least: 20, most: 120 };
const UNLIMITED = 2n ** 256n - 1n;

/** Signs bids of one person. Several bids get one bulk signature. Sends nothing to the chain. */
export const bid: Planner = async (context) => {
  const bids = await signBids(context, 1 + context.random.below(SIGNED_AT_ONCE_MAX));
  if (bids.length === 0) return null;
  return { what: `bid ${bids.length}`, calls: [], fills: 0, apply: () => undefined, bids };
};

/** Signs at most `count` bids of one person whose counter is final, each of a random kind. */
export async function signBids(
  signing: SigningContext & Pick<PlanContext, 'height' | 'reorgDepthMax'>,
  count: number,
): Promise<Bid[]> {
  const { world, random } = signing;
  const person = random.pick(world.people.filter((one) => isSettled(signing, one)));
  if (!person) return [];
  const drafts = Array.from({ length: count }, () => drawWanted(signing, person) ?? []).flat();
  const orders = drafts.map((wanted) => toComponents(signing, person, wanted));
  const [first] = orders;
  if (!first) return [];
  const { chainId } = world.chain;
  const signed =
    orders.length === 1
      ? [await signOrder(person.account, chainId, first)]
      : await signBulk(person.account, chainId, orders);
  return signed.flatMap((order, index) => (drafts[index] ? { ...order, wanted: drafts[index] } : []));
}

/** The holder of a token sells one unit or several to a posted bid. */
export const sellToBid: Planner = (context) => {
  for (const one of context.random.shuffle(context.bids)) {
    if (!isAcceptable(context.state, one, context.now)) continue;
    const held = context.random.pick(sellersOf(context, one));
    if (held) return planSale(context, one, held);
  }
  return null;
};

export const cancelBids: Planner = (context) => {
  const first = pickBid(context, isOpen);
  if (!first) return null;
  const { offerer } = first.components;
  const others = context.bids.filter(
    (one) => one !== first && one.components.offerer === offerer && isOpen(context.state, one, context.now),
  );
  const cancelled = [first, ...context.random.shuffle(others).slice(0, context.random.below(CANCELLED_AT_ONCE_MAX))];
  const orders = cancelled.map(({ components }) => components);
  return {
    what: `cancel of ${cancelled.length} bids`,
    calls: [callOf(offerer, context.world.protocol.seaport, 'cancel', [orders])],
    fills: 0,
    apply: (state) => {
      for (const { hash } of cancelled) state.cancelled.add(hash);
    },
  };
};

/** A bidder unwraps or gives away so much that the rest does not pay one unit of a bid. */
export const lowerBalance: Planner = (context) => {
  const found = pickBid(context, isAcceptable);
  if (!found) return null;
  const { world, state, random } = context;
  const { offerer } = found.components;
  const rest = (unitPriceOf(found) * BigInt(random.below(100))) / 100n;
  const given = (state.balances.get(offerer) ?? 0n) - rest;
  const receiver = pickOther(context, [offerer]);
  const call =
    receiver && random.happens(0.5)
      ? callOf(offerer, world.protocol.wrapped, 'transfer', [receiver.address, given])
      : callOf(offerer, world.protocol.wrapped, 'withdraw', [given]);
  return planMoney('a balance falls', call, (after) => after.balances.set(offerer, rest));
};

/** A bidder wraps enough for some units of a bid that the balance does not cover. */
export const raiseBalance: Planner = (context) => {
  const found = pickBid(context, (state, one, now) => {
    return isOpen(state, one, now) && (state.balances.get(one.components.offerer) ?? 0n) < unitPriceOf(one);
  });
  if (!found) return null;
  const value = unitPriceOf(found) * BigInt(1 + context.random.below(UNITS_MAX));
  const call = callOf(found.components.offerer, context.world.protocol.wrapped, 'deposit', [], value);
  return planMoney('a balance rises', call, () => undefined);
};

/** A bidder withdraws the allowance of the operator of a bid, or lowers it below the price of one unit. */
export const lowerAllowance: Planner = (context) => {
  const found = pickBid(context, isAcceptable);
  if (!found) return null;
  const amount = context.random.happens(0.5) ? 0n : unitPriceOf(found) - 1n;
  return planAllowance(context, found, { what: 'an allowance is lowered', amount });
};

/** A bidder allows the operator of a bid to spend what the bid needs, exactly or without a limit. */
export const raiseAllowance: Planner = (context) => {
  const found = pickBid(context, (state, one, now) => {
    const { offerer, conduitKey } = one.components;
    const allowance = state.allowances.get(`${offerer}:${operatorOf(conduitKey)}`) ?? 0n;
    return isOpen(state, one, now) && allowance < unitPriceOf(one);
  });
  if (!found) return null;
  const amount = context.random.happens(0.5) ? unitPriceOf(found) * unitsLeft(context.state, found) : UNLIMITED;
  return planAllowance(context, found, { what: 'an allowance is raised', amount });
};

function drawWanted(signing: SigningContext, person: Person): Wanted | null {
  const { world, random } = signing;
  const collection = random.pick(world.collections);
  if (!collection) return null;
  const { address: contract, standard, size } = collection;
  const units = BigInt(1 + random.below(UNITS_MAX));
  const drawn = random.below(1_000) / 1_000;
  if (drawn < ITEM_SHARE) {
    const held = heldTokens(signing).filter(
      ({ token, person: holder }) => token.contract === contract && holder !== person,
    );
    const token = random.pick(held)?.token;
    const wantedUnits = standard === 'erc721' ? 1n : units;
    return token ? { kind: 'item', contract, standard, tokenId: token.tokenId, units: wantedUnits } : null;
  }
  if (drawn < ITEM_SHARE + COLLECTION_SHARE) return { kind: 'collection', contract, standard, units };
  const ids = Array.from({ length: size }, (_, index) => BigInt(index + 1));
  const tokenIds = random.shuffle(ids).slice(0, 1 + random.below(SET_SIZE_MAX));
  return { kind: 'trait', contract, standard, tokenIds, units };
}

/** The price of one unit is a multiple of the step of prices of editions, so that each amount is a multiple of the units. */
function toComponents(signing: SigningContext, person: Person, wanted: Wanted) {
  const { world, random, now } = signing;
  const { contract, standard, units } = wanted;
  const { least, most } = SHORT_LIFETIME_S;
  return buildBid({
    ...drawTerms(signing, person),
    contract,
    standard,
    units,
    tokenId: wanted.kind === 'item' ? wanted.tokenId : null,
    root: wanted.kind === 'trait' ? toTokenRoot(wanted.tokenIds, keccak256) : null,
    price: drawPrice(random, 'erc1155') * units,
    currency: world.protocol.wrapped.address,
    shares: [world.fees.own, collectionOf(world, contract).royalty],
    endTime: random.happens(SHORT_SHARE) ? now + least + random.below(most - least) : drawEndTime(signing),
  });
}

type Held = ReturnType<typeof listableTokens>[number];

/** The tokens that their holders can sell to a bid. A seller pays the fees of the bid out of what the bidder pays. */
function sellersOf(context: PlanContext, one: Bid): Held[] {
  const { state } = context;
  const { wanted, components } = one;
  return listableTokens(context).filter(({ token, person }) => {
    if (token.contract !== wanted.contract || person.address === components.offerer) return false;
    if (wanted.kind === 'item' && token.tokenId !== wanted.tokenId) return false;
    if (wanted.kind === 'trait' && !wanted.tokenIds.includes(token.tokenId)) return false;
    return (state.allowances.get(`${person.address}:${operatorOf(person.conduitKey)}`) ?? 0n) >= feesOf(one);
  });
}

function feesOf({ components }: Bid): bigint {
  return components.consideration.slice(1).reduce((sum, { startAmount }) => sum + startAmount, 0n);
}

function planSale(context: PlanContext, one: Bid, { token, person: seller }: Held): Plan {
  const { state, random, world } = context;
  const { wanted, components } = one;
  const { offerer, conduitKey } = components;
  const payable = spendable(state, offerer, operatorOf(conduitKey)) / unitPriceOf(one);
  const most = [unitsLeft(state, one), token.units, payable].reduce((least, next) => (next < least ? next : least));
  const units = BigInt(1 + random.below(Number(most)));
  const criteriaProof = wanted.kind === 'trait' ? toSetProof(wanted.tokenIds, token.tokenId) : [];
  const resolver = { orderIndex: 0n, side: 1, index: 0n, identifier: token.tokenId, criteriaProof };
  const order = { ...toOrder(one), numerator: units, denominator: wanted.units, extraData: '0x' };
  const args = [order, wanted.kind === 'item' ? [] : [resolver], seller.conduitKey, zeroAddress];
  return {
    what: `a bid of this marketplace accepted for ${units} of ${wanted.units} units`,
    calls: [callOf(seller.address, world.protocol.seaport, 'fulfillAdvancedOrder', args)],
    fills: 1,
    apply: (after) => fillBid(after, one, { token: { ...token, units }, seller, fees: feesOf(one) }),
  };
}

function pickBid(
  { bids, random, state, now }: PlanContext,
  isWanted: (state: ChainState, bid: Bid, now: number) => boolean,
): Bid | null {
  const start = random.below(bids.length);
  for (let index = 0; index < bids.length; index += 1) {
    const found = bids[(start + index) % bids.length];
    if (found && isWanted(state, found, now)) return found;
  }
  return null;
}

function planAllowance(
  { world }: PlanContext,
  { components }: Bid,
  { what, amount }: { what: string; amount: bigint },
): Plan {
  const { offerer, conduitKey } = components;
  const operator: Address = operatorOf(conduitKey);
  const call = callOf(offerer, world.protocol.wrapped, 'approve', [operator, amount]);
  return planMoney(what, call, (state) => state.allowances.set(`${offerer}:${operator}`, amount));
}

function planMoney(what: string, call: Plan['calls'][number], apply: (state: ChainState) => unknown): Plan {
  return {
    what,
    calls: [call],
    fills: 0,
    apply: (state) => {
      apply(state);
    },
  };
}
