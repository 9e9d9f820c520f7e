// Tests which ask floor the service serves while the rows of the mirror cannot be read.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Databases } from '../../src/database/open.ts';
import { openDatabases } from '../../src/database/open.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { MINUTE_MS, START, newCollection } from '../support/service/market.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';

const MIRROR_TABLES = ['listing', 'listed_asset'];

forEachEngine('while the mirror cannot be read', (engine) => {
  describe('service', () => {
    let now = START;
    let service: TestService;
    let databases: Databases;
    before(async () => {
      service = await startTestService({
        settings: await engine.settings(),
        clock: () => now,
        open: async (config, log) => (databases = await openDatabases(config, log)),
      });
    });
    after(() => service.close());

    test('the ask floor comes from the first source that has a floor: own order book, analytics record, stats record, snapshot', async () => {
      const snapshot = { floorRaw: '640' };
      const [own, analytics, stats, stored] = [1, 2, 3, 4].map(() => newCollection({ snapshot })) as [
        ReturnType<typeof newCollection>,
        ReturnType<typeof newCollection>,
        ReturnType<typeof newCollection>,
        ReturnType<typeof newCollection>,
      ];
      await service.load([
        ...[own, analytics, stats, stored].flatMap((one) => [one.collection(), one.listing('9', 5)]),
        ...[own, analytics, stats].map((one) => one.stats({ floorRaw: '750' })),
        ...[own, analytics].map((one) => one.analytics({ floorRaw: '700' })),
        own.order('1', 2_000),
      ]);
      const floors = async () => {
        const raws = [];
        for (const one of [own, analytics, stats, stored]) {
          const { data } = await service.ok(`${one.path}/floor`);
          raws.push(data.askFloor?.raw ?? null);
        }
        return raws;
      };
      assert.deepEqual(await floors(), ['5', '5', '5', '5']);
      const rename = async (from: string, to: string) => {
        for (const table of MIRROR_TABLES) {
          await databases.indexer.query(`alter table indexer.${from}${table} rename to ${to}${table}`);
        }
      };
      await rename('', 'away_');
      now += MINUTE_MS;
      assert.deepEqual(await floors(), ['2000', '700', '750', '640']);
      assert.deepEqual(
        (await service.ok(`${own.path}/listings`)).data.map((row: any) => row.price.raw),
        ['2000'],
      );
    });
  });
});
