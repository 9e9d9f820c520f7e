// The hourly request budget of an upstream, which all processes share through the database. The test moves the database's time
// forward, and counts the requests of all processes together.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { before, beforeEach, test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { ProcessBudget } from '../../../src/sources/upstreams/budget.ts';
import type { CallOptions, UpstreamClient } from '../../../src/sources/upstreams/upstream-client.ts';
import { UpstreamFailure } from '../../../src/sources/upstreams/upstream-client.ts';
import { createTaskUpstream } from '../../../src/sources/upstreams/followed-task.ts';
import { SharedBudget } from '../../../src/sources/upstreams/shared-budget.ts';
import type { ServiceContext } from '../../../src/service/context.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { until } from '../../support/until.ts';
import { toContext } from '../../support/service/intake.ts';
import { startReplayServer } from '../../support/replay/replay.ts';

const HOUR_MS = 3_600_000;
const LIMIT_MS = 10_000;
const NAME = 'things';
/** On a busy machine, up to this much real time passes between two statements. */
const SLACK_MS = 20_000;
const STEP_MS = 60_000;
/** Steps between two restarts of processes. */
const RESTART_STEPS = 12;
/** Steps between two pauses of half an hour. */
const QUIET_STEPS = 35;

type Crowd = { count: number; perHour: number };

forOneEngine('a budget of requests', (engine) => {
  let db: Database;
  let passed = 0;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    passed = 0;
    await db.query('delete from main.request_budget');
  });

  const clock = () => Date.now() + passed;
  const pass = async (ms: number) => {
    passed += ms;
    await db.query(`update main.request_budget set at = at - $1 * interval '1 ms'`, [ms]);
  };
  /** Has the effect of setting the database's clock back by `ms`. */
  const setBack = (ms: number) => db.query(`update main.request_budget set at = at + $1 * interval '1 ms'`, [ms]);

  const start = async (t: TestContext, hourlyBudget: number) => {
    const sent: number[] = [];
    const logged: string[] = [];
    const route = { path: /.*/, origin: 'schema' as const, answer: () => ({ n: sent.push(clock()) }) };
    const replay = await startReplayServer(t, [route]);
    const log = createLog('warn', (line) => logged.push(line));
    /** The upstream client of another process, whose clock is wrong by `wrongMs`. */
    const join = (wrongMs = 0): UpstreamClient => {
      const own = toContext(db, { clock: () => clock() + wrongMs });
      const context: ServiceContext = { ...own, config: readConfig({}), log, random: () => 0.5 };
      return createTaskUpstream(context, { name: NAME, baseUrl: replay.url, timeoutMs: LIMIT_MS, hourlyBudget });
    };
    return { join, sent, logged };
  };
  const budgetOf = (perHour: number) => new SharedBudget(db, { upstream: NAME, perHour, clock });

  /**
   * During `ms`, all processes send as many requests as the budget allows. One process after another is replaced by a new process. Returns
   * how many requests a single process with its own budget would have sent.
   */
  const live = async (join: (index: number) => UpstreamClient, ms: number, { count, perHour }: Crowd) => {
    const alone = new ProcessBudget({ perHour, clock });
    const processes = Array.from({ length: count }, (_, index) => join(index));
    let sentAlone = 0;
    const end = clock() + ms;
    for (let step = 1; clock() < end; step += 1) {
      const index = Math.floor(step / RESTART_STEPS) % count;
      if (step % RESTART_STEPS === 0) processes[index] = join(index);
      await Promise.all(processes.map((upstream) => trySend(upstream, { patienceMs: 0 })));
      for (let n = 0; n < count; n += 1) if ((await alone.take({ patienceMs: 0 })) === 0) sentAlone += 1;
      // During a pause of half an hour without requests, the burst refills.
      await pass(step % QUIET_STEPS === 0 ? HOUR_MS / 2 : STEP_MS);
    }
    return sentAlone;
  };
  const assertWithin = (sent: readonly number[], perHour: number) => {
    for (const [index, at] of sent.entries()) {
      const inHour = sent.slice(index).filter((later) => later < at + HOUR_MS).length;
      assert.ok(inHour <= perHour, `${inHour} requests were sent in the hour from request ${index}`);
    }
  };

  test('several processes together never exceed the hourly budget, and send as much as a single process would', async (t) => {
    const { join, sent } = await start(t, 60);
    const alone = await live(() => join(), 4 * HOUR_MS, { count: 2, perHour: 60 });
    assertWithin(sent, 60);
    assert.ok(
      Math.abs(sent.length - alone) <= 1,
      `all processes sent ${sent.length} requests, a single process ${alone}`,
    );
  });

  test('a budget of one or two requests is neither exceeded nor left unused', async (t) => {
    for (const perHour of [1, 2]) {
      await db.query('delete from main.request_budget');
      const { join, sent } = await start(t, perHour);
      await live(() => join(), 3 * HOUR_MS, { count: 1, perHour });
      assertWithin(sent, perHour);
      assert.ok(
        sent.length > perHour,
        `only ${sent.length} requests were sent in three hours with a budget of ${perHour}`,
      );
    }
  });

  test('a process with a wrong clock does not change how many requests the budget allows', async (t) => {
    const { join, sent } = await start(t, 60);
    const wrongMs = [0, -HOUR_MS, 5_000, HOUR_MS];
    const alone = await live((index) => join(wrongMs[index]), 3 * HOUR_MS, { count: wrongMs.length, perHour: 60 });
    assertWithin(sent, 60);
    assert.ok(
      Math.abs(sent.length - alone) <= 1,
      `all processes sent ${sent.length} requests, a single process ${alone}`,
    );
  });

  test('a new process can use only the part of the budget that the other processes have left', async (t) => {
    const { join, sent } = await start(t, 20);
    assert.deepEqual([await trySend(join()), await trySend(join())], ['sent', 'sent']);
    const newcomer = join();
    assert.equal(await trySend(newcomer, { patienceMs: 0 }), 'over-budget');
    assert.deepEqual(newcomer.status().budget, { perHour: 20, left: 0 });
    assert.equal(sent.length, 2);
    await pass(HOUR_MS / 17);
    assert.equal(newcomer.status().budget?.left, 1, 'the status does not show the request that has become available');
    assert.equal(await trySend(newcomer, { patienceMs: 0 }), 'sent');
  });

  test('a request beyond the shared budget waits for the budget, or fails if the wait is longer than the caller accepts', async (t) => {
    const { join, sent } = await start(t, 20);
    const [one, other] = [join(), join()];
    for (const upstream of [one, other]) await trySend(upstream);
    const failure = await one.getJson('').catch((error: unknown) => error);
    assert.ok(failure instanceof UpstreamFailure && failure.reason === 'over-budget', String(failure));
    const waitMs = failure.retryAfterMs ?? 0;
    assert.ok(waitMs <= HOUR_MS / 17 && waitMs > HOUR_MS / 17 - SLACK_MS, `${waitMs}`);
    assert.equal(sent.length, 2);

    await pass(waitMs - 100);
    const begun = performance.now();
    assert.equal(await trySend(other, { patienceMs: LIMIT_MS }), 'sent');
    assert.ok(performance.now() - begun < SLACK_MS);
    assert.equal(sent.length, 3);

    const patient = { patienceMs: 2 * HOUR_MS };
    const waits = [await budgetOf(20).take({ patienceMs: HOUR_MS }), await budgetOf(20).take({ patienceMs: HOUR_MS })];
    const apartMs = (waits[1] ?? 0) - (waits[0] ?? 0);
    assert.ok(
      apartMs <= HOUR_MS / 17 + 1 && apartMs > HOUR_MS / 17 - SLACK_MS,
      'the two requests are not as far apart as the budget demands',
    );
    for (const upstream of [one, other])
      assert.equal(await trySend(upstream, { ...patient, signal: AbortSignal.timeout(50) }), 'aborted');
    const left = async () => Number((await db.query('select tokens from main.request_budget'))[0]?.['tokens']);
    await until(async () => (await left()) > -2.01, LIMIT_MS, 'the aborted requests were not put back into the budget');
    assert.equal(sent.length, 3);
  });

  test('bulk requests leave half of the burst to other requests, and other requests do not starve bulk requests', async () => {
    const budget = budgetOf(600);
    const takeWhile = async (isBulk: boolean) => {
      for (let count = 0; ; count += 1) if ((await budget.take({ patienceMs: 0, isBulk })) > 0) return count;
    };
    assert.equal(await takeWhile(true), 30);
    assert.equal(await takeWhile(false), 30, 'other requests cannot use the rest of the burst');
    const sent: number[] = [];
    let waiting: number | null = null;
    let bulkSent = 0;
    const end = clock() + 2 * HOUR_MS;
    while (clock() < end) {
      if (waiting !== null && clock() >= waiting) {
        sent.push(waiting);
        bulkSent += 1;
        waiting = null;
      }
      const requestedAt = clock();
      waiting ??= requestedAt + (await budget.take({ patienceMs: HOUR_MS, isBulk: true }));
      while ((await budget.take({ patienceMs: 0 })) === 0) sent.push(requestedAt);
      await pass(20_000);
    }
    const bulk = (2 * HOUR_MS) / (210_000 + 20_000);
    assert.ok(sent.length > 2 * 500, `only ${sent.length} requests were sent in two hours`);
    for (const start of sent) {
      const inHour = sent.filter((at) => at >= start && at < start + HOUR_MS).length;
      assert.ok(inHour <= 600, `${inHour} requests were sent in an hour`);
    }
    assert.ok(bulkSent >= bulk - 2, `${bulkSent} of ${bulk} expected bulk requests were sent`);
  });

  test('requests that are taken from the budget at the same moment are counted separately', async () => {
    const takeAll = async (count: number, patienceMs: number) => {
      const budgets = Array.from({ length: 8 }, () => budgetOf(100));
      const takes = budgets.flatMap((budget) => Array.from({ length: count / 8 }, () => budget.take({ patienceMs })));
      const waits = await Promise.all(takes);
      return waits.filter((waitMs) => waitMs <= patienceMs).toSorted((a, b) => a - b);
    };
    assert.equal(
      (await takeAll(200, 0)).length,
      10,
      'a new budget does not allow exactly a tenth of its requests immediately',
    );
    const waits = await takeAll(200, HOUR_MS);
    assert.ok(
      waits.length >= 89 && waits.length <= 90,
      `${waits.length} requests instead of 89 or 90 may be sent in the following hour`,
    );
    for (const [n, waitMs] of waits.entries())
      assert.ok(waitMs > ((n + 1) * HOUR_MS) / 89 - SLACK_MS, `request ${n + 1} waits only ${waitMs} ms`);
  });

  test('setting the clock of the database back adds nothing to the budget', async (t) => {
    const { join } = await start(t, 20);
    const upstream = join();
    for (const ms of [HOUR_MS, 365 * 24 * HOUR_MS, 30_000]) {
      await pass(HOUR_MS);
      const outcomes = [];
      for (let n = 0; n < 3; n += 1) outcomes.push(await trySend(upstream, { patienceMs: 0 }));
      assert.deepEqual(outcomes, ['sent', 'sent', 'over-budget']);
      await setBack(ms);
      assert.equal(
        await trySend(upstream, { patienceMs: 0 }),
        'over-budget',
        `a request was allowed after the clock was set back by ${ms} ms`,
      );
      await pass(HOUR_MS / 17);
      // A clock that was set back by less than a minute looks like two statements that ran out of order. The later time stays stored, and
      // the budget refills only after this time.
      assert.equal(
        await trySend(upstream, { patienceMs: 0 }),
        ms < 60_000 ? 'over-budget' : 'sent',
        `wrong outcome of a request after the clock was set back by ${ms} ms`,
      );
    }
    await pass(30_000);
    assert.equal(await trySend(upstream, { patienceMs: 0 }), 'sent');
  });

  test('when the database fails no request is sent', async (t) => {
    const { join, sent, logged } = await start(t, 20);
    const upstream = join();
    for (const expected of ['sent', 'sent']) assert.equal(await trySend(upstream), expected);
    const stop = new AbortController();
    t.after(() => stop.abort());
    const waiting = trySend(upstream, { patienceMs: HOUR_MS, signal: stop.signal });
    const isTaken = async () => Number((await db.query('select tokens from main.request_budget'))[0]?.['tokens']) < 0;
    await until(isTaken, LIMIT_MS, 'no request waits for the budget');
    await db.query('alter table main.request_budget rename to request_budget_away');
    try {
      stop.abort();
      assert.equal(await waiting, 'aborted');
      await until(() => logged.length > 0, LIMIT_MS, 'the failure was not logged');
      assert.match(logged[0] ?? '', /could not be put back/);
      await assert.rejects(upstream.getJson(''), /request_budget/);
    } finally {
      await db.query('alter table main.request_budget_away rename to request_budget');
    }
    assert.equal(sent.length, 2);
    await pass(HOUR_MS / 8);
    assert.equal(await trySend(upstream, { patienceMs: 0 }), 'sent');
  });
});

/** The outcome of a call: `sent`, or the reason of its failure. */
async function trySend(upstream: UpstreamClient, options: CallOptions = {}): Promise<string> {
  try {
    await upstream.getJson('', {}, options);
    return 'sent';
  } catch (error) {
    if (error instanceof UpstreamFailure) return error.reason;
    throw error;
  }
}
