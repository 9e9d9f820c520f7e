// Cancels an order of the own book without a transaction: by its offerer's signature, or by the operator's word. It is hidden from
// then on; a fill that the chain tells of later is told all the same, because the token has changed hands.

import { findChainCursor } from '../chain-log/queries/chain-cursors.ts';
import { updateOrderStates } from './queries/order-states.ts';
import type { StoredOrder } from './queries/signed-orders.ts';
import { findStoredOrder, insertOrderCancel } from './queries/signed-orders.ts';
import { cancelDigest } from './seaport/cancel.ts';
import { isSignatureText } from './seaport/signature.ts';
import { OrderRejected } from './rejection.ts';
import { requireSignature } from './signatures.ts';
import type { OrderContext } from './submit.ts';

/** Who cancels. `operator` is for those whom the door has let through as such. */
export type OffChainCancel = { word: 'offerer'; signature: unknown } | { word: 'operator' };

/**
 * The order after its cancel, or null where there is none of that id. One that was cancelled before stays as it was; one that was
 * filled or has expired is refused.
 */
export async function cancelOrder(
  context: OrderContext,
  orderId: string,
  by: OffChainCancel,
): Promise<StoredOrder | null> {
  const order = await findStoredOrder(context.main, orderId);
  if (!order) return null;
  const signature = by.word === 'offerer' ? await readSignature(context, order, by.signature) : null;
  const now = context.clock();
  const cancelled = await context.main.transaction(async (tx) => {
    await findChainCursor(tx, order.chain, 'for share');
    const locked = await findStoredOrder(tx, orderId, 'for update');
    if (!locked || locked.status === 'cancelled') return locked;
    if (locked.status === 'filled') throw new OrderRejected('already_filled', 'the order was filled');
    const { expiresAt } = locked;
    if (locked.status === 'expired' || (expiresAt !== null && expiresAt <= now)) {
      throw new OrderRejected('expired', 'the order has ended');
    }
    if (!locked.signed) {
      throw new OrderRejected(
        'not_signed',
        'the order was imported without its signature: import it anew as cancelled',
      );
    }
    await insertOrderCancel(tx, orderId, { word: by.word, signature, createdAt: now });
    await updateOrderStates(tx, [orderId], now);
    return findStoredOrder(tx, orderId);
  });
  context.onChanged({ collectionIds: new Set([order.collectionId]), kinds: new Set(['order']) });
  return cancelled;
}

async function readSignature(context: OrderContext, order: StoredOrder, signature: unknown): Promise<string> {
  if (typeof signature !== 'string' || !isSignatureText(signature)) {
    throw new OrderRejected('malformed_order', 'signature: must be 0x and bytes in hex', { path: 'signature' });
  }
  const chain = context.chains.get(order.chain);
  const chainId = chain?.chainId ?? null;
  if (!order.signed || !chain || chainId === null) {
    throw new OrderRejected('not_signed', 'the order was imported without its signature: nobody can sign its cancel');
  }
  const claim = { account: order.seller, digest: cancelDigest(chainId, order.signed.orderHash), signature };
  await requireSignature(context.checksOf(chain), claim);
  return signature.toLowerCase();
}
