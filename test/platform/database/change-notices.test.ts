// Tests the notices by which a process tells other processes what it has changed. The clock of the services stands still, so a cached response is fresh until a notice arrives.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { ChangeNotices } from '../../../src/platform/database/change-notices.ts';
import { Notifications } from '../../../src/platform/database/notifications.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { withClient } from '../../support/engines/postgres-locks.ts';
import { newCollection, START } from '../../support/service/market.ts';
import { startTestService } from '../../support/service/service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';

const LIMIT_MS = 60_000;
const log = createLog('silent');

forEachEngine('notices of changes', (engine) => {
  if (engine.name === 'embedded') {
    test('a process with the embedded database sends no notices', async () => {
      const main = await engine.open();
      let statements = 0;
      const within: Database['within'] = (timeoutMs) => {
        statements += 1;
        return main.within(timeoutMs);
      };
      const notices = new ChangeNotices({ main: { ...main, within }, log });
      notices.send({ collectionIds: new Set(['ethereum_0x00']), kinds: new Set(['listing']) });
      await notices.close();
      assert.equal(statements, 0);
    });
    return;
  }

  test('a change in one process makes the cached responses of another process out of date', async (t) => {
    const settings = await engine.settings();
    const [writer, reader] = [await start(t, settings), await start(t, settings)];
    const subject = newCollection({ slug: 'noticed' });
    await writer.load([subject.collection(), subject.listing('1', 900)]);
    const page = '/v1/collections/noticed/listings';
    const countOf = async () => (await reader.ok(page)).data.length as number;
    await until(async () => (await reader.get(page)).status === 200, LIMIT_MS, 'the collection is unknown');
    for (const [index, count] of [2, 3, 4].entries()) {
      assert.equal(await countOf(), count - 1);
      await writer.load([subject.listing(String(index + 2), 900 + count)]);
      await until(async () => (await countOf()) === count, LIMIT_MS, 'the earlier response is still served');
    }
  });

  test('a process that begins to listen again drops all cached responses', async (t) => {
    const settings = await engine.settings();
    const [writer, reader] = [await start(t, settings), await start(t, settings)];
    const subject = newCollection({ slug: 'missed' });
    await writer.load([subject.collection(), subject.listing('1', 900)]);
    const page = '/v1/collections/missed/listings';
    await until(async () => (await reader.get(page)).status === 200, LIMIT_MS, 'the collection is unknown');
    assert.equal((await reader.ok(page)).data.length, 1);
    // The row is deleted without a notice, as if the notice was lost. Then the listening connections are
    // terminated. All of them are connections to the primary, because a process listens only there.
    const { DATABASE_URL: primaryUrl = '', INDEXER_DATABASE_URL: indexerUrl = primaryUrl } = settings;
    const deleted = await withClient(indexerUrl, (client) => client.query(`delete from indexer.listing`));
    assert.equal(deleted.rowCount, 1);
    await withClient(primaryUrl, (client) =>
      client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen %'`,
      ),
    );
    await until(
      async () => (await reader.ok(page)).data.length === 0,
      LIMIT_MS,
      'the earlier response is still served',
    );
  });

  test('a process counts as listening only when it has received a notification that it sent to itself', async (t) => {
    const { DATABASE_URL: url = '' } = await engine.settings();
    const options = { dataDir: temporaryDirectory(), databaseUrl: url, indexerDatabaseUrl: null };
    const { main, close } = await openDatabases(options, log);
    t.after(close);
    const { promise: mayArrive, resolve: letArrive } = Promise.withResolvers<void>();
    // Before `letArrive` is called, no notification arrives, as behind a pooler in transaction mode.
    const within: Database['within'] = (timeoutMs) => {
      const statements = main.within(timeoutMs);
      return { ...statements, query: (sql, params) => mayArrive.then(() => statements.query(sql, params)) };
    };
    const { promise: connected, resolve: onListen } = Promise.withResolvers<void>();
    const notifications = new Notifications({ url, db: { within }, channels: {}, onListen, log, random: () => 0 });
    t.after(() => notifications.close());
    notifications.start();
    await connected;
    assert.equal(notifications.isListening, false);
    letArrive();
    await until(() => notifications.isListening, LIMIT_MS, 'the notification did not arrive');
  });

  test('changes that are reported while a notice is being sent share the next notice, and a notice for too many collections reports a change of everything', async () => {
    const main = await engine.open();
    const sent: string[] = [];
    const within: Database['within'] = (timeoutMs) => {
      const statements = main.within(timeoutMs);
      return {
        ...statements,
        query: (sql, params = []) => (sent.push(String(params[1])), statements.query(sql, params)),
      };
    };
    const sender = new ChangeNotices({ main: { ...main, within }, log });
    const receiver = new ChangeNotices({ main, log });
    const send = (...ids: string[]) => sender.send({ collectionIds: new Set(ids), kinds: new Set(['listing']) });
    send('a');
    send('b');
    send('c', 'b');
    sender.send({ collectionIds: new Set(), kinds: new Set(['rate']) });
    await until(() => sent.length === 2, LIMIT_MS, 'the second notice was not sent');
    send(...Array.from({ length: 140 }, (_, index) => `solana_${'x'.repeat(60)}${index}`));
    await until(() => sent.length === 3, LIMIT_MS, 'the third notice was not sent');
    await sender.close();
    assert.deepEqual(
      sent.map((payload) => receiver.read(payload)),
      [
        { collectionIds: new Set(['a']), kinds: new Set() },
        { collectionIds: new Set(['b', 'c']), kinds: new Set(['rate']) },
        'everything',
      ],
    );
    assert.equal(sender.read(sent[0] ?? ''), null);
    assert.equal(receiver.read('of another version'), 'everything');
  });
});

async function start(t: TestContext, settings: Record<string, string>) {
  const service = await startTestService({
    settings: { ...settings, DATA_DIR: temporaryDirectory() },
    clock: () => START,
  });
  t.after(() => service.close());
  return service;
}
