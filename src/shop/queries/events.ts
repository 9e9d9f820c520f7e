// Records the events of shops. deliveries.ts creates their deliveries.

import type { Queryable } from '../../platform/database/port.ts';

/** Inserts the events that one change has caused. `data` is JSON text. The database numbers them in the given order. */
export async function insertEvents(
  tx: Queryable,
  { shopId, createdAt }: { shopId: string; createdAt: number },
  events: readonly { id: string; type: string; data: string }[],
): Promise<void> {
  await tx.query(
    `insert into main.event (id, shop_id, type, data, created_at, number)
     select id, $1, type, data, $2, nextval('main.adjustment_id_seq') from (
       select * from unnest($3::text[], $4::text[], $5::text[]) with ordinality as event (id, type, data, place) order by place
     ) as ordered`,
    [
      shopId,
      new Date(createdAt),
      events.map(({ id }) => id),
      events.map(({ type }) => type),
      events.map(({ data }) => data),
    ],
  );
}
