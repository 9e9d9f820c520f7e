// Tests which ask floor the service serves while the rows of the mirror cannot be read.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Databases } from '../../../src/platform/database/open.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { MINUTE_MS, START, newCollection } from '../../support/service/market.ts';
import type { TestService } from '../../support/service/service.ts';
import { startTestService } from '../../support/service/service.ts';

const MIRROR_TABLES = ['listing', 'listed_asset'];

forOneEngine('while the mirror cannot be read', (engine) => {
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

    test('the ask floor is the lower of the own order book and the newest reported floor, otherwise the floor of a record or of the snapshot', async () => {
      const snapshot = { floorRaw: '640' };
      // The chain keeps no buyer floor, and with it no ask of its moment.
      const make = () => newCollection({ chain: 'base', snapshot });
      const [own, cheap, newer, alone, analytics, stats, stored] = [
        make(),
        make(),
        make(),
        make(),
        make(),
        make(),
        make(),
      ];
      const all = [own, cheap, newer, alone, analytics, stats, stored];
      await service.load([
        ...all.flatMap((one) => [one.collection(), one.listing('9', 5)]),
        ...[own, analytics, stats].map((one) => one.stats({ floorRaw: '750' })),
        ...[own, analytics].map((one) => one.analytics({ floorRaw: '700' })),
        ...[own, newer, alone].map((one) => one.order('1', 2_000)),
        cheap.order('1', 600),
        cheap.stats({ floorRaw: '750' }),
        newer.analytics({ floorRaw: '700', at: new Date(now - 3 * MINUTE_MS).toISOString() }),
        newer.stats({ floorRaw: '750', at: new Date(now - 2 * MINUTE_MS).toISOString() }),
        alone.stats({ floorRaw: '750', at: new Date(now - 29 * MINUTE_MS).toISOString() }),
      ]);
      const floors = async () => {
        const raws = [];
        for (const one of all) {
          const { data } = await service.ok(`${one.path}/floor`);
          raws.push(data.askFloor?.raw ?? null);
        }
        return raws;
      };
      assert.deepEqual(
        await floors(),
        all.map(() => '5'),
      );
      const rename = async (from: string, to: string) => {
        for (const table of MIRROR_TABLES) {
          await databases.indexer.query(`alter table indexer.${from}${table} rename to ${to}${table}`);
        }
      };
      await rename('', 'away_');
      now += MINUTE_MS;
      // The record of `alone` is half an hour old by now.
      assert.deepEqual(await floors(), ['700', '600', '750', '2000', '700', '750', '640']);
      assert.deepEqual(
        (await service.ok(`${own.path}/listings`)).data.map((row: any) => row.price.raw),
        ['2000'],
      );
    });
  });
});
