// Derives the state of a mirrored listing on a followed chain. The rule is the rule of own orders (market/orders/status.ts), applied to the terms
// that the marketplace reported. No I/O.

import type { EvidenceKey } from '../orders/queries/order-evidence.ts';
import type { ListingStatus } from '../orders/order-id.ts';
import type { OrderEvidence } from '../orders/status.ts';
import { DORMANT_REASONS, deriveOrderStatus } from '../orders/status.ts';

/** `pending`: the listing has not been compared with the log of its chain yet. */
export const LISTING_DORMANCIES = ['pending', ...DORMANT_REASONS] as const;
export type ListingDormancy = (typeof LISTING_DORMANCIES)[number];

export type ListingState = {
  status: ListingStatus;
  /** Why an active listing is dormant. Null if it is not dormant, or not active. */
  dormant: ListingDormancy | null;
  /** The time of the block that ended the listing, in milliseconds. Null when no block has ended it. */
  endedAt: number | null;
  tx: string | null;
  /** How many of several units were bought. Null for a listing of one unit. */
  filled: bigint | null;
};

/** `version` changes with each write of the row. */
export type JudgedListing = EvidenceKey &
  ListingState & {
    key: string;
    id: string;
    version: string;
    /** Units offered. Null when the marketplace did not report them; one unit is assumed then. */
    quantity: bigint | null;
    partial: boolean | null;
    expiresAt: number | null;
    /** True if a complete list of the marketplace lacked the listing, or if the own order book has an order with the same hash. */
    isRetired: boolean;
  };

/**
 * An event of the chain that ended the order of a listing also ends the listing, whatever the marketplace reports. If a reorganisation
 * removes the event, the listing is active again, or `cancelled` if it is retired. An active listing is dormant for the reasons for which an own order
 * is.
 */
export function deriveListingState(listing: JudgedListing, evidence: OrderEvidence, now: number): ListingState {
  const { counter, quantity, partial, expiresAt } = listing;
  const terms = { counter: counter ?? 0n, quantity: quantity ?? 1n, partial: partial ?? false, perUnit: 1n, expiresAt };
  const derived = deriveOrderStatus(terms, evidence, now);
  const filled = terms.quantity === 1n ? null : derived.filledQuantity;
  if (derived.status === 'filled' || derived.status === 'cancelled') {
    return { status: derived.status, dormant: null, endedAt: derived.endedAt, tx: derived.tx, filled };
  }
  const { status, tx } = listing.endedAt === null ? listing : reopened(listing);
  return { status, dormant: status === 'active' ? derived.dormant : null, endedAt: null, tx, filled };
}

function reopened({ isRetired }: JudgedListing): Pick<ListingState, 'status' | 'tx'> {
  return { status: isRetired ? 'cancelled' : 'active', tx: null };
}

export function isSameListingState(a: ListingState, b: ListingState): boolean {
  return (
    a.status === b.status &&
    a.dormant === b.dormant &&
    a.endedAt === b.endedAt &&
    a.tx === b.tx &&
    a.filled === b.filled
  );
}
