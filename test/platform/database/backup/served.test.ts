// A backup that is made while a service writes has the state of one moment. A service on the restored databases gives the same
// responses, accepts the same cursors and keys, and signs webhooks with the same secrets.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { generateSampleMarket } from '../../../../sample/market.ts';
import type { Settings } from './backups.ts';
import { backUp, mercat, restore, withDatabases, withMigrated } from './backups.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { directoryWithDatabase } from '../../../support/engines/embedded-template.ts';
import { forEachEngine } from '../../../support/engines/each-engine.ts';
import { until } from '../../../support/until.ts';
import type { TestService } from '../../../support/service/service.ts';
import { startTestService } from '../../../support/service/service.ts';
import type { Receiver } from '../../../shop/webhooks/fixtures.ts';
import { startReceiver } from '../../../shop/webhooks/fixtures.ts';

const SERVICE_SETTINGS = {
  BASE_URL: 'https://market.example',
  WEBHOOK_ALLOW_PRIVATE: 'true',
  STORE_RATE_LIMIT: '100000',
};
const SCOPES = [
  'products:read',
  'products:write',
  'inventory:read',
  'inventory:write',
  'webhooks:read',
  'webhooks:write',
];
const WAIT_MS = 60_000;
/** The backup begins when more than this number of stock changes have been made. */
const CHANGES_FIRST = 5;
const PATHS = [
  '/v1/collections?limit=100',
  '/v1/collections/harbour-lights',
  '/v1/collections/harbour-lights/listings?limit=100',
  '/v1/collections/harbour-lights/sales?limit=100',
];

forEachEngine('backups of a service', (engine) => {
  const dir = temporaryDirectory();
  const file = path.join(dir, 'backup');
  const startedAt = Date.now();
  const clock = () => startedAt;
  let settings: Settings;
  let service: TestService;
  let receiver: Receiver;
  let key: string;
  let webhook: { id: string; secret: string };
  let products: string[];
  let secondPage: { path: string; data: unknown };

  const store = async (from: TestService, method: string, target: string, body?: object) => {
    const response = await fetch(`${from.url}/api/v1${target}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${target}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const readAll = async (from: TestService) => {
    const responses: unknown[] = [];
    for (const target of PATHS) responses.push((await from.ok(target)).data);
    responses.push((await store(from, 'GET', '/webhooks')).data);
    return responses;
  };

  before(async () => {
    receiver = await startReceiver();
    settings = { ...(await engine.settings()), ...SERVICE_SETTINGS };
    service = await startTestService({ settings, clock });
    await service.load(generateSampleMarket({ serviceName: 'mercat' }));
    await service.operate('shops.create', { name: 'Corner shop' });
    key = (await service.operate('keys.create', { shop: 'Corner shop', scopes: SCOPES })).body.result.secret;
    webhook = (await store(service, 'POST', '/webhooks', { url: receiver.url, events: ['product.*'] })).data;
    products = [];
    for (const name of ['Mug', '\uFEFFPlate']) {
      products.push((await store(service, 'POST', '/products', { name, price: '19.90', inventory: 1 })).data.id);
    }
  });
  after(async () => {
    await service.close();
    await receiver.close();
  });

  test('a stock change made during a backup is in the backup completely or not at all', async () => {
    const stopping = new AbortController();
    let changes = 0;
    const change = async () => {
      while (!stopping.signal.aborted) {
        for (const productId of products) {
          await store(service, 'POST', '/inventory', { product_id: productId, adjustment: 1, reason: 'test' });
          changes += 1;
        }
      }
    };
    const changing = change();
    // A failure is thrown below, where `changing` is awaited. Without this handler, a failure before that line would be an unhandled
    // rejection.
    changing.catch(() => undefined);
    await until(() => changes > CHANGES_FIRST, WAIT_MS, 'nothing was changed');
    const { code, stdout, stderr } = await mercat(settings, 'backup', file);
    stopping.abort();
    await changing;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^\d+ rows of \d+ tables in \S+, \d+\.\d MB, in [\d.]+ s\n$/);
    const target = { DATA_DIR: await directoryWithDatabase('empty') };
    await withDatabases(target, async (databases) => {
      await restore(databases, file);
      const [row] = await databases.main.query(
        `select count(*)::int as changes, count(*) filter (where id = newest and next <> inventory)::int as wrong
         from (select adjustment.*, product.inventory, max(adjustment.id) over (partition by product_id) as newest
           from main.adjustment join main.product on product.id = product_id) as log`,
      );
      assert.ok(
        row?.['changes'] > CHANGES_FIRST && row?.['changes'] < changes + products.length,
        `${row?.['changes']} of ${changes}`,
      );
      assert.equal(row?.['wrong'], 0);
    });
  });

  test(
    'a restore into an embedded database is refused while its server runs',
    { skip: engine.name === 'postgresql' && 'its subject is the embedded database' },
    async () => {
      const { code, stderr } = await mercat(settings, 'restore', file, '--replace');
      assert.equal(code, 1);
      assert.match(stderr, /^mercat: the data directory \S+ is in use by another process \(pid \d+\)/);
    },
  );

  test('a service on a restored backup gives the same responses for the same keys and cursors', async () => {
    const page = await service.ok('/v1/collections/harbour-lights/sales?limit=20');
    secondPage = {
      path: `/v1/collections/harbour-lights/sales?limit=20&cursor=${page.pagination.nextCursor}`,
      data: [],
    };
    secondPage.data = (await service.ok(secondPage.path)).data;
    await until(() => receiver.received.length > 0, WAIT_MS, 'no webhook was received');
    const before = await readAll(service);
    await service.close();
    await withDatabases(settings, (databases) => backUp(databases, file, { force: true }));
    const targets = [await engine.settings('empty')];
    if (engine.name === 'postgresql')
      targets.push({ PRICE_SOURCES: 'none', DATA_DIR: await directoryWithDatabase('empty') });
    for (const target of targets) {
      await withDatabases(target, (databases) => restore(databases, file));
      const restored = await startTestService({ settings: { ...target, ...SERVICE_SETTINGS }, clock, sample: true });
      try {
        assert.deepEqual(await readAll(restored), before);
        assert.deepEqual((await restored.ok(secondPage.path)).data, secondPage.data);
        receiver.received.splice(0);
        const created = await store(restored, 'POST', '/products', { name: 'Bowl', price: '5.00' });
        await until(
          () => receiver.received.some(({ body }) => body.includes(created.data.id)),
          WAIT_MS,
          'no webhook was received',
        );
        for (const { headers, body } of receiver.received) {
          new Webhook(webhook.secret).verify(body, headers as Record<string, string>);
        }
      } finally {
        await restored.close();
      }
    }
  });
});

describe('a database restored from an empty backup', () => {
  test('a server whose database was restored from an empty backup does not load the sample market', async () => {
    const dir = temporaryDirectory();
    const file = path.join(dir, 'backup');
    await withMigrated({ DATA_DIR: await directoryWithDatabase() }, (databases) => backUp(databases, file));
    const target = { DATA_DIR: await directoryWithDatabase('empty') };
    await withDatabases(target, (databases) => restore(databases, file));
    const service = await startTestService({ settings: target, sample: true });
    try {
      assert.deepEqual((await service.ok('/v1/collections')).data, []);
    } finally {
      await service.close();
    }
  });
});
