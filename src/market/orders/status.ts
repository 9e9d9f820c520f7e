// Derives the status of a signed order, ask or bid, from its signed terms, its evidence (events, cancels, balance, approval), and the time. The result
// depends on nothing else. When a block is orphaned, the status is derived again without the events of the block. docs/orders.md has the table of
// transitions.

import type { ListingStatus } from './order-id.ts';

export type OrderTerms = {
  counter: bigint;
  /** Units of the token that are offered or wanted. */
  quantity: bigint;
  /** True for Seaport's PARTIAL order types, which may be filled in parts. */
  partial: boolean;
  /** What the offerer gives for one unit: the unit itself, or the price of a bid. */
  perUnit: bigint;
  /** In milliseconds. Null for an order that never expires. */
  expiresAt: number | null;
};

/** When something happened to an order, in milliseconds, and in which transaction. `tx` is null for an off-chain cancel and an expiry. */
export type Occurrence = { at: number; tx: string | null };

export type OrderEvidence = {
  /** In block order. */
  fills: readonly (Occurrence & { quantity: bigint })[];
  /** The offerer's cancel on the chain. */
  cancel: Occurrence | null;
  /** The first event that raised the offerer's counter above the counter in the order. Null when there is none. */
  counterRaise: Occurrence | null;
  /** A cancel without a transaction, by the offerer's signature or by the operator of the service. A reorganisation does not affect it. */
  offChainCancel: Occurrence | null;
  /**
   * What the offerer of an ask holds of the token. Null until the collection is followed and its backfill is complete, and for an ERC-1155 token whose
   * earlier transfers were not read. Of a bid: the bidder's balance of the currency; null until it was read.
   */
  balance: bigint | null;
  /** Whether the account that transfers it for the order (Seaport or a conduit) may transfer what a fill needs. Null as long as this is not known. */
  approved: boolean | null;
  /** The transfer that burned the wanted token, if a bid is for one token of the standard ERC-721 and it does not exist any more. */
  burn: Occurrence | null;
};

export const DORMANT_REASONS = ['no-balance', 'not-approved'] as const;
export type DormantReason = (typeof DORMANT_REASONS)[number];

export type OrderState = {
  status: ListingStatus;
  /** Why an active order cannot be filled at the moment. Null for an order that is not dormant. */
  dormant: DormantReason | null;
  filledQuantity: bigint;
  /** When the order ended; null while active. */
  endedAt: number | null;
  /** The transaction that filled or cancelled the order. Null while active, when expired, and after an off-chain cancel. */
  tx: string | null;
};

/**
 * An order whose units are all filled is `filled`, whatever else happened, because the token has changed hands. Otherwise the first of
 * cancel, counter raise, burn and expiry decides. A cancel at the expiry time or later leaves the order `expired`.
 */
export function deriveOrderStatus(terms: OrderTerms, evidence: OrderEvidence, now: number): OrderState {
  let filledQuantity = 0n;
  for (const fill of evidence.fills) {
    filledQuantity += fill.quantity;
    if (filledQuantity >= terms.quantity) return ended('filled', fill, filledQuantity);
  }
  const cancel = earliest([evidence.cancel, evidence.counterRaise, evidence.offChainCancel, evidence.burn]);
  const { expiresAt } = terms;
  if (cancel && (expiresAt === null || cancel.at < expiresAt)) return ended('cancelled', cancel, filledQuantity);
  if (expiresAt !== null && expiresAt <= now) return ended('expired', { at: expiresAt, tx: null }, filledQuantity);
  return { status: 'active', dormant: dormancyOf(terms, evidence), filledQuantity, endedAt: null, tx: null };
}

/** Whether a cancelled order ended because its offerer raised the counter, and not because the order itself was cancelled. */
export function isEndedByCounter({ cancel, counterRaise, offChainCancel, burn }: OrderEvidence): boolean {
  return counterRaise !== null && earliest([cancel, counterRaise, offChainCancel, burn]) === counterRaise;
}

function ended(status: ListingStatus, { at, tx }: Occurrence, filledQuantity: bigint): OrderState {
  return { status, dormant: null, filledQuantity, endedAt: at, tx };
}

function earliest(occurrences: readonly (Occurrence | null)[]): Occurrence | null {
  let first: Occurrence | null = null;
  for (const each of occurrences) if (each && (first === null || each.at < first.at)) first = each;
  return first;
}

/** What a fill needs: one unit of a partial order, all units of any other order. */
export function toRequiredBalance({
  partial,
  quantity,
  perUnit,
}: Pick<OrderTerms, 'partial' | 'quantity' | 'perUnit'>): bigint {
  return partial ? perUnit : quantity * perUnit;
}

function dormancyOf(terms: OrderTerms, { balance, approved }: OrderEvidence): DormantReason | null {
  if (balance !== null && balance < toRequiredBalance(terms)) return 'no-balance';
  return approved === false ? 'not-approved' : null;
}
