// Real processes whose wall clocks differ, on one database: each event is delivered once.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import type { ServiceProcess } from '../../support/service/service-process.ts';
import { sendToSocket, startServiceProcess } from '../../support/service/service-process.ts';
import { until } from '../../support/until.ts';
import type { Receiver } from './fixtures.ts';
import { startReceiver } from './fixtures.ts';

const LIMIT_MS = 60_000;
const SCOPES = ['products:write', 'products:read', 'webhooks:write', 'webhooks:read'];

/** Node options that put the wall clock of a process ahead by `ms`, or behind if `ms` is negative. */
function shiftedBy(ms: number): string {
  const script = `const RealDate = Date; globalThis.Date = class Date extends RealDate {
    constructor(...given) { if (given.length === 0) super(RealDate.now() + ${ms}); else super(...given); }
    static now() { return RealDate.now() + ${ms}; } };`;
  return `--import data:text/javascript,${encodeURIComponent(script)}`;
}

forEachEngine('processes whose clocks differ', (engine) => {
  let receiver: Receiver;

  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  test('each event is delivered once, whichever process recorded it and whatever the clock of that process shows', async () => {
    const settings = await engine.settings();
    const { DATA_DIR = '' } = settings;
    let started = 0;
    const start = (aheadMs: number): Promise<ServiceProcess> => {
      started += 1;
      // Each process on a PostgreSQL database has its own data directory. The embedded database is opened by one process after
      // another.
      const dataDir = engine.name === 'embedded' ? DATA_DIR : path.join(DATA_DIR, String(started));
      mkdirSync(dataDir, { recursive: true });
      const own = { DATA_DIR: dataDir, NODE_OPTIONS: shiftedBy(aheadMs), WEBHOOK_ALLOW_PRIVATE: 'true' };
      return startServiceProcess({ ...settings, ...own });
    };
    const running: ServiceProcess[] = [];
    const next = async (aheadMs: number): Promise<ServiceProcess> => {
      if (engine.name === 'embedded') await running.pop()?.stop();
      const service = await start(aheadMs);
      running.push(service);
      return service;
    };
    const first = await next(2_000);
    const operate = async (operation: string, input: object) =>
      (await sendToSocket(first.socketPath, 'POST', `/operator/v1/${operation}`, input)).body.result;
    await operate('shops.create', { name: 'clocks' });
    const { secret } = await operate('keys.create', { shop: 'clocks', scopes: SCOPES });
    const post = async ({ url }: ServiceProcess, route: string, body: object) => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      const response = await fetch(`${url}/api/v1${route}`, { method: 'POST', headers, body: JSON.stringify(body) });
      assert.equal(response.status, 201, await response.text());
    };
    try {
      await post(first, '/webhooks', { url: receiver.url });
      await post(first, '/products', { name: 'product 0', price: '1' });
      for (const [index, aheadMs] of [-10 * 60_000, 31 * 60_000].entries()) {
        const service = await next(aheadMs);
        await post(service, '/products', { name: `product ${index + 1}`, price: '1' });
        await until(() => receiver.received.length > index + 1, LIMIT_MS, `event ${index + 1} did not arrive`);
      }
      const names = receiver.received.map(({ body }) => String(JSON.parse(body).data.name)).toSorted();
      assert.deepEqual(names, ['product 0', 'product 1', 'product 2']);
    } finally {
      await Promise.all(running.map((service) => service.stop()));
    }
  });
});
