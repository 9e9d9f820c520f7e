// The types and the data of a shop's events. An event is recorded in the transaction of its change. The webhook worker creates the
// deliveries of the event afterwards. docs/adding-a-webhook-event.md lists the steps for a new type.

import { createId } from '../platform/core/time-ordered-id.ts';
import type { Queryable } from '../platform/database/port.ts';
import type { ProductFields } from './products/product.ts';
import type { ProductView } from './products/product-view.ts';
import { insertEvents } from './queries/events.ts';

const EVENT_TYPES = [
  'product.created',
  'product.updated',
  'product.deleted',
  'inventory.low',
  'inventory.changed',
  'inventory.out',
  'inventory.restocked',
  'reservation.created',
  'reservation.consumed',
  'reservation.released',
  'reservation.expired',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** The patterns of a subscription: one type, or all types with the same part before the dot (`product.*`). */
export const EVENT_PATTERNS = [...EVENT_TYPES, 'product.*'] as const;

export type EventPattern = (typeof EVENT_PATTERNS)[number];

/** The default subscriptions of a webhook. A webhook gets events of other types only if it names them. */
export const EVENT_PATTERNS_DEFAULT: readonly EventPattern[] = ['product.*', 'inventory.low'];

/** How long events are kept. The feed of changes has no older changes. */
export const EVENTS_KEPT_MS = 30 * 24 * 3_600_000;

/** The type of test events. A test event is recorded on request for one webhook, even if the webhook does not subscribe to it. */
export const TEST_EVENT_TYPE = 'webhook.test';

/**
 * The data of each type that `recordEvent` records. The other types are missing: the statements that change stock and reservations record
 * them.
 */
export type EventData = {
  'product.created': ProductView;
  'product.updated': ProductView & { changed: (keyof ProductFields)[] };
  'product.deleted': { id: string; slug: string };
};

/** An event with its data. */
export type EventToRecord = { [T in keyof EventData]: { type: T; data: EventData[T] } }[keyof EventData];

/** Records events in the transaction of their changes. The data is stored as JSON text, so later changes do not alter it. */
export async function recordEvents(
  tx: Queryable,
  shopId: string,
  events: readonly EventToRecord[],
  now: number,
): Promise<void> {
  if (events.length === 0) return;
  const recorded = events.map(({ type, data }) => ({ type, id: createId('evt', now), data: JSON.stringify(data) }));
  await insertEvents(tx, { shopId, createdAt: now }, recorded);
}

/** A recorded event. `data` is JSON text. Times are in milliseconds. */
export type RecordedEvent = {
  id: string;
  type: string;
  /** Decimal text. A later event of the shop has a larger number. */
  sequence: string;
  data: string;
  createdAt: number;
};

/** The body of every delivery of an event. It depends only on the recorded event, so that every attempt sends the same bytes. */
export function toWebhookBody({ type, sequence, data, createdAt }: RecordedEvent): string {
  const timestamp = new Date(createdAt).toISOString();
  return `{"type":${JSON.stringify(type)},"timestamp":"${timestamp}","sequence":${sequence},"data":${data}}`;
}

export function isEventPattern(text: string): text is EventPattern {
  return (EVENT_PATTERNS as readonly string[]).includes(text);
}
