// The stream after a restore. A restored database gives the positions after the backup to other events, so an offset from before the restore
// must never be continued.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createLog } from '../../../../src/platform/core/log.ts';
import type { Databases } from '../../../../src/platform/database/open.ts';
import { openDatabases } from '../../../../src/platform/database/open.ts';
import { readConfig } from '../../../../src/service/config.ts';
import { backUp, restore } from '../../../platform/database/backup/backups.ts';
import { forEachEngine } from '../../../support/engines/each-engine.ts';
import { EventStream, StreamRejected } from '../../../support/http/event-stream.ts';
import { newCollection, range } from '../../../support/service/market.ts';
import type { TestService } from '../../../support/service/service.ts';
import { startTestService } from '../../../support/service/service.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { until } from '../../../support/until.ts';

const LIMIT_MS = 60_000;

forEachEngine('a restored database', (engine) => {
  describe('service', () => {
    const file = path.join(temporaryDirectory(), 'backup');
    const subject = newCollection();
    const orders = (first: number, count: number) =>
      range(count).map((index) => subject.order(String(first + index), first + index));
    const opened: { service: TestService; databases: Databases }[] = [];
    const start = async (settings: Record<string, string>) => {
      const databases = await openDatabases(readConfig({ PRICE_SOURCES: 'none', ...settings }), createLog('silent'));
      const service = await startTestService({ settings, open: async () => databases, workers: false });
      opened.push({ service, databases });
      return { service, databases };
    };
    const offsetOf = async (service: TestService): Promise<string> =>
      (await service.operate('status', {})).body.result.stream.offset;
    const positionOf = (offset: string) => Number(offset.split('-')[1]);
    const untilAt = (service: TestService, position: number) =>
      until(async () => positionOf(await offsetOf(service)) === position, LIMIT_MS, 'the log was not read');
    const rejectionOf = async (service: TestService, offset: string) => {
      try {
        (await EventStream.open(`${service.url}/explore/v1/stream?from=${offset}`)).close();
      } catch (error) {
        if (error instanceof StreamRejected) return [error.status, error.body.error.code];
        throw error;
      }
      return null;
    };

    let first: Awaited<ReturnType<typeof start>>;
    let saved: number;
    /** An offset between the backup and the restore. */
    let lost: string;
    before(async () => {
      first = await start(await engine.settings());
      await first.service.load([subject.collection(), ...orders(1, 5)]);
      await until(async () => positionOf(await offsetOf(first.service)) >= 5, LIMIT_MS, 'the log was not read');
      saved = positionOf(await offsetOf(first.service));
      await backUp(first.databases, file);
      await first.service.load(orders(100, 10));
      await until(
        async () => positionOf(await offsetOf(first.service)) >= saved + 10,
        LIMIT_MS,
        'the log was not read',
      );
      lost = (await offsetOf(first.service)).replace(/\d{16}$/, String(saved + 3).padStart(16, '0'));
      assert.equal(await rejectionOf(first.service, lost), null);
    });
    after(async () => {
      for (const { service } of opened) await service.close();
    });

    test('rejects offsets from before the restore with 410, also after its log has reached their positions', async () => {
      const { service, databases } = await start(await engine.settings());
      await restore(databases, file, { replace: true });
      await untilAt(service, saved);
      await service.load(orders(200, 20));
      await until(async () => positionOf(await offsetOf(service)) >= saved + 20, LIMIT_MS, 'the log was not read');
      const kept = lost.replace(/\d{16}$/, '0'.repeat(15) + '1');
      for (const offset of [lost, kept]) {
        assert.deepEqual(await rejectionOf(service, offset), [410, 'gone']);
        assert.equal((await service.get(`/explore/v1/stream/pages/${offset}`)).status, 410);
      }
      const { meta } = await service.ok(`/explore/v1/collections/${subject.id}`);
      assert.equal(await rejectionOf(service, meta.offset), null);
      const { data } = await service.ok('/explore/v1/stream/pages/0');
      const [oldest] = data;
      assert.equal(oldest.offset.split('-')[0], meta.offset.split('-')[0]);
      assert.ok(
        data.every(
          ({ offset }: { offset: string }) => positionOf(offset) > 0 && offset.split('-')[0] !== kept.split('-')[0],
        ),
      );
    });

    test('of which a server is running ends the streams of the log of before', async () => {
      const { service, databases } = first;
      const before = await offsetOf(service);
      const stream = await EventStream.open(`${service.url}/explore/v1/stream`);
      await until(() => stream.lastEventId === before, LIMIT_MS, 'the stream has not begun');
      await restore(databases, file, { replace: true });
      assert.equal(await stream.ended, true);
      await untilAt(service, saved);
      assert.deepEqual(await rejectionOf(service, before), [410, 'gone']);
      assert.notEqual((await offsetOf(service)).split('-')[0], before.split('-')[0]);
      assert.ok(service.logged.some((line) => line.includes('the activity log was replaced')));
    });
  });
});
