// Measures webhook deliveries a second, for one webhook and for twenty, and the CPU time of the worker. The receiver is a process of its own, so
// its CPU time is not included. All events are recorded first. The time runs from the start of the worker until the receiver has responded to
// all deliveries and the worker has stopped.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/platform/core/clock.ts';
import { createId } from '../../src/platform/core/time-ordered-id.ts';
import { insertEvents } from '../../src/shop/queries/events.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { createShop } from '../../src/shop/shops.ts';
import { createWebhook } from '../../src/shop/webhooks/webhooks.ts';
import { WebhookWorker } from '../../src/shop/webhooks/worker.ts';
import { onEachEngine } from '../support/databases.ts';
import { databaseCpuMs, median, timeMs } from '../support/measure.ts';
import { SecretKeys } from '../../src/platform/core/secret-keys.ts';
import { judge } from '../support/verdict.ts';

const ROUNDS = 3;
const DELIVERIES = 4_000;
/** The aim is at least this many deliveries a second to one receiver. */
const ONE_RECEIVER_AIM = 3_000;

export function benchDeliveries(): Promise<void> {
  return onEachEngine(async (main) => {
    for (const webhooks of [1, 20]) {
      const rates: number[] = [];
      const cpuTimes: number[] = [];
      const databaseTimes: number[] = [];
      for (let round = 0; round <= ROUNDS; round += 1) {
        const { ms, cpuMs, databaseMs } = await deliverAll(main, `${webhooks} ${round}`, webhooks);
        // The first round warms up and is not counted.
        if (round === 0) continue;
        rates.push((DELIVERIES / ms) * 1_000);
        cpuTimes.push((cpuMs / DELIVERIES) * 1_000);
        databaseTimes.push((databaseMs / DELIVERIES) * 1_000);
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
      judge({
        name: `deliveries, ${main.engine}, ${what}, CPU time of the worker for each delivery`,
        figure: median(cpuTimes),
        unit: 'µs',
        rounds: cpuTimes,
        aim: null,
        beside: `the database ${median(databaseTimes).toFixed(0)} µs`,
      });
    }
  });
}

/** The time of all deliveries, and the CPU time of this process and of the database meanwhile. The embedded engine is part of this process. */
async function deliverAll(
  main: Database,
  name: string,
  webhooks: number,
): Promise<{ ms: number; cpuMs: number; databaseMs: number }> {
  const log = createLog('warn');
  const context = { main, clock: systemClock, log, serviceName: 'mercat', secretKeys: new SecretKeys([]) };
  const shop = await createShop(context, name);
  const caller = { keyId: 'key_bench', shopId: shop.id, scopes: new Set<string>() };
  const receiver = await startReceiver(DELIVERIES);
  await main.transaction(async (tx) => {
    for (let number = 0; number < webhooks; number += 1) {
      await createWebhook(context, tx, caller, { url: receiver.url, events: ['product.*'], description: null });
    }
  });
  for (let number = 0; number < DELIVERIES / webhooks; number += 1) {
    const at = { shopId: shop.id, createdAt: systemClock() };
    const id = createId('evt', systemClock());
    await insertEvents(main, at, [{ id, type: 'product.created', data: JSON.stringify({ number }) }]);
  }
  const cpuBefore = process.cpuUsage();
  const databaseBefore = await databaseCpuMs(main);
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
  const { user, system } = process.cpuUsage(cpuBefore);
  const databaseMs = (await databaseCpuMs(main)) - databaseBefore;
  await receiver.close();
  return { ms, cpuMs: (user + system) / 1_000, databaseMs };
}

/** Starts a receiver. `all` resolves when the receiver has responded to `count` requests. */
async function startReceiver(count: number) {
  const child = fork(fileURLToPath(new URL('../support/servers.ts', import.meta.url)), ['receiver', String(count)]);
  const [url] = (await once(child, 'message')) as [string];
  const all = once(child, 'message');
  const close = async () => {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  };
  return { url, all, close };
}
