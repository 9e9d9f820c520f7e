// Tests the volume and the number of sales of a collection in the last 24 hours, in the last seven days and in all time: which sales count,
// and that the sums agree with the stored sales and with each other.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database } from '../../../src/platform/database/port.ts';
import { lockFigures } from '../../../src/market/index/queries/figures.ts';
import { deleteSalesAfter, upsertSales } from '../../../src/market/index/queries/sales.ts';
import { listTradeFacts } from '../../../src/market/index/queries/analytics.ts';
import { parseRecord } from '../../../src/intake/records/parse.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { emptyTables, EVM, NOW, recordContext, sale, SELLER } from '../../support/service/intake.ts';
import { range } from '../../support/service/market.ts';

const COLLECTION_ID = `ethereum_${EVM}`;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOBODY = `0x${'0'.repeat(40)}`;

type SaleInput = { n: number; price: bigint; seller: string | null; soldAt: number; block: number | null };

/** A seeded random generator: it gives the same numbers in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

forOneEngine('volume', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => emptyTables(db));

  const insert = async (inputs: readonly SaleInput[]) => {
    const rows = inputs.map(({ n, price, seller, soldAt, block }) => {
      const values = sale({
        tokenId: String(n),
        price: String(price),
        tx: `0x${n}`,
        timestamp: new Date(soldAt).toISOString(),
        ...(seller !== null && { seller }),
      });
      const { record } = parseRecord(recordContext, values);
      if (record?.kind !== 'sale') throw new Error('not a sale');
      return { ...record.row, ...(block !== null && { blockNumber: block }) };
    });
    await db.transaction(async (tx) => {
      await lockFigures(tx, [COLLECTION_ID]);
      return upsertSales(tx, rows);
    });
  };
  const windows = async (now: number) => {
    const { sums } = (await listTradeFacts(db, [COLLECTION_ID], now)).get(COLLECTION_ID) ?? assert.fail();
    return { volume: sums.volumeRaw, sales: sums.sales };
  };
  /** The expected sums, computed from the single sales. Free sales do not count. A sale whose seller is the zero address counts. */
  const expected = (inputs: readonly SaleInput[], now: number) => {
    const traded = inputs.filter(({ price }) => price > 0n);
    const since = (ms: number) => traded.filter(({ soldAt }) => soldAt >= now - ms);
    const of = {
      allTime: traded,
      thirtyDay: since(30 * DAY_MS),
      sevenDay: since(7 * DAY_MS),
      twentyFourHour: since(DAY_MS),
      oneHour: since(HOUR_MS),
    };
    const map = <T>(to: (sales: SaleInput[]) => T) => ({
      allTime: to(of.allTime),
      thirtyDay: to(of.thirtyDay),
      sevenDay: to(of.sevenDay),
      twentyFourHour: to(of.twentyFourHour),
      oneHour: to(of.oneHour),
    });
    return {
      volume: map((sales) => sales.reduce((sum, { price }) => sum + price, 0n)),
      sales: map((sales) => sales.length),
    };
  };

  test('the sums of each window and of all time agree with the stored sales at any moment', async () => {
    const random = createRandom(7);
    const sellers = [SELLER, null, NOBODY, '0x0'];
    const inputs = range(600).map((n): SaleInput => ({
      n,
      price: random() < 0.1 ? 0n : BigInt(Math.floor(random() * 1e15)) * 10n ** 6n + 1n,
      seller: sellers[Math.floor(random() * 6)] ?? SELLER,
      soldAt: NOW - Math.floor(random() ** 2 * 40 * DAY_MS),
      block: random() < 0.5 ? Math.floor(random() * 100) : null,
    }));
    for (const start of [0, 200, 400]) await insert(inputs.slice(start, start + 200));
    await insert(inputs.slice(100, 300));
    for (const later of [0, 1, HOUR_MS / 2, HOUR_MS - 1, 5 * HOUR_MS + 7, DAY_MS, 8 * DAY_MS]) {
      const { volume, sales } = await windows(NOW + later);
      assert.deepEqual({ volume, sales }, expected(inputs, NOW + later), `the figures are wrong ${later} ms later`);
      assert.ok(volume && volume.twentyFourHour <= volume.sevenDay && volume.sevenDay <= volume.allTime);
    }
    assert.deepEqual(await db.transaction((tx) => deleteSalesAfter(tx, 'ethereum', 60)), [COLLECTION_ID]);
    const left = inputs.filter(({ block }) => block === null || block <= 60);
    assert.ok(left.length < inputs.length);
    assert.deepEqual(await windows(NOW), expected(left, NOW));
    await insert(inputs);
    assert.deepEqual(
      await windows(NOW),
      expected(inputs, NOW),
      'the sums are wrong after the orphaned sales were stored again',
    );
  });

  test('a free sale does not count, and a sale whose seller is the zero address counts', async () => {
    const at = { soldAt: NOW - HOUR_MS, block: null };
    await insert([
      { n: 1, price: 5n, seller: null, ...at },
      { n: 2, price: 7n, seller: NOBODY, ...at },
      { n: 3, price: 0n, seller: SELLER, ...at },
    ]);
    const { volume, sales } = await windows(NOW);
    assert.deepEqual([volume?.twentyFourHour, sales.twentyFourHour], [12n, 2]);
  });
});
