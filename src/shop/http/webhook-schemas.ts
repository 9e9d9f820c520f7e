// The wire shapes of webhooks.

import type { Static } from 'typebox';
import Type from 'typebox';
import type { Delivery } from '../queries/delivery-log.ts';
import type { Webhook } from '../queries/webhooks.ts';
import { DESCRIPTION_LENGTH_MAX } from '../webhooks/webhook-input.ts';
import type { DeliveryState } from '../webhooks/delivery.ts';
import { DELIVERY_STATES, toDeliveryId } from '../webhooks/delivery.ts';
import type { EventPattern } from '../events.ts';
import { EVENT_PATTERNS } from '../events.ts';
import { TARGET_LENGTH_MAX } from '../webhooks/target.ts';
import { dateTime, nullable } from './schemas.ts';

const closed = { additionalProperties: false };

/** A time that may be missing. */
const nullableTime = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description });

const events = Type.Array(Type.Unsafe<EventPattern>({ type: 'string', enum: EVENT_PATTERNS }), {
  minItems: 1,
  maxItems: EVENT_PATTERNS.length,
  description: 'Events it is told of, by name; `product.*` is all of that beginning.',
});
const url = Type.String({
  format: 'uri',
  maxLength: TARGET_LENGTH_MAX,
  description: 'Where deliveries are posted: https, at a public address.',
});
const description = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: DESCRIPTION_LENGTH_MAX,
  description: 'For people.',
});

const shown = {
  id: Type.String({ description: 'Webhook id.' }),
  url,
  events,
  description,
  enabled: Type.Boolean({ description: 'Whether deliveries are made.' }),
  disabledReason: nullable<string>('string', 'Why it is disabled.'),
  disabledAt: nullableTime('Since when it is disabled.'),
  failingSince: nullableTime('Since when no try has succeeded; null while it works. After five days it is disabled.'),
  previousSecretExpiresAt: nullableTime('Until when the secret before this one signs too.'),
  createdAt: dateTime('When it was created.'),
  updatedAt: dateTime('When its shop changed it last.'),
};

export const WebhookSchema = Type.Object(shown, {
  $id: 'Webhook',
  title: 'Webhook',
  description: 'A subscription to events.',
  ...closed,
});
export type WireWebhook = Static<typeof WebhookSchema>;

export const WebhookWithSecretSchema = Type.Object(
  {
    ...shown,
    secret: Type.String({
      pattern: '^whsec_[A-Za-z0-9+/]+=*$',
      description: 'The secret that verifies deliveries. Shown now and never again.',
    }),
  },
  {
    $id: 'WebhookWithSecret',
    title: 'WebhookWithSecret',
    description: 'A subscription with its new secret.',
    ...closed,
  },
);

export const WebhookCreateSchema = Type.Object(
  { url, events: Type.Optional(events), description: Type.Optional(description) },
  {
    $id: 'WebhookCreate',
    title: 'WebhookCreate',
    description: 'A new subscription; without `events` it is told of everything.',
    ...closed,
  },
);

export const WebhookUpdateSchema = Type.Object(
  {
    url: Type.Optional(url),
    events: Type.Optional(events),
    description: Type.Optional(description),
    enabled: Type.Optional(Type.Boolean({ description: 'False pauses it; true starts it again.' })),
  },
  { $id: 'WebhookUpdate', title: 'WebhookUpdate', description: 'Changes; omitted fields keep their value.', ...closed },
);

export const WebhookRecoverySchema = Type.Object(
  { since: dateTime('Everything since then that was not delivered is sent.') },
  { $id: 'WebhookRecovery', title: 'WebhookRecovery', description: 'What to recover.', ...closed },
);

export const WebhookRecoveredSchema = Type.Object(
  {
    recovered: Type.Integer({ minimum: 0, description: 'Deliveries that are due now.' }),
    hasMore: Type.Boolean({ description: 'Whether there are more: recover again when these are through.' }),
  },
  { $id: 'WebhookRecovered', title: 'WebhookRecovered', description: 'What a recovery did.', ...closed },
);

export const deliveryState = (about: string) =>
  Type.Unsafe<DeliveryState>({ type: 'string', enum: DELIVERY_STATES, description: about });

export const DeliverySchema = Type.Object(
  {
    id: Type.String({ description: 'Delivery id.' }),
    webhookId: Type.String({ description: 'The subscription.' }),
    eventId: Type.String({ description: 'The event: the header `webhook-id` of every try.' }),
    type: Type.String({ description: 'The type of the event.' }),
    state: deliveryState('`pending` until a try succeeds; `dead` after the last one.'),
    attempts: Type.Integer({ minimum: 0, description: 'Tries so far.' }),
    nextAttemptAt: nullableTime('When it is tried next; null when it is not pending.'),
    lastAttemptAt: nullableTime('When it was tried last.'),
    lastStatus: nullable<number>('integer', 'The status that the receiver answered last; null when it did not.'),
    lastError: nullable<string>('string', 'Why the last try failed.'),
    lastDurationMs: nullable<number>('integer', 'How long the last try took, in milliseconds.'),
    deliveredAt: nullableTime('When it was delivered.'),
    createdAt: dateTime('When it was made.'),
  },
  { $id: 'Delivery', title: 'Delivery', description: 'One event on its way to one subscription.', ...closed },
);
export type WireDelivery = Static<typeof DeliverySchema>;

export const WEBHOOK_SCHEMAS = [
  WebhookSchema,
  WebhookWithSecretSchema,
  WebhookCreateSchema,
  WebhookUpdateSchema,
  WebhookRecoverySchema,
  WebhookRecoveredSchema,
  DeliverySchema,
];

export function toWireWebhook(webhook: Webhook): WireWebhook {
  const { id, enabled, disabledReason } = webhook;
  return {
    id,
    url: webhook.url,
    events: webhook.events as EventPattern[],
    description: webhook.description,
    enabled,
    disabledReason,
    disabledAt: toIso(webhook.disabledAt),
    failingSince: toIso(webhook.failingSince),
    previousSecretExpiresAt: toIso(webhook.previousSecretUntil),
    createdAt: new Date(webhook.createdAt).toISOString(),
    updatedAt: new Date(webhook.updatedAt).toISOString(),
  };
}

export function toWireDelivery(delivery: Delivery): WireDelivery {
  const { webhookId, eventId, type, state, attempts, lastStatus, lastError, lastDurationMs } = delivery;
  return {
    id: toDeliveryId(delivery.id),
    webhookId,
    eventId,
    type,
    state,
    attempts,
    nextAttemptAt: state === 'pending' ? toIso(delivery.dueAt) : null,
    lastAttemptAt: toIso(delivery.lastAttemptAt),
    lastStatus,
    lastError,
    lastDurationMs,
    deliveredAt: toIso(delivery.deliveredAt),
    createdAt: new Date(delivery.createdAt).toISOString(),
  };
}

function toIso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
