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

/** `mayBeBurned`: a bid is for a token that has no owner. The chain does not say whether it was burned, or was never minted. */
type OrderFacts = { status: SeaportOrderStatus; counter: bigint; mayBeBurned: boolean; ability: Ability | null };

/** What the offerer can give, and what a fill needs of it. `approved` is null if it is not known. */
type Ability = { balance: bigint; approved: boolean | null; required: bigint };

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
  const { ability } = facts;
  const stored = toStoredAbility(order);
  if (!ability || !stored) return findings;
  compare('balance', stored.balance, ability.balance);
  if (ability.approved !== null) compare('approved', stored.approved, ability.approved);
  if (served.status === 'active' && possible.includes('active')) {
    compare('dormant', served.dormant ?? 'no', toDormancy(ability) ?? 'no');
  }
  return findings;
}

async function readFacts(facts: ChainFacts, order: AuditedOrder): Promise<OrderFacts> {
  const { seller, protocol, orderHash } = order;
  const [status, counter, mayBeBurned, ability] = await Promise.all([
    facts.statusOf(protocol, orderHash),
    facts.counterOf(protocol, seller),
    mayWantBurnedToken(facts, order),
    order.side === 'ask' ? readSellerAbility(facts, order) : readBidderAbility(facts, order),
  ]);
  return { status, counter, mayBeBurned, ability };
}

async function mayWantBurnedToken(facts: ChainFacts, order: AuditedOrder): Promise<boolean> {
  const { side, contract, tokenId, standard } = order;
  if (side === 'ask' || tokenId === null || standard !== 'erc721') return false;
  return (await facts.ownerOf(contract, tokenId)) === null;
}

async function readSellerAbility(facts: ChainFacts, order: AuditedOrder): Promise<Ability> {
  const { contract, tokenId, standard, seller, operator, quantity } = order;
  if (standard === null || tokenId === null) throw new UnknownFact('the standard of the token');
  const token = { contract, tokenId, standard };
  const [balance, approved] = await Promise.all([
    facts.balanceOf(token, seller),
    operator === null ? null : facts.isApproved(token, seller, operator),
  ]);
  return { balance, approved, required: isPartialOrder(order.orderType) ? 1n : quantity };
}

/** The funds of a bidder are followed only while a bid is active, and some time after. */
async function readBidderAbility(facts: ChainFacts, order: AuditedOrder): Promise<Ability | null> {
  const { seller, operator, currency, funds } = order;
  if (operator === null || funds === null) return null;
  const { balance, allowance } = await facts.fundsOf({ account: seller, operator, currency });
  const required = toRequiredFunds(order);
  return { balance, approved: allowance >= required, required };
}

function toRequiredFunds({ orderType, quantity, priceRaw }: AuditedOrder): bigint {
  return isPartialOrder(orderType) ? priceRaw : quantity * priceRaw;
}

/** Null if nothing is stored: only a collection whose backfill is complete has stored balances. */
function toStoredAbility(order: AuditedOrder): Pick<Ability, 'balance' | 'approved'> | null {
  const { side, balance, approved, funds, allowance } = order;
  if (side === 'ask') return balance === null ? null : { balance, approved };
  if (funds === null || allowance === null) return null;
  return { balance: funds, approved: allowance >= toRequiredFunds(order) };
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
function toPossibleStatuses(order: AuditedOrder, facts: OrderFacts, now: number): ListingStatus[] {
  const possible = toStatusesOfOrder(order, facts, now);
  return facts.mayBeBurned && !possible.includes('filled') ? [...possible, 'cancelled'] : possible;
}

function toStatusesOfOrder(order: AuditedOrder, { status, counter }: OrderFacts, now: number): ListingStatus[] {
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

function toDormancy({ balance, approved, required }: Ability): DormantReason | null {
  if (balance < required) return 'no-balance';
  return approved === false ? 'not-approved' : null;
}
