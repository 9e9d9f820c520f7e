// What the operator does to the deliveries of webhooks, by name, so that a command can ask a running server for it.

import type { Delivery } from '../queries/delivery-log.ts';
import { listDeliveries, updateDeadAgain, updateDeliveriesAgain } from '../queries/delivery-log.ts';
import type { DeliveryState } from './delivery.ts';
import { DELIVERY_STATES, parseDeliveryId, toDeliveryId } from './delivery.ts';
import { OperatorError } from '../../core/errors.ts';
import { requireShop } from '../shops.ts';
import type { Store } from '../context.ts';

type Input = Readonly<Record<string, unknown>>;

/** Deliveries that one list shows. */
const LISTED_MAX = 200;
/** Deliveries that one retry makes due. */
const RETRIED_MAX = 10_000;

/** JSON in, JSON out. `nudge` tells the worker of this process that something is due. */
export function createWebhookOperations(
  store: Store,
  nudge: () => void = () => undefined,
): Record<'webhooks.list' | 'webhooks.retry', (input: Input) => Promise<unknown>> {
  return {
    'webhooks.list': async (input) => {
      const of = await readShop(store, input);
      const query = { state: readState(input['state']), before: null, limit: LISTED_MAX };
      return (await listDeliveries(store.main, of, query)).map(toListed);
    },
    'webhooks.retry': async (input) => {
      const answer = input['dead'] === true ? await retryDead(store, input) : await retryThese(store, input);
      nudge();
      return answer;
    },
  };
}

/** The ids that are due now, and those that are none or whose subscription is disabled. */
type Retried = { due: string[]; skipped: string[]; hasMore: boolean };

async function retryDead(store: Store, input: Input): Promise<Retried> {
  const { shopId = null } = await readShop(store, input);
  const due = await updateDeadAgain(store.main, { shopId, now: store.clock(), limit: RETRIED_MAX });
  return { due: due.map(toDeliveryId), skipped: [], hasMore: due.length === RETRIED_MAX };
}

async function retryThese(store: Store, input: Input): Promise<Retried> {
  const { ids } = input;
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > RETRIED_MAX)
    return refuse('name the deliveries to retry');
  const wanted = [...new Set(ids.map(String))];
  const numbers = wanted.map((id) => parseDeliveryId(id) ?? refuse(`${JSON.stringify(id)} is no delivery id`));
  const due = (await updateDeliveriesAgain(store.main, numbers, store.clock())).map(toDeliveryId);
  return { due, skipped: wanted.filter((id) => !due.includes(id)), hasMore: false };
}

async function readShop(store: Store, { shop }: Input): Promise<{ shopId?: string }> {
  if (shop === undefined || shop === null) return {};
  if (typeof shop !== 'string') return refuse('shop must be text');
  return { shopId: (await requireShop(store, shop)).id };
}

function readState(value: unknown): DeliveryState | null {
  if (value === undefined || value === null) return null;
  const state = DELIVERY_STATES.find((one) => one === value);
  return state ?? refuse(`the state must be one of ${DELIVERY_STATES.join(', ')}`);
}

function toListed(delivery: Delivery) {
  const { shopId: shop, webhookId, url, eventId, type, state, attempts, lastStatus, lastError } = delivery;
  const nextAttemptAt = state === 'pending' ? new Date(delivery.dueAt).toISOString() : null;
  const createdAt = new Date(delivery.createdAt).toISOString();
  const what = { id: toDeliveryId(delivery.id), shop, webhookId, url, eventId, type };
  return { ...what, state, attempts, lastStatus, lastError, nextAttemptAt, createdAt };
}

function refuse(message: string): never {
  throw new OperatorError(message, { exitCode: 2 });
}
