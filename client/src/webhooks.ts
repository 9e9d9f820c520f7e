// Verifies webhook deliveries (https://www.standardwebhooks.com/).

import type { WebhookEvent } from './generated/store.ts';
import { MercatError } from './mercat-error.ts';

export type * from './generated/store.ts';
export { MercatError } from './mercat-error.ts';

export type WebhookDelivery = {
  /** The secret of the webhook, `whsec_…`. */
  secret: string;
  /** The headers of the request: `Headers` as in `fetch`, or an object as in Node. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body of the request, byte for byte. A body that was parsed and serialised again does not match the signature. */
  body: string | Uint8Array;
  /** How far the time of the delivery may be from the clock of the receiver, in seconds. Default: five minutes. */
  toleranceS?: number;
  /** The current time in ms since the epoch. Default: `Date.now()`. */
  now?: number;
};

export type VerifiedDelivery = {
  /** All attempts of a delivery have the same id. Store the id, so that you process a delivery only once. */
  id: string;
  event: WebhookEvent;
};

const TOLERANCE_S = 300;
const SECRET_PREFIX = 'whsec_';
const SIGNATURE = /^v1,(.+)$/;

/** Throws a MercatError with the code `invalid_webhook` if the delivery is not authentic, or if its time is too far from `now`. */
export async function verifyWebhook(delivery: WebhookDelivery): Promise<VerifiedDelivery> {
  const { toleranceS = TOLERANCE_S, now = Date.now() } = delivery;
  const id = headerOf(delivery, 'webhook-id');
  const timestamp = headerOf(delivery, 'webhook-timestamp');
  if (!/^\d+$/.test(timestamp)) throw toInvalid('The header webhook-timestamp is not a number');
  if (Math.abs(now / 1_000 - Number(timestamp)) > toleranceS) throw toInvalid('The delivery is too old or too new');
  const body = typeof delivery.body === 'string' ? new TextEncoder().encode(delivery.body) : delivery.body;
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  const key = await importKey(delivery.secret);
  // While a secret is rotated, a delivery has two signatures. One matching signature is enough.
  for (const one of headerOf(delivery, 'webhook-signature').split(' ')) {
    const signature = decodeBase64(SIGNATURE.exec(one)?.[1] ?? '');
    if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed)))
      return { id, event: parseEvent(body) };
  }
  throw toInvalid('No signature matches');
}

function headerOf({ headers }: WebhookDelivery, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value !== 'string' || value === '') throw toInvalid(`The header ${name} is missing`);
  return value;
}

async function importKey(secret: string): Promise<CryptoKey> {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  const bytes = decodeBase64(encoded);
  if (!bytes || bytes.length === 0) throw new TypeError('The secret is not in the form whsec_…');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** Null if the text is not base64. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.codePointAt(0) ?? 0);
  } catch {
    return null;
  }
}

function concat(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}

function parseEvent(body: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent;
  } catch (cause) {
    throw toInvalid('The body is not JSON', cause);
  }
}

function toInvalid(message: string, cause?: unknown): MercatError {
  return new MercatError('invalid_webhook', message, { cause });
}
