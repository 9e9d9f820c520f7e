// Derives the states of stored orders again after a change of their evidence, and stores each state that has changed. These functions must
// be called in the transaction that changed the evidence, so that evidence and state are committed together.

import { toStateChange } from '../activity/state-change.ts';
import type { EvidenceChanges } from '../chain-log/evidence-changes.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { lockBooksOfOrders, refreshBookAssets } from './queries/book-figures.ts';
import type { RecordedOrderChange } from './queries/order-changes.ts';
import { insertOrderChanges } from './queries/order-changes.ts';
import { listAffectedOrderIds, listOrdersWithEvidence, listSignedOrderIds } from './queries/order-evidence.ts';
import type { OrderChange } from './queries/order-states.ts';
import { updateOrderStates } from './queries/order-states.ts';
import type { OrderEvidence, OrderState } from './status.ts';
import { deriveOrderStatus, isEndedByCounter } from './status.ts';

const BATCH_SIZE = 500;

/**
 * Returns the orders whose state changed. Orders imported without a signature are skipped. Locks the order books of the orders'
 * collections, and refreshes the figures of these books.
 */
export async function evaluateOrders(tx: Queryable, orderIds: readonly string[], now: number): Promise<OrderChange[]> {
  if (orderIds.length === 0) return [];
  await lockBooksOfOrders(tx, orderIds);
  const changes: OrderChange[] = [];
  const recorded: RecordedOrderChange[] = [];
  for (let start = 0; start < orderIds.length; start += BATCH_SIZE) {
    for (const order of await listOrdersWithEvidence(tx, orderIds.slice(start, start + BATCH_SIZE))) {
      const { orderId, collectionId, asset, stored } = order;
      const derived = deriveOrderStatus(order.terms, order.evidence, now);
      if (isSameState(stored, derived)) continue;
      const change = { orderId, collectionId, asset, from: stored, to: derived };
      changes.push(change);
      recorded.push(...toRecorded(change, order.evidence, now));
    }
  }
  await updateOrderStates(tx, changes);
  await insertOrderChanges(tx, recorded);
  await refreshBookAssets(tx, changes, now);
  return changes;
}

/** Evaluates every signed order that the changes can affect. */
export async function evaluateAffectedOrders(
  tx: Queryable,
  changes: EvidenceChanges,
  now: number,
): Promise<OrderChange[]> {
  return evaluateOrders(tx, await listAffectedOrderIds(tx, changes), now);
}

/** Evaluates every signed order of the collection. Must be called when its backfill is complete, and when its follow is removed. */
export async function evaluateCollectionOrders(
  tx: Queryable,
  collectionId: string,
  now: number,
): Promise<OrderChange[]> {
  return evaluateOrders(tx, await listSignedOrderIds(tx, collectionId), now);
}

/**
 * Returns the change that the activity log records for a new state. Returns none if only the filled quantity or the transaction has
 * changed.
 */
function toRecorded({ orderId, from, to }: OrderChange, evidence: OrderEvidence, now: number): RecordedOrderChange[] {
  const isByCounter = to.status === 'cancelled' && isEndedByCounter(evidence);
  const change = toStateChange({ ...from, hidden: from.dormant }, { ...to, hidden: to.dormant });
  if (!change) return [];
  const counter = isByCounter ? ({ kind: 'invalidate', reason: 'counter' } as const) : change;
  return [{ orderId, ...counter, at: to.endedAt ?? now, tx: to.tx }];
}

function isSameState(a: OrderState, b: OrderState): boolean {
  return (
    a.status === b.status &&
    a.dormant === b.dormant &&
    a.filledQuantity === b.filledQuantity &&
    a.endedAt === b.endedAt &&
    a.tx === b.tx
  );
}
