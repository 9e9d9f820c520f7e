// Stores off-chain cancels: who cancelled an order of this service without a transaction, and when. Primary database.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, nullable, oneOf, rowDecoder, text, timestamp } from '../../../platform/database/rows.ts';

/** `signature` is null when the operator of the service cancelled. `createdAt` in milliseconds. */
export type OrderCancel = {
  cancelledBy: 'offerer' | 'operator';
  signature: string | null;
  createdAt: number;
};

/** Only the first cancel of an order is stored. */
export async function insertOrderCancel(tx: Queryable, orderId: string, cancel: OrderCancel): Promise<void> {
  await tx.query(
    `insert into main.order_cancel (order_id, cancelled_by, signature, created_at) values ($1, $2, $3, $4)
     on conflict (order_id) do nothing`,
    [orderId, cancel.cancelledBy, cancel.signature, new Date(cancel.createdAt)],
  );
}

export async function findOrderCancel(db: Queryable, orderId: string): Promise<OrderCancel | null> {
  const [row] = await db.query(
    `select cancelled_by, signature, created_at from main.order_cancel where order_id = $1`,
    [orderId],
  );
  return row ? decodeCancel(row) : null;
}

const decodeCancel = rowDecoder('order_cancel', {
  cancelledBy: column('cancelled_by', oneOf(['offerer', 'operator'])),
  signature: nullable(text),
  createdAt: column('created_at', timestamp),
});
