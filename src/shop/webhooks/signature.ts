// Secrets and signatures as Standard Webhooks has them (standardwebhooks.com): HMAC-SHA256 over `id.timestamp.body`.

import { createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** How long the secret that was replaced goes on signing beside the new one. */
export const ROTATION_OVERLAP_MS = 24 * 3_600_000;

/** A new secret. `randomBytes` is the system's source of randomness. */
export function createWebhookSecret(randomBytes: (size: number) => Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString('base64');
}

export type SignedMessage = { id: string; body: string; secrets: readonly string[]; now: number };

/** The three headers that let a receiver tell a delivery from a forgery, with one signature for each secret. */
export function signWebhook({ id, body, secrets, now }: SignedMessage): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  const signatures = secrets.map((secret) => `v1,${sign(secret, `${id}.${timestamp}.${body}`)}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

function sign(secret: string, text: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return createHmac('sha256', key).update(text).digest('base64');
}
