// A simulation's own record of the state of its chain: holders, approvals, filled and cancelled orders. A reorganisation restores an
// earlier copy of the record. The simulation updates the record with the planned effects of its own actions, and with the EVM logs of
// transactions that wallets sent. The simulation also reads from the chain each counter that one of its actions has incremented. It plans
// further actions by the record, so a wrong record leads to transactions that the chain rejects.

import type { Address, Hex } from 'viem';
import { zeroHash } from 'viem';
import type { SignedOrder, TokenUnits } from './orders.ts';
import { CONDUIT_ADDRESS, SEAPORT_ADDRESS } from './protocol.ts';

/** A signed ask with the tokens that it offers. */
export type Listing = SignedOrder & { tokens: readonly TokenUnits[] };

export type ChainState = {
  /** The owners of ERC-721 tokens, by token. */
  owners: Map<string, Address>;
  /** The units of ERC-1155 tokens (editions), by token and holder. */
  units: Map<string, bigint>;
  /** The approvals for all tokens of a contract. Each element is the text `contract:owner:operator`. */
  operators: Set<string>;
  /** The operator that is approved for a single ERC-721 token, by token. */
  tokenOperators: Map<string, Address>;
  /** The units that were bought of each order, by order hash. */
  filled: Map<Hex, bigint>;
  cancelled: Set<Hex>;
  /** By account: the counter, and the block of its latest increment. An account without an increment is absent. */
  counters: Map<Address, { value: bigint; block: number }>;
};

type Token = Pick<TokenUnits, 'contract' | 'standard' | 'tokenId'>;

export function createChainState(): ChainState {
  return {
    owners: new Map(),
    units: new Map(),
    operators: new Set(),
    tokenOperators: new Map(),
    filled: new Map(),
    cancelled: new Set(),
    counters: new Map(),
  };
}

export function copyChainState(state: ChainState): ChainState {
  return {
    owners: new Map(state.owners),
    units: new Map(state.units),
    operators: new Set(state.operators),
    tokenOperators: new Map(state.tokenOperators),
    filled: new Map(state.filled),
    cancelled: new Set(state.cancelled),
    counters: new Map(state.counters),
  };
}

export function keyOf({ contract, tokenId }: Pick<Token, 'contract' | 'tokenId'>): string {
  return `${contract}:${tokenId}`;
}

export function unitsHeld(state: ChainState, token: Token, holder: Address): bigint {
  if (token.standard === 'erc721') return state.owners.get(keyOf(token)) === holder ? 1n : 0n;
  return state.units.get(`${keyOf(token)}:${holder}`) ?? 0n;
}

export function counterOf(state: ChainState, person: Address): bigint {
  return state.counters.get(person)?.value ?? 0n;
}

/** The operator that must be approved for orders with this conduit key: Seaport itself, or OpenSea's conduit. */
export function operatorOf(conduitKey: Hex): Address {
  return conduitKey === zeroHash ? SEAPORT_ADDRESS : CONDUIT_ADDRESS;
}

export function hasOperator(state: ChainState, contract: Address, owner: Address, operator: Address): boolean {
  return state.operators.has(`${contract}:${owner}:${operator}`);
}

export function setOperator(
  state: ChainState,
  { contract, owner, operator }: { contract: Address; owner: Address; operator: Address },
  approved: boolean,
): void {
  const key = `${contract}:${owner}:${operator}`;
  if (approved) state.operators.add(key);
  else state.operators.delete(key);
}

export function mayMove(state: ChainState, token: Token, owner: Address, operator: Address): boolean {
  if (hasOperator(state, token.contract, owner, operator)) return true;
  return token.standard === 'erc721' && state.tokenOperators.get(keyOf(token)) === operator;
}

/** Records a transfer. `from` is null for a mint, and `to` is null for a burn. */
export function move(state: ChainState, token: TokenUnits, from: Address | null, to: Address | null): void {
  const key = keyOf(token);
  if (token.standard === 'erc721') {
    state.tokenOperators.delete(key);
    if (to === null) state.owners.delete(key);
    else state.owners.set(key, to);
    return;
  }
  for (const [holder, change] of [
    [from, -token.units],
    [to, token.units],
  ] as const) {
    if (holder === null) continue;
    state.units.set(`${key}:${holder}`, unitsHeld(state, token, holder) + change);
  }
}

/** Units of a listing that are not sold yet. */
export function unitsLeft(state: ChainState, listing: Listing): bigint {
  const [token] = listing.tokens;
  return (token?.units ?? 0n) - (state.filled.get(listing.hash) ?? 0n);
}

/** Whether a listing has unsold units, and is not cancelled or expired at `now` (seconds). A counter increment also cancels a listing. */
export function isOpen(state: ChainState, listing: Listing, now: number): boolean {
  const { components, hash } = listing;
  return (
    unitsLeft(state, listing) > 0n &&
    !state.cancelled.has(hash) &&
    components.counter === counterOf(state, components.offerer) &&
    components.endTime > BigInt(now)
  );
}

/** Whether all unsold units of a listing can be bought at `now` (seconds). */
export function isFillable(state: ChainState, listing: Listing, now: number): boolean {
  if (!isOpen(state, listing, now)) return false;
  const { offerer, conduitKey } = listing.components;
  const operator = operatorOf(conduitKey);
  return listing.tokens.every(
    (token) =>
      unitsHeld(state, token, offerer) >= (token.standard === 'erc721' ? 1n : unitsLeft(state, listing)) &&
      mayMove(state, token, offerer, operator),
  );
}

/** Records that `buyer` bought `units` of each token of the listing. */
export function fill(state: ChainState, listing: Listing, buyer: Address, units: bigint): void {
  state.filled.set(listing.hash, (state.filled.get(listing.hash) ?? 0n) + units);
  for (const token of listing.tokens) move(state, { ...token, units }, listing.components.offerer, buyer);
}
