// The JSON shapes of /api/v1/webhooks.

import type { Static } from 'typebox';
import Type from 'typebox';
import type { Delivery } from '../queries/delivery-log.ts';
import type { Webhook } from '../queries/webhooks.ts';
import { WEBHOOK_DESCRIPTION_LENGTH_MAX } from '../webhooks/webhook-input.ts';
import type { DeliveryState } from '../webhooks/delivery.ts';
import { DELIVERY_STATES } from '../webhooks/delivery.ts';
import type { EventPattern } from '../events.ts';
import { EVENT_PATTERNS } from '../events.ts';
import { TARGET_LENGTH_MAX } from '../../platform/resilience/public-target.ts';
import { closed, dateTime, dateTimeOrNull, typeOrNull } from '../../platform/http/schema-builders.ts';
import { EXAMPLE_CHANGE_TIME, EXAMPLE_IDS, EXAMPLE_SECRET, toExampleEventId } from './example-shop.ts';

const CREATE_EXAMPLE = {
  url: 'https://shop.example/hooks/mercat',
  events: ['product.*', 'inventory.low'],
  description: 'Stock alerts',
};
const WEBHOOK_EXAMPLE = {
  id: EXAMPLE_IDS.webhook,
  ...CREATE_EXAMPLE,
  enabled: true,
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  previousSecretExpiresAt: null,
  createdAt: '2026-05-20T08:00:00.000Z',
  updatedAt: '2026-05-20T08:00:00.000Z',
};

const events = Type.Array(Type.Unsafe<EventPattern>({ type: 'string', enum: EVENT_PATTERNS }), {
  minItems: 1,
  maxItems: EVENT_PATTERNS.length,
  description: 'Types of events to send. `product.*` means every type that begins with `product.`.',
});
const url = Type.String({
  format: 'uri',
  maxLength: TARGET_LENGTH_MAX,
  description:
    'The https URL to which deliveries are sent. Its host must have public addresses only, unless the service allows private addresses.',
});
const description = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: WEBHOOK_DESCRIPTION_LENGTH_MAX,
  description: 'A note.',
});

const webhookProperties = {
  id: Type.String({ description: 'Webhook id.' }),
  url,
  events,
  description,
  enabled: Type.Boolean({ description: 'Whether events are delivered.' }),
  disabledReason: typeOrNull<string>('string', 'Why the webhook is disabled; null while it is enabled.'),
  disabledAt: dateTimeOrNull('When the webhook was disabled; null while it is enabled.'),
  failingSince: dateTimeOrNull(
    'When the receiver began to fail; null while it is not failing. A webhook that fails for five days is disabled.',
  ),
  previousSecretExpiresAt: dateTimeOrNull(
    'Until this time, deliveries are also signed with the previous secret; null before the first rotation.',
  ),
  createdAt: dateTime('When the webhook was created.'),
  updatedAt: dateTime('When the shop last changed the webhook.'),
};

const WebhookSchema = Type.Object(webhookProperties, {
  $id: 'Webhook',
  title: 'Webhook',
  description: 'A subscription to events of the shop.',
  examples: [WEBHOOK_EXAMPLE],
  ...closed,
});
export type WireWebhook = Static<typeof WebhookSchema>;

const WebhookWithSecretSchema = Type.Object(
  {
    ...webhookProperties,
    secret: Type.String({
      pattern: '^whsec_[A-Za-z0-9+/]+=*$',
      description: 'The secret that verifies deliveries. It is not shown again.',
    }),
  },
  {
    $id: 'WebhookWithSecret',
    title: 'WebhookWithSecret',
    description: 'A webhook with its new secret.',
    examples: [{ ...WEBHOOK_EXAMPLE, secret: EXAMPLE_SECRET }],
    ...closed,
  },
);

const WebhookCreateSchema = Type.Object(
  { url, events: Type.Optional(events), description: Type.Optional(description) },
  {
    $id: 'WebhookCreate',
    title: 'WebhookCreate',
    description: 'A new webhook. Without `events` it subscribes to all events.',
    examples: [CREATE_EXAMPLE],
    ...closed,
  },
);

const WebhookUpdateSchema = Type.Object(
  {
    url: Type.Optional(url),
    events: Type.Optional(events),
    description: Type.Optional(description),
    enabled: Type.Optional(Type.Boolean({ description: 'False disables the webhook; true enables it.' })),
  },
  {
    $id: 'WebhookUpdate',
    title: 'WebhookUpdate',
    description: 'Changes; omitted fields keep their value.',
    examples: [{ description: WEBHOOK_EXAMPLE.description, enabled: true }],
    ...closed,
  },
);

const WebhookRecoverySchema = Type.Object(
  { since: dateTime('The time of the earliest event to recover.') },
  {
    $id: 'WebhookRecovery',
    title: 'WebhookRecovery',
    description: 'The time from which to recover.',
    examples: [{ since: '2026-06-01T00:00:00.000Z' }],
    ...closed,
  },
);

const WebhookRecoveredSchema = Type.Object(
  {
    recovered: Type.Integer({ minimum: 0, description: 'Number of deliveries that were created or scheduled.' }),
    hasMore: Type.Boolean({
      description:
        'Whether more deliveries may be left to recover. If so, call again. A delivery that a recovery or redelivery scheduled in ' +
        'the last ten minutes is not recovered again, and does not make `hasMore` true.',
    }),
  },
  {
    $id: 'WebhookRecovered',
    title: 'WebhookRecovered',
    description: 'The result of a recovery.',
    examples: [{ recovered: 3, hasMore: false }],
    ...closed,
  },
);

export const deliveryState = (description: string) =>
  Type.Unsafe<DeliveryState>({ type: 'string', enum: DELIVERY_STATES, description });

const deliveryProperties = {
  id: Type.String({ description: 'Delivery id.' }),
  webhookId: Type.String({ description: 'The webhook.' }),
  eventId: Type.String({ description: 'Event id. Every attempt sends it in the header `webhook-id`.' }),
  type: Type.String({ description: 'The type of the event.' }),
  state: deliveryState(
    '`pending` while an attempt is to be made, `delivered` after a success, `dead` after the last attempt has failed.',
  ),
  attempts: Type.Integer({
    minimum: 0,
    description:
      'Number of attempts in the current retry schedule. A redelivery or a recovery starts a new schedule at 0.',
  }),
  nextAttemptAt: dateTimeOrNull('When the next attempt is due; null when the delivery is not pending.'),
  lastAttemptAt: dateTimeOrNull('When the last attempt was made; null before the first attempt.'),
  lastStatus: typeOrNull<number>(
    'integer',
    'HTTP status of the last attempt; null before the first attempt, and when the last attempt received no complete response.',
  ),
  lastError: typeOrNull<string>(
    'string',
    'Why the last attempt failed; null before the first attempt, and when the last attempt succeeded.',
  ),
  lastDurationMs: typeOrNull<number>(
    'integer',
    'How long the last attempt took, in milliseconds; null before the first attempt.',
  ),
  deliveredAt: dateTimeOrNull('When an attempt last succeeded; null when no attempt has succeeded.'),
  createdAt: dateTime('When the delivery was created.'),
};

const DELIVERY_EXAMPLE = {
  id: EXAMPLE_IDS.delivery,
  webhookId: EXAMPLE_IDS.webhook,
  eventId: toExampleEventId(EXAMPLE_CHANGE_TIME),
  type: 'inventory.low',
  state: 'delivered',
  attempts: 1,
  nextAttemptAt: null,
  lastAttemptAt: '2026-06-01T08:30:01.000Z',
  lastStatus: 204,
  lastError: null,
  lastDurationMs: 112,
  deliveredAt: '2026-06-01T08:30:01.000Z',
  createdAt: EXAMPLE_CHANGE_TIME,
};

const DeliverySchema = Type.Object(deliveryProperties, {
  $id: 'Delivery',
  title: 'Delivery',
  description: 'The delivery of one event to one webhook.',
  examples: [DELIVERY_EXAMPLE],
  ...closed,
});

const DeliveryWithBodySchema = Type.Object(
  {
    ...deliveryProperties,
    body: Type.String({ description: 'The body of the request, which is the same for every attempt. JSON text.' }),
  },
  {
    $id: 'DeliveryWithBody',
    title: 'DeliveryWithBody',
    description: 'A delivery with the body of its request.',
    examples: [
      {
        ...DELIVERY_EXAMPLE,
        body: '{"type":"inventory.low","timestamp":"2026-06-01T08:30:00.000Z","sequence":42,"data":{"productId":"prod_…"}}',
      },
    ],
    ...closed,
  },
);
export type WireDelivery = Static<typeof DeliverySchema>;

const webhookId = Type.String({ minLength: 1, description: 'Webhook id.', examples: [EXAMPLE_IDS.webhook] });
export const webhookParams = Type.Object({ webhookId });
export const deliveryParams = Type.Object({
  webhookId,
  deliveryId: Type.String({ minLength: 1, description: 'Delivery id.', examples: [EXAMPLE_IDS.delivery] }),
});

export const WEBHOOK_SCHEMAS = [
  WebhookSchema,
  WebhookWithSecretSchema,
  WebhookCreateSchema,
  WebhookUpdateSchema,
  WebhookRecoverySchema,
  WebhookRecoveredSchema,
  DeliverySchema,
  DeliveryWithBodySchema,
];

export function toWireWebhook(webhook: Webhook): WireWebhook {
  const { id, enabled, disabledReason } = webhook;
  return {
    id,
    url: webhook.url,
    events: webhook.events,
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
  const { id, webhookId, eventId, type, state, attempts, lastStatus, lastError, lastDurationMs } = delivery;
  return {
    id,
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
