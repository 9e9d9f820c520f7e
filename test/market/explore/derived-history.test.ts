// The history of the floor before the first import is derived from imported listings, if the record of the collection says that they are all of
// its listings.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { HOUR_MS, START, newCollection } from '../../support/service/market.ts';
import type { TestCollection } from '../../support/service/market.ts';
import type { TestService } from '../../support/service/service.ts';
import { startTestService } from '../../support/service/service.ts';

const HOURS = 10;
const ago = (hours: number) => new Date(START - hours * HOUR_MS).toISOString();

forOneEngine('the derived history of the floor', (engine) => {
  describe('service', () => {
    let service: TestService;
    before(async () => {
      service = await startTestService({ settings: await engine.settings(), clock: () => START });
    });
    after(() => service.close());

    /** A listing that was sold, one that was cancelled, one that expired, and two that are active. */
    const recordsOf = (subject: TestCollection, listingsComplete: boolean) => [
      subject.collection({ listingsComplete }),
      subject.order('1', 900, { createdAt: ago(9) }),
      subject.listing('2', 700, { id: 'sold', timestamp: ago(8), status: 'filled' }),
      subject.sale('2', 700, { listingId: 'sold', timestamp: ago(6) }),
      subject.listing('3', 500, { id: 'cancelled', timestamp: ago(5), status: 'cancelled', endedAt: ago(4) }),
      subject.listing('4', 800, { id: 'expired', timestamp: ago(3), expiresAt: ago(2) }),
      subject.listing('5', 1_000, { id: 'active', timestamp: ago(1) }),
    ];
    /** The floor at the end of each hour, and the listed count, the latest last. */
    async function closesOf(subject: TestCollection): Promise<[string | null, number | null][]> {
      const from = new Date(START - HOURS * HOUR_MS).toISOString();
      const { data } = await service.ok(`/explore/v1/collections/${subject.id}/history?interval=hour&from=${from}`);
      return data.map(({ floor, listed }: any) => [floor.close?.raw ?? null, listed]);
    }
    const UNKNOWN = Array.from({ length: HOURS }, () => [null, null]);
    const DERIVED = [
      [null, null],
      ['900', 1],
      ['700', 2],
      ['700', 2],
      ['900', 1],
      ['500', 2],
      ['900', 1],
      ['800', 2],
      ['900', 1],
      ['900', 2],
      ['900', 2],
    ];

    test('each past hour has the floor of the listings that were open, and the row of the collection has its changes and sparkline', async () => {
      const subject = newCollection();
      await service.load(recordsOf(subject, true));
      assert.deepEqual(await closesOf(subject), DERIVED);
      const { data } = await service.ok(`/explore/v1/collections/${subject.id}`);
      assert.deepEqual(
        data.sparkline.slice(-2).map((value: number | null) => value !== null),
        [true, true],
      );
      await service.load(recordsOf(subject, true));
      assert.deepEqual(await closesOf(subject), DERIVED, 'a second import changes nothing');
    });

    test('without the statement that all listings are imported, the past stays unknown', async () => {
      const subject = newCollection();
      await service.load(recordsOf(subject, false));
      assert.deepEqual((await closesOf(subject)).slice(0, HOURS), UNKNOWN);
    });

    test('the undo of the import takes the derived history back', async () => {
      const subject = newCollection();
      const { imports } = await service.load(recordsOf(subject, true));
      assert.deepEqual(await closesOf(subject), DERIVED);
      let position: unknown = null;
      do {
        const { status, body } = await service.operate('imports.undo', { id: imports[0], position });
        assert.equal(status, 200);
        position = body.result.next;
      } while (position !== null);
      const { body } = await service.get(`/explore/v1/collections/${subject.id}/history?interval=hour`);
      assert.equal(body.error?.code, 'not_found');
      await service.load([subject.collection()]);
      assert.deepEqual((await closesOf(subject)).slice(0, HOURS), UNKNOWN);
    });

    test('a listing that is reported as expired was open until its stated end', async () => {
      const subject = newCollection();
      await service.load([
        subject.collection({ listingsComplete: true }),
        subject.listing('1', 900, { id: 'active', timestamp: ago(4) }),
        subject.listing('2', 100, { id: 'over', timestamp: ago(3), status: 'expired', endedAt: ago(2) }),
      ]);
      assert.deepEqual((await closesOf(subject)).slice(-5), [
        ['900', 1],
        ['100', 2],
        ['900', 1],
        ['900', 1],
        ['900', 1],
      ]);
    });

    test('a second import can add when a listing ended, and the history is then known', async () => {
      const subject = newCollection();
      const cancelled = { id: 'over', timestamp: ago(3), status: 'cancelled' };
      await service.load([
        subject.collection({ listingsComplete: true }),
        subject.listing('1', 900, { id: 'active', timestamp: ago(4) }),
        subject.listing('2', 100, cancelled),
      ]);
      const rest = ['900', '900', '900'];
      const floors = async () => (await closesOf(subject)).slice(-5).map(([floor]) => floor);
      assert.deepEqual(await floors(), ['900', null, null, null, '900']);
      await service.load([subject.listing('2', 100, { ...cancelled, endedAt: ago(2) })]);
      assert.deepEqual(await floors(), ['900', '100', ...rest]);
    });

    test('a listing that is reported as active cannot have ended', async () => {
      const subject = newCollection();
      await assert.rejects(service.load([subject.listing('1', 1, { endedAt: ago(1) })]), /endedAt/);
    });
  });
});
