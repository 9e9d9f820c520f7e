// Subscriptions to events. Every statement for a shop names the shop: another shop's subscription is not there. Secrets leave this
// file only towards the one who signs.

import type { Queryable, Row } from '../../database/port.ts';

/** A subscription as its shop may see it. Times in milliseconds. */
export type Webhook = {
  id: string;
  shopId: string;
  url: string;
  events: string[];
  description: string | null;
  enabled: boolean;
  disabledReason: string | null;
  disabledAt: number | null;
  /** Since when no try has succeeded; null while it works. */
  failingSince: number | null;
  /** Until when the secret before this one signs too. */
  previousSecretUntil: number | null;
  /** Rises with every change that its shop can see. */
  version: number;
  createdAt: number;
  updatedAt: number;
};

const COLUMNS = `id, shop_id, url, events, description, enabled, disabled_reason, disabled_at, failing_since,
  previous_secret_until, version, created_at, updated_at`;

export type NewWebhook = Pick<Webhook, 'id' | 'shopId' | 'url' | 'events' | 'description'> & { secret: string };

/** The new subscription, or null when the shop has `max` of them already. In a transaction: it locks the shop's place. */
export async function insertWebhook(
  tx: Queryable,
  webhook: NewWebhook,
  { now, max }: { now: number; max: number },
): Promise<Webhook | null> {
  // Two at once would both count the others and go past the limit together.
  await tx.query(`select id from main.shop where id = $1 for no key update`, [webhook.shopId]);
  const { id, shopId, url, events, description, secret } = webhook;
  const [row] = await tx.query(
    `insert into main.webhook (id, shop_id, url, events, description, secret, created_at, updated_at)
     select $1, $2, $3, $4, $5, $6, $7, $7
     where (select count(*) from main.webhook where shop_id = $2) < $8
     returning ${COLUMNS}`,
    [id, shopId, url, events, description, secret, new Date(now), max],
  );
  return row ? toWebhook(row) : null;
}

/** All subscriptions of a shop, oldest first. */
export async function listWebhooks(db: Queryable, shopId: string): Promise<Webhook[]> {
  const rows = await db.query(`select ${COLUMNS} from main.webhook where shop_id = $1 order by id`, [shopId]);
  return rows.map(toWebhook);
}

export async function findWebhook(db: Queryable, shopId: string, id: string): Promise<Webhook | null> {
  const [row] = await db.query(`select ${COLUMNS} from main.webhook where shop_id = $1 and id = $2`, [shopId, id]);
  return row ? toWebhook(row) : null;
}

/** The subscription, locked until the transaction ends. */
export async function findWebhookForUpdate(tx: Queryable, shopId: string, id: string): Promise<Webhook | null> {
  const [row] = await tx.query(`select ${COLUMNS} from main.webhook where shop_id = $1 and id = $2 for no key update`, [
    shopId,
    id,
  ]);
  return row ? toWebhook(row) : null;
}

export type WebhookFields = Pick<
  Webhook,
  'url' | 'events' | 'description' | 'enabled' | 'disabledReason' | 'disabledAt' | 'failingSince'
>;

/** Stores the fields of a subscription that is locked. */
export async function updateWebhook(
  tx: Queryable,
  shopId: string,
  id: string,
  { fields, now }: { fields: WebhookFields; now: number },
): Promise<Webhook | null> {
  const [row] = await tx.query(
    `update main.webhook set url = $3, events = $4, description = $5, enabled = $6, disabled_reason = $7,
       disabled_at = $8, failing_since = $9, version = version + 1, updated_at = $10
     where shop_id = $1 and id = $2 returning ${COLUMNS}`,
    [
      shopId,
      id,
      fields.url,
      fields.events,
      fields.description,
      fields.enabled,
      fields.disabledReason,
      toDate(fields.disabledAt),
      toDate(fields.failingSince),
      new Date(now),
    ],
  );
  return row ? toWebhook(row) : null;
}

/** Signs with `secret` from now on, and with the one that it replaces until `previousUntil`. */
export async function updateWebhookSecret(
  db: Queryable,
  shopId: string,
  id: string,
  change: { secret: string; previousUntil: number; now: number },
): Promise<Webhook | null> {
  const [row] = await db.query(
    `update main.webhook set previous_secret = secret, secret = $3, previous_secret_until = $4,
       version = version + 1, updated_at = $5
     where shop_id = $1 and id = $2 returning ${COLUMNS}`,
    [shopId, id, change.secret, new Date(change.previousUntil), new Date(change.now)],
  );
  return row ? toWebhook(row) : null;
}

/** Deletes a subscription with its deliveries; false when there is none. */
export async function deleteWebhook(db: Queryable, shopId: string, id: string): Promise<boolean> {
  const rows = await db.query(`delete from main.webhook where shop_id = $1 and id = $2 returning id`, [shopId, id]);
  return rows.length > 0;
}

/** What a batch of tries says about the receivers, by subscription. */
export type Health = {
  succeeded: readonly string[];
  failed: readonly string[];
  /** Those that asked never to be called again. */
  gone: readonly string[];
  goneReason: string;
  /** Failing since then or before is failing for too long. */
  failingBefore: number;
  failingReason: string;
  now: number;
};

/** Records who works, who fails, and who is disabled for it; returns the ids of those that this disabled. */
export async function updateWebhookHealth(tx: Queryable, health: Health): Promise<string[]> {
  const { succeeded, failed, gone } = health;
  // Locked in one order, so that two workers cannot wait for each other.
  await tx.query(`select id from main.webhook where id = any($1) order by id for no key update`, [
    [...succeeded, ...failed, ...gone],
  ]);
  await tx.query(
    `update main.webhook set failing_since = null, version = version + 1
     where id = any($1) and failing_since is not null`,
    [succeeded],
  );
  const rows = await tx.query<{ id: string; disabled: boolean }>(
    `update main.webhook as webhook
     set failing_since = coalesce(failing_since, $3),
       version = version + 1,
       enabled = not is_over,
       disabled_at = case when is_over then $3 end,
       disabled_reason = case when is_over then case when id = any($2) then $5 else $6 end end
     from (select id as ended_id, (id = any($2) or coalesce(failing_since <= $4, false)) as is_over from main.webhook
       where id = any($1) or id = any($2)) as ended
     where id = ended_id and enabled and (is_over or failing_since is null)
     returning id, not enabled as disabled`,
    [failed, gone, new Date(health.now), new Date(health.failingBefore), health.goneReason, health.failingReason],
  );
  return rows.filter((row) => row.disabled).map((row) => row.id);
}

function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

function toMs(value: unknown): number | null {
  return value === null ? null : (value as Date).getTime();
}

function toWebhook(row: Row): Webhook {
  return {
    id: row['id'] as string,
    shopId: row['shop_id'] as string,
    url: row['url'] as string,
    events: row['events'] as string[],
    description: row['description'] as string | null,
    enabled: row['enabled'] as boolean,
    disabledReason: row['disabled_reason'] as string | null,
    disabledAt: toMs(row['disabled_at']),
    failingSince: toMs(row['failing_since']),
    previousSecretUntil: toMs(row['previous_secret_until']),
    version: row['version'] as number,
    createdAt: (row['created_at'] as Date).getTime(),
    updatedAt: (row['updated_at'] as Date).getTime(),
  };
}
