// Counts what waits for the webhook worker: the queue as a whole, which the status and the metrics show, and the queue of each webhook, which
// `mercat webhooks status` lists.

import type { Queryable } from '../../platform/database/port.ts';
import { boolean, column, integer, nullable, rowDecoder, text, timestamp } from '../../platform/database/rows.ts';

/** At most this many events, and deliveries of one webhook, are counted, so that a long queue does not slow the metrics. */
const COUNTED_MAX = 10_000;

const decodeQueue = rowDecoder('queue', {
  pending: integer,
  due: integer,
  events: integer,
  oldestDueAgeSeconds: integer,
  failingWebhooks: integer,
  failingDue: integer,
});

/**
 * The queue of all enabled webhooks. `oldestDueAgeSeconds` tells how long the worker has been late: the age of the oldest due delivery of
 * the webhooks that are not failing and to which nothing is being sent. A delivery that waits because its own receiver fails or is slow is
 * not counted there. 0 if there is no such delivery. `failingDue`: due deliveries of the webhooks that are failing.
 */
export type DeliveryQueue = ReturnType<typeof decodeQueue>;

/**
 * SQL: the number of pending and due deliveries of each webhook, and the time of its oldest due delivery. The statement steps through the
 * index from webhook to webhook, as the statement that leases deliveries does, so that the long queue of one webhook hides no other.
 */
const QUEUES = `
  recursive waiting(webhook_id) as (
    (select webhook_id from main.delivery where state = 'pending' order by webhook_id limit 1)
    union all
    select (select delivery.webhook_id from main.delivery
      where delivery.state = 'pending' and delivery.webhook_id > waiting.webhook_id order by webhook_id limit 1)
    from waiting where waiting.webhook_id is not null
  ), queue as (
    select waiting.webhook_id, counted.* from waiting
    cross join lateral (
      select count(*)::int as pending, (count(*) filter (where due_at <= now()))::int as due,
        min(due_at) filter (where due_at <= now()) as oldest_due_at, coalesce(bool_or(leased_until > now()), false) as is_served
      from (
        select due_at, leased_until from main.delivery
        where delivery.webhook_id = waiting.webhook_id and state = 'pending' order by due_at, id limit $1
      ) as first
    ) as counted
    where waiting.webhook_id is not null
  )`;

export async function findDeliveryQueue(db: Queryable): Promise<DeliveryQueue> {
  const [row] = await db.query(
    `with ${QUEUES}, enabled as (
       select webhook.failing_since is not null as is_failing, queue.* from main.webhook
       left join queue on queue.webhook_id = webhook.id where webhook.enabled
     )
     select coalesce(sum(pending), 0)::int as pending, coalesce(sum(due), 0)::int as due,
       (select count(*)::int from (select from main.event where not fanned_out limit $1) as event) as events,
       coalesce(extract(epoch from now() - min(oldest_due_at) filter (where not is_failing and not is_served)), 0)::int
         as "oldestDueAgeSeconds",
       (count(*) filter (where is_failing))::int as "failingWebhooks",
       coalesce(sum(due) filter (where is_failing), 0)::int as "failingDue"
     from enabled`,
    [COUNTED_MAX],
  );
  if (!row) throw new Error('the statement about the queue returned no row');
  return decodeQueue(row);
}

const decodeWebhookQueue = rowDecoder('webhook', {
  id: text,
  shopId: column('shop_id', text),
  url: text,
  enabled: boolean,
  disabledReason: column('disabled_reason', nullable(text)),
  disabledAt: column('disabled_at', nullable(timestamp)),
  failingSince: column('failing_since', nullable(timestamp)),
  pending: integer,
  oldestDueAt: column('oldest_due_at', nullable(timestamp)),
  dead: integer,
});

/** A webhook with its queue: how many deliveries are pending, since when the oldest one is due, and how many are dead. Times in milliseconds. */
export type WebhookQueue = ReturnType<typeof decodeWebhookQueue>;

/** The webhooks of a shop, or of all shops if `shopId` is null. Webhooks that need attention come first: disabled, then failing ones. */
export async function listWebhookQueues(
  db: Queryable,
  { shopId, limit }: { shopId: string | null; limit: number },
): Promise<WebhookQueue[]> {
  const rows = await db.query(
    `with ${QUEUES}
     select webhook.id, webhook.shop_id, webhook.url, webhook.enabled, webhook.disabled_reason, webhook.disabled_at,
       webhook.failing_since, coalesce(queue.pending, 0) as pending, queue.oldest_due_at,
       (select count(*)::int from (
         select from main.delivery where delivery.webhook_id = webhook.id and state = 'dead' limit $1) as dead) as dead
     from main.webhook left join queue on queue.webhook_id = webhook.id
     where $2::text is null or webhook.shop_id = $2
     order by webhook.enabled, webhook.failing_since, webhook.shop_id, webhook.id limit $3`,
    [COUNTED_MAX, shopId, limit],
  );
  return rows.map(decodeWebhookQueue);
}
