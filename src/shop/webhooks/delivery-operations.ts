// The operations on deliveries behind `mercat webhooks`.

import type { Delivery } from '../queries/delivery-log.ts';
import { listDeliveries, updateDeadAgain, updateDeliveriesAgain } from '../queries/delivery-log.ts';
import type { WebhookQueue } from '../queries/delivery-queue.ts';
import { listWebhookQueues } from '../queries/delivery-queue.ts';
import type { DeliveryState } from './delivery.ts';
import { DELIVERY_STATES, isDeliveryId } from './delivery.ts';
import type { ShopContext } from '../context.ts';
import type { OperationInput, Operations } from '../operations.ts';
import { refuseUsage } from '../operations.ts';
import { requireShop } from '../shops.ts';

const LISTED_MAX = 200;
/** The most webhooks that `webhooks.status` lists. The ones that need attention come first. */
const WEBHOOKS_MAX = 1_000;
/** The limit of deliveries that one command makes due. */
const RETRIED_MAX = 10_000;

/** If this process has a webhook worker, `nudge` makes this worker check for due deliveries soon. */
export function createDeliveryOperations(context: ShopContext, nudge: () => void): Operations {
  return {
    'webhooks.list': async (input) => {
      const query = { state: readState(input['state']), before: null, limit: LISTED_MAX };
      return (await listDeliveries(context.main, await readShop(context, input), query)).map(toListed);
    },
    'webhooks.status': async (input) => {
      const { shopId = null } = await readShop(context, input);
      return (await listWebhookQueues(context.main, { shopId, limit: WEBHOOKS_MAX })).map(toWebhookStatus);
    },
    'webhooks.retry': async (input) => {
      const retried = input['dead'] === true ? await retryDead(context, input) : await retryByIds(context, input);
      nudge();
      return retried;
    },
  };
}

/** `due`: the deliveries that were made due. `skipped`: the deliveries that are unknown or belong to a disabled webhook. */
type Retried = { due: string[]; skipped: string[]; hasMore: boolean };

async function retryDead(context: ShopContext, input: OperationInput): Promise<Retried> {
  const { shopId = null } = await readShop(context, input);
  const due = await updateDeadAgain(context.main, { shopId, now: context.clock(), limit: RETRIED_MAX });
  return { due, skipped: [], hasMore: due.length === RETRIED_MAX };
}

async function retryByIds(context: ShopContext, input: OperationInput): Promise<Retried> {
  if (!Array.isArray(input['ids']) || input['ids'].length === 0 || input['ids'].length > RETRIED_MAX) {
    return refuseUsage(`name 1 to ${RETRIED_MAX} deliveries to retry`);
  }
  const ids = [...new Set(input['ids'].map(String))];
  const invalid = ids.find((id) => !isDeliveryId(id));
  if (invalid !== undefined) return refuseUsage(`${JSON.stringify(invalid)} is not a delivery id`);
  const due = await updateDeliveriesAgain(context.main, ids, context.clock());
  const retried = new Set(due);
  return { due, skipped: ids.filter((id) => !retried.has(id)), hasMore: false };
}

async function readShop(context: ShopContext, { shop }: OperationInput): Promise<{ shopId?: string }> {
  if (shop === undefined || shop === null) return {};
  if (typeof shop !== 'string') return refuseUsage('shop must be text');
  return { shopId: (await requireShop(context, shop)).id };
}

function readState(value: unknown): DeliveryState | null {
  if (value === undefined || value === null) return null;
  const state = DELIVERY_STATES.find((one) => one === value);
  return state ?? refuseUsage(`the state must be one of ${DELIVERY_STATES.join(', ')}`);
}

function toListed(delivery: Delivery) {
  const { id, shopId: shop, webhookId, url, eventId, type, state, attempts, lastStatus, lastError } = delivery;
  const nextAttemptAt = state === 'pending' ? new Date(delivery.dueAt).toISOString() : null;
  const createdAt = new Date(delivery.createdAt).toISOString();
  const identity = { id, shop, webhookId, url, eventId, type };
  return { ...identity, state, attempts, lastStatus, lastError, nextAttemptAt, createdAt };
}

/** A webhook as the operator sees it. `since`: when it was disabled, or when it began to fail. Null for a webhook that works. */
export type WebhookStatus = {
  id: string;
  shop: string;
  url: string;
  state: 'works' | 'failing' | 'disabled';
  since: string | null;
  reason: string | null;
  pending: number;
  oldestDueAt: string | null;
  dead: number;
};

function toWebhookStatus(webhook: WebhookQueue): WebhookStatus {
  const { id, shopId: shop, url, enabled, disabledReason: reason, disabledAt, failingSince, pending, dead } = webhook;
  const state = enabled ? (failingSince === null ? 'works' : 'failing') : 'disabled';
  const since = toText(enabled ? failingSince : disabledAt);
  return { id, shop, url, state, since, reason, pending, oldestDueAt: toText(webhook.oldestDueAt), dead };
}

function toText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
