// What happened in a shop, recorded in the transaction of the change that caused it. Deliveries are made of it afterwards.

import { createId } from '../../core/time-ordered-id.ts';
import type { Queryable } from '../../database/port.ts';

/** `data` is frozen here: what is delivered later is what was true now. */
export async function insertEvent(
  tx: Queryable,
  event: { shopId: string; type: string; data: object; now: number },
): Promise<void> {
  await tx.query(`insert into main.event (id, shop_id, type, data, created_at) values ($1, $2, $3, $4, $5)`, [
    createId('evt', event.now),
    event.shopId,
    event.type,
    JSON.stringify(event.data),
    new Date(event.now),
  ]);
}
