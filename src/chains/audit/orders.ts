// Holds a signed order against what its chain says. What the status should be is worked out here from the chain's answers
// alone, on purpose without the rule that the service itself goes by (orders/status.ts).

import type { AuditedOrder } from '../queries/audited.ts';
import { isPartialOrder } from '../../core/seaport.ts';
import type { ListingStatus } from '../../orders/order-id.ts';
import type { DormantReason } from '../../orders/status.ts';
import type { SeaportOrderStatus } from '../rpc/chain-reader.ts';
import type { ChainFacts } from './chain-facts.ts';
import { NoAnswer } from './chain-facts.ts';

/** Something about a subject that is not as the chain has it. */
export type Finding = { field: string; ours: string; theirs: string };

type Answers = { status: SeaportOrderStatus; counter: bigint; balance: bigint; approved: boolean | null };

export async function compareOrder(facts: ChainFacts, order: AuditedOrder, now: number): Promise<Finding[]> {
  const answers = await ask(facts, order);
  const findings: Finding[] = [];
  const compare = (field: string, ours: unknown, theirs: unknown) => {
    if (ours !== theirs) findings.push({ field, ours: String(ours), theirs: String(theirs) });
  };
  const served = toServed(order, now);
  const possible = toPossibleStatuses(order, answers, now);
  if (!possible.includes(served.status)) compare('status', served.status, possible.join(' or '));
  compare('filled', order.filledQuantity, unitsFilled(order, answers.status));
  compare('counter', order.storedCounter ?? order.counter, answers.counter);
  // An order that ended before its token was followed no more is as it was: balances are compared where we claim to know them.
  if (order.balance === null) return findings;
  compare('balance', order.balance, answers.balance);
  if (answers.approved !== null) compare('approved', order.approved, answers.approved);
  if (served.status === 'active' && possible.includes('active')) {
    compare('dormant', served.dormant ?? 'no', toDormancy(order, answers) ?? 'no');
  }
  return findings;
}

async function ask(facts: ChainFacts, order: AuditedOrder): Promise<Answers> {
  const { contract, tokenId, standard, seller, operator, protocol, orderHash } = order;
  if (standard === null) throw new NoAnswer('the standard of the token is not known');
  const token = { contract, tokenId, standard };
  const [status, counter, balance, approved] = await Promise.all([
    facts.statusOf(protocol, orderHash),
    facts.counterOf(protocol, seller),
    facts.balanceOf(token, seller),
    operator === null ? null : facts.isApproved(token, seller, operator),
  ]);
  return { status, counter, balance, approved };
}

/** Reads look at the clock, whether or not the sweep has been there. */
function toServed(order: AuditedOrder, now: number): { status: ListingStatus; dormant: DormantReason | null } {
  const isOver = order.status === 'active' && order.expiresAt !== null && order.expiresAt <= now;
  return isOver ? { status: 'expired', dormant: null } : order;
}

/**
 * The statuses that the chain's answers leave possible. More than one only where the order was cancelled and its time is over
 * too: the chain does not say which came first.
 */
function toPossibleStatuses(order: AuditedOrder, { status, counter }: Answers, now: number): ListingStatus[] {
  const { expiresAt, wordAt, endedAt } = order;
  if (status.totalSize > 0n && status.totalFilled >= status.totalSize) return ['filled'];
  const isOver = expiresAt !== null && expiresAt <= now;
  const isVoid = status.cancelled || counter !== order.counter;
  if (!isOver) return isVoid || wordAt !== null ? ['cancelled'] : ['active'];
  if (wordAt !== null && wordAt < expiresAt) return ['cancelled'];
  if (!isVoid) return ['expired'];
  return order.status === 'cancelled' && endedAt !== null && endedAt >= expiresAt
    ? ['expired']
    : ['cancelled', 'expired'];
}

/** Seaport keeps what was filled as a fraction of the whole. */
function unitsFilled({ quantity }: AuditedOrder, { totalFilled, totalSize }: SeaportOrderStatus): bigint {
  return totalSize === 0n ? 0n : (quantity * totalFilled) / totalSize;
}

function toDormancy({ quantity, orderType }: AuditedOrder, { balance, approved }: Answers): DormantReason | null {
  const enough = isPartialOrder(orderType) ? 1n : quantity;
  if (balance < enough) return 'no-balance';
  return approved === false ? 'not-approved' : null;
}
