// Derives the states of stored orders again after a change of their evidence, and stores each state that has changed. These functions must
// be called in the transaction that changed the evidence, so that evidence and state are committed together.

import type { EvidenceChanges } from '../chain-log/evidence-changes.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { OrderedAsset } from './queries/book-figures.ts';
import { lockBooksOfOrders, refreshBookAssets, refreshTopBids } from './queries/book-figures.ts';
import { listOpenBidIds } from './queries/funds.ts';
import { listAffectedOrderIds, listOrdersWithEvidence, listSignedOrderIds } from './queries/order-evidence.ts';
import type { OrderChange } from './queries/order-states.ts';
import { updateOrderStates } from './queries/order-states.ts';
import type { OrderState } from './status.ts';
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
  for (let start = 0; start < orderIds.length; start += BATCH_SIZE) {
    for (const order of await listOrdersWithEvidence(tx, orderIds.slice(start, start + BATCH_SIZE))) {
      const { orderId, side, collectionId, asset, stored } = order;
      const derived = deriveOrderStatus(order.terms, order.evidence, now);
      if (isSameState(stored, derived)) continue;
      const isByCounter = derived.status === 'cancelled' && isEndedByCounter(order.evidence);
      changes.push({ orderId, side, collectionId, asset, from: stored, to: derived, isByCounter });
    }
  }
  await updateOrderStates(tx, changes, now);
  await refreshBookAssets(tx, changes.flatMap(toListedAsset), now);
  await refreshTopBids(
    tx,
    changes.flatMap(({ side, collectionId }) => (side === 'bid' ? [collectionId] : [])),
    now,
  );
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

/** Evaluates the open bids of accounts whose funds were read or reverted. */
export async function evaluateBidsOf(
  tx: Queryable,
  chain: string,
  accounts: readonly string[],
  now: number,
): Promise<OrderChange[]> {
  return accounts.length === 0 ? [] : evaluateOrders(tx, await listOpenBidIds(tx, chain, accounts), now);
}

/** Evaluates every signed order of the collection. Must be called when its backfill is complete, and when its follow is removed. */
export async function evaluateCollectionOrders(
  tx: Queryable,
  collectionId: string,
  now: number,
): Promise<OrderChange[]> {
  return evaluateOrders(tx, await listSignedOrderIds(tx, collectionId), now);
}

/** The asset whose figures the change can affect. A bid is in no figure of an asset. */
function toListedAsset({ side, collectionId, asset }: OrderChange): OrderedAsset[] {
  return side === 'ask' && asset !== null ? [{ collectionId, asset }] : [];
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
