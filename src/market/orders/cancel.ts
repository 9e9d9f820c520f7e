// Cancels an order of this service without a transaction on the chain: with a signature of the offerer, or as the operator. If the chain
// later reports a complete fill, the order becomes `filled` nevertheless, because the token has changed hands.

import { lockStoredOrders } from './book.ts';
import { evaluateOrders } from './evaluate.ts';
import { insertOrderCancel } from './queries/order-cancels.ts';
import type { StoredOrder } from './queries/stored-orders.ts';
import { findStoredOrder } from './queries/stored-orders.ts';
import { OrderRejected } from './rejection.ts';
import { cancelDigest } from './seaport/cancel.ts';
import { isSignatureText } from './seaport/signature.ts';
import { requireSignature } from './signatures.ts';
import type { OrderContext } from './submit.ts';

/**
 * Who cancels the order. `cancelOrder` checks the signature of an `offerer`. The caller of `cancelOrder` must have checked that the request
 * for an `operator` cancel comes from the operator.
 */
export type OffChainCancel = { cancelledBy: 'offerer'; signature: unknown } | { cancelledBy: 'operator' };

/**
 * Returns the order after its cancel, or null when no order has this id. An order that is already cancelled is returned unchanged. Throws
 * OrderRejected when the offerer's signature of the cancel is not valid or cannot be verified. Also throws OrderRejected for an order that
 * was filled, has expired, or was imported without a signature.
 */
export async function cancelOrder(
  context: OrderContext,
  orderId: string,
  cancel: OffChainCancel,
): Promise<StoredOrder | null> {
  const order = await findStoredOrder(context.main, orderId);
  if (!order) return null;
  const signature =
    cancel.cancelledBy === 'offerer' ? await requireCancelSignature(context, order, cancel.signature) : null;
  const now = context.clock();
  const cancelled = await context.main.transaction(async (tx) => {
    await lockStoredOrders(tx, [order]);
    const locked = await findStoredOrder(tx, orderId, 'for update');
    if (!locked || locked.status === 'cancelled') return locked;
    requireCancellable(locked, now);
    await insertOrderCancel(tx, orderId, { cancelledBy: cancel.cancelledBy, signature, createdAt: now });
    await evaluateOrders(tx, [orderId], now);
    return findStoredOrder(tx, orderId);
  });
  await context.copyCatalog();
  context.onChanged({ collectionIds: new Set([order.collectionId]), kinds: new Set(['order']) });
  return cancelled;
}

function requireCancellable({ status, expiresAt, signed }: StoredOrder, now: number): void {
  if (status === 'filled') throw new OrderRejected('already_filled', 'the order was filled');
  if (status === 'expired' || (expiresAt !== null && expiresAt <= now)) {
    throw new OrderRejected('expired', 'the order has expired');
  }
  if (!signed) {
    throw new OrderRejected(
      'not_signed',
      'the order was imported without its signature: import it again with the status cancelled',
    );
  }
}

async function requireCancelSignature(context: OrderContext, order: StoredOrder, signature: unknown): Promise<string> {
  if (typeof signature !== 'string' || !isSignatureText(signature)) {
    throw new OrderRejected('malformed_order', 'signature: must be 0x and bytes in hex', { path: 'signature' });
  }
  if (!order.signed) {
    throw new OrderRejected(
      'not_signed',
      'the order was imported without its signature, so no signature can cancel it',
    );
  }
  const chain = context.chains.get(order.chain);
  const chainId = chain?.chainId ?? null;
  if (!chain || chainId === null) {
    throw new OrderRejected('chain_unavailable', `the service does not serve the chain ${order.chain}`);
  }
  const digest = cancelDigest(chainId, order.signed.orderHash);
  await requireSignature(context.checksOf(chain), { account: order.seller, digest, signature });
  return signature.toLowerCase();
}
