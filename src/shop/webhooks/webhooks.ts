// The operations of the store interface on webhooks and their deliveries. Operations make deliveries due, and the webhook worker sends
// them. If the caller has made a mistake, an operation throws a ServiceError.

import { randomBytes } from 'node:crypto';
import type { Queryable } from '../../platform/database/port.ts';
import type { Delivery, DeliveryQuery } from '../queries/delivery-log.ts';
import {
  findDeliveredEvent,
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
import { isDeliveryId } from './delivery.ts';
import { createId, isId } from '../../platform/core/time-ordered-id.ts';
import type { NewWebhookSettings, WebhookSettings } from './webhook-input.ts';
import { mergeWebhook } from './webhook-input.ts';
import { TEST_EVENT_TYPE, toWebhookBody } from '../events.ts';
import { SECRET_ROTATION_OVERLAP_MS, createWebhookSecret } from './signature.ts';
import type { ErrorDetail } from '../../platform/core/errors.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import type { ShopCaller, ShopContext } from '../context.ts';
import { toWebhookPlace } from '../stored-secrets.ts';

/** The message for any invalid field of a webhook. */
export const INVALID_WEBHOOK = 'Invalid webhook payload';

/** A webhook with a new secret, which is never returned again. */
export type WebhookWithSecret = { webhook: Webhook; secret: string };

const WEBHOOKS_MAX = 20;
/** A recovery creates at most this many missing deliveries, and makes at most this many failed deliveries due. */
const RECOVERED_MAX = 10_000;

export function readWebhooks(context: ShopContext, caller: ShopCaller): Promise<Webhook[]> {
  return listWebhooks(context.main, caller.shopId);
}

export async function readWebhook(context: ShopContext, caller: ShopCaller, id: string): Promise<Webhook> {
  return (await find(context.main, caller, id)) ?? refuseMissing();
}

export async function createWebhook(
  context: ShopContext,
  tx: Queryable,
  caller: ShopCaller,
  settings: NewWebhookSettings,
): Promise<WebhookWithSecret> {
  const now = context.clock();
  const secret = createWebhookSecret(randomBytes);
  const id = createId('whk', now);
  const stored = context.secretKeys.encrypt(secret, toWebhookPlace(id));
  const fields = { ...settings, id, shopId: caller.shopId, secret: stored };
  const webhook = await insertWebhook(tx, fields, { now, max: WEBHOOKS_MAX });
  if (!webhook)
    throw new ServiceError('bad_request', `The shop has ${WEBHOOKS_MAX} webhooks already, and a shop can have no more`);
  return { webhook, secret };
}

export type WebhookUpdate = {
  id: string;
  input: Partial<WebhookSettings>;
  /** Throws if the current version is not one of the versions in the request's `If-Match` header. */
  check: (webhook: Webhook) => void;
};

/** Merges an update into a webhook. An update that changes nothing writes nothing. */
export async function changeWebhook(
  context: ShopContext,
  tx: Queryable,
  caller: ShopCaller,
  update: WebhookUpdate,
): Promise<Webhook> {
  const now = context.clock();
  const before = (await lock(tx, caller, update.id)) ?? refuseMissing();
  update.check(before);
  const state = mergeWebhook(before, update.input, now);
  if (!state) return before;
  return (await updateWebhook(tx, caller.shopId, update.id, { state, now })) ?? refuseMissing();
}

/** Deletes a webhook and its deliveries, including pending ones. */
export async function removeWebhook(
  tx: Queryable,
  caller: ShopCaller,
  { id, check }: Pick<WebhookUpdate, 'id' | 'check'>,
): Promise<void> {
  check((await lock(tx, caller, id)) ?? refuseMissing());
  await deleteWebhook(tx, caller.shopId, id);
}

/** Replaces the secret. For 24 hours deliveries are signed with both secrets, so that receivers can switch. */
export async function rotateWebhookSecret(
  context: ShopContext,
  tx: Queryable,
  caller: ShopCaller,
  id: string,
): Promise<WebhookWithSecret> {
  const now = context.clock();
  const secret = createWebhookSecret(randomBytes);
  if (!isId('whk', id)) return refuseMissing();
  const stored = context.secretKeys.encrypt(secret, toWebhookPlace(id));
  const change = { secret: stored, previousUntil: now + SECRET_ROTATION_OVERLAP_MS, now };
  // A rotation at the same time must see the secret that this one replaces.
  await lock(tx, caller, id);
  return { webhook: (await updateWebhookSecret(tx, caller.shopId, id, change)) ?? refuseMissing(), secret };
}

/** Records a test event for this webhook only, whatever its subscriptions. */
export async function testWebhook(
  context: ShopContext,
  tx: Queryable,
  caller: ShopCaller,
  id: string,
): Promise<Delivery> {
  const now = context.clock();
  requireEnabled((await find(tx, caller, id)) ?? refuseMissing());
  const deliveryId = await insertDirectDelivery(tx, {
    webhookId: id,
    shopId: caller.shopId,
    eventId: createId('evt', now),
    type: TEST_EVENT_TYPE,
    data: JSON.stringify({ webhookId: id }),
    now,
  });
  return (await findDelivery(tx, id, deliveryId)) ?? refuseMissing();
}

export type DeliveryPage = { deliveries: Delivery[]; next: string | null };

/** A page of the delivery log, newest first. */
export async function readDeliveries(
  context: ShopContext,
  caller: ShopCaller,
  id: string,
  query: DeliveryQuery,
): Promise<DeliveryPage> {
  await readWebhook(context, caller, id);
  const rows = await listDeliveries(context.main, { webhookId: id }, { ...query, limit: query.limit + 1 });
  const deliveries = rows.slice(0, query.limit);
  const last = deliveries.at(-1);
  return { deliveries, next: rows.length > query.limit && last ? String(last.sequence) : null };
}

/** One delivery with the body that each of its attempts sends. */
export async function readDelivery(
  context: ShopContext,
  caller: ShopCaller,
  { id, deliveryId }: { id: string; deliveryId: string },
): Promise<{ delivery: Delivery; body: string }> {
  await readWebhook(context, caller, id);
  const isKnown = isDeliveryId(deliveryId);
  const delivery = isKnown ? await findDelivery(context.main, id, deliveryId) : null;
  const event = isKnown ? await findDeliveredEvent(context.main, id, deliveryId) : null;
  if (!delivery || !event) throw new ServiceError('not_found', 'Delivery not found');
  return { delivery, body: toWebhookBody(event) };
}

/** Makes one delivery due now, whatever its state, and begins its retry schedule anew. */
export async function redeliver(
  context: ShopContext,
  tx: Queryable,
  caller: ShopCaller,
  { id, deliveryId }: { id: string; deliveryId: string },
): Promise<Delivery> {
  const webhook = (await find(tx, caller, id)) ?? refuseMissing();
  const delivery = isDeliveryId(deliveryId) ? await findDelivery(tx, id, deliveryId) : null;
  if (!delivery) throw new ServiceError('not_found', 'Delivery not found');
  requireEnabled(webhook);
  await updateDeliveryAgain(tx, id, delivery.id, context.clock());
  return (await findDelivery(tx, id, delivery.id)) ?? refuseMissing();
}

export type Recovery = {
  /** The number of deliveries that the recovery created or made due. */
  recovered: number;
  /** True if a limit was reached, so that another recovery may be needed. */
  hasMore: boolean;
};

/**
 * For events recorded at or after `since`: makes deliveries due that are dead or wait for a retry, and creates missing deliveries. A
 * delivery is missing, for example, if the webhook was disabled when the event was recorded. The webhook must be enabled now.
 */
export async function recoverWebhook(
  context: ShopContext,
  tx: Queryable,
  caller: ShopCaller,
  { id, since }: { id: string; since: number },
): Promise<Recovery> {
  requireEnabled((await find(tx, caller, id)) ?? refuseMissing());
  const { missed, revived } = await updateRecovered(tx, id, { since, now: context.clock(), limit: RECOVERED_MAX });
  return { recovered: missed + revived, hasMore: missed === RECOVERED_MAX || revived === RECOVERED_MAX };
}

export function invalidWebhook(details: readonly ErrorDetail[]): ServiceError {
  return new ServiceError('bad_request', INVALID_WEBHOOK, { details });
}

/** Text that is not a webhook id is not sent to the database. */
async function find(db: Queryable, caller: ShopCaller, id: string): Promise<Webhook | null> {
  return isId('whk', id) ? findWebhook(db, caller.shopId, id) : null;
}

async function lock(tx: Queryable, caller: ShopCaller, id: string): Promise<Webhook | null> {
  return isId('whk', id) ? findWebhookForUpdate(tx, caller.shopId, id) : null;
}

function requireEnabled(webhook: Webhook): void {
  if (!webhook.enabled) throw new ServiceError('bad_request', 'The webhook is disabled: enable it first');
}

/** Throws the same error for a webhook that never existed, was deleted, or belongs to another shop. */
function refuseMissing(): never {
  throw new ServiceError('not_found', 'Webhook not found');
}
