// Measures webhook deliveries a second, for one webhook and for twenty. All events are recorded first. The time runs from the start of
// the worker until a local receiver has responded to all deliveries and the worker has stopped.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../src/core/clock.ts';
import { createId } from '../src/core/time-ordered-id.ts';
import { insertEvent } from '../src/shop/queries/events.ts';
import type { Database } from '../src/database/port.ts';
import { createLog } from '../src/core/log.ts';
import { createShop } from '../src/shop/shops.ts';
import { createWebhook } from '../src/shop/webhooks/webhooks.ts';
import { WebhookWorker } from '../src/shop/webhooks/worker.ts';
import { onEachEngine } from './databases.ts';
import { median, timeMs } from './measure.ts';
import { SecretKeys } from '../src/core/secret-keys.ts';
import { judge } from './verdict.ts';

const ROUNDS = 3;
const DELIVERIES = 2_000;
/** The least deliveries a second to one receiver. */
const ONE_RECEIVER_AIM = 3_000;

export function benchDeliveries(): Promise<void> {
  return onEachEngine(async (main) => {
    for (const webhooks of [1, 20]) {
      const rates: number[] = [];
      for (let round = 0; round <= ROUNDS; round += 1) {
        const ms = await deliverAll(main, `${webhooks} ${round}`, webhooks);
        // The first round warms up and is not counted.
        if (round > 0) rates.push((DELIVERIES / ms) * 1_000);
      }
      const what = webhooks === 1 ? '1 webhook' : `${webhooks} webhooks`;
      const hasAim = webhooks === 1 && main.engine === 'postgresql';
      judge({
        name: `deliveries, ${main.engine}, ${what}`,
        figure: median(rates),
        unit: 'a second',
        rounds: rates,
        aim: hasAim ? { atLeast: ONE_RECEIVER_AIM } : null,
      });
    }
  });
}

/** Returns the milliseconds of all deliveries. */
async function deliverAll(main: Database, name: string, webhooks: number): Promise<number> {
  const log = createLog('warn');
  const context = { main, clock: systemClock, log, serviceName: 'mercat', secretKeys: new SecretKeys([]) };
  const shop = await createShop(context, name);
  const caller = { keyId: 'key_bench', shopId: shop.id, scopes: new Set<string>() };
  const receiver = await startCounter(DELIVERIES);
  await main.transaction(async (tx) => {
    for (let number = 0; number < webhooks; number += 1) {
      await createWebhook(context, tx, caller, { url: receiver.url, events: ['product.*'], description: null });
    }
  });
  for (let number = 0; number < DELIVERIES / webhooks; number += 1) {
    const event = { id: createId('evt', systemClock()), shopId: shop.id, type: 'product.created' };
    await insertEvent(main, { ...event, data: JSON.stringify({ number }), createdAt: systemClock() });
  }
  const ms = await timeMs(async () => {
    const worker = new WebhookWorker({
      main,
      clock: systemClock,
      log,
      random: Math.random,
      secretKeys: context.secretKeys,
      allowPrivate: true,
    });
    worker.start();
    await receiver.all;
    await worker.stop();
  });
  receiver.close();
  return ms;
}

/** Starts a receiver. `all` resolves when the receiver has responded to `count` requests. */
async function startCounter(count: number) {
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let left = count;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(204).end();
      left -= 1;
      if (left === 0) resolve();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url, all, close };
}
