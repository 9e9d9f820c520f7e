// A process that changes a product and delivers the news of it, and stops at one point to be killed there. It says on standard
// output when it has come to that point. Settings come from the environment. Usage: victim.ts POINT SHOP_ID URL NOW

import { readConfig } from '../../../src/config.ts';
import { openDatabases } from '../../../src/database/open.ts';
import { insertDeliveries } from '../../../src/shop/queries/deliveries.ts';
import { parseNewProduct } from '../../../src/shop/products/product.ts';
import { createLog } from '../../../src/core/log.ts';
import { createProduct } from '../../../src/shop/products/products.ts';
import type { Sender } from '../../../src/shop/webhooks/sender.ts';
import { createSender } from '../../../src/shop/webhooks/sender.ts';
import { createWebhookWorker } from '../../../src/shop/webhooks/dispatcher.ts';

const [point = '', shopId = '', url = '', now = ''] = process.argv.slice(2);
const clock = () => Number(now);
const log = createLog('silent');
const { main } = await openDatabases(readConfig(), log);
const store = { main, clock, log, serviceName: 'mercat' };
const caller = { keyId: 'key', shopId, scopes: new Set<string>() };

async function stopAt(name: string): Promise<void> {
  if (name !== point) return;
  process.stdout.write(`${name}\n`);
  await new Promise(() => setInterval(() => undefined, 60_000));
}

await main.transaction(async (tx) => {
  const parsed = parseNewProduct({ name: point, price: '1' });
  if (!parsed.ok) throw new Error('the product is not valid');
  await createProduct(store, tx, caller, parsed.value);
  await stopAt('before the commit');
});
await stopAt('after the record');
await insertDeliveries(main, clock(), 100);
await stopAt('after the fan-out');
const real = createSender({ allowPrivate: true });
const sender: Sender = {
  ...real,
  send: async (request, signal) => {
    // What processes before this one left behind goes through.
    if (request.url !== url) return real.send(request, signal);
    await stopAt('after the claim');
    const outcome = await real.send(request, signal);
    await stopAt('after the send, before the mark');
    return outcome;
  },
};
const worker = createWebhookWorker({ main, clock, log, sender });
await worker.run();
await stopAt('after the mark');
