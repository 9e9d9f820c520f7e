// What the generator of life knows of a chain: who holds and may move what, and what became of each order. It can be copied,
// so that a reorganisation can be forgotten. It never reads the chain: what it knows wrongly, the chain refuses.

import type { Address, Hex } from 'viem';
import { zeroHash } from 'viem';
import type { SignedOrder, TokenUnits } from './orders.ts';
import { CONDUIT_ADDRESS, SEAPORT_ADDRESS } from './protocol.ts';

/** An ask that is open to whoever pays it, with what it offers. */
export type Listing = SignedOrder & { tokens: readonly TokenUnits[] };

export type Ledger = {
  /** Owners of single tokens, by token. */
  owners: Map<string, Address>;
  /** Units of editions, by token and holder. */
  units: Map<string, bigint>;
  /** Contract, owner and operator of each approval for all. */
  operators: Set<string>;
  /** Operators of single tokens, by token. */
  tokenOperators: Map<string, Address>;
  filled: Map<Hex, bigint>;
  cancelled: Set<Hex>;
  /** Only of those who ever raised it. */
  counters: Map<Address, { value: bigint; block: number }>;
};

type Token = Pick<TokenUnits, 'contract' | 'standard' | 'tokenId'>;

export function createLedger(): Ledger {
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

export function copyLedger(ledger: Ledger): Ledger {
  return {
    owners: new Map(ledger.owners),
    units: new Map(ledger.units),
    operators: new Set(ledger.operators),
    tokenOperators: new Map(ledger.tokenOperators),
    filled: new Map(ledger.filled),
    cancelled: new Set(ledger.cancelled),
    counters: new Map(ledger.counters),
  };
}

export function keyOf({ contract, tokenId }: Pick<Token, 'contract' | 'tokenId'>): string {
  return `${contract}:${tokenId}`;
}

export function unitsHeld(ledger: Ledger, token: Token, holder: Address): bigint {
  if (token.standard === 'erc721') return ledger.owners.get(keyOf(token)) === holder ? 1n : 0n;
  return ledger.units.get(`${keyOf(token)}:${holder}`) ?? 0n;
}

export function counterOf(ledger: Ledger, person: Address): bigint {
  return ledger.counters.get(person)?.value ?? 0n;
}

/** Who moves the tokens of orders with this conduit key. */
export function operatorOf(conduitKey: Hex): Address {
  return conduitKey === zeroHash ? SEAPORT_ADDRESS : CONDUIT_ADDRESS;
}

export function hasOperator(ledger: Ledger, contract: Address, owner: Address, operator: Address): boolean {
  return ledger.operators.has(`${contract}:${owner}:${operator}`);
}

export function setOperator(
  ledger: Ledger,
  { contract, owner, operator }: { contract: Address; owner: Address; operator: Address },
  approved: boolean,
): void {
  const key = `${contract}:${owner}:${operator}`;
  if (approved) ledger.operators.add(key);
  else ledger.operators.delete(key);
}

export function mayMove(ledger: Ledger, token: Token, owner: Address, operator: Address): boolean {
  if (hasOperator(ledger, token.contract, owner, operator)) return true;
  return token.standard === 'erc721' && ledger.tokenOperators.get(keyOf(token)) === operator;
}

/** Mints with `from` null, burns with `to` null. */
export function move(ledger: Ledger, token: TokenUnits, from: Address | null, to: Address | null): void {
  const key = keyOf(token);
  if (token.standard === 'erc721') {
    ledger.tokenOperators.delete(key);
    if (to === null) ledger.owners.delete(key);
    else ledger.owners.set(key, to);
    return;
  }
  for (const [holder, change] of [
    [from, -token.units],
    [to, token.units],
  ] as const) {
    if (holder === null) continue;
    ledger.units.set(`${key}:${holder}`, unitsHeld(ledger, token, holder) + change);
  }
}

/** Units of a listing that nobody bought yet. */
export function unitsLeft(ledger: Ledger, listing: Listing): bigint {
  const [token] = listing.tokens;
  return (token?.units ?? 0n) - (ledger.filled.get(listing.hash) ?? 0n);
}

/** Not filled, cancelled or expired at `now` (seconds). */
export function isOpen(ledger: Ledger, listing: Listing, now: number): boolean {
  const { components, hash } = listing;
  return (
    unitsLeft(ledger, listing) > 0n &&
    !ledger.cancelled.has(hash) &&
    components.counter === counterOf(ledger, components.offerer) &&
    components.endTime > BigInt(now)
  );
}

/** True when all that is left of it can be bought at `now`. */
export function isFillable(ledger: Ledger, listing: Listing, now: number): boolean {
  if (!isOpen(ledger, listing, now)) return false;
  const { offerer, conduitKey } = listing.components;
  const operator = operatorOf(conduitKey);
  return listing.tokens.every(
    (token) =>
      unitsHeld(ledger, token, offerer) >= (token.standard === 'erc721' ? 1n : unitsLeft(ledger, listing)) &&
      mayMove(ledger, token, offerer, operator),
  );
}

/** Records that `units` of each token were bought. */
export function fill(ledger: Ledger, listing: Listing, buyer: Address, units: bigint): void {
  ledger.filled.set(listing.hash, (ledger.filled.get(listing.hash) ?? 0n) + units);
  for (const token of listing.tokens) move(ledger, { ...token, units }, listing.components.offerer, buyer);
}
