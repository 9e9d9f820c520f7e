// Statements of the webhook worker: create, lease and delete deliveries, and record attempts. If a worker dies between two statements, its
// pending deliveries become due again when their leases end.

import type { RecordedEvent } from '../events.ts';
import type { DeliveryState } from '../webhooks/delivery.ts';
import { deleteFeedEvents, lockFeeds } from './changes.ts';
import type { Queryable, Row, Statements } from '../../platform/database/port.ts';
import { amount, boolean, column, integer, list, rowDecoder, text, timestamp } from '../../platform/database/rows.ts';

/** SQL condition: `event` and `webhook` belong to the same shop, and the webhook subscribes to the type of the event. */
export const MATCHES = `event.shop_id = webhook.shop_id
  and (event.type = any(webhook.events) or split_part(event.type, '.', 1) || '.*' = any(webhook.events))`;

/**
 * Creates the deliveries of up to `limit` new events and returns the number of events. A webhook gets an event to which it subscribes if
 * the webhook was created before the event. The webhook must also be enabled now, or have been disabled after the event. "Before" and
 * "after" refer to the sequence of events and not to times, because the clocks of processes may differ.
 */
export async function insertDeliveries(db: Queryable, now: number, limit: number): Promise<number> {
  const [row] = await db.query<{ events: number }>(
    `with event as (
       select id, sequence, shop_id, type from main.event
       where not fanned_out order by sequence limit $2 for update skip locked
     ), created as (
       insert into main.delivery (webhook_id, event_id, due_at, created_at)
       select webhook.id, event.id, $1, $1 from event join main.webhook on ${MATCHES}
       where event.sequence > webhook.created_sequence and (webhook.enabled or event.sequence < webhook.disabled_sequence)
       order by event.sequence
       on conflict (webhook_id, event_id) do nothing
     ), marked as (
       update main.event as recorded set fanned_out = true from event where recorded.id = event.id returning 1
     )
     select count(*)::int as events from marked`,
    [new Date(now), limit],
  );
  return row?.events ?? 0;
}

/**
 * Makes a pending delivery due now if it is due after `after`, and was last attempted after `after`. A delivery without an attempt must have been
 * created after `after`. A delivery has such times after the clock was set back. Without this statement, the delivery would wait until the
 * clock reaches the due time again.
 */
export async function updateScheduledAhead(
  db: Queryable,
  { now, after }: { now: number; after: number },
): Promise<void> {
  await db.query(
    `update main.delivery set due_at = $1 where id in (
       select id from main.delivery
       where state = 'pending' and due_at > $2 and coalesce(last_attempt_at, created_at) > $2
       order by id for update skip locked)`,
    [new Date(now), new Date(after)],
  );
}

/** A leased delivery. Only the process that holds the lease may send it. */
export type ClaimedDelivery = {
  /** Decimal text. */
  id: string;
  /** Incremented by every lease, and therefore identifies the lease. */
  claims: number;
  /** The number of earlier attempts in the current retry schedule. */
  attempts: number;
  webhookId: string;
  isFailing: boolean;
  event: RecordedEvent;
};

export type ClaimLimits = {
  now: number;
  leasedUntil: number;
  max: number;
  /** The most deliveries to failing webhooks among the `max` deliveries. */
  failingMax: number;
  /** The limit of deliveries that are leased for one webhook, including those in `leased`. */
  perWebhookMax: number;
  /** For the webhooks in `fast.webhooks`, `fast.max` replaces `perWebhookMax`, except while a webhook is failing. */
  fast: { webhooks: readonly string[]; max: number };
  /** The webhook of each delivery that this process has leased and not sent yet, or is sending. */
  leased: readonly string[];
  /** The ids of all deliveries that this process has leased. They are not leased again, even if the clock was set forward meanwhile. */
  held: readonly string[];
};

/** SQL condition: no process holds a lease. A lease that ends after $8 was written before the clock was set back, and is ignored. */
const FREE = `(leased_until is null or leased_until <= $1 or leased_until > $8)`;

/**
 * Leases due deliveries. The first due delivery of every webhook comes before the second of any webhook. The statement steps through the
 * index from webhook to webhook, so that it does not read the long queue of one webhook. Each process sends at most one delivery at a time
 * to a failing webhook.
 */
const CLAIM = `
  with recursive pending(webhook_id) as (
    (select webhook_id from main.delivery where state = 'pending' order by webhook_id limit 1)
    union all
    select (select delivery.webhook_id from main.delivery
      where delivery.state = 'pending' and delivery.webhook_id > pending.webhook_id order by webhook_id limit 1)
    from pending where pending.webhook_id is not null
  ), candidate as (
    select due.id, due.position, due.due_at, webhook.failing_since is not null as is_failing
    from pending
    join main.webhook on webhook.id = pending.webhook_id and webhook.enabled
    left join (
      select webhook_id, count(*) from unnest($6::text[]) as one (webhook_id) group by webhook_id
    ) as leased on leased.webhook_id = webhook.id
    cross join lateral (
      select case when webhook.failing_since is not null then 1 when webhook.id = any ($9::text[]) then $10::integer
        else $5::integer end - coalesce(leased.count, 0) as count
    ) as free_places
    cross join lateral (
      select id, due_at, row_number() over (order by due_at, id) as position
      from (
        select id, due_at from main.delivery
        where webhook_id = webhook.id and state = 'pending' and due_at <= $1 and ${FREE} and id <> all($7::bigint[])
        order by due_at, id limit greatest(free_places.count, 0)
      ) as first
    ) as due
  ), chosen as (
    select id from (
      select id, position, due_at, is_failing,
        row_number() over (partition by is_failing order by position, due_at, id) as rank
      from candidate
    ) as ranked
    where not is_failing or rank <= $4
    order by position, due_at, id limit $3
  ), free as (
    select id from main.delivery
    where id in (select id from chosen) and state = 'pending' and ${FREE}
    order by id for update skip locked
  ), leased as (
    update main.delivery set leased_until = $2, claims = claims + 1 from free where delivery.id = free.id
    returning delivery.id, delivery.claims, delivery.attempts, delivery.webhook_id, delivery.event_id
  )
  select leased.id, leased.claims, leased.attempts, leased.webhook_id, webhook.failing_since is not null as is_failing,
    event.id as event_id, event.type, event.sequence, event.data, event.created_at
  from leased
  join main.webhook on webhook.id = leased.webhook_id
  join main.event on event.id = leased.event_id
  order by leased.id`;

/**
 * A lease that ends later than this many lease lengths from now was written before the clock was set back. The number is above 1, because
 * the clocks of two processes may differ.
 */
const LEASES_LONGEST = 2;

export async function claimDeliveries(db: Queryable, limits: ClaimLimits): Promise<ClaimedDelivery[]> {
  const { now, leasedUntil, max, failingMax, perWebhookMax, fast, leased, held } = limits;
  const rows = await db.query(CLAIM, [
    new Date(now),
    new Date(leasedUntil),
    max,
    failingMax,
    perWebhookMax,
    leased,
    held,
    new Date(now + LEASES_LONGEST * (leasedUntil - now)),
    fast.webhooks,
    fast.max,
  ]);
  return rows.map(toClaimed);
}

const decodeTarget = rowDecoder('webhook', { id: text, url: text, secrets: list(text) });

/**
 * Where deliveries of a webhook are sent. `secrets`: the stored secrets with which they are signed, the current one first. After a rotation, each
 * replaced secret is one of them until the end of its overlap.
 */
export type WebhookTarget = Omit<ReturnType<typeof decodeTarget>, 'id'>;

/** The targets of those webhooks that are enabled, by the id of the webhook. */
export async function listWebhookTargets(
  db: Queryable,
  ids: readonly string[],
  now: number,
): Promise<Map<string, WebhookTarget>> {
  const rows = await db.query(
    `select id, url, array[secret] || array(
       select one.secret from unnest(previous_secret || earlier_secrets, previous_secret_until || earlier_secrets_until)
         with ordinality as one (secret, until, position)
       where one.until > $2 order by position) as secrets
     from main.webhook where id = any ($1::text[]) and enabled`,
    [ids, new Date(now)],
  );
  return new Map(rows.map(decodeTarget).map(({ id, ...target }) => [id, target]));
}

/** An attempt that has ended. `id` and `claims` are those of the claimed delivery. */
export type Attempt = {
  id: string;
  claims: number;
  state: DeliveryState;
  /** The time of the next attempt. Null if no attempt follows. */
  dueAt: number | null;
  at: number;
  status: number | null;
  error: string | null;
  durationMs: number;
};

/**
 * Records attempts. A successful attempt is always recorded. A failed attempt is ignored if its delivery was leased again, rescheduled or
 * delivered since the claim.
 */
export async function updateAttempts(tx: Queryable, attempts: readonly Attempt[]): Promise<void> {
  await tx.query(
    `with attempt as (
       select * from json_to_recordset($1) as attempt (
         id bigint, claims integer, state text, due_at timestamptz, at timestamptz, status integer, error text, duration_ms integer)
     ), locked as (
       select delivery.id from main.delivery join attempt on attempt.id = delivery.id order by delivery.id for update of delivery
     )
     update main.delivery as delivery
     set state = attempt.state, attempts = delivery.attempts + 1, leased_until = null,
       due_at = coalesce(attempt.due_at, delivery.due_at), last_attempt_at = attempt.at, last_status = attempt.status,
       last_error = attempt.error, last_duration_ms = attempt.duration_ms,
       delivered_at = case when attempt.state = 'delivered' then attempt.at else delivery.delivered_at end
     from attempt join locked on locked.id = attempt.id
     where delivery.id = attempt.id
       and (delivery.claims = attempt.claims and delivery.state = 'pending' or attempt.state = 'delivered')`,
    [JSON.stringify(attempts.map(toColumns))],
  );
}

/** Ends leases without recording an attempt. Does nothing to a delivery that was leased again or rescheduled since the claim. */
export async function updateReleased(
  db: Queryable,
  deliveries: readonly Pick<ClaimedDelivery, 'id' | 'claims'>[],
): Promise<void> {
  await db.query(
    `with released as (
       select delivery.id from main.delivery
       join unnest($1::bigint[], $2::integer[]) as held (id, claims) on held.id = delivery.id and held.claims = delivery.claims
       order by delivery.id for update of delivery
     )
     update main.delivery set leased_until = null from released where delivery.id = released.id`,
    [deliveries.map(({ id }) => id), deliveries.map(({ claims }) => claims)],
  );
}

/** SQL condition: a delivery of the event to an enabled webhook is pending. */
const IS_PENDING = `exists (
  select from main.delivery join main.webhook on webhook.id = delivery.webhook_id and webhook.enabled
  where delivery.event_id = event.id and delivery.state = 'pending')`;

/**
 * Deletes up to `limit` events recorded before `before`, with their deliveries. Returns the number of events. An event with a pending
 * delivery to an enabled webhook is kept.
 */
export async function deleteOldEvents(db: Statements, before: number, limit: number): Promise<number> {
  return db.transaction(async (tx) => {
    const rows = await tx.query<{ id: string; shop_id: string; is_in_feed: boolean }>(
      `select id, shop_id, number is not null as is_in_feed from main.event
       where created_at < $1 and fanned_out and not ${IS_PENDING} order by created_at limit $2`,
      [new Date(before), limit],
    );
    const shopIds = new Set(rows.filter((row) => row.is_in_feed).map((row) => row.shop_id));
    await lockFeeds(tx, [...shopIds]);
    const ids = rows.map(({ id }) => id);
    await deleteFeedEvents(tx, ids);
    return rows.length;
  });
}

function toColumns(attempt: Attempt) {
  const { id, claims, state, dueAt, at, status, error, durationMs } = attempt;
  const due = dueAt === null ? null : new Date(dueAt).toISOString();
  return { id, claims, state, due_at: due, at: new Date(at).toISOString(), status, error, duration_ms: durationMs };
}

const decodeClaimed = rowDecoder('claimed delivery', {
  id: amount,
  claims: integer,
  attempts: integer,
  webhookId: column('webhook_id', text),
  isFailing: column('is_failing', boolean),
});

export const decodeRecordedEvent = rowDecoder('event', {
  id: column('event_id', text),
  type: text,
  sequence: amount,
  data: text,
  createdAt: column('created_at', timestamp),
});

function toClaimed(row: Row): ClaimedDelivery {
  const { id, ...claimed } = decodeClaimed(row);
  const event = decodeRecordedEvent(row);
  return {
    ...claimed,
    id: String(id),
    event: { ...event, sequence: String(event.sequence) },
  };
}
