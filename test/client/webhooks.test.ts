// Tests how the client verifies webhook deliveries. The deliveries are signed by the package standardwebhooks, which implements the
// specification Standard Webhooks and contains no code of Mercat.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { MercatError, verifyWebhook } from '../../client/src/webhooks.ts';
import { createWebhookSecret } from '../../src/shop/webhooks/signature.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const OTHER_SECRET = createWebhookSecret(randomBytes);
const SECRET = createWebhookSecret(randomBytes);
const BODY = JSON.stringify({
  type: 'webhook.test',
  timestamp: '2026-06-01T12:00:00.000Z',
  sequence: 1,
  data: { webhookId: 'ü' },
});

const sign = (secret: string, body = BODY, at = NOW) => new Webhook(secret).sign('msg_1', new Date(at), body);
const headersOf = (signature: string, at = NOW) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(Math.floor(at / 1_000)),
  'webhook-signature': signature,
});
const isInvalid = (error: unknown) => error instanceof MercatError && error.code === 'invalid_webhook';

test('a delivery that the package standardwebhooks has signed is accepted, with its body as text and as bytes', async () => {
  const headers = headersOf(sign(SECRET));
  for (const body of [BODY, new TextEncoder().encode(BODY)]) {
    const { id, event } = await verifyWebhook({ secret: SECRET, headers, body, now: NOW });
    assert.deepEqual([id, event], ['msg_1', JSON.parse(BODY)]);
  }
  await verifyWebhook({ secret: SECRET, headers: new Headers(headers), body: BODY, now: NOW });
});

test('a delivery with several signatures is accepted if one of them matches', async () => {
  const signatures = `v1a,AAAA ${sign(OTHER_SECRET)} v1,!! ${sign(SECRET)}`;
  await verifyWebhook({ secret: SECRET, headers: headersOf(signatures), body: BODY, now: NOW });
});

test('a delivery that was changed, or signed with another secret, is invalid', async () => {
  const headers = headersOf(sign(SECRET));
  const good = { secret: SECRET, headers, body: BODY, now: NOW };
  const changed = [
    { body: BODY.replace('1', '2') },
    { body: `${BODY} ` },
    { secret: OTHER_SECRET },
    { headers: { ...headers, 'webhook-id': 'msg_2' } },
    { headers: { ...headers, 'webhook-timestamp': String(NOW / 1_000 + 1) } },
    { headers: headersOf(sign(SECRET).replace('v1,', 'v2,')) },
    { headers: headersOf(sign(SECRET).slice(0, -8)) },
    { headers: headersOf('v1,') },
  ];
  for (const change of changed)
    await assert.rejects(verifyWebhook({ ...good, ...change }), isInvalid, JSON.stringify(change));
});

test('a delivery without one of its headers is invalid', async () => {
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const headers: Record<string, string | undefined> = { ...headersOf(sign(SECRET)), [name]: undefined };
    await assert.rejects(verifyWebhook({ secret: SECRET, headers, body: BODY, now: NOW }), isInvalid, name);
  }
});

test('a delivery is valid up to five minutes before and after its time', async () => {
  for (const [differenceS, isValid] of [
    [-300, true],
    [300, true],
    [-301, false],
    [301, false],
  ] as const) {
    const at = NOW + differenceS * 1_000;
    const headers = headersOf(sign(SECRET, BODY, at), at);
    const verified = verifyWebhook({ secret: SECRET, headers, body: BODY, now: NOW });
    if (isValid) await verified;
    else await assert.rejects(verified, isInvalid, String(differenceS));
  }
});

test('a secret that consists only of the prefix whsec_ is rejected with a TypeError', async () => {
  const headers = headersOf(sign(SECRET));
  await assert.rejects(verifyWebhook({ secret: 'whsec_', headers, body: BODY, now: NOW }), TypeError);
});
