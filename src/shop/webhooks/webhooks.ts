// Subscriptions of a shop: made, changed, tested and recovered by whoever holds a key of the shop. Who delivers is the
// webhook worker; this only says what is due.

import { randomBytes } from 'node:crypto';
import type { Queryable } from '../../database/port.ts';
import type { Delivery, DeliveryQuery } from '../queries/delivery-log.ts';
import {
  findDelivery,
  insertDirectDelivery,
  listDeliveries,
  updateDeliveryAgain,
  updateRecovered,
} from '../queries/delivery-log.ts';
import type { Webhook } from '../queries/webhooks.ts';
import {
  deleteWebhook,
  findWebhook,
  findWebhookForUpdate,
  insertWebhook,
  listWebhooks,
  updateWebhook,
  updateWebhookSecret,
} from '../queries/webhooks.ts';
import { createId, isId } from '../../core/time-ordered-id.ts';
import type { WebhookFields } from './webhook-input.ts';
import { WEBHOOKS_MAX, mergeWebhook } from './webhook-input.ts';
import { TEST_EVENT_TYPE } from '../events.ts';
import { ROTATION_OVERLAP_MS, createWebhookSecret } from './signature.ts';
import type { ErrorDetail } from '../../core/errors.ts';
import { ServiceError } from '../../core/errors.ts';
import type { ShopCaller, Store } from '../context.ts';

/** The words for whatever is wrong with what is told of a subscription. */
export const INVALID_WEBHOOK = 'Invalid webhook payload';

/** A subscription at the only time when its secret is seen. */
export type WebhookWithSecret = { webhook: Webhook; secret: string };

/** Deliveries of each kind that one recovery makes due. */
const RECOVERED_MAX = 10_000;

export function readWebhooks(store: Store, caller: ShopCaller): Promise<Webhook[]> {
  return listWebhooks(store.main, caller.shopId);
}

export async function readWebhook(store: Store, caller: ShopCaller, id: string): Promise<Webhook> {
  return (await find(store.main, caller, id)) ?? missing();
}

export async function createWebhook(
  store: Store,
  tx: Queryable,
  caller: ShopCaller,
  fields: Omit<WebhookFields, 'enabled'>,
): Promise<WebhookWithSecret> {
  const now = store.clock();
  const secret = createWebhookSecret(randomBytes);
  const subject = { ...fields, id: createId('whk', now), shopId: caller.shopId, secret };
  const webhook = await insertWebhook(tx, subject, { now, max: WEBHOOKS_MAX });
  if (!webhook) throw new ServiceError('bad_request', `A shop has at most ${WEBHOOKS_MAX} webhooks`);
  return { webhook, secret };
}

export type WebhookUpdate = {
  id: string;
  input: Partial<WebhookFields>;
  /** Whether the version that is there may be changed; refuses by throwing. */
  check: (webhook: Webhook) => void;
};

/** Merges what is given into a subscription. What changes nothing writes nothing. */
export async function changeWebhook(
  store: Store,
  tx: Queryable,
  caller: ShopCaller,
  update: WebhookUpdate,
): Promise<Webhook> {
  const now = store.clock();
  const before = (await lock(tx, caller, update.id)) ?? missing();
  update.check(before);
  const fields = mergeWebhook(before, update.input, now);
  if (!fields) return before;
  return (await updateWebhook(tx, caller.shopId, update.id, { fields, now })) ?? missing();
}

/** Deletes a subscription and what was still to be delivered to it. */
export async function removeWebhook(
  tx: Queryable,
  caller: ShopCaller,
  { id, check }: Pick<WebhookUpdate, 'id' | 'check'>,
): Promise<void> {
  check((await lock(tx, caller, id)) ?? missing());
  await deleteWebhook(tx, caller.shopId, id);
}

/** A new secret; the one before it signs too for a day, so that receivers can change over. */
export async function rotateWebhookSecret(
  store: Store,
  tx: Queryable,
  caller: ShopCaller,
  id: string,
): Promise<WebhookWithSecret> {
  const now = store.clock();
  const secret = createWebhookSecret(randomBytes);
  const change = { secret, previousUntil: now + ROTATION_OVERLAP_MS, now };
  if (!isId('whk', id)) return missing();
  return { webhook: (await updateWebhookSecret(tx, caller.shopId, id, change)) ?? missing(), secret };
}

/** Sends an event that says nothing, to this subscription alone. */
export async function testWebhook(store: Store, tx: Queryable, caller: ShopCaller, id: string): Promise<Delivery> {
  const now = store.clock();
  await requireEnabled(tx, caller, id);
  const deliveryId = await insertDirectDelivery(tx, {
    webhookId: id,
    shopId: caller.shopId,
    eventId: createId('evt', now),
    type: TEST_EVENT_TYPE,
    data: { webhookId: id },
    now,
  });
  return (await findDelivery(tx, id, deliveryId)) ?? missing();
}

export type DeliveryPage = { deliveries: Delivery[]; next: string | null };

/** A page of the delivery log, newest first. */
export async function readDeliveries(
  store: Store,
  caller: ShopCaller,
  id: string,
  query: DeliveryQuery,
): Promise<DeliveryPage> {
  await readWebhook(store, caller, id);
  const rows = await listDeliveries(store.main, { webhookId: id }, { ...query, limit: query.limit + 1 });
  const deliveries = rows.slice(0, query.limit);
  return { deliveries, next: rows.length > query.limit ? (deliveries.at(-1)?.id ?? null) : null };
}

/** Sends one delivery again, with a fresh schedule, whatever became of it. */
export async function redeliver(
  store: Store,
  tx: Queryable,
  caller: ShopCaller,
  { id, deliveryId }: { id: string; deliveryId: string | null },
): Promise<Delivery> {
  const webhook = (await find(tx, caller, id)) ?? missing();
  const delivery = deliveryId === null ? null : await findDelivery(tx, id, deliveryId);
  if (!delivery) throw new ServiceError('not_found', 'Delivery not found');
  refuseDisabled(webhook);
  await updateDeliveryAgain(tx, id, delivery.id, store.clock());
  return (await findDelivery(tx, id, delivery.id)) ?? missing();
}

export type Recovery = {
  /** Deliveries that are due now. */
  recovered: number;
  /** True when there are more: recover again when these are through. */
  hasMore: boolean;
};

/** Makes everything since then due that was not delivered, what was missed while it was disabled included. */
export async function recoverWebhook(
  store: Store,
  tx: Queryable,
  caller: ShopCaller,
  { id, since }: { id: string; since: number },
): Promise<Recovery> {
  await requireEnabled(tx, caller, id);
  const { missed, revived } = await updateRecovered(tx, id, { since, now: store.clock(), limit: RECOVERED_MAX });
  return { recovered: missed + revived, hasMore: missed === RECOVERED_MAX || revived === RECOVERED_MAX };
}

export function invalidWebhook(details: readonly ErrorDetail[]): ServiceError {
  return new ServiceError('bad_request', INVALID_WEBHOOK, { details });
}

async function requireEnabled(tx: Queryable, caller: ShopCaller, id: string): Promise<void> {
  refuseDisabled((await find(tx, caller, id)) ?? missing());
}

/** Text that is no id of a subscription never reaches the database. */
async function find(db: Queryable, caller: ShopCaller, id: string): Promise<Webhook | null> {
  return isId('whk', id) ? findWebhook(db, caller.shopId, id) : null;
}

async function lock(tx: Queryable, caller: ShopCaller, id: string): Promise<Webhook | null> {
  return isId('whk', id) ? findWebhookForUpdate(tx, caller.shopId, id) : null;
}

function refuseDisabled(webhook: Webhook): void {
  if (!webhook.enabled) throw new ServiceError('bad_request', 'The webhook is disabled: enable it first');
}

/** The same words for a subscription that never was, was deleted, or is another shop's. */
function missing(): never {
  throw new ServiceError('not_found', 'Webhook not found');
}
