// Helps the tests of webhooks: starts receivers on this machine, and makes shops with webhooks, a clock that tests advance, and a dispatcher.

import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database } from '../../../src/platform/database/port.ts';
import type { Delivery } from '../../../src/shop/queries/delivery-log.ts';
import { listDeliveries } from '../../../src/shop/queries/delivery-log.ts';
import { insertEvents } from '../../../src/shop/queries/events.ts';
import { insertShop } from '../../../src/shop/queries/shops.ts';
import type { Webhook } from '../../../src/shop/queries/webhooks.ts';
import { findWebhook, insertWebhook } from '../../../src/shop/queries/webhooks.ts';
import { createId } from '../../../src/platform/core/time-ordered-id.ts';
import { createWebhookSecret } from '../../../src/shop/webhooks/signature.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { EventPattern } from '../../../src/shop/events.ts';
import type { SenderOptions } from '../../../src/shop/webhooks/sender.ts';
import { WebhookSender } from '../../../src/shop/webhooks/sender.ts';
import type { DispatcherOptions } from '../../../src/shop/webhooks/dispatcher.ts';
import { DeliveryDispatcher } from '../../../src/shop/webhooks/dispatcher.ts';
import { SecretKeys } from '../../../src/platform/core/secret-keys.ts';

export const NOW = Date.UTC(2026, 5, 1);
export const quiet = createLog('silent');

export type Received = { path: string; headers: IncomingHttpHeaders; body: string };

export type Receiver = {
  url: string;
  received: Received[];
  /** Responds to a request, by default with 204. Tests replace this function. */
  respond: (request: Received, response: ServerResponse) => void;
  close(): Promise<void>;
};

export async function startReceiver(host = '127.0.0.1'): Promise<Receiver> {
  const server = http.createServer((request, response) => {
    void readBody(request).then(
      (body) => {
        const one = { path: request.url ?? '', headers: request.headers, body };
        receiver.received.push(one);
        receiver.respond(one, response);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const receiver: Receiver = {
    url: `http://${host}:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    respond: (_request, response) => response.writeHead(204).end(),
    close: async () => {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return receiver;
}

export const respondWith =
  (status: number, headers: Record<string, string> = {}): Receiver['respond'] =>
  (_request, response) =>
    response.writeHead(status, headers).end();

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

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
  options: { shopId: string; url: string; events?: EventPattern[]; now?: number },
): Promise<Subscribed> {
  const { shopId, url, events = ['product.*', 'inventory.low'], now = NOW } = options;
  const secret = createWebhookSecret((size) => Buffer.alloc(size, (shops += 1)));
  const fields = { id: createId('whk', now), shopId, url, events, description: null, secret };
  const webhook = await db.transaction((tx) => insertWebhook(tx, fields, { now, max: 20 }));
  if (!webhook) throw new Error('the shop has too many webhooks');
  return { ...webhook, secret };
}

export function record(db: Database, shopId: string, type = 'product.created', now = NOW): Promise<void> {
  const data = JSON.stringify({ id: 'prod_1', name: 'Mug' });
  return insertEvents(db, { shopId, createdAt: now }, [{ id: createId('evt', now), type, data }]);
}

type TestClock = ReturnType<typeof createTestClock>;

export class TestDispatcher extends DeliveryDispatcher {
  readonly clock: TestClock;

  constructor(clock: TestClock, options: DispatcherOptions) {
    super(options);
    this.clock = clock;
  }

  /** Dispatches until no delivery is due, waits for every send, and returns the number of sends. */
  async run(): Promise<number> {
    let total = 0;
    for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
      const started = await this.dispatch();
      await this.settled();
      if (started === 0) return total;
      total += started;
    }
    throw new Error('deliveries are still due after many rounds');
  }
}

const ROUNDS_MAX = 1_000;

export function makeDispatcher(
  db: Database,
  options: Partial<DispatcherOptions> & Partial<SenderOptions> & { time?: TestClock } = {},
): TestDispatcher {
  const { time = createTestClock(), allowPrivate = true, ...more } = options;
  const sender = new WebhookSender({ allowPrivate, ...more });
  return new TestDispatcher(time, {
    main: db,
    clock: time.clock,
    log: quiet,
    sender,
    random: () => 0,
    secretKeys: new SecretKeys([]),
    ...more,
  });
}

/** Deliveries of a webhook, oldest first. */
export async function deliveriesOf(db: Database, webhookId: string): Promise<Delivery[]> {
  const rows = await listDeliveries(db, { webhookId }, { state: null, before: null, limit: 1_000 });
  return rows.toReversed();
}

export async function reread(db: Database, webhook: Webhook): Promise<Webhook> {
  const found = await findWebhook(db, webhook.shopId, webhook.id);
  if (!found) throw new Error('the webhook is gone');
  return found;
}

/** True if a signature of the request is correct. The expected signature is not computed by the code under test. */
export function isSignedWith({ headers, body }: Received, secret: string): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const text = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const expected = `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected);
}
