// Runs the tasks of the vendors. Each request gets the recorded response of another operation. Such a response must not change the stored
// rows, with one exception: rows that fit the request are stored as received. Also ingests recorded traits, and a recorded price in
// hexadecimal.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { readConfig } from '../../src/service/config.ts';
import type { Address } from '../../src/platform/core/address.ts';
import { toCollectionId } from '../../src/platform/core/collection.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { upsertFollow } from '../../src/market/follows/queries/follows.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { Ingester } from '../../src/sources/upstreams/ingester.ts';
import { createVendorTasks } from '../../src/sources/upstreams/vendor.ts';
import { runTask } from '../../src/platform/tasks/run.ts';
import type { Task } from '../../src/platform/tasks/task.ts';
import type { ServiceContext } from '../../src/service/context.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import { createTestUpstream } from '../support/replay/every-fault.ts';
import { NOW, dumpTables, emptySyncTables, runImport, toContext, toNdjson } from '../support/service/intake.ts';
import { startSameResponse } from '../support/replay/wrong-response.ts';
import { FAMOUS_FOX, RECORDED_SOURCES } from '../support/recordings/subjects.ts';
import { RECORDED, needsPayloads, readPayload } from '../support/recordings/payloads.ts';
import { startVendorServers } from '../support/replay/all-vendors.ts';
import { assetOf, createDasStore, dasRoutes } from '../support/replay/das.ts';
import { startReplayServer } from '../support/replay/replay.ts';

const LIMIT_MS = 60_000;
/**
 * The clock moves by this time between runs. The time is longer than any breaker stays open and longer than any pause between retries.
 */
const PAUSE_MS = 60_000;
const PACE = { timeoutMs: 800, retryMs: 1, breakerOpenMs: 0, breakerOpenMaxMs: 0 };
const ROWS = 30;
const LISTINGS = 'magiceden-solana/v2_tokens_token_mint_listings.json';
const ACTIVITIES = 'magiceden-solana/v2_wallets_owner_activities.json';
const FOXES = 'helius/getAssetsByCreator.famous-fox.50.json';
const MESSAGE = 'reservoir/ws_sale_payload-before-empty.json';

forOneEngine('recorded responses of other operations', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    await emptySyncTables(db);
  });

  test(
    'a recorded response of another operation changes no stored row if its rows do not fit the request',
    needsPayloads(),
    async (t) => {
      let passed = 0;
      const clock = () => NOW + passed;
      const world = await startVendorServers(t, { now: clock, rows: ROWS });
      await world.follow(db);
      const wrong = await startSameResponse(t);
      const { url } = wrong;
      const everywhere = { opensea: url, magicEden: url, das: url, coinbase: url, coingecko: url };
      const log = createLog('silent');
      const createTasks = (settings: Record<string, string>) => {
        const config = readConfig({ ...settings, OPENSEA_HOURLY_BUDGET: '1000000' });
        const context: ServiceContext = { ...toContext(db, { clock }), config, log, random: () => 0.5 };
        const vendors = config.vendors.filter(({ name }) => name !== 'feed');
        return createVendorTasks(vendors, context, PACE);
      };
      const run = (tasks: readonly Task[]) => {
        const stop = AbortSignal.timeout(LIMIT_MS);
        return Promise.all(tasks.map((task) => runTask(task, { main: db, log, random: () => 0.5, stop, force: true })));
      };
      const ends = await run(await createTasks(world.settings()));
      assert.ok(ends.every((end) => end.kind === 'done' && end.result.problems?.length === 0));
      assert.deepEqual(await world.missing(db), ['feed']);
      const truth = await dumpTables(db);
      const tasks = await createTasks(world.settings(everywhere));
      const unreported: string[] = [];
      for (const [file, recorded] of Object.entries(RECORDED)) {
        if (recorded.what === 'notes' || (recorded.what === 'answer' && recorded.asked)) continue;
        const text = readPayload(file);
        for (const given of recorded.vendor === 'helius' ? [text, withRequestId(text)] : [text]) {
          wrong.give(given);
          passed += PAUSE_MS;
          for (const task of tasks) {
            wrong.reset();
            const [end] = await run([task]);
            // A task that sent no request got no wrong response.
            if (end?.kind !== 'done' || wrong.count() === 0) continue;
            const { problems = [], refused } = end.result;
            if (problems.length + refused === 0) unreported.push(`${file} ${task.name}`);
          }
          assert.deepEqual(await dumpTables(db), truth, file);
        }
      }
      // The rows of this file are activities of the right shape without a sale. There is nothing to report.
      assert.deepEqual(unreported, ['magiceden-solana/v2_tokens_token_mint_activities.json magic-eden-sales']);
    },
  );

  test(
    'the rows of a recorded response of another operation are stored as received when they fit the request',
    needsPayloads(),
    async (t) => {
      const wrong = await startSameResponse(t);
      const ingester = new Ingester(toContext(db));
      for (const [file, source, symbol] of [
        [LISTINGS, 'listings', 'devnet_zoolana'],
        [ACTIVITIES, 'sales', 'runcible'],
      ] as const) {
        wrong.give(readPayload(file));
        const read = RECORDED_SOURCES['magic-eden'][source] ?? assert.fail(source);
        await ingester.ingest((await read(createTestUpstream(wrong.url), symbol)).records);
      }
      const { read, changed, refused } = ingester.result();
      assert.deepEqual([read, changed, refused], [2, 2, 0]);
      assert.deepEqual(await db.query('select asset, price_raw::text as price, status from indexer.listing'), [
        { asset: '6XkPLDtV2w17UUsyzah39PTBjZ9xTY8HokqRdWcmDhBa', price: '1120000000', status: 'active' },
      ]);
      assert.deepEqual(await db.query('select asset, price_raw::text as raw, price from indexer.sale'), [
        { asset: '4DbHsohxbkSJRZUNeVPPdxgYKJwEtXVge1ibQivi9x3T', raw: '45000000', price: '45000000' },
      ]);
    },
  );

  test(
    'the 355 traits of 50 recorded assets are stored with their values, their kinds and their order',
    needsPayloads(FOXES),
    async (t) => {
      const foxes: any[] = JSON.parse(readPayload(FOXES)).result.items;
      const store = createDasStore([...foxes, assetOf(FAMOUS_FOX, FAMOUS_FOX, { grouping: [] })]);
      const { url } = await startReplayServer(t, dasRoutes(store));
      await upsertFollow(db, {
        collectionId: toCollectionId('solana', FAMOUS_FOX as Address),
        chain: 'solana',
        contractAddress: FAMOUS_FOX as Address,
        standard: null,
        fromBlock: null,
        names: new Map(),
        createdAt: NOW,
      });
      const config = readConfig({ DAS_URL: url });
      const [task = assert.fail()] = await createVendorTasks(
        config.vendors.filter(({ name }) => name === 'das'),
        { ...toContext(db), config },
        PACE,
      );
      const stop = AbortSignal.timeout(LIMIT_MS);
      await runTask(task, { main: db, log: createLog('silent'), random: () => 0.5, stop, force: true });
      const expected = foxes.flatMap(({ id, content }) =>
        content.metadata.attributes.map(({ trait_type: name, value }: any) => ({
          asset: id,
          name,
          value: String(value),
          kind: typeof value === 'number' ? 'number' : 'text',
        })),
      );
      assert.equal(expected.length, 355);
      assert.deepEqual(new Set(expected.map(({ kind }) => kind)), new Set(['text', 'number']));
      const stored = await db.query(
        `select asset, name, value, kind from indexer.token_trait order by asset, position`,
      );
      assert.deepEqual(
        stored,
        expected.toSorted((a, b) => (a.asset === b.asset ? 0 : a.asset < b.asset ? -1 : 1)),
      );
    },
  );

  test(
    'a price in hexadecimal is kept as received, and its sale counts in the number of sales only',
    needsPayloads(MESSAGE),
    async () => {
      const { after } = JSON.parse(readPayload(MESSAGE));
      assert.equal(after.price, '0x00b1a2bc2ec50000');
      const record = {
        kind: 'sale',
        source: 'reservoir',
        chain: 'ethereum',
        contractAddress: after.contract,
        tokenId: after.token_id,
        price: after.price,
        // The sale is an accepted bid, so the taker is the seller.
        seller: after.taker,
        buyer: after.maker,
        timestamp: new Date(after.timestamp * 1_000).toISOString(),
        tx: after.tx_hash,
      };
      const { summary, refused } = await runImport(toContext(db), toNdjson([record]));
      assert.deepEqual([summary.inserted, refused], [1, []]);
      assert.deepEqual(await db.query('select price, price_raw, buyer from indexer.sale'), [
        { price: '0x00b1a2bc2ec50000', price_raw: null, buyer: after.maker },
      ]);
      const sums = 'select volume_raw::text as volume, sales::int, unread::int from indexer.sale_total';
      assert.deepEqual(await db.query(sums), [{ volume: '0', sales: 1, unread: 1 }]);
      // The same message also has the price in decimal digits. In this form the price is interpreted, and the sale counts.
      await runImport(toContext(db), toNdjson([{ ...record, price: after.currency_price, tx: after.block_hash }]));
      assert.deepEqual(await db.query(sums), [{ volume: '50000000000000000', sales: 2, unread: 1 }]);
    },
  );
});

/** Replaces the JSON-RPC id of a recorded response by the id of the requests that the service sends. */
function withRequestId(text: string): string {
  return JSON.stringify({ ...JSON.parse(text), id: 'mercat' });
}
