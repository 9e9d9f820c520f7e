// What people do besides trading: cancelling, moving tokens, giving and taking approvals, minting, burning, listing. Each is
// planned like a trade: what to send, and what will be true afterwards.

import { zeroAddress } from 'viem';
import type { Desk, Draft } from './book.ts';
import { collectionOf, draftListing, heldTokens, listableTokens, signListings } from './book.ts';
import type { Call } from './chain.ts';
import { callOf } from './chain.ts';
import type { Ledger } from './ledger.ts';
import { hasOperator, isOpen, keyOf, mayMove, move, operatorOf, setOperator, unitsHeld } from './ledger.ts';
import type { TokenUnits } from './orders.ts';
import { toOrder } from './orders.ts';
import type { Plan, Planner, Scene } from './trades.ts';
import { pickListing, pickOther } from './trades.ts';
import type { Person } from './world.ts';

/** The deepest reorganisation that life makes. */
export const REORG_DEPTH_MAX = 20;

const CANCELLED_AT_ONCE_MAX = 4;
const UNITS_MINTED = 10n;
const LISTED_AT_ONCE_MAX = 4;
/** How long listings live that are meant to be seen expiring. */
const SHORT_LIFETIME_S = { least: 20, most: 120 };

export const cancel: Planner = (scene) => {
  const first = pickListing(scene, () => true);
  if (!first) return null;
  const { offerer } = first.components;
  const others = scene.listings.filter(
    (one) => one !== first && one.components.offerer === offerer && isOpen(scene.ledger, one, scene.now),
  );
  const cancelled = [first, ...scene.chance.shuffle(others).slice(0, scene.chance.below(CANCELLED_AT_ONCE_MAX))];
  const orders = cancelled.map(({ components }) => components);
  return {
    what: `cancel of ${cancelled.length}`,
    calls: [callOf(offerer, scene.world.protocol.seaport, 'cancel', [orders])],
    fills: 0,
    apply: (ledger) => {
      for (const { hash } of cancelled) ledger.cancelled.add(hash);
    },
  };
};

/** Seaport says on the chain that an order is good, which changes nothing about it. */
export const validate: Planner = (scene) => {
  const listing = pickListing(scene, () => true);
  if (!listing) return null;
  const call = callOf(listing.components.offerer, scene.world.protocol.seaport, 'validate', [[toOrder(listing)]]);
  return { what: 'validate', calls: [call], fills: 0, apply: () => undefined };
};

/** All that somebody signed is void. The new counter is only known when the block is there: see life.ts. */
export const incrementCounter: Planner = (scene) => {
  const settled = scene.world.people.filter((person) => isSettled(scene, person));
  const person = scene.chance.pick(settled);
  if (!person) return null;
  return {
    what: 'incrementCounter',
    calls: [callOf(person.address, scene.world.protocol.seaport, 'incrementCounter')],
    fills: 0,
    apply: (ledger) => {
      ledger.counters.set(person.address, { value: -1n, block: scene.height + 1 });
    },
  };
};

/** Away from under a listing, where there is one. */
export const transferAway: Planner = (scene) => {
  const listing = pickListing(scene, () => true);
  const receiver = listing && pickOther(scene, [listing.components.offerer]);
  const [token] = listing?.tokens ?? [];
  if (!listing || !receiver || !token) return null;
  const from = listing.components.offerer;
  const units = unitsHeld(scene.ledger, token, from);
  return planTransfer(scene, { token: { ...token, units }, from, to: receiver.address, what: 'transfer away' });
};

/** Back to whom a listing waits for it. */
export const transferBack: Planner = (scene) => {
  const { ledger, world, chance } = scene;
  for (const listing of chance.shuffle(scene.listings)) {
    const [token] = listing.tokens;
    const { offerer } = listing.components;
    if (!token || !isOpen(ledger, listing, scene.now) || unitsHeld(ledger, token, offerer) > 0n) continue;
    const holder = world.people.find(({ address }) => unitsHeld(ledger, token, address) > 0n);
    if (!holder) continue;
    const units = unitsHeld(ledger, token, holder.address);
    return planTransfer(scene, {
      token: { ...token, units },
      from: holder.address,
      to: offerer,
      what: 'transfer back',
    });
  }
  return null;
};

export const revokeApproval: Planner = (scene) => {
  const approved = operatorsOf(scene).filter(({ contract, owner, operator }) =>
    hasOperator(scene.ledger, contract, owner, operator),
  );
  const row = scene.chance.pick(approved);
  return row ? planOperator(scene, row, false) : null;
};

export const approveAgain: Planner = (scene) => {
  const missing = operatorsOf(scene).filter(
    ({ contract, owner, operator }) => !hasOperator(scene.ledger, contract, owner, operator),
  );
  const row = scene.chance.pick(missing);
  return row ? planOperator(scene, row, true) : null;
};

/** One token is approved by an owner who approves not all of them; or its approval is taken back. */
export const approveOne: Planner = (scene) => {
  const { ledger, chance, world } = scene;
  const candidates = heldTokens(scene).filter(
    ({ token, person }) =>
      token.standard === 'erc721' &&
      !hasOperator(ledger, token.contract, person.address, operatorOf(person.conduitKey)),
  );
  const held = chance.pick(candidates);
  if (!held) return null;
  const { token, person } = held;
  const operator = operatorOf(person.conduitKey);
  const taken = mayMove(ledger, token, person.address, operator);
  const args = [taken ? zeroAddress : operator, token.tokenId];
  return {
    what: taken ? 'approval of one token taken back' : 'approval of one token',
    calls: [callOf(person.address, collectionOf(world, token.contract), 'approve', args)],
    fills: 0,
    apply: (after) => {
      if (taken) after.tokenOperators.delete(keyOf(token));
      else after.tokenOperators.set(keyOf(token), operator);
    },
  };
};

export const burn: Planner = (scene) => {
  const held = scene.chance.pick(heldTokens(scene));
  if (!held) return null;
  const { token, person } = held;
  const single = token.standard === 'erc721';
  const units = single ? 1n : BigInt(1 + scene.chance.below(Number(token.units)));
  const args = single ? [token.tokenId] : [token.tokenId, units];
  return {
    what: 'burn',
    calls: [callOf(person.address, collectionOf(scene.world, token.contract), 'burn', args)],
    fills: 0,
    apply: (ledger) => move(ledger, { ...token, units }, person.address, null),
  };
};

export const mint: Planner = ({ world, ledger, chance }) => {
  const collection = chance.pick(world.collections);
  const person = chance.pick(world.people);
  if (!collection || !person) return null;
  const { address: contract, standard } = collection;
  const single = standard === 'erc721';
  const tokenId = single ? nextTokenId(ledger, collection) : BigInt(1 + chance.below(collection.size));
  const units = single ? 1n : UNITS_MINTED;
  const args = single ? [person.address, tokenId] : [person.address, tokenId, units];
  return {
    what: 'mint',
    calls: [callOf(person.address, collection, 'mint', args)],
    fills: 0,
    apply: (after) => move(after, { contract, standard, tokenId, units }, null, person.address),
  };
};

/** New listings of one person, signed with one signature when they are several. Nothing is sent to the chain. */
export const list: Planner = (scene) => planListings(scene, 1 + scene.chance.below(LISTED_AT_ONCE_MAX));

/** A listing that ends soon. */
export const listBriefly: Planner = (scene) => {
  const { least, most } = SHORT_LIFETIME_S;
  return planListings(scene, 1, scene.now + least + scene.chance.below(most - least));
};

async function planListings(scene: Scene, count: number, endTime?: number): Promise<Plan | null> {
  const listable = listableTokens(scene).filter(({ person }) => isSettled(scene, person));
  const person = scene.chance.pick(listable)?.person;
  const own = scene.chance.shuffle(listable.filter((one) => one.person === person)).slice(0, count);
  if (!person || own.length === 0) return null;
  const drafts: Draft[] = own.map(({ token }) => draftListing(scene, person, token, endTime));
  const posted = await signListings(scene, drafts);
  return {
    what: endTime === undefined ? `list ${posted.length}` : 'list briefly',
    calls: [],
    fills: 0,
    apply: () => undefined,
    posted,
  };
}

/**
 * A counter that was raised in a block that may still be taken back is not signed with: should the block go, the next raise
 * gives another number, and such orders would be void for ever or come to life out of nowhere.
 */
function isSettled({ ledger, height }: Scene, { address }: Person): boolean {
  const raised = ledger.counters.get(address);
  return raised === undefined || raised.block + REORG_DEPTH_MAX < height;
}

type Transfer = { token: TokenUnits; from: Person['address']; to: Person['address']; what: string };

function planTransfer({ world }: Desk, { token, from, to, what }: Transfer): Plan {
  const collection = collectionOf(world, token.contract);
  const call: Call =
    token.standard === 'erc721'
      ? callOf(from, collection, 'transferFrom', [from, to, token.tokenId])
      : callOf(from, collection, 'safeTransferFrom', [from, to, token.tokenId, token.units, '0x']);
  return { what, calls: [call], fills: 0, apply: (ledger) => move(ledger, token, from, to) };
}

type Operator = { contract: TokenUnits['contract']; owner: Person['address']; operator: Person['address'] };

/** Everybody's way of selling in every collection. */
function operatorsOf({ world }: Desk): Operator[] {
  return world.people.flatMap(({ address, conduitKey }) =>
    world.collections.map((collection) => ({
      contract: collection.address,
      owner: address,
      operator: operatorOf(conduitKey),
    })),
  );
}

function planOperator({ world }: Desk, row: Operator, approved: boolean): Plan {
  const collection = collectionOf(world, row.contract);
  return {
    what: approved ? 'approval given again' : 'approval revoked',
    calls: [callOf(row.owner, collection, 'setApprovalForAll', [row.operator, approved])],
    fills: 0,
    apply: (ledger) => setOperator(ledger, row, approved),
  };
}

/** The lowest new id that nobody holds: a burnt one may come back, as it may on a real chain. */
function nextTokenId(ledger: Ledger, { address, size }: { address: TokenUnits['contract']; size: number }): bigint {
  let tokenId = BigInt(size) + 1n;
  while (ledger.owners.has(`${address}:${tokenId}`)) tokenId += 1n;
  return tokenId;
}
