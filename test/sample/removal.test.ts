// Tests that `mercat sample remove` deletes all rows of the sample and changes no other row. Also tests that the times in the sample are
// relative to the time at which the sample is loaded.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listSampleCollections, generateSampleMarket, SAMPLE_CUSTODY_WALLET } from '../../sample/market.ts';
import { defineSample } from '../../src/cli/sample.ts';
import { createChains } from '../../src/platform/core/chains.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { recountFigures } from '../../src/market/index/recount.ts';
import { runCommand } from '../cli/run-command.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import { newCollection, START } from '../support/service/market.ts';
import { dumpEveryTable, IMPORT_TABLES, LOG_TABLES } from '../support/service/every-table.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const DAY_MS = 86_400_000;
const WAIT_MS = 60_000;
const SAMPLE_SIZE = listSampleCollections().length;
/**
 * The tables that are not compared: tables that background tasks change at any time, the activity log, and the records of the imports that
 * load the sample.
 */
const LIVE_TABLES = ['main.sync_task', 'main.request_budget', ...LOG_TABLES, ...IMPORT_TABLES];

forOneEngine('removing the sample', (engine) => {
  describe('service', () => {
    let db: Database;
    let service: TestService;
    before(async () => {
      db = await engine.open();
      service = await startTestService({
        settings: { DATA_DIR: temporaryDirectory() },
        clock: () => START,
        open: () => Promise.resolve({ main: db, store: db, indexer: db, close: () => Promise.resolve() }),
      });
    });
    after(() => service.close());
    /** Waits until the sweep has computed the ranking keys of all changed collections. */
    const untilSwept = () => {
      const isSwept = async () =>
        (
          await db.query('select from indexer.collection_figures where recorded and ranks_valid_until <= $1', [
            new Date(START),
          ])
        ).length === 0;
      return until(isSwept, WAIT_MS, 'the ranking keys were not computed');
    };
    const recount = () =>
      recountFigures({ main: db, indexer: db, chains: createChains() }, { prefix: '', now: START, limit: 10 });

    test('after the sample is removed, every table and response is as before the sample was loaded', async () => {
      const mine = newCollection();
      const onSolana = newCollection({ chain: 'solana' });
      await service.load([
        mine.collection(),
        mine.token('1', { owner: SAMPLE_OWNER }),
        mine.order('1', 7),
        mine.listing('2', 9),
        mine.sale('3', 11),
        onSolana.collection(),
      ]);
      const paths = ['', '/listings', '/sales'].map((part) => mine.path + part);
      const read = async () => {
        const bodies = [];
        for (const path of [...paths, '/v1/collections?limit=100']) bodies.push(await service.ok(path));
        return bodies;
      };
      const responses = await read();
      await service.ok(`${mine.path}/floor`);
      const isFloorStored = async () => (await db.query('select from main.last_buyer_floor')).length > 0;
      await until(isFloorStored, WAIT_MS, 'the buyer floor was not stored');
      await untilSwept();
      const before = await dumpEveryTable(db, LIVE_TABLES);

      await service.load(generateSampleMarket({ serviceName: 'mercat', at: START }));
      const listed = await service.walk('/v1/collections');
      assert.equal(listed.length, SAMPLE_SIZE + 2);
      for (const { id } of listed) {
        for (const part of ['', '/floor', '/listings', '/sales']) await service.ok(`/v1/collections/${id}${part}`);
      }
      const { status, body } = await service.operate('sample.remove', {});
      assert.deepEqual([status, body.result], [200, { collections: SAMPLE_SIZE }]);

      await untilSwept();
      const remaining = await dumpEveryTable(db, LIVE_TABLES);
      for (const [name, rows] of remaining) assert.deepEqual(rows, before.get(name), name);
      const logged = await db.query(
        `select distinct collection_id from main.activity where kind <> 'remove' and collection_id is not null`,
      );
      assert.deepEqual(
        logged.filter((row) => row['collection_id'] !== mine.id),
        [],
      );
      assert.deepEqual(await read(), responses);
      assert.equal((await service.get('/v1/collections/harbour-lights')).status, 404);
      assert.deepEqual(await recount(), []);
      assert.deepEqual((await service.operate('sample.remove', {})).body.result, { collections: 0 });
    });

    test('what was imported into a collection of the sample leaves with it, and the undo of the import finds its rows gone', async () => {
      await service.load(generateSampleMarket({ serviceName: 'mercat', at: START }));
      const { id } = (await service.ok('/v1/collections/harbour-lights')).data;
      const [chain, contractAddress] = id.split('_');
      const listing = {
        kind: 'listing',
        source: 'opensea',
        chain,
        contractAddress,
        priceRaw: '5',
        timestamp: new Date(START).toISOString(),
        seller: SAMPLE_OWNER,
      };
      const mine = newCollection();
      await service.load([
        mine.collection(),
        mine.listing('1', 5),
        ...['1', '2'].map((tokenId) => ({ ...listing, tokenId, id: `mine-${tokenId}` })),
      ]);
      await service.operate('sample.remove', {});
      const [{ id: newest }] = (await service.operate('imports.list', {})).body.result;
      const { rows } = (await service.operate('imports.undo', { id: newest, dryRun: true })).body.result;
      assert.deepEqual(rows.listing, { removed: 1, restored: 0, missing: 2, kept: 0 });
      assert.equal((await service.get('/v1/collections/harbour-lights')).status, 404);
      await service.operate('collections.remove', { id: mine.id, purge: true });
    });

    test('the sample can be loaded again after its removal', async () => {
      await service.load(generateSampleMarket({ serviceName: 'mercat', at: START }));
      assert.equal((await service.walk('/v1/collections')).length, SAMPLE_SIZE + 2);
      assert.deepEqual(await recount(), []);
      await service.operate('sample.remove', {});
    });
  });
});

const SAMPLE_OWNER = '0x00000000000000000000000000000000000000e1';

test('the command removes the sample with and without a running server', async (t) => {
  const dir = await directoryWithDatabase();
  const remove = (...options: string[]) =>
    runCommand(defineSample, ['sample', 'remove', ...options], { env: { DATA_DIR: dir } });
  const start = (sample: boolean) => startTestService({ settings: { DATA_DIR: dir }, sample });

  const first = await start(true);
  assert.equal((await first.walk('/v1/collections')).length, SAMPLE_SIZE);
  const removed = await remove();
  assert.deepEqual(removed, {
    code: 0,
    stdout: `the sample marketplace is removed: ${SAMPLE_SIZE} collections\n`,
    stderr: '',
  });
  assert.deepEqual(await first.walk('/v1/collections'), []);
  await first.load(generateSampleMarket({ serviceName: 'mercat', at: Date.now() }));
  await first.close();

  assert.equal((await remove('--json')).stdout, `{"collections":${SAMPLE_SIZE}}\n`);
  assert.equal((await remove()).stdout, 'there is no sample marketplace here\n');
  const second = await start(false);
  t.after(() => second.close());
  assert.deepEqual(await second.walk('/v1/collections'), []);
});

test('the times in the sample are relative to the time at which the sample is loaded', async (t) => {
  const at = Date.UTC(2026, 10, 22, 7, 21, 33, 456);
  const service = await startTestService({
    settings: { DATA_DIR: await directoryWithDatabase(), CUSTODY_WALLETS: `${SAMPLE_CUSTODY_WALLET}=Vault` },
    clock: () => at,
    sample: true,
  });
  t.after(() => service.close());
  let newest = 0;
  for (const { id } of await service.walk('/v1/collections')) {
    const { stats } = (await service.ok(`/v1/collections/${id}`)).data;
    const sales = await service.walk(`/v1/collections/${id}/sales`);
    const times = sales.filter(({ price }) => price.raw !== '0').map(({ timestamp }) => Date.parse(timestamp));
    const within = (days: number) => times.filter((time) => time > at - days * DAY_MS).length;
    assert.ok(
      times.every((time) => time < at),
      `a sale of ${id} is in the future`,
    );
    if (stats.sales.twentyFourHour !== null) {
      assert.deepEqual([stats.sales.twentyFourHour, stats.sales.sevenDay], [within(1), within(7)], id);
    }
    newest = Math.max(newest, ...times);
  }
  assert.ok(at - newest < DAY_MS / 24, `the newest sale is ${(at - newest) / DAY_MS} days old`);
});

test('a sample that is loaded at another time differs in times only', () => {
  const generate = (at?: number) => [
    ...generateSampleMarket({ serviceName: 'mercat', ...(at !== undefined && { at }) }),
  ];
  const [base, later] = [generate(), generate(Date.UTC(2027, 0, 1, 0, 0, 0, 999))];
  const withoutTimes = (record: object) =>
    JSON.stringify(record, (key, value) =>
      ['createdAt', 'timestamp', 'expiresAt', 'endedAt', 'at', 'listingId'].includes(key) ? null : value,
    );
  assert.deepEqual(later.map(withoutTimes), base.map(withoutTimes));
  const orders = new Set(
    later
      .filter(({ kind }) => kind === 'order')
      .map((one) =>
        [one['chain'], one['contractAddress'], one['tokenId'], Date.parse(String(one['createdAt']))].join('_'),
      ),
  );
  const own = later.filter(
    ({ kind, source, tokenId, listingId }) => kind === 'sale' && source === 'mercat' && tokenId && listingId,
  );
  assert.ok(own.length > 50);
  for (const { listingId } of own) assert.ok(orders.has(String(listingId)), String(listingId));
});
