// A simulation's own record of the state of its chain: holders, approvals, filled and cancelled orders, and what people can pay in the wrapped native currency. A
// reorganisation restores an earlier copy of the record. The simulation updates the record with the planned effects of its own actions, and with the EVM logs of
// transactions that wallets sent. The simulation also reads from the chain each counter that one of its actions has incremented, and after each block what people
// can pay. It plans further actions by the record, so a wrong record leads to transactions that the chain rejects.

import type { Address, Hex } from 'viem';
import { zeroHash } from 'viem';
import type { SignedOrder, TokenUnits } from './orders.ts';
import { CONDUIT_ADDRESS, SEAPORT_ADDRESS } from './protocol.ts';

/** A signed ask with the tokens that it offers. */
export type Listing = SignedOrder & { tokens: readonly TokenUnits[] };

/** Units of one token, of any token of the contract, or of any token of a set. */
export type Wanted = Pick<TokenUnits, 'contract' | 'standard' | 'units'> &
  ({ kind: 'item'; tokenId: bigint } | { kind: 'collection' } | { kind: 'trait'; tokenIds: readonly bigint[] });

/** A signed offer to buy in the wrapped native currency. */
export type Bid = SignedOrder & { wanted: Wanted };

export type ChainState = {
  /** The owners of ERC-721 tokens, by token. */
  owners: Map<string, Address>;
  /** The units of ERC-1155 tokens (editions), by token and holder. */
  units: Map<string, bigint>;
  /** The approvals for all tokens of a contract. Each element is the text `contract:owner:operator`. */
  operators: Set<string>;
  /** The operator that is approved for a single ERC-721 token, by token. */
  tokenOperators: Map<string, Address>;
  /** The balances of the wrapped native currency, by account. Plans subtract what they spend, and do not add what they receive. */
  balances: Map<Address, bigint>;
  /** How much of the wrapped native currency a spender may transfer, by the text `owner:spender`. */
  allowances: Map<string, bigint>;
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
    balances: new Map(),
    allowances: new Map(),
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
    balances: new Map(state.balances),
    allowances: new Map(state.allowances),
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

/** Units of an order that are not sold yet. */
export function unitsLeft(state: ChainState, order: Listing | Bid): bigint {
  const units = 'wanted' in order ? order.wanted.units : (order.tokens[0]?.units ?? 0n);
  return units - (state.filled.get(order.hash) ?? 0n);
}

/** Whether an order has unsold units, and is not cancelled or expired at `now` (seconds). A counter increment also cancels an order. */
export function isOpen(state: ChainState, order: Listing | Bid, now: number): boolean {
  const { components, hash } = order;
  return (
    unitsLeft(state, order) > 0n &&
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

/** What a spender can transfer of an account's wrapped native currency. */
export function spendable(state: ChainState, account: Address, spender: Address): bigint {
  const balance = state.balances.get(account) ?? 0n;
  const allowance = state.allowances.get(`${account}:${spender}`) ?? 0n;
  return balance < allowance ? balance : allowance;
}

/** Records that a spender transferred wrapped native currency of an account. */
export function spend(state: ChainState, account: Address, spender: Address, amount: bigint): void {
  const key = `${account}:${spender}`;
  state.balances.set(account, (state.balances.get(account) ?? 0n) - amount);
  state.allowances.set(key, (state.allowances.get(key) ?? 0n) - amount);
}

/** What the bidder pays for one unit. */
export function unitPriceOf({ components, wanted }: Bid): bigint {
  return (components.offer[0]?.startAmount ?? 0n) / wanted.units;
}

/** Whether one unit can be sold to a bid at `now` (seconds). */
export function isAcceptable(state: ChainState, bid: Bid, now: number): boolean {
  const { components, wanted } = bid;
  const { offerer, conduitKey } = components;
  const exists = wanted.kind !== 'item' || wanted.standard === 'erc1155' || state.owners.has(keyOf(wanted));
  return exists && isOpen(state, bid, now) && spendable(state, offerer, operatorOf(conduitKey)) >= unitPriceOf(bid);
}

/** Records that a seller sold units of a token to a bid. `fees`: at most what the seller pays of the proceeds. */
export function fillBid(
  state: ChainState,
  bid: Bid,
  { token, seller, fees }: { token: TokenUnits; seller: { address: Address; conduitKey: Hex }; fees: bigint },
): void {
  const { offerer, conduitKey } = bid.components;
  state.filled.set(bid.hash, (state.filled.get(bid.hash) ?? 0n) + token.units);
  move(state, token, seller.address, offerer);
  spend(state, offerer, operatorOf(conduitKey), unitPriceOf(bid) * token.units);
  spend(state, seller.address, operatorOf(seller.conduitKey), fees);
}
