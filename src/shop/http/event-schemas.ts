// The `webhooks` of the OpenAPI document: the requests to the webhooks of a shop, one for each type of event.

import type { TSchema } from 'typebox';
import Type from 'typebox';
import { closed, dateTime, ref } from '../../platform/http/schema-builders.ts';
import type { EventType } from '../events.ts';
import { TEST_EVENT_TYPE } from '../events.ts';
import { PRODUCT_FIELDS } from '../products/product.ts';
import type { ReservationStatus } from '../reservations/reservation.ts';
import { LOW_STOCK_LEVEL } from '../stock.ts';
import { signWebhook } from '../webhooks/signature.ts';
import {
  ADJUSTMENT_EXAMPLE,
  EXAMPLE_CHANGE_TIME,
  EXAMPLE_IDS,
  EXAMPLE_SECRET,
  EXAMPLE_STOCK,
  PRODUCT_EXAMPLE,
  PRODUCT_UPDATE_EXAMPLE,
  PRODUCT_UPDATE_TIME,
  RESERVATION_EXAMPLE,
  toExampleEventId,
} from './example-shop.ts';
import { productProperties } from './product-schemas.ts';

type DocumentedEvent = {
  /** The name of the component schema of the body. */
  schemaId: string;
  summary: string;
  data: TSchema;
  /** The example of `data`, the time of the event, and its number in the shop. */
  example: { data: object; at: string; sequence: number };
};

const { id, name, slug } = PRODUCT_EXAMPLE;

const toEnded = (status: Exclude<ReservationStatus, 'held'>, sequence: number) => {
  const at = status === 'expired' ? RESERVATION_EXAMPLE.expiresAt : '2026-06-01T08:36:00.000Z';
  const items = RESERVATION_EXAMPLE.items.map((item) => ({
    ...item,
    held: 0,
    consumed: status === 'consumed' ? item.quantity : 0,
  }));
  return { data: { ...RESERVATION_EXAMPLE, status, items, endedAt: at }, at, sequence };
};

/** The data of an event about a level of stock. `fields` are added, or replace those of the same name. */
const stockData = (fields: Record<string, TSchema>) =>
  Type.Object(
    {
      productId: Type.String({ description: 'Product id.' }),
      name: Type.String({ description: 'Name of the product.' }),
      inventory: Type.Integer({ minimum: 0, description: 'Stock after the change.' }),
      previous: Type.Integer({ minimum: 0, description: 'Stock before the change.' }),
      adjustmentId: Type.String({ description: 'Id of the entry in the adjustment log.' }),
      ...fields,
    },
    { description: 'The change of stock.', ...closed },
  );

const stockExample = {
  productId: id,
  name,
  inventory: EXAMPLE_STOCK.inventory,
  previous: EXAMPLE_STOCK.previous,
  adjustmentId: EXAMPLE_IDS.adjustment,
};

const DOCUMENTED_EVENTS: Readonly<Record<EventType | typeof TEST_EVENT_TYPE, DocumentedEvent>> = {
  'product.created': {
    schemaId: 'ProductCreatedEvent',
    summary: 'A product was created',
    data: ref('Product'),
    example: { data: PRODUCT_EXAMPLE, at: PRODUCT_EXAMPLE.createdAt, sequence: 1 },
  },
  'product.updated': {
    schemaId: 'ProductUpdatedEvent',
    summary: 'A product was updated',
    data: Type.Object(
      {
        ...productProperties,
        changed: Type.Array(Type.Unsafe({ type: 'string', enum: PRODUCT_FIELDS }), {
          minItems: 1,
          description: 'The names of the changed fields.',
        }),
      },
      { description: 'The product after the update, and the names of the changed fields.', ...closed },
    ),
    example: {
      data: {
        ...PRODUCT_EXAMPLE,
        ...PRODUCT_UPDATE_EXAMPLE,
        updatedAt: PRODUCT_UPDATE_TIME,
        changed: Object.keys(PRODUCT_UPDATE_EXAMPLE),
      },
      at: PRODUCT_UPDATE_TIME,
      sequence: 3,
    },
  },
  'product.deleted': {
    schemaId: 'ProductDeletedEvent',
    summary: 'A product was deleted',
    data: Type.Object(
      {
        id: Type.String({ description: 'Id of the deleted product.' }),
        slug: Type.String({ description: 'Slug of the deleted product.' }),
      },
      { description: 'The product that was deleted.', ...closed },
    ),
    example: { data: { id, slug }, at: '2026-06-14T16:45:00.000Z', sequence: 5 },
  },
  'inventory.low': {
    schemaId: 'InventoryLowEvent',
    summary: `Tracked stock has fallen from above ${LOW_STOCK_LEVEL} to ${LOW_STOCK_LEVEL} or below`,
    data: stockData({
      threshold: Type.Literal(LOW_STOCK_LEVEL, { description: 'The level that the stock has reached.' }),
    }),
    example: {
      data: { ...stockExample, threshold: LOW_STOCK_LEVEL },
      at: EXAMPLE_CHANGE_TIME,
      sequence: 4,
    },
  },
  'inventory.changed': {
    schemaId: 'InventoryChangedEvent',
    summary: 'Stock was changed',
    data: ref('Adjustment'),
    example: { data: ADJUSTMENT_EXAMPLE, at: EXAMPLE_CHANGE_TIME, sequence: 10 },
  },
  'inventory.out': {
    schemaId: 'InventoryOutEvent',
    summary: 'Tracked stock has fallen to 0',
    data: stockData({ inventory: Type.Literal(0, { description: 'Stock after the change.' }) }),
    example: { data: { ...stockExample, inventory: 0, previous: 2 }, at: EXAMPLE_CHANGE_TIME, sequence: 11 },
  },
  'inventory.restocked': {
    schemaId: 'InventoryRestockedEvent',
    summary: 'Tracked stock has risen from 0',
    data: stockData({ previous: Type.Literal(0, { description: 'Stock before the change.' }) }),
    example: { data: { ...stockExample, inventory: 40, previous: 0 }, at: EXAMPLE_CHANGE_TIME, sequence: 12 },
  },
  'reservation.created': {
    schemaId: 'ReservationCreatedEvent',
    summary: 'Stock was reserved',
    data: ref('Reservation'),
    example: { data: RESERVATION_EXAMPLE, at: RESERVATION_EXAMPLE.createdAt, sequence: 6 },
  },
  'reservation.consumed': {
    schemaId: 'ReservationConsumedEvent',
    summary: 'A reservation, or a part of it, was sold',
    data: ref('Reservation'),
    example: toEnded('consumed', 7),
  },
  'reservation.released': {
    schemaId: 'ReservationReleasedEvent',
    summary: 'A reservation was released, so its stock was returned',
    data: ref('Reservation'),
    example: toEnded('released', 8),
  },
  'reservation.expired': {
    schemaId: 'ReservationExpiredEvent',
    summary: 'A reservation has expired, so its stock was returned',
    data: ref('Reservation'),
    example: toEnded('expired', 9),
  },
  [TEST_EVENT_TYPE]: {
    schemaId: 'WebhookTestEvent',
    summary: 'A test event was requested',
    data: Type.Object(
      { webhookId: Type.String({ description: 'The webhook that receives the event.' }) },
      { description: 'The webhook.', ...closed },
    ),
    example: { data: { webhookId: EXAMPLE_IDS.webhook }, at: '2026-05-20T08:01:00.000Z', sequence: 2 },
  },
};

const ENTRIES = Object.entries(DOCUMENTED_EVENTS).map(([type, event]) => {
  const { data, at, sequence } = event.example;
  return { type, ...event, body: { type, timestamp: at, sequence, data } };
});

export const EVENT_SCHEMAS = ENTRIES.map(({ type, schemaId, summary, data, body }) =>
  Type.Object(
    {
      type: Type.Literal(type, { description: 'The type of the event.' }),
      timestamp: dateTime('When the event occurred.'),
      sequence: Type.Integer({ minimum: 1, description: 'A later event of the same shop has a larger number.' }),
      data,
    },
    { $id: schemaId, title: schemaId, description: `${summary}.`, examples: [body], ...closed },
  ),
);

const HEADERS = {
  'webhook-id': 'Id of the event, the same for every attempt. Store it to recognise an event that arrives again.',
  'webhook-timestamp': 'When the attempt was made, in seconds since 1970.',
  'webhook-signature':
    '`v1,` and the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` in base64. The key is the base64-decoded part of the ' +
    'secret after `whsec_`. For 24 hours after a rotation of the secret there is also a signature with the replaced ' +
    'secret. Signatures are separated by spaces.',
};

const RESPONSES = {
  '2XX': { description: 'The event was received. Respond within 15 seconds.' },
  410: { description: 'The receiver wants no further events: the webhook is disabled.' },
  default: {
    description: 'The attempt has failed. The event is sent again on the retry schedule. Redirects are not followed.',
  },
};

/** The OpenAPI Path Item Objects, by the type of event. */
export const EVENT_WEBHOOKS: Record<string, object> = Object.fromEntries(
  ENTRIES.map(({ type, schemaId, summary, body }) => [
    type,
    {
      post: {
        operationId: `receive${schemaId}`,
        summary,
        description:
          'Sent to each enabled webhook that subscribes to the type, at least once. Verify the signature before the body is used.',
        tags: ['Webhooks'],
        security: [],
        parameters: toHeaders(body),
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: `#/components/schemas/${schemaId}` } } },
        },
        responses: RESPONSES,
      },
    },
  ]),
);

/** The header parameters of a delivery. The signature in the examples is valid for the example body and EXAMPLE_SECRET. */
function toHeaders(body: { timestamp: string }): object[] {
  const examples = signWebhook({
    id: toExampleEventId(body.timestamp),
    body: JSON.stringify(body),
    secrets: [EXAMPLE_SECRET],
    now: Date.parse(body.timestamp),
  });
  return Object.entries(HEADERS).map(([header, description]) => ({
    name: header,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
    example: examples[header],
  }));
}
