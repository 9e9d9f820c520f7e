// Tests the task that stores dollar prices. Local servers respond and fail like Coinbase and CoinGecko.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { before, beforeEach, test } from 'node:test';
import { readConfig } from '../../../../src/service/config.ts';
import type { Database } from '../../../../src/platform/database/port.ts';
import { createChains, parseExtraChain } from '../../../../src/platform/core/chains.ts';
import { createLog } from '../../../../src/platform/core/log.ts';
import { createVendorTasks } from '../../../../src/sources/upstreams/vendor.ts';
import { runTask } from '../../../../src/platform/tasks/run.ts';
import type { TaskResult } from '../../../../src/platform/tasks/task.ts';
import { forOneEngine } from '../../../support/engines/each-engine.ts';
import { NOW, toContext } from '../../../support/service/intake.ts';
import type { ReplayFault } from '../../../support/replay/replay.ts';
import { REPLAY_FAULTS, startReplayServer } from '../../../support/replay/replay.ts';
import { coinbaseRoutes, coingeckoRoutes } from '../../../support/replay/prices.ts';
import type { PriceTable } from '../../../support/replay/prices.ts';

const PRICES: PriceTable = { ETH: '2723.905', SOL: '84.95', POL: '0.2174', APE: '0.61' };
const MINUTE_MS = 60_000;
const LIMIT_MS = 60_000;

forOneEngine('prices', (engine) => {
  let db: Database;
  let now = NOW;
  let logged: string[] = [];
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    now = NOW;
    logged = [];
    await db.query('delete from main.rate');
    await db.query('delete from main.sync_task');
  });

  const rates = async (): Promise<Record<string, number>> => {
    const rows = await db.query(`select symbol, usd from main.rate order by symbol`);
    return Object.fromEntries(rows.map((row) => [row['symbol'], row['usd']]));
  };

  const start = async (t: TestContext, options: { settings?: Record<string, string>; extra?: string } = {}) => {
    const tables = { coinbase: { ...PRICES }, coingecko: { ...PRICES } };
    const updated = { at: NOW / 1_000 };
    const misdirected = new Map<string, string>();
    const coinbase = await startReplayServer(
      t,
      coinbaseRoutes(tables.coinbase, (symbol) => misdirected.get(symbol) ?? symbol),
    );
    const coingecko = await startReplayServer(
      t,
      coingeckoRoutes(tables.coingecko, () => updated.at),
    );
    const config = readConfig({ COINBASE_URL: coinbase.url, COINGECKO_URL: coingecko.url, ...options.settings });
    const log = createLog('info', (line) => logged.push(line));
    const chains = createChains(options.extra === undefined ? null : parseExtraChain(options.extra));
    const context = { ...toContext(db, { clock: () => now, chains }), config, log, random: () => 0.5 };
    const [task] = await createVendorTasks(
      config.vendors.filter(({ name }) => name === 'prices'),
      context,
      { timeoutMs: 300 },
    );
    const run = async () => {
      if (!task) throw new Error('there is no task');
      const stop = AbortSignal.timeout(LIMIT_MS);
      return runTask(task, { main: db, log, random: () => 0.5, stop, force: true });
    };
    const done = async (): Promise<TaskResult> => {
      const end = await run();
      return end.kind === 'done' ? end.result : assert.fail(JSON.stringify(end));
    };
    return { tables, misdirected, updated, coinbase, coingecko, run, done, task };
  };

  test('every native currency gets a price, with one request to Coinbase for each currency and one request to CoinGecko', async (t) => {
    const { coinbase, coingecko, done } = await start(t);
    const { problems, changed, refused } = await done();
    assert.deepEqual([problems, changed, refused], [[], 4, 0]);
    assert.deepEqual(await rates(), { APE: 0.61, ETH: 2723.905, POL: 0.2174, SOL: 84.95 });
    assert.deepEqual([coinbase.count(), coingecko.count()], [4, 1]);
    const ids = 'solana%2Cethereum%2Cpolygon-ecosystem-token%2Capecoin';
    assert.deepEqual(coingecko.requests, [
      `GET /api/v3/simple/price?ids=${ids}&vs_currencies=usd&include_last_updated_at=true&precision=full`,
    ]);
  });

  test('the currency of a chain from the settings gets a price as soon as a price source has one', async (t) => {
    const { tables, done } = await start(t, { extra: 'monad:evm:MON:18:143' });
    assert.deepEqual((await done()).problems, []);
    assert.equal((await rates())['MON'], undefined);
    tables.coinbase['MON'] = '0.031';
    await done();
    assert.equal((await rates())['MON'], 0.031);
  });

  test('if the two prices of a currency differ by more than 5 %, the stored price of the currency is not changed', async (t) => {
    const { tables, done } = await start(t);
    await done();
    tables.coingecko['ETH'] = '2900';
    tables.coinbase['SOL'] = '86';
    now += MINUTE_MS;
    const { problems } = await done();
    assert.deepEqual(problems, ['ETH: coinbase and coingecko disagree by more than 5 %']);
    await done();
    assert.equal(logged.filter((line) => line.includes('disagree')).length, 1);
    const [eth] = await db.query<{ at: Date }>(`select at from main.rate where symbol = 'ETH'`);
    assert.equal(eth?.at.getTime(), NOW, 'the time of the stored rate changed');
    assert.equal((await rates())['SOL'], 86);
  });

  test('when one price source is unavailable, the prices of the other price source are stored', async (t) => {
    const { coinbase, coingecko, run, done } = await start(t);
    coinbase.fail('reset');
    const { problems = [] } = await done();
    assert.deepEqual([problems.length, await rates()], [1, { APE: 0.61, ETH: 2723.905, POL: 0.2174, SOL: 84.95 }]);
    assert.match(problems[0] ?? '', /^coinbase: unreachable/);
    coingecko.fail('server-error');
    const end = await run();
    assert.equal(end.kind, 'failed');
    assert.doesNotMatch(JSON.stringify(end), /127\.0\.0\.1|http/);
    assert.equal((await rates())['ETH'], 2723.905);
  });

  test('without network access, repeated runs log only one warning', async (t) => {
    const { coinbase, coingecko, run, done } = await start(t);
    coinbase.fail('reset');
    coingecko.fail('reset');
    for (let turn = 0; turn < 6; turn += 1) {
      assert.equal((await run()).kind, 'failed');
      now += MINUTE_MS;
    }
    const levels = logged.map((line) => JSON.parse(line)).map(({ level, message }) => `${level} ${message}`);
    assert.deepEqual(levels, ['warn a task failed']);
    assert.ok(coinbase.count() < 6 * 4 * 3, 'too many requests were sent');
    coinbase.heal();
    coingecko.heal();
    now += MINUTE_MS;
    assert.deepEqual((await done()).problems, []);
    assert.equal(logged.length, 2);
  });

  test('a price that is implausible, too old or for another currency is rejected and not stored', async (t) => {
    const { tables, misdirected, updated, coinbase, done } = await start(t);
    misdirected.set('ETH', 'SOL');
    assert.equal((await done()).refused, 1, 'the price of another currency was not rejected');
    misdirected.clear();
    Object.assign(tables.coinbase, { ETH: '-5', SOL: '1e400', POL: '0', APE: 'NaN' });
    assert.equal((await done()).refused, 4);
    assert.deepEqual(
      await rates(),
      { APE: 0.61, ETH: 2723.905, POL: 0.2174, SOL: 84.95 },
      'the prices of the second price source were not stored',
    );
    coinbase.fail('not-found');
    Object.assign(tables.coingecko, { ETH: '2723905000000', SOL: '-1', POL: '"0.2"', APE: '12' });
    const { problems } = await done();
    assert.deepEqual(problems, ['ETH: the price is not plausible', 'APE: the price is not plausible']);
    Object.assign(tables.coingecko, PRICES);
    now += 20 * MINUTE_MS;
    assert.equal((await done()).changed, 0, 'a price that is twenty minutes old was stored');
    updated.at = now / 1_000;
    assert.equal((await done()).changed, 4);
  });

  test('while both price sources have a fault, the stored prices stay correct', async (t) => {
    const { coinbase, coingecko, updated, run, done } = await start(t);
    const correct = { APE: 0.61, ETH: 2723.905, POL: 0.2174, SOL: 84.95 };
    // These faults cannot make a price response wrong: a slow response is still correct, and the other faults alter rows, pages or
    // signatures, which a price response does not have.
    const harmless = new Set<ReplayFault>(['slow', 'huge-page', 'repeated-page', 'looping-cursor', 'null-signatures']);
    for (const fault of REPLAY_FAULTS.filter((one) => !harmless.has(one))) {
      coinbase.fail(fault, { skip: 1, times: 1, ms: 20 });
      coingecko.fail(fault, { times: 1, ms: 20 });
      await run();
      for (const [symbol, usd] of Object.entries(await rates())) assert.equal(usd, correct[symbol as 'ETH'], fault);
      coinbase.heal();
      coingecko.heal();
      // A minute is longer than any breaker stays open, and longer than any pause between retries.
      now += MINUTE_MS;
    }
    updated.at = now / 1_000;
    await db.query('delete from main.rate');
    assert.deepEqual((await done()).problems, []);
    assert.deepEqual(await rates(), correct);
  });

  test('fixed prices need no request', async (t) => {
    const fixed = await start(t, { settings: { PRICE_SOURCES: 'fixed', FIXED_PRICES: 'ETH=2500,SOL=80.5' } });
    await fixed.done();
    assert.deepEqual(await rates(), { ETH: 2500, SOL: 80.5 });
    assert.deepEqual([fixed.coinbase.count(), fixed.coingecko.count()], [0, 0]);
    const { task } = await start(t, { settings: { PRICE_SOURCES: 'none' } });
    assert.equal(task, undefined);
  });
});
