// With SECRETS_KEY, the service encrypts its secrets in the database; without it, they are stored in clear. The key can be replaced, and a
// backup contains the secrets as they are stored.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { defineDoctor } from '../../src/cli/doctor/doctor.ts';
import { defineSecrets } from '../../src/cli/secrets.ts';
import { toKeyId } from '../../src/platform/core/secret-keys.ts';
import { STORE_SCOPES } from '../../src/shop/keys/scopes.ts';
import { runCommand } from '../cli/run-command.ts';
import { backUp, readEverything, restore, withDatabases } from '../platform/database/backup/backups.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import type { Receiver } from './webhooks/fixtures.ts';
import { startReceiver } from './webhooks/fixtures.ts';

const WAIT_MS = 60_000;

const newKey = () => {
  const key = randomBytes(32);
  return { id: toKeyId(key), text: key.toString('base64') };
};

forEachEngine('secrets in the database', (engine) => {
  const [first, second] = [newKey(), newKey()];
  let settings: Record<string, string>;
  let receiver: Receiver;
  let apiKey: string;
  let webhook: { id: string; secret: string };
  let cursor: string;

  before(async () => {
    receiver = await startReceiver();
    settings = { ...(await engine.settings()), WEBHOOK_ALLOW_PRIVATE: 'true' };
  });
  after(() => receiver.close());

  const withService = async (secretsKey: string, work: (service: TestService) => Promise<void>) => {
    const service = await startTestService({ settings: { ...settings, SECRETS_KEY: secretsKey } });
    try {
      await work(service);
    } finally {
      await service.close();
    }
  };
  const send = async (
    { url }: TestService,
    method: string,
    target: string,
    body?: object,
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(`${url}/api/v1${target}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${target}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  /** All rows of both schemas as text, with the bytes of `main.secret` in hex. */
  const readRows = () =>
    withDatabases(settings, async (databases) => {
      const everything = await readEverything(databases);
      const rows = Object.values(everything).flatMap((table) => table as unknown[]);
      return rows.map((row) => Buffer.from(String(row), 'hex').toString('utf8')).join('\n');
    });
  /**
   * Creates a product. Fails unless its event arrives, signed with the webhook's secret. Also fails unless the service still
   * accepts the pagination cursor that the first test received.
   */
  const assertWorking = async (service: TestService) => {
    receiver.received.splice(0);
    const { data: product } = await send(service, 'POST', '/products', { name: 'Bowl', price: '5.00' });
    const isOfProduct = ({ body }: { body: string }) => body.includes(product.id);
    await until(() => receiver.received.some(isOfProduct), WAIT_MS, 'no webhook was received');
    for (const { headers, body } of receiver.received) {
      new Webhook(webhook.secret).verify(body, headers as Record<string, string>);
    }
    await send(service, 'GET', `/inventory/adjustments?limit=1&cursor=${cursor}`);
  };
  const runDoctor = async (secretsKey: string) => {
    const env = { PRICE_SOURCES: 'none', ...settings, SECRETS_KEY: secretsKey };
    return (await runCommand(defineDoctor, ['doctor'], { env })).stdout;
  };
  const listStored = async (service: TestService) => (await service.operate('secrets.list', {})).body.result.stored;

  test('secrets are stored in clear without SECRETS_KEY', async () => {
    await withService('', async (service) => {
      await service.operate('shops.create', { name: 'Corner shop' });
      const issued = await service.operate('keys.create', { shop: 'Corner shop', scopes: STORE_SCOPES });
      apiKey = issued.body.result.secret;
      const key = { 'idempotency-key': 'a' };
      webhook = (await send(service, 'POST', '/webhooks', { url: receiver.url, events: ['product.*'] }, key)).data;
      const { data: product } = await send(service, 'POST', '/products', { name: 'Mug', price: '1' });
      for (const adjustment of [1, 2])
        await send(service, 'POST', '/inventory', { product_id: product.id, adjustment });
      cursor = (await send(service, 'GET', '/inventory/adjustments?limit=1')).pagination.nextCursor;
      assert.deepEqual(await listStored(service), [
        { kind: 'response', keyId: null, count: 1, readable: true },
        { kind: 'service', keyId: null, count: 1, readable: true },
        { kind: 'webhook', keyId: null, count: 1, readable: true },
      ]);
      const { body } = await service.operate('secrets.encrypt', {});
      assert.equal(body.mistake?.message, 'SECRETS_KEY is empty: set it to a key first');
    });
    assert.ok((await readRows()).includes(webhook.secret));
  });

  test('when a key is set, one command encrypts the secrets that are stored in clear', async () => {
    await withService(first.text, async (service) => {
      await assertWorking(service);
      assert.match(
        await runDoctor(first.text),
        /warn {2}secrets: stored in clear: .*1 of the kind webhook\n {6}-> run mercat secrets encrypt\n/,
      );
      const changed: number[] = [];
      for (let calls = 0; calls < 2; calls += 1)
        changed.push((await service.operate('secrets.encrypt', {})).body.result.changed);
      assert.deepEqual(changed, [3, 0]);
      await assertWorking(service);
    });
    assert.doesNotMatch(await readRows(), /whsec_/);
  });

  test('all secrets stay readable while the key is replaced', async () => {
    await withService(`${second.text},${first.text}`, async (service) => {
      const key = { 'idempotency-key': 'b' };
      const rotated = await send(service, 'POST', `/webhooks/${webhook.id}/rotate-secret`, undefined, key);
      webhook = rotated.data;
      assert.deepEqual(await send(service, 'POST', `/webhooks/${webhook.id}/rotate-secret`, undefined, key), rotated);
      await assertWorking(service);
      assert.deepEqual(
        await listStored(service),
        [
          { kind: 'response', keyId: first.id, count: 1, readable: true },
          { kind: 'response', keyId: second.id, count: 1, readable: true },
          { kind: 'service', keyId: first.id, count: 1, readable: true },
          { kind: 'webhook', keyId: first.id, count: 1, readable: true },
          { kind: 'webhook', keyId: second.id, count: 1, readable: true },
        ].toSorted(byKindAndKey),
      );
      assert.equal((await service.operate('secrets.encrypt', {})).body.result.changed, 3);
      const keyIds = (await listStored(service)).map(({ keyId }: { keyId: string }) => keyId);
      assert.deepEqual(new Set(keyIds), new Set([second.id]));
    });
    assert.doesNotMatch(await readRows(), /whsec_/);
  });

  test('the service starts only with the key of the stored secrets', async () => {
    const message = `secrets in the database are encrypted with the key ${second.id}: add this key to SECRETS_KEY`;
    for (const secretsKey of ['', first.text]) {
      await assert.rejects(
        withService(secretsKey, () => Promise.resolve()),
        { name: 'OperatorError', message },
      );
    }
    assert.match(await runDoctor(first.text), new RegExp(`FAIL {2}secrets: .*: ${second.id}\n`));
  });

  test('secrets stay encrypted in a backup, and are readable after a restore with the same key', async () => {
    const file = path.join(temporaryDirectory(), 'backup');
    await withDatabases(settings, (databases) => backUp(databases, file));
    const source = settings;
    settings = { WEBHOOK_ALLOW_PRIVATE: 'true', DATA_DIR: await directoryWithDatabase('empty') };
    await withDatabases(settings, (databases) => restore(databases, file));
    assert.doesNotMatch(await readRows(), /whsec_/);
    await withService(second.text, assertWorking);
    settings = source;
  });

  test('encrypted secrets can be stored in clear again', async () => {
    const keyed = { LOG_LEVEL: 'error', ...settings, SECRETS_KEY: second.text };
    const { stdout } = await runCommand(defineSecrets, ['secrets', 'decrypt'], { env: keyed });
    assert.equal(stdout, 'rows decrypted: 4\n');
    await withService('', async (service) => {
      await assertWorking(service);
      assert.match(await runDoctor(''), /ok {4}secrets: stored in clear, because SECRETS_KEY is empty: .*\n/);
    });
  });
});

function byKindAndKey(a: { kind: string; keyId: string }, b: { kind: string; keyId: string }): number {
  return `${a.kind} ${a.keyId}` < `${b.kind} ${b.keyId}` ? -1 : 1;
}
