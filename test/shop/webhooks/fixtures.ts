// What tests of webhooks share: real receivers on this machine, shops with subscriptions, a clock that tests turn, a worker.

import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database } from '../../../src/database/port.ts';
import type { Delivery } from '../../../src/shop/queries/delivery-log.ts';
import { listDeliveries } from '../../../src/shop/queries/delivery-log.ts';
import { insertEvent } from '../../../src/shop/queries/events.ts';
import { insertShop } from '../../../src/shop/queries/shops.ts';
import type { Webhook } from '../../../src/shop/queries/webhooks.ts';
import { findWebhook, insertWebhook } from '../../../src/shop/queries/webhooks.ts';
import { createId } from '../../../src/core/time-ordered-id.ts';
import { createWebhookSecret } from '../../../src/shop/webhooks/signature.ts';
import { createLog } from '../../../src/core/log.ts';
import type { SenderOptions } from '../../../src/shop/webhooks/sender.ts';
import { createSender } from '../../../src/shop/webhooks/sender.ts';
import type { WebhookWorker, WorkerOptions } from '../../../src/shop/webhooks/dispatcher.ts';
import { createWebhookWorker } from '../../../src/shop/webhooks/dispatcher.ts';

export const NOW = Date.UTC(2026, 5, 1);
export const quiet = createLog('silent');

export type Received = { path: string; headers: IncomingHttpHeaders; body: string };

export type Receiver = {
  url: string;
  received: Received[];
  /** Answers from now on; by default 204. */
  answer: (request: Received, response: ServerResponse) => void;
  close(): Promise<void>;
};

export async function startReceiver(host = '127.0.0.1'): Promise<Receiver> {
  const server = http.createServer((request, response) => {
    void readBody(request).then((body) => {
      const one = { path: request.url ?? '', headers: request.headers, body };
      receiver.received.push(one);
      receiver.answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const receiver: Receiver = {
    url: `http://${host}:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    answer: (_request, response) => response.writeHead(204).end(),
    close: async () => {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return receiver;
}

export const answerWith =
  (status: number, headers: Record<string, string> = {}): Receiver['answer'] =>
  (_request, response) =>
    response.writeHead(status, headers).end();

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

/** A clock that stands still until a test turns it. */
export function createTestClock(now = NOW): { clock: () => number; set(ms: number): void; pass(ms: number): void } {
  let time = now;
  return { clock: () => time, set: (ms) => (time = ms), pass: (ms) => (time += ms) };
}

let shops = 0;

export async function makeShop(db: Database): Promise<string> {
  shops += 1;
  const shop = { id: createId('shop', NOW), name: `shop ${process.pid} ${shops}`, createdAt: NOW };
  await insertShop(db, shop);
  return shop.id;
}

export type Subscribed = Webhook & { secret: string };

export async function subscribe(
  db: Database,
  webhook: { shopId: string; url: string; events?: string[]; now?: number },
): Promise<Subscribed> {
  const { shopId, url, events = ['product.*', 'inventory.low'], now = NOW } = webhook;
  const secret = createWebhookSecret((size) => Buffer.alloc(size, (shops += 1)));
  const subject = { id: createId('whk', now), shopId, url, events, description: null, secret };
  const made = await db.transaction((tx) => insertWebhook(tx, subject, { now, max: 20 }));
  if (!made) throw new Error('the shop has too many webhooks');
  return { ...made, secret };
}

export function record(db: Database, shopId: string, type = 'product.created', now = NOW): Promise<void> {
  return insertEvent(db, { shopId, type, data: { id: 'prod_1', name: 'Mug' }, now });
}

export type TestWorker = WebhookWorker & { clock: ReturnType<typeof createTestClock> };

export function makeWorker(
  db: Database,
  options: Partial<WorkerOptions> & Partial<SenderOptions> & { time?: ReturnType<typeof createTestClock> } = {},
): TestWorker {
  const time = options.time ?? createTestClock();
  const { allowPrivate = true, ...sending } = options;
  const sender = createSender({ allowPrivate, ...sending });
  const worker = createWebhookWorker({ main: db, clock: time.clock, log: quiet, sender, random: () => 0, ...options });
  return { ...worker, clock: time };
}

/** Deliveries of a subscription, oldest first. */
export async function deliveriesOf(db: Database, webhookId: string): Promise<Delivery[]> {
  const rows = await listDeliveries(db, { webhookId }, { state: null, before: null, limit: 1_000 });
  return rows.toReversed();
}

export async function reread(db: Database, webhook: Webhook): Promise<Webhook> {
  const found = await findWebhook(db, webhook.shopId, webhook.id);
  if (!found) throw new Error('the webhook is gone');
  return found;
}

/** True when a signature of the request is right: computed here from the published format, not by our own code. */
export function isSignedWith({ headers, body }: Received, secret: string): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const text = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const wanted = `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(wanted);
}
