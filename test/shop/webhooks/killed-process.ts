// A process that creates a product and delivers the event. When it has reached POINT, it prints POINT to standard output and waits to be
// killed. Settings come from the environment. Usage: killed-process.ts POINT SHOP_ID URL NOW

import { readConfig } from '../../../src/service/config.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import { insertDeliveries } from '../../../src/shop/queries/deliveries.ts';
import { parseNewProduct } from '../../../src/shop/products/product-input.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { createProduct } from '../../../src/shop/products/products.ts';
import type { AttemptResult } from '../../../src/shop/webhooks/attempt.ts';
import type { WebhookRequest } from '../../../src/shop/webhooks/sender.ts';
import { WebhookSender } from '../../../src/shop/webhooks/sender.ts';
import { createTestClock, makeDispatcher } from './fixtures.ts';
import { SecretKeys } from '../../../src/platform/core/secret-keys.ts';

const [point = '', shopId = '', url = '', now = ''] = process.argv.slice(2);
const clock = () => Number(now);
const log = createLog('silent');
const { main } = await openDatabases(readConfig(), log);
const context = { main, clock, log, serviceName: 'mercat', secretKeys: new SecretKeys([]) };
const caller = { keyId: 'key', shopId, scopes: new Set<string>() };

async function stopAt(name: string): Promise<void> {
  if (name !== point) return;
  process.stdout.write(`${name}\n`);
  await new Promise(() => setInterval(() => undefined, 60_000));
}

await main.transaction(async (tx) => {
  const parsed = parseNewProduct({ name: point, price: '1' });
  if (!parsed.ok) throw new Error('the product is not valid');
  await createProduct(context, tx, caller, parsed.value);
  await stopAt('before the commit');
});
await stopAt('after the commit');
await insertDeliveries(main, clock(), 100);
await stopAt('after the fan-out');
class StoppingSender extends WebhookSender {
  override async send(request: WebhookRequest, signal: AbortSignal): Promise<AttemptResult> {
    // Deliveries of earlier processes are sent without a stop.
    if (request.url !== url) return super.send(request, signal);
    await stopAt('after the claim');
    const result = await super.send(request, signal);
    await stopAt('after the send, before the record');
    return result;
  }
}
const sender = new StoppingSender({ allowPrivate: true });
await makeDispatcher(main, { time: createTestClock(Number(now)), sender }).run();
await stopAt('after the record of the attempt');
