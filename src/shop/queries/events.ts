// Records the events of shops. deliveries.ts creates their deliveries.

import type { Queryable } from '../../platform/database/port.ts';

/** Inserts the events of one type that one change has caused. `data` is JSON text. The database assigns sequence numbers in the given order. */
export async function insertEvents(
  tx: Queryable,
  { shopId, type, createdAt }: { shopId: string; type: string; createdAt: number },
  events: readonly { id: string; data: string }[],
): Promise<void> {
  await tx.query(
    `insert into main.event (id, shop_id, type, data, created_at)
     select id, $1, $2, data, $3 from unnest($4::text[], $5::text[]) with ordinality as event (id, data, number) order by number`,
    [shopId, type, new Date(createdAt), events.map(({ id }) => id), events.map(({ data }) => data)],
  );
}
