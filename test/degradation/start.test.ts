// Tests that a service starts while its indexer fails, and uses the indexer when the indexer works again.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import type { TwoDatabaseService } from './two-databases.ts';
import { startBehindProxy, startOnTwoDatabases, withTwoServers } from './two-databases.ts';
import { MARKET, RECOVERY_MAX_MS, assertErrorResponse, ethereum, untilComplete } from './small-market.ts';
import { freePort } from '../support/free-port.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import { until } from '../support/until.ts';
import { lockMigrations } from '../support/engines/postgres-locks.ts';
import { startTestService } from '../support/service/service.ts';

withTwoServers('the indexer is broken when the service starts', (servers) => {
  for (const way of ['refuse', 'hang'] as const) {
    test(`the service starts while the indexer is down, and uses the indexer when the indexer is back (${way})`, async (t) => {
      const { service, proxy } = await startBehindProxy(t, servers, way);
      assertErrorResponse(await service.fresh('/v1/collections'), 502, 'upstream_error');
      await proxy.heal();
      await untilUsed(service);
    });
  }

  test('while the indexer hangs in a migration, the service starts without it', async (t) => {
    let release = () => Promise.resolve();
    // The indexer hangs until the test releases it. A start that waited for the indexer would not end.
    const service = await startOnTwoDatabases(t, servers, {
      empty: true,
      via: {
        indexer: async (url) => {
          release = await lockMigrations(t, url);
          return url;
        },
      },
    });
    assertErrorResponse(await service.fresh('/v1/collections'), 502, 'upstream_error');
    await release();
    await untilUsed(service);
  });

  async function untilUsed(service: TwoDatabaseService): Promise<void> {
    await until(
      async () => (await service.fresh('/v1/collections')).status === 200,
      2 * RECOVERY_MAX_MS,
      'the indexer was not used after it came back',
    );
    await service.load(MARKET);
    await untilComplete(service);
  }

  test('a service on an embedded primary starts without the indexer', async (t) => {
    const [dir, port] = [await directoryWithDatabase(), await freePort()];
    const settings = { DATA_DIR: dir, INDEXER_DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/none` };
    const service = await startTestService({ settings, sample: true });
    t.after(async () => {
      await service.close();
      rmSync(dir, { recursive: true, force: true });
    });
    assertErrorResponse(await service.get('/v1/collections'), 502, 'upstream_error');
    assert.equal((await service.get(ethereum.path)).status, 404);
  });
});
