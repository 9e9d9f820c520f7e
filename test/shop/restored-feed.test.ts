// The feed of changes after a restore. A restored database gives the places after the backup to other changes, so an `after` from before the restore must
// never be continued.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createLog } from '../../src/platform/core/log.ts';
import { openDatabases } from '../../src/platform/database/open.ts';
import { readConfig } from '../../src/service/config.ts';
import { backUp, restore } from '../platform/database/backup/backups.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { startTestService } from '../support/service/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

forEachEngine('the feed of a restored shop', (engine) => {
  describe('service', () => {
    const closers: (() => Promise<unknown>)[] = [];
    let send: (method: string, path: string, body?: object) => Promise<{ status: number; body: any }>;
    let restoreNow: () => Promise<unknown>;
    before(async () => {
      const settings = { PRICE_SOURCES: 'none', ...(await engine.settings()) };
      const databases = await openDatabases(readConfig(settings), createLog('silent'));
      const service = await startTestService({ settings, open: async () => databases, workers: false });
      closers.push(() => service.close());
      const file = path.join(temporaryDirectory(), 'backup');
      await service.operate('shops.create', { name: 'shop' });
      const scopes = ['products:read', 'products:write', 'inventory:read'];
      const { body } = await service.operate('keys.create', { shop: 'shop', scopes });
      send = async (method, target, content) => {
        const response = await fetch(`${service.url}/api/v1${target}`, {
          method,
          headers: { authorization: `Bearer ${body.result.secret}`, 'content-type': 'application/json' },
          ...(content && { body: JSON.stringify(content) }),
        });
        return { status: response.status, body: await response.json() };
      };
      await product('kept');
      await backUp(databases, file);
      restoreNow = () => restore(databases, file, { replace: true });
    });
    after(async () => {
      for (const close of closers) await close();
    });
    const product = (name: string) => send('POST', '/products', { name, price: '1' });
    const expectGone = async (place: number) => {
      const { status, body } = await send('GET', `/changes?after=${place}`);
      assert.deepEqual([status, body.error?.code], [410, 'gone'], `after=${place}`);
    };

    test('rejects a reader that is ahead with 410, also after the feed has become longer than the one of before, and so after another restore', async () => {
      const places = [0];
      for (const restored of ['first', 'second']) {
        for (let count = 0; count < 3; count += 1) await product(`lost ${restored} ${count}`);
        const ahead = await send('GET', `/changes?after=${places.at(-1)}`);
        assert.equal(ahead.body.data.at(-1).object.name, `lost ${restored} 2`);
        places.push(ahead.body.meta.sequence);
        await restoreNow();
        for (const place of places) await expectGone(place);
        for (let count = 0; count < 6; count += 1) await product(`new ${count}`);
        for (const place of places) await expectGone(place);
        const list = await send('GET', '/products');
        assert.equal(list.body.data.length, 7);
        const { sequence } = list.body.meta;
        assert.ok(Number.isSafeInteger(sequence) && sequence > Math.max(...places));
        await product('after');
        const feed = await send('GET', `/changes?after=${sequence}`);
        assert.equal(feed.status, 200, JSON.stringify(feed.body));
        const [last] = feed.body.data.toReversed();
        assert.equal(last.object.name, 'after');
        places.push(feed.body.meta.sequence);
      }
    });
  });
});
