// What shops can be told of, and the body that tells it. The body is a function of what was recorded, so that every try
// carries the same bytes.

const EVENT_TYPES = ['product.created', 'product.updated', 'product.deleted', 'inventory.low'] as const;

/** What a subscription may ask for. SQL matches an event by its name, or by the part before the dot and `.*`. */
export const EVENT_PATTERNS = [...EVENT_TYPES, 'product.*'] as const;

export type EventPattern = (typeof EVENT_PATTERNS)[number];

/** Sent only on request, to one subscription, whatever it asks for. */
export const TEST_EVENT_TYPE = 'webhook.test';

/** An event as it was recorded. `data` is JSON text, frozen when the change was committed; times in milliseconds. */
export type RecordedEvent = {
  id: string;
  type: string;
  /** Rises within a shop; decimal text. */
  sequence: string;
  data: string;
  createdAt: number;
};

/** The body of every delivery of the event. */
export function toWebhookBody({ type, sequence, data, createdAt }: RecordedEvent): string {
  const timestamp = new Date(createdAt).toISOString();
  return `{"type":${JSON.stringify(type)},"timestamp":"${timestamp}","sequence":${sequence},"data":${data}}`;
}

export function isEventPattern(text: string): text is EventPattern {
  return (EVENT_PATTERNS as readonly string[]).includes(text);
}
