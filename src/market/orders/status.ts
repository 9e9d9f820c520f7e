// Derives the status of a signed order from its signed terms, its evidence (events, cancels, balance, approval), and the time. The result
// depends on nothing else. When a block is orphaned, the status is derived again without the events of the block. docs/orders.md has the table of
// transitions.

import type { ListingStatus } from './order-id.ts';

export type OrderTerms = {
  counter: bigint;
  /** Units offered: 1 for ERC-721. */
  quantity: bigint;
  /** True for Seaport's PARTIAL order types, which may be filled in parts. */
  partial: boolean;
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
   * The units that the offerer holds. Null until the collection is followed and its backfill is complete, and for an ERC-1155 token whose earlier
   * transfers were not read.
   */
  balance: bigint | null;
  /** Whether the account that transfers the token for the order (Seaport or a conduit) is approved. Null until the collection is followed and its backfill is complete. */
  approved: boolean | null;
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
 * cancel, counter raise and expiry decides. A cancel at the expiry time or later leaves the order `expired`.
 */
export function deriveOrderStatus(terms: OrderTerms, evidence: OrderEvidence, now: number): OrderState {
  let filledQuantity = 0n;
  for (const fill of evidence.fills) {
    filledQuantity += fill.quantity;
    if (filledQuantity >= terms.quantity) return ended('filled', fill, filledQuantity);
  }
  const cancel = earliest([evidence.cancel, evidence.counterRaise, evidence.offChainCancel]);
  const { expiresAt } = terms;
  if (cancel && (expiresAt === null || cancel.at < expiresAt)) return ended('cancelled', cancel, filledQuantity);
  if (expiresAt !== null && expiresAt <= now) return ended('expired', { at: expiresAt, tx: null }, filledQuantity);
  return { status: 'active', dormant: dormancyOf(terms, evidence), filledQuantity, endedAt: null, tx: null };
}

/** Whether a cancelled order ended because its offerer raised the counter, and not because the order itself was cancelled. */
export function isEndedByCounter({ cancel, counterRaise, offChainCancel }: OrderEvidence): boolean {
  return counterRaise !== null && earliest([cancel, counterRaise, offChainCancel]) === counterRaise;
}

function ended(status: ListingStatus, { at, tx }: Occurrence, filledQuantity: bigint): OrderState {
  return { status, dormant: null, filledQuantity, endedAt: at, tx };
}

function earliest(occurrences: readonly (Occurrence | null)[]): Occurrence | null {
  let first: Occurrence | null = null;
  for (const each of occurrences) if (each && (first === null || each.at < first.at)) first = each;
  return first;
}

/** At least one unit for a partial order, all offered units for any other order. */
export function toRequiredBalance({ partial, quantity }: OrderTerms): bigint {
  return partial ? 1n : quantity;
}

function dormancyOf(terms: OrderTerms, { balance, approved }: OrderEvidence): DormantReason | null {
  if (balance !== null && balance < toRequiredBalance(terms)) return 'no-balance';
  return approved === false ? 'not-approved' : null;
}
