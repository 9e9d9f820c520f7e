// Which time the sales of an import cover, and when their sums are served as figures.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recountFigures } from '../../../src/market/index/recount.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { createImportOperations } from '../../../src/intake/operations.ts';
import { SocketIntake } from '../../../src/intake/socket-client.ts';
import { runImport, toChunks, toContext, toNdjson } from '../../support/service/intake.ts';
import type { TestCollection, TestMarket } from '../../support/service/market.ts';
import { DAY_MS, forOneMarket, HOUR_MS, MINUTE_MS, newCollection, range } from '../../support/service/market.ts';

const ETH = 10n ** 18n;

forOneMarket('the coverage of imported sales', {}, (market) => {
  const contextOf = ({ main, indexer, now }: TestMarket) => toContext(main(), { indexer: indexer(), clock: now });
  /** Imports a sale of one native unit of each age. */
  const importSales = async (subject: TestCollection, agesMs: readonly number[], options = {}) => {
    const records = agesMs.map((age, index) =>
      subject.sale(String(index), ETH, { timestamp: market.ago(age), tx: `0x${(index + 1).toString(16)}${age}` }),
    );
    const { summary } = await runImport(contextOf(market), toNdjson(records), options);
    return summary.imports?.[0] ?? '';
  };
  const stats = async (subject: TestCollection) => (await market.ok(subject.path)).data.stats;
  const fresh = async (fields = {}) => {
    const subject = newCollection();
    await market.load([subject.collection(fields)]);
    return subject;
  };

  test('the figures of 24 hours and of seven days are known only up to two hours after the newest imported sale', async () => {
    const [old, recent] = [await fresh(), await fresh()];
    await importSales(old, [40 * DAY_MS, 2 * HOUR_MS]);
    await importSales(recent, [3 * DAY_MS, 2 * HOUR_MS - MINUTE_MS]);
    const known = { volume: { allTime: 2, sevenDay: 2, twentyFourHour: 1 } };
    assert.deepEqual((await stats(recent)).volume, known.volume);
    for (const name of ['volume', 'sales']) {
      assert.deepEqual((await stats(old))[name], { allTime: 2, sevenDay: null, twentyFourHour: null });
    }
    market.advance(MINUTE_MS);
    assert.deepEqual((await stats(recent)).sales, { allTime: 2, sevenDay: null, twentyFourHour: null });
  });

  test('the end of the coverage can be stated, and a time in the future counts as the start of the import', async () => {
    const [quiet, future] = [await fresh(), await fresh()];
    // Through the socket, as the command does.
    const socket = new SocketIntake(market.socketPath);
    const sale = toNdjson([quiet.sale('1', ETH, { timestamp: market.ago(3 * DAY_MS) })]);
    const options = { format: 'ndjson', completeUntil: market.now() - HOUR_MS } as const;
    await socket.import(toChunks(sale), options, () => undefined);
    await importSales(future, [3 * DAY_MS], { completeUntil: market.now() + DAY_MS });
    for (const subject of [quiet, future]) {
      assert.deepEqual((await stats(subject)).volume, { allTime: 1, sevenDay: 1, twentyFourHour: 0 });
    }
    market.advance(HOUR_MS);
    assert.equal((await stats(quiet)).volume.twentyFourHour, null);
    assert.equal((await stats(future)).volume.twentyFourHour, 0);
    market.advance(HOUR_MS);
    assert.equal((await stats(future)).volume.twentyFourHour, null);
  });

  test('the coverage of an import ends with the newest of all its rows, in whichever batch it is, and an import of older rows does not shorten it', async () => {
    const subject = await fresh();
    const ages = range(12_000).map((index) => (index === 100 ? HOUR_MS / 2 : 10 * DAY_MS + index * MINUTE_MS));
    await importSales(subject, ages);
    assert.equal((await stats(subject)).sales.twentyFourHour, 1);
    const rising = await fresh();
    await importSales(rising, ages.toReversed());
    assert.equal((await stats(rising)).sales.twentyFourHour, 1);
    await importSales(subject, [200 * DAY_MS]);
    // The service does not learn of this import, and has its last response until now.
    market.advance(MINUTE_MS);
    assert.equal((await stats(subject)).sales.twentyFourHour, 1);
  });

  test('when an import is undone, the coverage ends where it ended before', async () => {
    const subject = await fresh();
    await importSales(subject, [90 * MINUTE_MS]);
    const id = await importSales(subject, [0]);
    market.advance(HOUR_MS);
    assert.equal((await stats(subject)).sales.twentyFourHour, 2);
    const undone = await createImportOperations(contextOf(market))['imports.undo']?.({ id });
    assert.ok(undone);
    market.advance(MINUTE_MS);
    assert.deepEqual((await stats(subject)).sales, { allTime: 1, sevenDay: null, twentyFourHour: null });
  });

  for (const undone of [
    [0],
    [1],
    [2],
    [0, 1],
    [0, 2],
    [1, 0],
    [1, 2],
    [2, 0],
    [2, 1],
    [0, 1, 2],
    [1, 2, 0],
    [2, 0, 1],
  ]) {
    test(`of three imports of sales, number ${undone.join(', then ')} undone, the coverage ends with the newest sale of those that are left`, async () => {
      const subject = await fresh();
      const ages = [90 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS];
      const ids: string[] = [];
      for (const age of ages) ids.push(await importSales(subject, [age]));
      for (const index of undone) {
        await createImportOperations(contextOf(market))['imports.undo']?.({ id: ids[index] });
      }
      const left = ages.filter((_age, index) => !undone.includes(index));
      const { allTime } = (await stats(subject)).sales;
      assert.equal(allTime, left.length === 0 ? null : left.length);
      if (left.length === 0) return;
      market.advance(2 * HOUR_MS - Math.min(...left) - MINUTE_MS);
      assert.equal((await stats(subject)).sales.twentyFourHour, left.length);
      market.advance(MINUTE_MS);
      assert.equal((await stats(subject)).sales.twentyFourHour, null);
    });
  }

  test('a smaller sum of imported sales does not replace the all-time volume of the record, until the record says that the sales are complete', async () => {
    const subject = await fresh({ snapshot: { volumeAllTime: 1_000 } });
    const listed = async () => {
      const rows = await market.walk('/v1/collections?sort=volume&limit=100');
      return rows.find(({ contractAddress }) => contractAddress === subject.address)?.stats.volumeAllTime;
    };
    const provenance = async () => {
      const { figures } = (await market.ok(`/explore/v1/collections/${subject.slug}/provenance`)).data;
      return ['volume.allTime', 'sales.allTime'].map((name) => {
        const { kind, reason } = figures.find(({ figure }: { figure: string }) => figure === name);
        return [kind, reason];
      });
    };
    const isPart = 'the imported sales are fewer than a record of the collection states';
    const differences = () => {
      const stores = { main: market.main(), indexer: market.indexer(), chains: createChains() };
      return recountFigures(stores, { prefix: '', now: market.now(), limit: 10 });
    };
    await importSales(subject, [0]);
    assert.equal((await stats(subject)).volume.allTime, 1_000);
    assert.equal((await stats(subject)).sales.allTime, null);
    assert.equal(await listed(), 1_000);
    assert.deepEqual(await provenance(), [
      ['snapshot', null],
      ['unknown', isPart],
    ]);
    assert.deepEqual(await differences(), []);
    await market.load([subject.collection({ salesComplete: true })]);
    market.advance(MINUTE_MS);
    assert.equal((await stats(subject)).volume.allTime, 1);
    assert.equal((await stats(subject)).sales.allTime, 1);
    assert.equal(await listed(), 1);
    assert.deepEqual(await provenance(), [
      ['imported', null],
      ['imported', null],
    ]);
    assert.deepEqual(await differences(), []);
  });

  test('while an analytics record of any age states more sales than were imported, neither their sum nor their number is served, in the detail, the list and the order of the list', async () => {
    const subject = await fresh();
    await importSales(subject, [0, HOUR_MS]);
    assert.equal((await stats(subject)).volume.allTime, 2);
    await market.load([subject.analytics({ at: market.ago(3 * DAY_MS), sales: { allTime: 3 } })]);
    market.advance(MINUTE_MS);
    const { volume, sales } = await stats(subject);
    assert.deepEqual([volume.allTime, sales.allTime], [null, null]);
    const rows = await market.walk('/v1/collections?sort=volume&limit=100');
    assert.equal(rows.find(({ contractAddress }) => contractAddress === subject.address)?.stats.volumeAllTime, null);
    const [ranked] = await market
      .indexer()
      .query(`select volume_rank < 0 as is_unknown from indexer.collection_figures where collection_id = $1`, [
        subject.id,
      ]);
    assert.deepEqual(ranked, { is_unknown: true });
    const { figures } = (await market.ok(`/explore/v1/collections/${subject.slug}/provenance`)).data;
    for (const name of ['volume.allTime', 'sales.allTime']) {
      const { reason } = figures.find(({ figure }: { figure: string }) => figure === name);
      assert.equal(reason, 'the imported sales are fewer than a record of the collection states');
    }
  });
});
