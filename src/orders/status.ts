// The status of a signed order as a function of what was signed, what happened, who holds and may move the token, and the
// clock. It is the only place where a status comes about: whatever the evidence says now is the status now, so that a block
// that is taken back takes its consequences back. docs/orders.md has the table of transitions.

import type { ListingStatus } from './order-id.ts';

/** What the signature binds. */
export type OrderTerms = {
  counter: bigint;
  /** Units offered: 1 for ERC-721. */
  quantity: bigint;
  /** Seaport's PARTIAL order types may be filled a part at a time. */
  partial: boolean;
  /** Milliseconds; null: never. */
  expiresAt: number | null;
};

/** Times in milliseconds. `tx` is null for what happened without a transaction. */
export type Ending = { at: number; tx: string | null };

export type OrderEvidence = {
  /** In the order of the chain. */
  fills: readonly (Ending & { quantity: bigint })[];
  /** The offerer's cancel on the chain. */
  cancel: Ending | null;
  /** The counter as it was first raised beyond the order's. */
  counterRaise: Ending | null;
  /** The offerer's signed cancel or the operator's word, neither of which a chain can take back. */
  word: Ending | null;
  /** Units that the offerer holds; null where the collection is not followed. */
  balance: bigint | null;
  /** Whether the operator may move them; null where the collection is not followed. */
  approved: boolean | null;
};

export type DormantReason = 'no-balance' | 'not-approved';

export type OrderState = {
  status: ListingStatus;
  /** Why an active order cannot be filled at the moment; null otherwise. */
  dormant: DormantReason | null;
  filledQuantity: bigint;
  /** When the status came about; null while active. */
  endedAt: number | null;
  /** The transaction that brought it about. */
  tx: string | null;
};

/**
 * A whole fill decides, whatever else happened: the token has changed hands. Otherwise what ended the order first does; a
 * cancel that comes when the time is over finds it expired.
 */
export function deriveOrderStatus(terms: OrderTerms, evidence: OrderEvidence, now: number): OrderState {
  let filledQuantity = 0n;
  for (const fill of evidence.fills) {
    filledQuantity += fill.quantity;
    if (filledQuantity >= terms.quantity) return ended('filled', fill, filledQuantity);
  }
  const cancel = earliest([evidence.cancel, evidence.counterRaise, evidence.word]);
  const { expiresAt } = terms;
  if (cancel && (expiresAt === null || cancel.at < expiresAt)) return ended('cancelled', cancel, filledQuantity);
  if (expiresAt !== null && expiresAt <= now) return ended('expired', { at: expiresAt, tx: null }, filledQuantity);
  return { status: 'active', dormant: dormancyOf(terms, evidence), filledQuantity, endedAt: null, tx: null };
}

function ended(status: ListingStatus, { at, tx }: Ending, filledQuantity: bigint): OrderState {
  return { status, dormant: null, filledQuantity, endedAt: at, tx };
}

function earliest(endings: readonly (Ending | null)[]): Ending | null {
  let first: Ending | null = null;
  for (const ending of endings) if (ending && (first === null || ending.at < first.at)) first = ending;
  return first;
}

/** A part can be filled from any balance; what is filled whole needs the whole of it. */
function dormancyOf(terms: OrderTerms, { balance, approved }: OrderEvidence): DormantReason | null {
  if (balance !== null && balance < (terms.partial ? 1n : terms.quantity)) return 'no-balance';
  return approved === false ? 'not-approved' : null;
}
