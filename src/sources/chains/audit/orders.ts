// Compares a signed order with the state of its contracts. The expected status is derived here from the chain's values and the times of the
// order. The rule by which the service sets the status (market/orders/status.ts) is deliberately not used.

import { isPartialOrder } from '../../../platform/core/seaport.ts';
import type { ListingStatus } from '../../../market/orders/order-id.ts';
import type { DormantReason } from '../../../market/orders/status.ts';
import type { AuditedOrder } from './queries/audited.ts';
import type { SeaportOrderStatus } from '../rpc/contract-reads.ts';
import type { ChainFacts } from './chain-facts.ts';
import { UnknownFact } from './chain-facts.ts';
import type { Finding } from './compare.ts';

type OrderFacts = { status: SeaportOrderStatus; counter: bigint; balance: bigint; approved: boolean | null };

export async function compareOrder(chainFacts: ChainFacts, order: AuditedOrder, now: number): Promise<Finding[]> {
  const facts = await readFacts(chainFacts, order);
  const findings: Finding[] = [];
  const compare = (field: string, ours: unknown, theirs: unknown) => {
    if (ours !== theirs) findings.push({ field, ours: String(ours), theirs: String(theirs) });
  };
  const served = toServed(order, now);
  const possible = toPossibleStatuses(order, facts, now);
  if (!possible.includes(served.status)) compare('status', served.status, possible.join(' or '));
  compare('filled', order.filledQuantity, unitsFilled(order, facts.status));
  compare('counter', order.storedCounter ?? order.counter, facts.counter);
  // Only a collection whose backfill is complete has stored balances.
  if (order.balance === null) return findings;
  compare('balance', order.balance, facts.balance);
  if (facts.approved !== null) compare('approved', order.approved, facts.approved);
  if (served.status === 'active' && possible.includes('active')) {
    compare('dormant', served.dormant ?? 'no', toDormancy(order, facts) ?? 'no');
  }
  return findings;
}

async function readFacts(facts: ChainFacts, order: AuditedOrder): Promise<OrderFacts> {
  const { contract, tokenId, standard, seller, operator, protocol, orderHash } = order;
  if (standard === null) throw new UnknownFact('the standard of the token');
  const token = { contract, tokenId, standard };
  const [status, counter, balance, approved] = await Promise.all([
    facts.statusOf(protocol, orderHash),
    facts.counterOf(protocol, seller),
    facts.balanceOf(token, seller),
    operator === null ? null : facts.isApproved(token, seller, operator),
  ]);
  return { status, counter, balance, approved };
}

/** An active order whose expiry time has passed is served as expired, even before the expiry task runs. */
function toServed(order: AuditedOrder, now: number): { status: ListingStatus; dormant: DormantReason | null } {
  const hasExpired = order.status === 'active' && order.expiresAt !== null && order.expiresAt <= now;
  return hasExpired ? { status: 'expired', dormant: null } : order;
}

/**
 * The statuses that the chain's values allow. An order that was cancelled and has expired may be `cancelled` or `expired`, because the
 * chain does not store the time of the cancel.
 */
function toPossibleStatuses(order: AuditedOrder, { status, counter }: OrderFacts, now: number): ListingStatus[] {
  const { expiresAt, offChainCancelAt, endedAt } = order;
  if (status.totalSize > 0n && status.totalFilled >= status.totalSize) return ['filled'];
  const hasExpired = expiresAt !== null && expiresAt <= now;
  const isVoid = status.cancelled || counter !== order.counter;
  if (!hasExpired) return isVoid || offChainCancelAt !== null ? ['cancelled'] : ['active'];
  if (offChainCancelAt !== null && offChainCancelAt < expiresAt) return ['cancelled'];
  if (!isVoid) return ['expired'];
  return order.status === 'cancelled' && endedAt !== null && endedAt >= expiresAt
    ? ['expired']
    : ['cancelled', 'expired'];
}

/** Seaport stores the filled part of an order as a fraction. */
function unitsFilled({ quantity }: AuditedOrder, { totalFilled, totalSize }: SeaportOrderStatus): bigint {
  return totalSize === 0n ? 0n : (quantity * totalFilled) / totalSize;
}

function toDormancy({ quantity, orderType }: AuditedOrder, { balance, approved }: OrderFacts): DormantReason | null {
  const required = isPartialOrder(orderType) ? 1n : quantity;
  if (balance < required) return 'no-balance';
  return approved === false ? 'not-approved' : null;
}
