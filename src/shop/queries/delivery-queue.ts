// Counts the events and deliveries that wait for the webhook worker. The metrics show these numbers.

import type { Queryable } from '../../database/port.ts';
import { integer, rowDecoder } from '../../database/rows.ts';

/** At most this many rows are counted, so that a long queue does not slow the metrics. */
const COUNTED_MAX = 100_000;

const decodeQueue = rowDecoder('queue', {
  pending: integer,
  due: integer,
  events: integer,
  oldestDueAgeSeconds: integer,
});

/** `oldestDueAgeSeconds` is 0 if no delivery is due. */
export type DeliveryQueue = ReturnType<typeof decodeQueue>;

export async function findDeliveryQueue(db: Queryable): Promise<DeliveryQueue> {
  const [row] = await db.query(
    `select count(*)::int as pending, (count(*) filter (where due_at <= now()))::int as due,
       (select count(*)::int from (select from main.event where not fanned_out limit $1) as event) as events,
       coalesce(greatest(0, extract(epoch from now() - min(due_at))), 0)::int as "oldestDueAgeSeconds"
     from (select due_at from main.delivery where state = 'pending' limit $1) as delivery`,
    [COUNTED_MAX],
  );
  if (!row) throw new Error('the statement about the queue returned no row');
  return decodeQueue(row);
}
