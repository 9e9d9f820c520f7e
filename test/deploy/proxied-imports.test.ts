// Imports through nginx, Varnish and HAProxy, with the configuration in deploy/. A proxy may send no more of a body once the response has begun.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { cleanUp } from '../support/engines/cleanup.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import { EVM, toNdjson, token } from '../support/service/intake.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';
import type { RunningCache } from './shared-cache.ts';
import { PROXIES } from './shared-cache.ts';

/** Several batches, and more bytes than the proxy and the sockets hold. */
const ROWS = 75_000;
/** Longer rows than the import needs, as the records of a file with traits have. */
const NAME = 'Lantern Moth '.repeat(20);

let service: TestService;
let key: string;
before(async () => {
  service = await startTestService({ settings: { DATA_DIR: await directoryWithDatabase(), TRUST_PROXY: 'true' } });
  const { body } = await service.operate('keys.create', { scopes: ['intake:write'] });
  key = body.result.secret;
});
after(async () => {
  await service.close();
  await cleanUp();
});

for (const proxy of PROXIES) {
  const skip = proxy.isInstalled ? false : `${proxy.name} is not on this machine`;
  describe(`imports through ${proxy.name}`, { skip }, () => {
    let running: RunningCache;
    before(async () => {
      running = await proxy.start(Number(new URL(service.url).port));
    });
    after(() => running.stop());

    const send = async (rows: Iterable<unknown>) => {
      const headers = { authorization: `Bearer ${key}` };
      const target = `${running.url}/intake/v1/records?createCollections=true`;
      const response = await fetch(target, { method: 'POST', headers, body: toNdjson(rows) });
      assert.equal(response.status, 200);
      const events = (await response.text()).trim().split('\n');
      return events.map((line) => JSON.parse(line));
    };

    test('a file of 75,000 rows is imported completely', async () => {
      const rows = Array.from({ length: ROWS }, (_, index) => token({ tokenId: String(index), name: NAME }));
      const summary = (await send(rows)).at(-1);
      assert.deepEqual([summary.event, summary.read, summary.refused], ['done', ROWS, 0]);
    });

    test('each rejected row is named or counted', async () => {
      const rows = Array.from({ length: ROWS }, (_, index) => ({ kind: 'token', chain: 'base', contract: EVM, index }));
      const events = await send(rows);
      const named = events.filter(({ event }) => event === 'refused').length;
      const omitted = events.find(({ event }) => event === 'omitted')?.count ?? 0;
      assert.equal(named + omitted, ROWS);
      assert.ok(named > 1_000, `${named} rows are named`);
      assert.deepEqual([events.at(-1).event, events.at(-1).refused], ['done', ROWS]);
    });
  });
}
