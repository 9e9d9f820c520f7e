// Records the events of shops. deliveries.ts creates their deliveries.

import type { Queryable } from '../../database/port.ts';

/** `data` is JSON text. The database assigns the sequence. */
export async function insertEvent(
  tx: Queryable,
  event: { id: string; shopId: string; type: string; data: string; createdAt: number },
): Promise<void> {
  await tx.query(`insert into main.event (id, shop_id, type, data, created_at) values ($1, $2, $3, $4, $5)`, [
    event.id,
    event.shopId,
    event.type,
    event.data,
    new Date(event.createdAt),
  ]);
}
