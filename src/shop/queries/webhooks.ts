// Statements on webhooks. Every statement for a caller is limited to the caller's shop, so that webhooks of other shops are not found. No
// statement in this file returns a secret.

import type { Queryable } from '../../platform/database/port.ts';
import {
  boolean,
  column,
  integer,
  list,
  nullable,
  oneOf,
  rowDecoder,
  text,
  timestamp,
} from '../../platform/database/rows.ts';
import { EVENT_PATTERNS } from '../events.ts';

const decodeWebhook = rowDecoder('webhook', {
  id: text,
  shopId: column('shop_id', text),
  url: text,
  events: list(oneOf(EVENT_PATTERNS)),
  description: nullable(text),
  enabled: boolean,
  disabledReason: column('disabled_reason', nullable(text)),
  disabledAt: column('disabled_at', nullable(timestamp)),
  /** The time of the first failure since the last success. Null if the webhook is not failing. */
  failingSince: column('failing_since', nullable(timestamp)),
  /** Until this time, deliveries are also signed with the previous secret. Null before the first rotation. */
  previousSecretUntil: column('previous_secret_until', nullable(timestamp)),
  /** Incremented by every change that the shop can see. */
  version: integer,
  createdAt: column('created_at', timestamp),
  updatedAt: column('updated_at', timestamp),
});

/** A webhook without its secrets. Times in milliseconds. */
export type Webhook = ReturnType<typeof decodeWebhook>;

const COLUMNS = `id, shop_id, url, events, description, enabled, disabled_reason, disabled_at, failing_since,
  previous_secret_until, version, created_at, updated_at`;

export type NewWebhook = Pick<Webhook, 'id' | 'shopId' | 'url' | 'events' | 'description'> & {
  /** The form in which the database stores the secret: encrypted, or as plain text if the settings have no key for secrets. */
  secret: string;
};

/** Inserts a webhook. Returns null if the shop already has `max` webhooks. Must run in a transaction, because it locks the shop. */
export async function insertWebhook(
  tx: Queryable,
  webhook: NewWebhook,
  { now, max }: { now: number; max: number },
): Promise<Webhook | null> {
  // Without the lock, two concurrent transactions could together exceed the limit.
  await tx.query(`select id from main.shop where id = $1 for no key update`, [webhook.shopId]);
  const { id, shopId, url, events, description, secret } = webhook;
  const [row] = await tx.query(
    `insert into main.webhook (id, shop_id, url, events, description, secret, created_at, updated_at)
     select $1, $2, $3, $4, $5, $6, $7, $7
     where (select count(*) from main.webhook where shop_id = $2) < $8
     returning ${COLUMNS}`,
    [id, shopId, url, events, description, secret, new Date(now), max],
  );
  return row ? decodeWebhook(row) : null;
}

/** All webhooks of a shop, oldest first. */
export async function listWebhooks(db: Queryable, shopId: string): Promise<Webhook[]> {
  const rows = await db.query(`select ${COLUMNS} from main.webhook where shop_id = $1 order by id`, [shopId]);
  return rows.map(decodeWebhook);
}

export async function findWebhook(db: Queryable, shopId: string, id: string): Promise<Webhook | null> {
  const [row] = await db.query(`select ${COLUMNS} from main.webhook where shop_id = $1 and id = $2`, [shopId, id]);
  return row ? decodeWebhook(row) : null;
}

/** The webhook, locked until the transaction ends. */
export async function findWebhookForUpdate(tx: Queryable, shopId: string, id: string): Promise<Webhook | null> {
  const [row] = await tx.query(`select ${COLUMNS} from main.webhook where shop_id = $1 and id = $2 for no key update`, [
    shopId,
    id,
  ]);
  return row ? decodeWebhook(row) : null;
}

/** The columns that an update by the shop can change. */
export type WebhookState = Pick<
  Webhook,
  'url' | 'events' | 'description' | 'enabled' | 'disabledReason' | 'disabledAt' | 'failingSince'
>;

export async function updateWebhook(
  tx: Queryable,
  shopId: string,
  id: string,
  { state, now }: { state: WebhookState; now: number },
): Promise<Webhook | null> {
  const [row] = await tx.query(
    `update main.webhook set url = $3, events = $4, description = $5, enabled = $6, disabled_reason = $7,
       disabled_at = $8, failing_since = $9, disabled_sequence = ${toDisabledSequence('$6')}, version = version + 1, updated_at = $10
     where shop_id = $1 and id = $2 returning ${COLUMNS}`,
    [
      shopId,
      id,
      state.url,
      state.events,
      state.description,
      state.enabled,
      state.disabledReason,
      toDate(state.disabledAt),
      toDate(state.failingSince),
      new Date(now),
    ],
  );
  return row ? decodeWebhook(row) : null;
}

/** With the current and the previous secret, a delivery has at most ten signatures. */
const EARLIER_SECRETS_MAX = 8;

/**
 * Replaces the secret by `change.secret`, which is already in its stored form. The old secret becomes the previous secret. Deliveries are
 * also signed with the previous secret until `previousUntil`, and with each earlier secret until its own time. The newest EARLIER_SECRETS_MAX
 * earlier secrets are kept.
 */
export async function updateWebhookSecret(
  db: Queryable,
  shopId: string,
  id: string,
  change: { secret: string; previousUntil: number; now: number },
): Promise<Webhook | null> {
  const [row] = await db.query(
    `with earlier as (
       select array_agg(secret order by until desc) as secrets, array_agg(until order by until desc) as untils from (
         select one.secret, one.until from main.webhook, unnest(
           earlier_secrets || previous_secret, earlier_secrets_until || previous_secret_until) as one (secret, until)
         where shop_id = $1 and id = $2 and one.until > $5 order by one.until desc limit ${EARLIER_SECRETS_MAX}
       ) as kept
     )
     update main.webhook set previous_secret = secret, secret = $3, previous_secret_until = $4,
       earlier_secrets = coalesce(earlier.secrets, '{}'), earlier_secrets_until = coalesce(earlier.untils, '{}'),
       version = version + 1, updated_at = $5
     from earlier where shop_id = $1 and id = $2 returning ${COLUMNS}`,
    [shopId, id, change.secret, new Date(change.previousUntil), new Date(change.now)],
  );
  return row ? decodeWebhook(row) : null;
}

/** Deletes a webhook with its deliveries. Returns false if the shop has no such webhook. */
export async function deleteWebhook(db: Queryable, shopId: string, id: string): Promise<boolean> {
  const rows = await db.query(`delete from main.webhook where shop_id = $1 and id = $2 returning id`, [shopId, id]);
  return rows.length > 0;
}

const decodeHealth = rowDecoder('webhook', {
  id: text,
  enabled: boolean,
  failingSince: column('failing_since', nullable(timestamp)),
});

/**
 * Returns the health of the webhooks, and locks the webhooks until the transaction ends. Webhooks are locked in the order of their ids, so
 * that two workers cannot deadlock.
 */
export async function listWebhookHealthForUpdate(
  tx: Queryable,
  ids: readonly string[],
): Promise<ReturnType<typeof decodeHealth>[]> {
  const rows = await tx.query(
    `select id, enabled, failing_since from main.webhook where id = any($1) order by id for no key update`,
    [ids],
  );
  return rows.map(decodeHealth);
}

/** Stores changes of health. A change with a `disabledReason` disables the webhook. */
export async function updateWebhookHealth(
  tx: Queryable,
  changes: readonly { id: string; failingSince: number | null; disabledReason: string | null }[],
  now: number,
): Promise<void> {
  await tx.query(
    `update main.webhook as webhook
     set failing_since = change.failing_since,
       version = version + 1,
       enabled = webhook.enabled and change.disabled_reason is null,
       disabled_at = case when change.disabled_reason is null then webhook.disabled_at else $4 end,
       disabled_reason = coalesce(change.disabled_reason, webhook.disabled_reason),
       disabled_sequence = ${toDisabledSequence('webhook.enabled and change.disabled_reason is null')}
     from unnest($1::text[], $2::timestamptz[], $3::text[]) as change (id, failing_since, disabled_reason)
     where webhook.id = change.id`,
    [
      changes.map(({ id }) => id),
      changes.map(({ failingSince }) => toDate(failingSince)),
      changes.map(({ disabledReason }) => disabledReason),
      new Date(now),
    ],
  );
}

/**
 * SQL expression: the new value of `disabled_sequence`, where `isEnabled` is the new value of `enabled`. `disabled_sequence` is the position
 * in the sequence of events at which the webhook was disabled. Events before this position are still delivered.
 */
function toDisabledSequence(isEnabled: string): string {
  return `case when ${isEnabled} then null when webhook.enabled then nextval('main.event_sequence_seq')
    else webhook.disabled_sequence end`;
}

function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
