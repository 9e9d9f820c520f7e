// Creates the secrets of webhooks, and signs deliveries. A signature is the HMAC-SHA256 of `id.timestamp.body`, as Standard Webhooks
// (standardwebhooks.com) defines it.

import { createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** After a rotation, deliveries are also signed with the previous secret for this long. */
export const SECRET_ROTATION_OVERLAP_MS = 24 * 3_600_000;

/** Creates a secret. `randomBytes` must be cryptographically secure. */
export function createWebhookSecret(randomBytes: (size: number) => Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString('base64');
}

export type WebhookMessage = { id: string; body: string; secrets: readonly string[]; now: number };

/** Returns the headers with which a receiver verifies a delivery. They have one signature for each secret, and a timestamp in seconds. */
export function signWebhook({ id, body, secrets, now }: WebhookMessage): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  const signatures = secrets.map((secret) => `v1,${sign(secret, `${id}.${timestamp}.${body}`)}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

function sign(secret: string, text: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return createHmac('sha256', key).update(text).digest('base64');
}
