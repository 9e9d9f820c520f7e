// Determines which change of the market to record when the state of an order or a listing changes. Has no side effects.

import type { ActivityKind, MarketChange } from './market-change.ts';

/** `hidden`: why an active order or listing cannot be bought now. `pending`: whether it can be bought is not known yet. */
export type MarketState = {
  status: 'active' | 'filled' | 'cancelled' | 'expired';
  hidden: 'pending' | 'no-balance' | 'not-approved' | null;
};

export type StateChange = { kind: ActivityKind; reason: 'owner' | 'approval' | null };

const ENDED = { filled: 'fill', cancelled: 'cancel', expired: 'expire' } as const;
const REASONS = { 'no-balance': 'owner', 'not-approved': 'approval' } as const;

/**
 * Returns null if no change is recorded. Nothing is recorded while a listing is pending. When its state is known, the change is `list` if
 * it can be bought, otherwise `invalidate`.
 */
export function toStateChange(from: MarketState, to: MarketState): StateChange | null {
  if (to.status !== 'active') {
    return from.status === to.status ? null : { kind: ENDED[to.status], reason: null };
  }
  if (to.hidden === 'pending') return null;
  const isSame = from.status === 'active' && from.hidden === to.hidden;
  if (isSame) return null;
  if (to.hidden !== null) return { kind: 'invalidate', reason: REASONS[to.hidden] };
  return { kind: from.status === 'active' && from.hidden === 'pending' ? 'list' : 'revalidate', reason: null };
}

/** An order or listing as it is stored. Times in milliseconds. `marketplace` is null for an own order. */
export type MarketRow = MarketState & {
  orderId: string;
  chain: string;
  collectionId: string;
  asset: string;
  priceRaw: bigint;
  totalRaw: bigint | null;
  seller: string;
  marketplace: string | null;
  startsAt: number | null;
  expiresAt: number | null;
};

/** Returns the change to record when a write changes the row of an order or listing from `before` to `after`. `now` in milliseconds. */
export function toRowChange(before: MarketRow | null, after: MarketRow | null, now: number): MarketChange | null {
  const row = after ?? before;
  const change = row && toRowStateChange(before, after, now);
  if (!change) return null;
  const { chain, collectionId, asset, priceRaw, seller, orderId, marketplace } = row;
  return { ...change, at: now, chain, collectionId, asset, priceRaw, from: seller, orderId, marketplace };
}

function toRowStateChange(before: MarketRow | null, after: MarketRow | null, now: number): StateChange | null {
  if (!after) return before && toRemoval(before, now);
  const isListed = isOffered(after, now) && after.hidden === null;
  if (!before) return isListed ? { kind: 'list', reason: null } : null;
  const change = toStateChange(before, after);
  if (change || after.status !== 'active') return change;
  // Zero is no price, so an order at zero cannot be bought.
  if (before.priceRaw === 0n) return isListed ? { kind: 'list', reason: null } : null;
  if (after.priceRaw === 0n) return toRemoval(before, now);
  const isPriceNew = before.priceRaw !== after.priceRaw || before.totalRaw !== after.totalRaw;
  return isListed && isPriceNew ? { kind: 'reprice', reason: null } : null;
}

/** The change of a row that is deleted or gets no price. After the expiry of the row, the sweep may not have recorded the expiry yet. */
function toRemoval(before: MarketRow, now: number): StateChange | null {
  if (isOffered(before, now)) return { kind: 'cancel', reason: null };
  const isExpired = before.expiresAt !== null && before.expiresAt <= now;
  return isExpired && before.status === 'active' && before.priceRaw > 0n ? { kind: 'expire', reason: null } : null;
}

function isOffered({ status, priceRaw, startsAt, expiresAt }: MarketRow, now: number): boolean {
  const isWithin = (startsAt === null || startsAt <= now) && (expiresAt === null || expiresAt > now);
  return status === 'active' && priceRaw > 0n && isWithin;
}
