// Plans what simulated people do besides trades: cancels, transfers, approvals, mints, burns and listings. A planner returns
// the calls to send and their effect on the recorded state (`Plan` in trades.ts).

import { zeroAddress } from 'viem';
import type { SigningContext, Draft } from './listings.ts';
import { collectionOf, draftListing, heldTokens, isSettled, listableTokens, signListings } from './listings.ts';
import type { Call } from './chain.ts';
import { callOf } from './chain.ts';
import type { ChainState } from './chain-state.ts';
import { hasOperator, isOpen, keyOf, mayMove, move, operatorOf, setOperator, unitsHeld } from './chain-state.ts';
import type { TokenUnits } from './orders.ts';
import { toOrder } from './orders.ts';
import type { Plan, Planner, PlanContext } from './trades.ts';
import { pickListing, pickOther } from './trades.ts';
import type { Person } from './world.ts';

const CANCELLED_AT_ONCE_MAX = 4;
const UNITS_MINTED = 10n;
const LISTED_AT_ONCE_MAX = 4;
/** The lifetimes of listings that should expire during a run. */
const SHORT_LIFETIME_S = { least: 20, most: 120 };

export const cancel: Planner = (context) => {
  const first = pickListing(context, () => true);
  if (!first) return null;
  const { offerer } = first.components;
  const others = context.listings.filter(
    (one) => one !== first && one.components.offerer === offerer && isOpen(context.state, one, context.now),
  );
  const cancelled = [first, ...context.random.shuffle(others).slice(0, context.random.below(CANCELLED_AT_ONCE_MAX))];
  const orders = cancelled.map(({ components }) => components);
  return {
    what: `cancel of ${cancelled.length}`,
    calls: [callOf(offerer, context.world.protocol.seaport, 'cancel', [orders])],
    fills: 0,
    apply: (state) => {
      for (const { hash } of cancelled) state.cancelled.add(hash);
    },
  };
};

/** Makes Seaport record that an order's signature is valid, which changes nothing about the order. */
export const validate: Planner = (context) => {
  const listing = pickListing(context, () => true);
  if (!listing) return null;
  const call = callOf(listing.components.offerer, context.world.protocol.seaport, 'validate', [[toOrder(listing)]]);
  return { what: 'validate', calls: [call], fills: 0, apply: () => undefined };
};

/** Voids all orders of one account. The new counter is recorded as -1 until simulation.ts has read it from the mined block. */
export const incrementCounter: Planner = (context) => {
  const settled = context.world.people.filter((person) => isSettled(context, person));
  const person = context.random.pick(settled);
  if (!person) return null;
  return {
    what: 'incrementCounter',
    calls: [callOf(person.address, context.world.protocol.seaport, 'incrementCounter')],
    fills: 0,
    apply: (state) => {
      state.counters.set(person.address, { value: -1n, block: context.height + 1 });
    },
  };
};

/** Transfers a listed token to another account. */
export const transferAway: Planner = (context) => {
  const listing = pickListing(context, () => true);
  const receiver = listing && pickOther(context, [listing.components.offerer]);
  const [token] = listing?.tokens ?? [];
  if (!listing || !receiver || !token) return null;
  const from = listing.components.offerer;
  const units = unitsHeld(context.state, token, from);
  return planTransfer(context, { token: { ...token, units }, from, to: receiver.address, what: 'transfer away' });
};

/** Transfers a token back to an account that has an open listing of the token but does not hold it. */
export const transferBack: Planner = (context) => {
  const { state, world, random } = context;
  for (const listing of random.shuffle(context.listings)) {
    const [token] = listing.tokens;
    const { offerer } = listing.components;
    if (!token || !isOpen(state, listing, context.now) || unitsHeld(state, token, offerer) > 0n) continue;
    const holder = world.people.find(({ address }) => unitsHeld(state, token, address) > 0n);
    if (!holder) continue;
    const units = unitsHeld(state, token, holder.address);
    return planTransfer(context, {
      token: { ...token, units },
      from: holder.address,
      to: offerer,
      what: 'transfer back',
    });
  }
  return null;
};

export const revokeApproval: Planner = (context) => {
  const approved = operatorsOf(context).filter(({ contract, owner, operator }) =>
    hasOperator(context.state, contract, owner, operator),
  );
  const row = context.random.pick(approved);
  return row ? planOperator(context, row, false) : null;
};

export const approveAgain: Planner = (context) => {
  const missing = operatorsOf(context).filter(
    ({ contract, owner, operator }) => !hasOperator(context.state, contract, owner, operator),
  );
  const row = context.random.pick(missing);
  return row ? planOperator(context, row, true) : null;
};

/** Approves an operator for one token, or revokes that approval. Only for owners who have not approved the operator for all tokens. */
export const approveOne: Planner = (context) => {
  const { state, random, world } = context;
  const candidates = heldTokens(context).filter(
    ({ token, person }) =>
      token.standard === 'erc721' && !hasOperator(state, token.contract, person.address, operatorOf(person.conduitKey)),
  );
  const held = random.pick(candidates);
  if (!held) return null;
  const { token, person } = held;
  const operator = operatorOf(person.conduitKey);
  const isApproved = mayMove(state, token, person.address, operator);
  const args = [isApproved ? zeroAddress : operator, token.tokenId];
  return {
    what: isApproved ? 'approval of one token revoked' : 'approval of one token',
    calls: [callOf(person.address, collectionOf(world, token.contract), 'approve', args)],
    fills: 0,
    apply: (after) => {
      if (isApproved) after.tokenOperators.delete(keyOf(token));
      else after.tokenOperators.set(keyOf(token), operator);
    },
  };
};

export const burn: Planner = (context) => {
  const held = context.random.pick(heldTokens(context));
  if (!held) return null;
  const { token, person } = held;
  const single = token.standard === 'erc721';
  const units = single ? 1n : BigInt(1 + context.random.below(Number(token.units)));
  const args = single ? [token.tokenId] : [token.tokenId, units];
  return {
    what: 'burn',
    calls: [callOf(person.address, collectionOf(context.world, token.contract), 'burn', args)],
    fills: 0,
    apply: (state) => move(state, { ...token, units }, person.address, null),
  };
};

export const mint: Planner = ({ world, state, random }) => {
  const collection = random.pick(world.collections);
  const person = random.pick(world.people);
  if (!collection || !person) return null;
  const { address: contract, standard } = collection;
  const single = standard === 'erc721';
  const tokenId = single ? nextTokenId(state, collection) : BigInt(1 + random.below(collection.size));
  const units = single ? 1n : UNITS_MINTED;
  const args = single ? [person.address, tokenId] : [person.address, tokenId, units];
  return {
    what: 'mint',
    calls: [callOf(person.address, collection, 'mint', args)],
    fills: 0,
    apply: (after) => move(after, { contract, standard, tokenId, units }, null, person.address),
  };
};

/** Signs new listings of one person. Several listings get one bulk signature. Sends nothing to the chain. */
export const list: Planner = (context) => planListings(context, 1 + context.random.below(LISTED_AT_ONCE_MAX));

/** Signs a listing that ends soon. Sends nothing to the chain. */
export const listBriefly: Planner = (context) => {
  const { least, most } = SHORT_LIFETIME_S;
  return planListings(context, 1, context.now + least + context.random.below(most - least));
};

async function planListings(context: PlanContext, count: number, endTime?: number): Promise<Plan | null> {
  const listable = listableTokens(context).filter(({ person }) => isSettled(context, person));
  const person = context.random.pick(listable)?.person;
  const own = context.random.shuffle(listable.filter((one) => one.person === person)).slice(0, count);
  if (!person || own.length === 0) return null;
  const drafts: Draft[] = own.map(({ token }) => draftListing(context, person, token, endTime));
  const posted = await signListings(context, drafts);
  return {
    what: endTime === undefined ? `list ${posted.length}` : 'list briefly',
    calls: [],
    fills: 0,
    apply: () => undefined,
    posted,
  };
}

type Transfer = { token: TokenUnits; from: Person['address']; to: Person['address']; what: string };

function planTransfer({ world }: SigningContext, { token, from, to, what }: Transfer): Plan {
  const collection = collectionOf(world, token.contract);
  const call: Call =
    token.standard === 'erc721'
      ? callOf(from, collection, 'transferFrom', [from, to, token.tokenId])
      : callOf(from, collection, 'safeTransferFrom', [from, to, token.tokenId, token.units, '0x']);
  return { what, calls: [call], fills: 0, apply: (state) => move(state, token, from, to) };
}

type Operator = { contract: TokenUnits['contract']; owner: Person['address']; operator: Person['address'] };

/** For each person and each collection, the operator that must be approved for the person's orders. */
function operatorsOf({ world }: SigningContext): Operator[] {
  return world.people.flatMap(({ address, conduitKey }) =>
    world.collections.map((collection) => ({
      contract: collection.address,
      owner: address,
      operator: operatorOf(conduitKey),
    })),
  );
}

function planOperator({ world }: SigningContext, row: Operator, approved: boolean): Plan {
  const collection = collectionOf(world, row.contract);
  return {
    what: approved ? 'approval set again' : 'approval revoked',
    calls: [callOf(row.owner, collection, 'setApprovalForAll', [row.operator, approved])],
    fills: 0,
    apply: (state) => setOperator(state, row, approved),
  };
}

/** The lowest id that is above the initial ids and has no owner. A burned token may therefore be minted again, as on a real chain. */
function nextTokenId(state: ChainState, { address, size }: { address: TokenUnits['contract']; size: number }): bigint {
  let tokenId = BigInt(size) + 1n;
  while (state.owners.has(`${address}:${tokenId}`)) tokenId += 1n;
  return tokenId;
}
