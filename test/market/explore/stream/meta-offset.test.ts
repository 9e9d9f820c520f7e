// Tests `meta.offset` in the responses of the explore interface.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { toEvmAddress } from '../../../../sample/random.ts';
import { readConfig } from '../../../../src/service/config.ts';
import { createLog } from '../../../../src/platform/core/log.ts';
import type { Databases } from '../../../../src/platform/database/open.ts';
import { openDatabases } from '../../../../src/platform/database/open.ts';
import { appendActivity, listed } from '../../../support/activity-log.ts';
import { forEachEngine } from '../../../support/engines/each-engine.ts';
import { EventStream } from '../../../support/http/event-stream.ts';
import type { TestService } from '../../../support/service/service.ts';
import { startTestService } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';

const LIMIT_MS = 60_000;
const path = (name: string) => `/explore/v1/wallets/${toEvmAddress(name)}/tokens`;

forEachEngine('the offset of a response', (engine) => {
  describe('service', () => {
    let service: TestService;
    let databases: Databases;
    before(async () => {
      const settings = { ...(await engine.settings()), SOURCE_TIMEOUT_MS: '60000' };
      databases = await openDatabases(readConfig(settings), createLog('silent'));
      service = await startTestService({ settings, open: async () => databases });
    });
    after(() => service.close());
    const offsetOf = async (name: string): Promise<string | null> => (await service.ok(path(name))).meta.offset;
    const readOffset = async () => (await service.operate('status', {})).body.result.stream.offset;
    let appended = 0;
    /** Appends an event, and waits until the service has read it. Returns its offset. */
    const append = async (): Promise<string> => {
      const before = await readOffset();
      appended += 1;
      await appendActivity(databases.main, [listed(appended)]);
      await until(async () => (await readOffset()) > before, LIMIT_MS, 'the event was not read');
      return readOffset();
    };

    test('a stream that begins at the offset has exactly the events after it', async () => {
      await append();
      const offset = await offsetOf('one');
      const stream = await EventStream.open(`${service.url}/explore/v1/stream?from=${offset}`);
      const last = await append();
      assert.deepEqual(
        (await stream.received(1)).map(({ id }) => id),
        [last],
      );
      stream.close();
    });

    test('a cached response keeps the offset with which its data was read', async () => {
      const first = await service.get(path('two'));
      await append();
      const stale = await service.get(path('two'), { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
      // The response is either the cached response, or a new response with a later offset. The old rows never come with a new offset.
      if (stale.status === 200) assert.ok(stale.body.meta.offset > first.body.meta.offset);
      else assert.equal(stale.status, 304);
    });

    test('an event that is logged while a response reads its data is after the offset of the response', async (t) => {
      if (engine.name === 'embedded')
        return t.skip('the embedded engine has one connection, which the lock would hold');
      const before = await append();
      let response: Promise<string | null> = Promise.resolve(null);
      await databases.indexer.transaction(async (tx) => {
        await tx.query('lock table indexer.token in access exclusive mode');
        response = offsetOf('three');
        const isBlocked = async () =>
          (
            await databases.indexer.query(
              `select from pg_locks where not granted and relation = 'indexer.token'::regclass`,
            )
          ).length > 0;
        await until(isBlocked, LIMIT_MS, 'the response does not wait');
        await append();
      });
      assert.equal(await response, before);
    });

    test('while the log cannot be read the offset is null, and the response is served', async () => {
      await databases.main.query('alter table main.activity_head rename to hidden');
      await until(async () => (await readOffset()) === null, LIMIT_MS, 'the log is still readable');
      assert.equal(await offsetOf('four'), null);
      await databases.main.query('alter table main.hidden rename to activity_head');
      await until(async () => (await readOffset()) !== null, LIMIT_MS, 'the log is still not readable');
      assert.notEqual(await offsetOf('five'), null);
    });
  });
});
